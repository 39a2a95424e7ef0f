/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_order_test.c - the order of a device list: by the kernel's index, and by name where two
 * have the same, as without netlink.
 *
 * Covers: libibverbs/device.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libibverbs/device.c"

static void check_order(int index, const char *name, int next_index, const char *next_name)
{
	struct verbs_device_info first = { .index = index }, second = { .index = next_index };

	snprintf(first.uverbs_name, sizeof(first.uverbs_name), "%s", name);
	snprintf(second.uverbs_name, sizeof(second.uverbs_name), "%s", next_name);
	assert_true(by_index_then_name(&first, &second) < 0);
	assert_true(by_index_then_name(&second, &first) > 0);
	assert_int_equal(by_index_then_name(&first, &first), 0);
}

static void the_index_comes_before_the_name(void **state)
{
	(void)state;
	check_order(1, "uverbs9", 2, "uverbs1");
	check_order(2, "uverbs1", 10, "uverbs0");
}

static void names_are_compared_by_their_numbers(void **state)
{
	(void)state;
	check_order(-1, "uverbs2", -1, "uverbs10");
	check_order(3, "uverbs0", 3, "uverbs1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_comes_before_the_name),
		cmocka_unit_test(names_are_compared_by_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
