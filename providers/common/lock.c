/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.c - waits for a queue lock.
 *
 * Critical sections take a few hundred cycles, so waiting begins with spinning. But the holder may
 * have been preempted, and on a machine with few CPUs, spinning keeps it from running; so after a
 * while the thread yields.
 */
#include <sched.h>

#include "providers/common/lock.h"

#define SPINS_BEFORE_YIELD 128

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void provider_qlock_wait(struct qlock *lock)
{
	unsigned int spins = 0;

	do {
		while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED)) {
			if (++spins % SPINS_BEFORE_YIELD)
				cpu_relax();
			else
				sched_yield();
		}
	} while (__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE));
}
