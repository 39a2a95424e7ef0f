/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory at a boundary.
 *
 * Covers: util/alloc.h
 */
#include "tests/unit/libibverbs/unit.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum { LINE = 64, SIZE = 1000, BLOCKS = 100, DIRT = 0xa5 };

/* Dirties memory of many sizes and frees it, so that later blocks have other starts and old
 * data. */
static void dirty_the_heap(void)
{
	char *dirt[BLOCKS];

	for (size_t i = 0; i < BLOCKS; i++) {
		dirt[i] = malloc(SIZE + i * 24);
		assert_non_null(dirt[i]);
		memset(dirt[i], DIRT, SIZE + i * 24);
	}
	for (size_t i = 0; i < BLOCKS; i++)
		free(dirt[i]);
}

static void aligned_memory_is_zeroed_and_ones_own(void **state)
{
	static const char zeros[SIZE];
	char *blocks[BLOCKS];

	(void)state;
	dirty_the_heap();
	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = zalloc_aligned_for("test", LINE, SIZE);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % LINE, 0);
		assert_memory_equal(blocks[i], zeros, SIZE);
		memset(blocks[i], (int)i, SIZE);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		for (size_t j = 0; j < SIZE; j++)
			assert_int_equal((unsigned char)blocks[i][j], i);
		free_aligned(blocks[i]);
	}
}

static void nothing_may_be_freed(void **state)
{
	(void)state;
	free_aligned(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned_memory_is_zeroed_and_ones_own),
		cmocka_unit_test(nothing_may_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
