/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool_test.c - what a pool of small buffers leaves when it goes: no page, no memory, and no
 * look at what has gone already. Its buffers are tested in dbrec_test.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static void *note_calloc(size_t count, size_t size);
static void note_free(void *memory);

#define calloc note_calloc
#define free   note_free
#include "providers/common/buf_pool.c"
#undef calloc
#undef free

enum { CHUNK_PAGES = 16, CHUNKS = 3, BUFFERS = CHUNK_PAGES * CHUNKS };

static struct {
	void *memory;
	size_t size;
} known[CHUNKS + 1];

static unsigned int taken, given_back;

/* Few are asked for: one for each chunk. */
static void *note_calloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	assert_true(taken < ARRAY_SIZE(known));
	known[taken].memory = memory;
	known[taken++].size = count * size;
	return memory;
}

/* What is given back holds rubbish at once. */
static void note_free(void *memory)
{
	for (unsigned int i = 0; i < taken; i++)
		if (known[i].memory == memory) {
			memset(memory, 0xa5, known[i].size);
			known[i].memory = NULL;
			given_back++;
			break;
		}
	free(memory);
}

static bool is_mapped(void *page, size_t size)
{
	unsigned char resident;

	if (mincore(page, size, &resident) == 0)
		return true;
	assert_int_equal(errno, ENOMEM);
	return false;
}

static void a_pool_that_goes_leaves_no_memory(void **state)
{
	struct buf_pool pool;
	void *bufs[BUFFERS];

	(void)state;
	taken = given_back = 0;
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < BUFFERS; i++)
		assert_int_equal(provider_buf_pool_alloc(&pool, pool.page, NULL, &bufs[i]), 0);
	assert_int_equal(taken, CHUNKS);
	for (unsigned int i = 0; i < BUFFERS; i++)
		assert_true(is_mapped(bufs[i], pool.page));
	/* Chunks go from the list, whose order is that of the last ones given back. */
	for (unsigned int i = 0; i < BUFFERS; i += CHUNK_PAGES)
		provider_buf_pool_free(&pool, bufs[i], pool.page);
	assert_int_equal(given_back, 0);
	provider_buf_pool_destroy(&pool);
	assert_int_equal(given_back, CHUNKS);
	for (unsigned int i = 0; i < BUFFERS; i++)
		assert_false(is_mapped(bufs[i], pool.page));
}

static void chunks_that_become_empty_go_but_for_one(void **state)
{
	struct buf_pool pool;
	void *bufs[BUFFERS];
	unsigned int mapped = 0;

	(void)state;
	taken = given_back = 0;
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < BUFFERS; i++)
		assert_int_equal(provider_buf_pool_alloc(&pool, pool.page, NULL, &bufs[i]), 0);
	for (unsigned int i = 0; i < BUFFERS; i++)
		provider_buf_pool_free(&pool, bufs[i], pool.page);
	assert_int_equal(given_back, CHUNKS - 1);
	for (unsigned int i = 0; i < BUFFERS; i++)
		mapped += is_mapped(bufs[i], pool.page);
	assert_int_equal(mapped, CHUNK_PAGES);
	provider_buf_pool_destroy(&pool);
	assert_int_equal(given_back, CHUNKS);
}

static void a_pool_that_was_not_used_goes_as_well(void **state)
{
	struct buf_pool pool;

	(void)state;
	taken = given_back = 0;
	provider_buf_pool_init(&pool);
	provider_buf_pool_destroy(&pool);
	assert_int_equal(taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_that_goes_leaves_no_memory),
		cmocka_unit_test(chunks_that_become_empty_go_but_for_one),
		cmocka_unit_test(a_pool_that_was_not_used_goes_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
