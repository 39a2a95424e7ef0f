/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.h - whether this process has other threads.
 *
 * A byte of the C library is 0 once it has created a thread. It does not count threads that clone()
 * has created, or another copy of the C library in a program that uses dlmopen(). So the byte is
 * read through a pointer, which moves to a byte that is 0 as soon as there is a doubt, and never
 * back.
 * Decision: docs/adr/0010.
 */
#ifndef UTIL_THREADS_H
#define UTIL_THREADS_H

#include <stdbool.h>

/* Points to a byte that is nonzero while the process has one thread. Only threads.c and
 * process_has_one_thread() use the pointer. */
extern const char *verbs_one_thread __attribute__((visibility("hidden")));

static inline bool process_has_one_thread(void)
{
	return *__atomic_load_n(&verbs_one_thread, __ATOMIC_RELAXED);
}

/* Looks for threads that the C library does not know. Called when a device is opened and when a
 * queue is created. */
void verbs_threads_look(void);

#endif
