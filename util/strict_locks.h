/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict_locks.h - ends the program where a lock of one word is dropped that nobody has taken.
 *
 * So a lock that was forgotten shows in any test, with one thread already. Only builds with
 * sanitizers have code for it, and those that define RDMAKIT_STRICT_LOCKS, as
 * tests/mutants/generate does for a lock that it removes. It is for locks of librdmacm: a queue's
 * lock is dropped untaken on purpose, where one thread has only looked that it is free.
 * tests/lib/strict_locks.c does the same for mutexes.
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
