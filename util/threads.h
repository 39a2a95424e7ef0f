/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.h - whether this process has other threads.
 *
 * The C library has a byte that says whether it has made a thread. It does not know of threads that
 * another copy of it has made, as programs have that use dlmopen(), nor of those that clone() has.
 * So the byte is read through a pointer, and the pointer is bent to a byte that is 0 as soon as
 * there is a doubt. It never goes back.
 * Decision: docs/adr/0010.
 */
#ifndef UTIL_THREADS_H
#define UTIL_THREADS_H

#include <stdbool.h>

/* Other than threads.c, only the function below uses it. */
extern const char *verbs_one_thread __attribute__((visibility("hidden")));

static inline bool process_has_one_thread(void)
{
	return *__atomic_load_n(&verbs_one_thread, __ATOMIC_RELAXED);
}

/* Looks for threads that the C library does not know: where a device is opened, and where a queue
 * is created. */
void verbs_threads_look(void);

#endif
