/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict_locks.h - aborts the program when it releases a lock of one word that is not taken.
 *
 * A forgotten lock thus shows in any test, even with one thread. Only builds with sanitizers have
 * code for it, and those that define RDMAKIT_STRICT_LOCKS, as tests/mutants/generate does for a
 * lock that it removes. It is for locks of librdmacm. A queue's lock is released untaken on
 * purpose: a single thread only checks that it is free. tests/lib/strict_locks.c does the same for
 * mutexes.
 */
#ifndef UTIL_STRICT_LOCKS_H
#define UTIL_STRICT_LOCKS_H

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RDMAKIT_STRICT_LOCKS 1
#endif

#ifdef RDMAKIT_STRICT_LOCKS

#include <stdio.h>
#include <stdlib.h>

static inline void lock_must_be_taken(const uint32_t *lock)
{
	if (__atomic_load_n(lock, __ATOMIC_RELAXED))
		return;
	fprintf(stderr, "strict_locks: lock %p is dropped, but nobody has it\n",
		(const void *)lock);
	abort();
}

#else

static inline void lock_must_be_taken(const uint32_t *lock)
{
	(void)lock;
}

#endif

#endif
