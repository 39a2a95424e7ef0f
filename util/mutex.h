/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mutex.h - the lock of a control path, which a process with one thread skips: the two calls cost
 * as much as the few stores that they guard.
 *
 * It is for sections that call no code of the program, as that could create a thread. A thread
 * created afterwards finds the mutex free. Decision: docs/adr/0010.
 */
#ifndef UTIL_MUTEX_H
#define UTIL_MUTEX_H

#include <pthread.h>

#include "util/threads.h"

/* Initialise by stores, with the C library's defaults. Such a lock has no memory beside its bytes,
 * so one that no thread uses need not be destroyed before its memory is freed. */
static inline void mutex_init(pthread_mutex_t *mutex)
{
	*mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static inline void cond_init(pthread_cond_t *cond)
{
	*cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

/* Takes the mutex if there are other threads. Returns whether it did, for mutex_leave(). */
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
