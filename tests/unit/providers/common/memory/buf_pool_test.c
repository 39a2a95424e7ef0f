/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool_test.c - buffers smaller than a page, which share chunks: their positions, zeroing of
 * reused memory, and the cost of a search among many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "providers/common/memory/buf_pool.h"
#include "util/bits.h"

static void small_buffers_share_pages(void **state)
{
	const size_t sizes[] = { 640, 64, 1, 4096, 2048, 2112, 1000 };
	struct buf_chunk *chunks[200];
	struct buf_pool pool;
	void *bufs[200];

	(void)state;
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++) {
		size_t size = sizes[i % ARRAY_SIZE(sizes)];

		assert_int_equal(provider_buf_pool_alloc(&pool, size, NULL, &bufs[i], &chunks[i]),
				 0);
		assert_int_equal(
			(uintptr_t)bufs[i] % (size == pool.page ? pool.page : pool.page / 32), 0);
		for (size_t at = 0; at < size; at++)
			assert_int_equal(((char *)bufs[i])[at], 0);
		memset(bufs[i], (int)i | 1, size);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++) {
		size_t size = sizes[i % ARRAY_SIZE(sizes)];

		assert_int_equal(((char *)bufs[i])[0], (char)(i | 1));
		assert_int_equal(((char *)bufs[i])[size - 1], (char)(i | 1));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++)
		provider_buf_pool_free(chunks[i], bufs[i], sizes[i % ARRAY_SIZE(sizes)]);
	assert_int_equal(pool.empty, 1);
	provider_buf_pool_destroy(&pool);
}

static void a_freed_buffer_is_used_again_and_zeroed(void **state)
{
	struct buf_chunk *chunk, *same;
	struct buf_pool pool;
	void *first, *second, *other;

	(void)state;
	provider_buf_pool_init(&pool);
	assert_int_equal(provider_buf_pool_alloc(&pool, 700, NULL, &first, &chunk), 0);
	assert_int_equal(provider_buf_pool_alloc(&pool, 64, NULL, &other, &chunk), 0);
	memset(first, 0xff, 700);
	provider_buf_pool_free(chunk, first, 700);
	assert_int_equal(provider_buf_pool_alloc(&pool, 640, NULL, &second, &same), 0);
	assert_ptr_equal(first, second);
	assert_ptr_equal(chunk, same);
	assert_int_equal(((char *)second)[639], 0);
	provider_buf_pool_free(chunk, second, 640);
	provider_buf_pool_free(chunk, other, 64);
	provider_buf_pool_destroy(&pool);
}

/* A chunk has room for exactly 16 buffers of a page. */
static void a_chunk_is_used_to_its_end(void **state)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	struct buf_chunk *chunks[16];
	struct buf_pool pool;
	void *bufs[16];

	(void)state;
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++) {
		assert_int_equal(
			provider_buf_pool_alloc(&pool, pool.page, NULL, &bufs[i], &chunks[i]), 0);
		low = min_of(low, (uintptr_t)bufs[i]);
		high = max_of(high, (uintptr_t)bufs[i]);
	}
	assert_int_equal(high - low, 15 * pool.page);
	assert_int_equal(pool.classes, 1); /* of chunks without room */
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++)
		provider_buf_pool_free(chunks[i], bufs[i], pool.page);
	provider_buf_pool_destroy(&pool);
}

/* A search that fails in a chunk moves the chunk to the class of its longest free run, so that the
 * next search begins with others. */
static void a_chunk_without_a_place_is_measured(void **state)
{
	struct buf_chunk *chunks[17];
	struct buf_pool pool;
	void *bufs[17];

	(void)state;
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++)
		assert_int_equal(provider_buf_pool_alloc(&pool, i ? pool.page : 1, NULL, &bufs[i],
							 &chunks[i]),
				 0);
	assert_ptr_not_equal(chunks[0], chunks[16]);
	assert_true(pool.classes == (1ULL << 31 | 1ULL << (BUF_CLASSES - 1)));
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++)
		provider_buf_pool_free(chunks[i], bufs[i], i ? pool.page : 1);
	assert_int_equal(pool.empty, 1);
	provider_buf_pool_destroy(&pool);
}

