/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.h - the lock of a queue, and the choice to have none.
 *
 * Whether a queue is shared between threads is known when it is created: environment, thread domain
 * or creation flags say so. Data-path routines exist in two instances and the queue keeps the one
 * that fits, so they call qlock_take() or nothing at all. Control-path code that must exclude
 * either instance uses qlock_enter(), which asks.
 */
#ifndef PROVIDERS_COMMON_LOCK_H
#define PROVIDERS_COMMON_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct qlock {
	uint32_t taken;
	bool shared; /* false: one thread uses the queue and nobody takes the lock */
};

/* The function waits for the holder, and takes the lock. It is out of line because it is the
 * exception. */
void provider_qlock_wait(struct qlock *lock);

static inline void qlock_init(struct qlock *lock, bool shared)
{
	lock->taken = 0;
	lock->shared = shared;
}

static inline void qlock_take(struct qlock *lock)
{
	if (__builtin_expect(__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE), 0))
		provider_qlock_wait(lock);
}

/* The function returns false when somebody has the lock. */
static inline bool qlock_try(struct qlock *lock)
{
	return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
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
