/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.h - the lock of a queue, which may be absent.
 *
 * Whether threads share a queue is known at its creation: from environment, thread domain or
 * creation flags. Data path routines exist in two variants, of which the queue stores the right
 * one; so they call qlock_take() or no lock at all. Control path code must exclude either variant
 * and uses qlock_enter(), which checks.
 *
 * An atomic exchange costs as much as the rest of a post, and in a process with one thread no other
 * thread can interfere. A call that returns to the program with the lock held, such as
 * ibv_wr_start(), then takes it by plain stores, so that a thread created meanwhile finds it taken.
 * A call that releases it before returning, such as ibv_post_send(), only checks that it is free.
 */
#ifndef PROVIDERS_COMMON_LOCK_H
#define PROVIDERS_COMMON_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "providers/common/branch.h"
#include "util/threads.h"

struct qlock {
	uint32_t taken;
	bool shared; /* false: one thread uses the queue, without locking */
};

/* Waits for the holder and takes the lock. Out of line because rare. */
void provider_qlock_wait(struct qlock *lock);

static inline void qlock_init(struct qlock *lock, bool shared)
{
	lock->taken = 0;
	lock->shared = shared;
}

/* Returns whether a call that would drop the lock before it returns to the program can skip the
 * lock: it is free, and the process has no other thread to take it. */
static inline bool qlock_is_idle(const struct qlock *lock)
{
	return process_has_one_thread() && likely(lock->taken != 1);
}

/* Takes the lock by an atomic exchange, for any number of threads. Returns false if another thread
 * has the lock. */
static inline bool qlock_exchange(struct qlock *lock)
{
	return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
}

/* Returns false if another thread has the lock. */
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
