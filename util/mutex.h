/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mutex.h - the lock of a control path, which a process with one thread goes without: the pair of
 * calls costs as much as the few stores that it guards.
 *
 * It is for sections that call nothing of the program, which could make a thread there. A thread
 * that is made afterwards finds the mutex free, as it is.
 */
#ifndef UTIL_MUTEX_H
#define UTIL_MUTEX_H

#include <pthread.h>

#include "util/threads.h"

/* Returns whether the mutex was taken, for mutex_leave(). */
static inline bool mutex_enter(pthread_mutex_t *mutex)
{
	if (process_has_one_thread())
		return false;
	pthread_mutex_lock(mutex);
	return true;
}

static inline void mutex_leave(pthread_mutex_t *mutex, bool taken)
{
	if (taken)
		pthread_mutex_unlock(mutex);
}

#endif
