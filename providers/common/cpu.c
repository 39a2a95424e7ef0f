/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpu.c - detects features of the CPU. Decision: docs/adr/0011.
 */
#include "providers/common/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>

/* Compilers can test for "avx2" and "bmi2", including the kernel's support for the registers, but
 * not all can test for "movbe". */
static bool cpu_has_movbe(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_MOVBE;
}

bool provider_cpu_is_v3(void)
{
	enum { UNKNOWN, NO, YES };
	/* The result of CPUID is cached, because it is expensive in a virtual machine. Concurrent
	 * threads compute the same value. */
	static int answer;
	int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);

	if (known != UNKNOWN)
		return known == YES;
	known = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && cpu_has_movbe()
			? YES
			: NO;
	__atomic_store_n(&answer, known, __ATOMIC_RELAXED);
	return known == YES;
}
#else
bool provider_cpu_is_v3(void)
{
	return false;
}
#endif
