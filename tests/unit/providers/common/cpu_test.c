/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpu_test.c - selection of the data path's second variant: only CPUs that report every feature it
 * is compiled for get it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef __x86_64__
#include <cpuid.h>

static struct {
	bool has_leaf, has_movbe;
	unsigned int leaf;
} cpu;

/* Replaces the instruction: ECX of leaf 1 has the bit of MOVBE among all others. */
static int fake_cpuid(unsigned int leaf, unsigned int *eax, unsigned int *ebx, unsigned int *ecx,
		      unsigned int *edx)
{
	cpu.leaf = leaf;
	*eax = *ebx = *edx = ~0u;
	*ecx = cpu.has_movbe ? ~0u : ~(unsigned int)bit_MOVBE;
	return cpu.has_leaf;
}

#define __get_cpuid fake_cpuid
#endif

#include "providers/common/cpu.c"

/* Intel SDM vol. 2, CPUID: MOVBE is bit 22 of ECX in leaf 1. A CPU without that leaf must not be
 * asked for it, since it answers with the data of another leaf. */
static void movbe_is_a_bit_of_a_leaf_that_is_there(void **state)
{
	(void)state;
#ifdef __x86_64__
	for (int has_leaf = 0; has_leaf < 2; has_leaf++)
		for (int has_movbe = 0; has_movbe < 2; has_movbe++) {
			cpu.has_leaf = has_leaf;
			cpu.has_movbe = has_movbe;
			assert_int_equal(cpu_has_movbe(), has_leaf && has_movbe);
			assert_int_equal(cpu.leaf, 1);
		}
	assert_int_equal(bit_MOVBE, 1 << 22);
#endif
}

/* Without MOVBE a CPU stays below the level, whatever else it has, as the level's code uses that
 * instruction; the result is cached. */
static void a_cpu_without_movbe_is_not_of_that_level(void **state)
{
	(void)state;
#ifdef __x86_64__
	cpu.has_leaf = true;
	cpu.has_movbe = false;
#endif
	assert_false(provider_cpu_is_v3());
#ifdef __x86_64__
	cpu.has_movbe = true;
#endif
	assert_false(provider_cpu_is_v3());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(movbe_is_a_bit_of_a_leaf_that_is_there),
		cmocka_unit_test(a_cpu_without_movbe_is_not_of_that_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
