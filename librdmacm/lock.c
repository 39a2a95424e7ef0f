/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.c - slow paths of the lock: waits for it, and wakes waiting threads. See lock.h.
 *
 * A waiting thread marks the lock as wanted each time before it sleeps, so that the holder wakes
 * one thread. A thread that gets the lock after waiting keeps the mark, because others may still
 * wait.
 */
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The call has only this name on 32-bit machines whose first kernel already had 64-bit times. */
#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

static void lock_futex(struct cm_lock *lock, int op, uint32_t value)
{
	const int err = errno;

	syscall(SYS_futex, &lock->state, op, value, NULL, NULL, 0);
	errno = err;
}

void rdmacm_lock_wait(struct cm_lock *lock)
{
	while (__atomic_exchange_n(&lock->state, LOCK_WANTED, __ATOMIC_ACQUIRE) != LOCK_FREE)
		lock_futex(lock, FUTEX_WAIT_PRIVATE, LOCK_WANTED);
}

void rdmacm_lock_wake(struct cm_lock *lock)
{
	lock_futex(lock, FUTEX_WAKE_PRIVATE, 1);
}