/* If an adapter's rings start on a page, the pool takes any free page without measuring its run,
 * and zeroes only the requested bytes, as both would cost time for nothing. */
static void a_pool_may_give_pages(void **state)
{
	enum { COUNT = 40, SMALL = 100 };
	struct buf_chunk *chunks[COUNT];
	struct buf_pool pool;
	uint8_t *bufs[COUNT];
	void *addr;

	(void)state;
	provider_buf_pool_init(&pool);
	provider_buf_pool_give_pages(&pool);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < COUNT; i++) {
			if (round && i % 3 == round)
				continue;
			assert_int_equal(
				provider_buf_pool_alloc(&pool, SMALL, NULL, &addr, &chunks[i]), 0);
			bufs[i] = addr;
			assert_int_equal((uintptr_t)addr % pool.page, 0);
			for (unsigned int at = 0; at < SMALL; at++)
				assert_int_equal(bufs[i][at], 0);
			memset(addr, (int)i + 1, pool.page);
		}
		for (unsigned int i = 0; i < COUNT; i++) {
			assert_int_equal(bufs[i][pool.page - 1], i + 1);
			if (i % 3 != round + 1)
				provider_buf_pool_free(chunks[i], bufs[i], SMALL);
		}
	}
	assert_int_equal(pool.looks, 0);
	assert_int_equal(pool.empty, 1);
	provider_buf_pool_destroy(&pool);
}

enum { MANY = 100000 };

struct piece {
	struct buf_chunk *chunk;
	void *addr;
	size_t size;
};

/* Takes a ring of a random kind: a CQ, a QP whose rings cross a page, or whole pages. */
static void piece_take(struct buf_pool *pool, unsigned int i, struct piece *piece)
{
	static const size_t sizes[] = { 1024, 640, 2048, 4096, 2112, 128, 768 };
	const struct buf_place place = { .align = i % 2 ? 0 : 64, .clear = i % 3 ? 0 : 64 };

	piece->size = sizes[i % ARRAY_SIZE(sizes)];
	assert_int_equal(
		provider_buf_pool_alloc(pool, piece->size, &place, &piece->addr, &piece->chunk), 0);
	assert_int_equal((uintptr_t)piece->addr % pool->page & place.clear, 0);
}

/* Returns the number of looks per allocation, in hundredths, over a thousand allocations. */
static unsigned int looks_per_piece(struct buf_pool *pool, struct piece *pieces, unsigned int from)
{
	unsigned int before = pool->looks;

	for (unsigned int i = 0; i < 1000; i++)
		piece_take(pool, from + i, &pieces[from + i]);
	return (pool->looks - before) / 10;
}

static void many_buffers_cost_what_few_do(void **state)
{
	struct piece *pieces = calloc(MANY, sizeof(*pieces));
	unsigned int least = UINT32_MAX, most = 0, looks;
	struct buf_pool pool;

	(void)state;
	assert_non_null(pieces);
	provider_buf_pool_init(&pool);
	for (unsigned int i = 0; i < MANY; i += 1000) {
		looks = looks_per_piece(&pool, pieces, i);
		least = min_of(least, looks);
		most = max_of(most, looks);
	}
	assert_true(most <= 2 * least && most <= 400);
	for (unsigned int i = 0; i < MANY; i += 3)
		provider_buf_pool_free(pieces[i].chunk, pieces[i].addr, pieces[i].size);
	looks = pool.looks; /* among gaps of any size */
	for (unsigned int i = 0; i < MANY; i += 3)
		piece_take(&pool, i, &pieces[i]);
	assert_true(pool.looks - looks <= 8 * (MANY / 3));
	for (unsigned int i = 0; i < MANY; i++)
		provider_buf_pool_free(pieces[i].chunk, pieces[i].addr, pieces[i].size);
	assert_int_equal(pool.empty, 1);
	provider_buf_pool_destroy(&pool);
	free(pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_buffers_share_pages),
		cmocka_unit_test(a_freed_buffer_is_used_again_and_zeroed),
		cmocka_unit_test(a_chunk_is_used_to_its_end),
		cmocka_unit_test(a_chunk_without_a_place_is_measured),
		cmocka_unit_test(a_pool_may_give_pages),
		cmocka_unit_test(many_buffers_cost_what_few_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
