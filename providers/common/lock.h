/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.h - the lock of a queue, and the choice to have none.
 *
 * Whether a queue is shared between threads is known when it is created: environment, thread domain
 * or creation flags say so. Data-path routines exist in two instances and the queue keeps the one
 * that fits, so they call qlock_take() or nothing at all. Control-path code that must exclude
 * either instance uses qlock_enter(), which asks.
 *
 * An atomic exchange costs as much as all the rest of a post, and while the process has one thread,
 * nobody can come between. What the program can be called from under the lock, as between
 * ibv_wr_start() and ibv_wr_complete(), takes it by plain stores then, and a thread that is made
 * meanwhile finds it taken. What returns before the program can make a thread, as ibv_post_send(),
 * only looks that nobody has it.
 */
#ifndef PROVIDERS_COMMON_LOCK_H
#define PROVIDERS_COMMON_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/common/branch.h"
#include "util/threads.h"

struct qlock {
	uint32_t taken;
	bool shared; /* false: one thread uses the queue and nobody takes the lock */
};

/* Waits for the holder and takes the lock. Out of line because rare. */
void provider_qlock_wait(struct qlock *lock);

static inline void qlock_init(struct qlock *lock, bool shared)
{
	lock->taken = 0;
	lock->shared = shared;
}

/* Returns whether a call that returns before the program goes on needs no lock: nobody has it, and
 * there is no other thread to take it. */
static inline bool qlock_is_idle(const struct qlock *lock)
{
	return process_has_one_thread() && likely(lock->taken != 1);
}

/* Does what qlock_try() does, whatever threads there are. */
static inline bool qlock_exchange(struct qlock *lock)
{
	return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
}

/* Returns false when somebody has the lock. */
static inline bool qlock_try(struct qlock *lock)
{
	if (unlikely(!process_has_one_thread()))
		return qlock_exchange(lock);
	if (unlikely(lock->taken == 1))
		return false;
	lock->taken = 1;
	return true;
}

static inline void qlock_take(struct qlock *lock)
{
	if (unlikely(!qlock_try(lock)))
		provider_qlock_wait(lock);
}

static inline void qlock_drop(struct qlock *lock)
{
	__atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

static inline void qlock_enter(struct qlock *lock)
{
	if (lock->shared)
		qlock_take(lock);
}

static inline void qlock_leave(struct qlock *lock)
{
	if (lock->shared)
		qlock_drop(lock);
}

#endif
