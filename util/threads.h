/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.h - whether this process has other threads.
 */
#ifndef UTIL_THREADS_H
#define UTIL_THREADS_H

#include <stdbool.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define C_LIBRARY_KNOWS_THREADS 1
#endif

/* The C library says whether there is one thread; one that does not say so may have any number. */
static inline bool process_has_one_thread(void)
{
#ifdef C_LIBRARY_KNOWS_THREADS
	return __libc_single_threaded;
#else
	return false;
#endif
}

#endif
