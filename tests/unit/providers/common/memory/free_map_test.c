/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * free_map_test.c - runs of free entries, which are freed in any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "providers/common/memory/free_map.h"
#include "util/bits.h"

/* A taken run consists of free entries, and ends at one in use: an entry in use within a run would
 * be posted a second time. */
static void free_neighbours_are_taken_together(void **state)
{
	enum { SIZE = 200, COUNT = 128 };
	uint32_t start, end = COUNT, random = 1, left = 0;
	bool is_free[SIZE + 1] = { false };
	struct free_map map;

	(void)state;
	assert_int_equal(provider_free_map_init(&map, SIZE, COUNT), 0);
	assert_false(provider_free_map_take_run(&map, &start, &end));
	for (unsigned int i = 0; i < 100000; i++) {
		uint32_t from = end;

		random = random * 1664525 + 1013904223;
		if (!is_free[random >> 25]) {
			is_free[random >> 25] = true;
			free_map_add(&map, random >> 25);
			left++;
		}
		if (random % 16 > left)
			continue;
		assert_true(provider_free_map_take_run(&map, &start, &end));
		for (uint32_t k = from % COUNT; k != start; k = (k + 1) % COUNT)
			assert_false(is_free[k]); /* no free entry was skipped */
		assert_true(start < end && end <= COUNT && !is_free[end]);
		for (uint32_t k = start; k < end; k++, left--) {
			assert_true(is_free[k]);
			is_free[k] = false;
		}
	}
	provider_free_map_destroy(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_neighbours_are_taken_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
