/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dbrec_test.c - doorbell records: each has its own cache line and is zero, even after another
 * queue used it; pages without room cost no time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "providers/common/memory/dbrec.h"
#include "util/bits.h"

enum { MANY = 100000 };

static void records_are_zero_and_have_a_cache_line_each(void **state)
{
	struct dbrec_pool pool;
	struct dbrec_page *pages[200];
	__be32 *recs[200];

	(void)state;
	provider_dbrec_pool_init(&pool);
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i++) {
		assert_int_equal(provider_dbrec_alloc(&pool, &recs[i], &pages[i]), 0);
		assert_int_equal((uintptr_t)recs[i] % 64, 0);
		assert_true(recs[i][0] == 0 && recs[i][1] == 0);
		recs[i][0] = recs[i][1] = 0xffffffff;
		for (unsigned int j = 0; j < i; j++)
			assert_ptr_not_equal(recs[i], recs[j]);
	}
	/* Freed records are handed out again, zeroed. */
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i += 2)
		provider_dbrec_free(&pool, pages[i], recs[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i += 2) {
		assert_int_equal(provider_dbrec_alloc(&pool, &recs[i], &pages[i]), 0);
		assert_true(recs[i][0] == 0 && recs[i][1] == 0);
		recs[i][0] = 1;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i++)
		provider_dbrec_free(&pool, pages[i], recs[i]);
	/* one empty page stays, so that the next record needs no new one */
	assert_int_equal(pool.empty, 1);
	provider_dbrec_pool_destroy(&pool);
}

/* A full page leaves the search list, and returns to it with its first free record: otherwise each
 * allocation would walk over all full pages. */
static void full_pages_of_records_are_passed_over(void **state)
{
	struct dbrec_page **pages = calloc(MANY, sizeof(*pages)), *page;
	__be32 **recs = calloc(MANY, sizeof(*recs)), *rec;
	struct dbrec_pool pool;

	(void)state;
	assert_true(pages && recs);
	provider_dbrec_pool_init(&pool);
	for (unsigned int i = 0; i < MANY; i++) {
		assert_int_equal(provider_dbrec_alloc(&pool, &recs[i], &pages[i]), 0);
		page = LIST_FIRST(&pool.room);
		assert_true(!page || page == pages[i]);
	}
	rec = recs[MANY / 2];
	provider_dbrec_free(&pool, pages[MANY / 2], rec);
	assert_ptr_equal(LIST_FIRST(&pool.room), pages[MANY / 2]);
	assert_int_equal(provider_dbrec_alloc(&pool, &recs[MANY / 2], &page), 0);
	assert_ptr_equal(recs[MANY / 2], rec);
	for (unsigned int i = 0; i < MANY; i++)
		provider_dbrec_free(&pool, pages[i], recs[i]);
	assert_int_equal(pool.empty, 1);
	provider_dbrec_pool_destroy(&pool);
	free(pages);
	free(recs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_zero_and_have_a_cache_line_each),
		cmocka_unit_test(full_pages_of_records_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
