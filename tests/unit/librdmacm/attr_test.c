/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attr_test.c - conversion of the kernel's address and QP attributes to those of verbs, compared
 * with the calls that libibverbs exports. Both libraries have the code, since no public header
 * declares those calls.
 *
 * Covers: librdmacm/attr.c, libibverbs/compat/kern_copy.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libibverbs/compat/kern_copy.h"
#include "librdmacm/cma.h"

static void object_fill(void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)rand();
}

/* Both must leave the padding of results unchanged. */
#define ROUNDS 1000

static void address_attributes_are_those_of_libibverbs(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_ah_attr ours = {}, theirs = {};
		struct ib_uverbs_ah_attr from;

		object_fill(&from, sizeof(from));
		rdmacm_attr_take_ah(&ours, &from);
		ibv_copy_ah_attr_from_kern(&theirs, &from);
		assert_memory_equal(&ours, &theirs, sizeof(ours));
	}
}

static void qp_attributes_are_those_of_libibverbs(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_qp_attr ours = {}, theirs = {};
		struct ib_uverbs_qp_attr from;

		object_fill(&from, sizeof(from));
		rdmacm_attr_take_qp(&ours, &from);
		ibv_copy_qp_attr_from_kern(&theirs, &from);
		assert_memory_equal(&ours, &theirs, sizeof(ours));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_attributes_are_those_of_libibverbs),
		cmocka_unit_test(qp_attributes_are_those_of_libibverbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
