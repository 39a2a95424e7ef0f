/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.c - looks for threads that the C library does not know. See threads.h.
 */
#include "util/threads.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define BYTE_OF_C_LIBRARY &__libc_single_threaded
#else
#define BYTE_OF_C_LIBRARY &zero
#endif

static const char zero;
const char *verbs_one_thread = BYTE_OF_C_LIBRARY;

static int is_main_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	return (uintptr_t)info->dlpi_phdr == getauxval(AT_PHDR);
}

/* Returns whether this library is in another namespace than the main program, which is in the first
 * one. dl_iterate_phdr() lists its caller's namespace only. The C library of another namespace does
 * not know threads that the main program creates. */
static bool is_in_another_namespace(void)
{
	return !dl_iterate_phdr(is_main_program, NULL);
}

/* Returns whether the kernel lists several threads: the directory has a link for each thread,
 * besides its own two. Without /proc, returns false. */
static bool kernel_knows_more(void)
{
	struct stat tasks;

	return !stat("/proc/self/task", &tasks) && tasks.st_nlink > 3;
}

static bool locks_are_wanted(void)
{
	const char *value = getenv("VERBS_KEEP_LOCKS");

	return value && !strcmp(value, "1");
}

/* Returns whether locks must be kept. Reads namespace and environment only once, because they do
 * not change. */
static bool locks_are_due(void)
{
	static bool asked;

	if (!asked) {
		asked = true;
		if (is_in_another_namespace() || locks_are_wanted())
			return true;
	}
	return kernel_knows_more();
}

/* Keeps locks from now on if there may be other threads. If the C library creates a thread
 * meanwhile, locks are kept without need, which does no harm. */
void verbs_threads_look(void)
{
	if (process_has_one_thread() && locks_are_due())
		__atomic_store_n(&verbs_one_thread, &zero, __ATOMIC_RELAXED);
}
