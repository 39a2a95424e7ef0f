/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.c - what a thread does that finds a lock taken, or wanted by others. See lock.h.
 *
 * Who waits marks the lock as wanted whenever it looks, so whoever drops it wakes somebody. One who
 * takes it after a wait leaves the mark, as others may wait still.
 */
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

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
