/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem_test.c - memory of queues: pages excluded from fork (--wrap replaces the library's
 * calls), or a parent domain's allocator; and the environment variables for it.
 *
 * Covers: providers/common/memory/queue_mem.c, providers/common/memory/buf_pool.c,
 * providers/common/memory/hwbuf.c, providers/common/memory/allocators.c, providers/common/pd.c,
 * providers/common/memory/cells.c, providers/common/env.c
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/memory/cells.h"
#include "providers/common/env.h"
#include "providers/common/memory/hwbuf.h"
#include "providers/common/pd.h"
#include "providers/common/memory/queue_mem.h"

int __wrap_ibv_dontfork_range(void *base, size_t size);
int __wrap_ibv_dofork_range(void *base, size_t size);

static void *kept_at;
static size_t kept_bytes;
static int refusal;

int __wrap_ibv_dontfork_range(void *base, size_t size)
{
	if (refusal) {
		errno = refusal;
		return -1;
	}
	kept_at = base;
	kept_bytes += size;
	return 0;
}

int __wrap_ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	kept_bytes -= size;
	return 0;
}

static void pages_are_kept_from_children(void **state)
{
	struct hwbuf buf = { 0 };

	(void)state;
	assert_int_equal(provider_hwbuf_alloc(5000, &buf), 0);
	assert_ptr_equal(kept_at, buf.addr);
	assert_int_equal(kept_bytes, buf.size);
	provider_hwbuf_free(&buf);
	assert_int_equal(kept_bytes, 0);
	refusal = ENOMEM;
	assert_int_equal(provider_hwbuf_alloc(5000, &buf), ENOMEM);
	assert_null(buf.addr);
	refusal = 0;
}

static char room[4096];
static int given;

static void *domain_alloc(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			  uint64_t resource_type)
{
	(void)alignment;
	assert_non_null(pd);
	assert_ptr_equal(pd_context, &given);
	assert_int_equal(resource_type, 7);
	given++;
	return size <= sizeof(room) ? room : NULL;
}

static void domain_free(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
	assert_non_null(pd);
	assert_ptr_equal(pd_context, &given);
	assert_ptr_equal(ptr, room);
	assert_int_equal(resource_type, 7);
	given--;
}

static void a_parent_domain_has_both_calls_or_none(void **state)
{
	struct ibv_context context = { 0 };
	struct provider_pd base = { .pd = { .context = &context, .handle = 5 } };
	struct ibv_parent_domain_init_attr attr = {
		.pd = &base.pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		.alloc = domain_alloc,
	};

	(void)state;
	errno = 0;
	assert_null(provider_parent_domain_alloc(&context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.alloc = NULL;
	attr.free = domain_free;
	assert_null(provider_parent_domain_alloc(&context, &attr));
	attr.comp_mask = 0x80;
	assert_null(provider_parent_domain_alloc(&context, &attr));
	attr = (struct ibv_parent_domain_init_attr){ 0 };
	assert_null(provider_parent_domain_alloc(&context, &attr));
	assert_int_equal(base.users, 0);
}

static void its_allocator_gives_memory_for_queues(void **state)
{
	struct ibv_context context = { 0 };
	struct provider_pd base = { .pd = { .context = &context, .handle = 5 }, .pdn = 6 };
	struct provider_td td = { .users = 0 };
	struct ibv_parent_domain_init_attr attr = {
		.pd = &base.pd,
		.td = &td.td,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = domain_alloc,
		.free = domain_free,
		.pd_context = &given,
	};
	struct queue_mem_request request = { .size = 4096, .type = 7 };
	struct ibv_pd *parent = provider_parent_domain_alloc(&context, &attr);
	struct queue_mem mem;
	struct buf_pool pool;

	(void)state;
	provider_buf_pool_init(&pool);
	assert_non_null(parent);
	assert_int_equal(parent->handle, 5);
	assert_int_equal(to_ppd(parent)->pdn, 6);
	assert_int_equal(base.users, 1);
	assert_int_equal(td.users, 1);
	assert_int_equal(provider_td_check_unused(&td), EBUSY);
	assert_int_equal(provider_pd_dealloc(&base.pd), EBUSY);
	assert_int_equal(provider_queue_mem_alloc(&pool, parent, &request, &mem), 0);
	assert_ptr_equal(mem.addr, room);
	assert_int_equal(given, 1);
	provider_queue_mem_free(&mem);
	assert_int_equal(given, 0);
	request.size = 8192;
	assert_int_equal(provider_queue_mem_alloc(&pool, parent, &request, &mem), ENOMEM);
	assert_int_equal(provider_pd_dealloc(parent), 0);
	assert_int_equal(base.users, 0);
	assert_int_equal(td.users, 0);
	provider_buf_pool_destroy(&pool);
}

static struct queue_mem ring_take(struct buf_pool *pool, size_t size)
{
	const struct queue_mem_request request = { .size = size, .alloc = ENV_ALLOC_ANON };
	struct queue_mem mem;

	assert_int_equal(provider_queue_mem_alloc(pool, NULL, &request, &mem), 0);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((uint8_t *)mem.addr)[i], 0);
	memset(mem.addr, 0xff, mem.size);
	return mem;
}

/* A freed ring serves the next request of its size, zeroed, as old CQEs or WQEs would be taken for
 * new ones, and no other size. */
static void a_freed_ring_is_the_next_one_of_its_size(void **state)
{
	struct queue_mem first, second, other;
	struct buf_pool pool;
	void *addr;

	(void)state;
	provider_buf_pool_init(&pool);
	first = ring_take(&pool, 3 * pool.page);
	addr = first.addr;
	provider_queue_mem_free(&first);
	assert_null(first.addr);
	other = ring_take(&pool, 2 * pool.page);
	assert_ptr_not_equal(other.addr, addr);
	first = ring_take(&pool, 3 * pool.page - 7);
	assert_ptr_equal(first.addr, addr);
	second = ring_take(&pool, 3 * pool.page);
	assert_ptr_not_equal(second.addr, addr);
	provider_queue_mem_free(&second);
	provider_queue_mem_free(&first);
	provider_queue_mem_free(&other);
	assert_int_equal(pool.kept_count, 3);
	assert_int_equal(kept_bytes, 8 * pool.page);
	provider_buf_pool_destroy(&pool);
	assert_int_equal(kept_bytes, 0);
}

/* The oldest kept rings are freed first, so the memory kept has a limit; a ring beyond the limit is
 * never kept. */
static void few_rings_are_kept(void **state)
{
	struct queue_mem rings[BUF_KEPT + 3], large;
	const size_t count = sizeof(rings) / sizeof(rings[0]);
	struct buf_pool pool;

	(void)state;
	provider_buf_pool_init(&pool);
	for (size_t i = 0; i < count; i++)
		rings[i] = ring_take(&pool, (i + 2) * pool.page);
	for (size_t i = 0; i < count; i++)
		provider_queue_mem_free(&rings[i]);
	assert_int_equal(pool.kept_count, BUF_KEPT);
	assert_int_equal(kept_bytes, pool.kept_bytes);
	large = ring_take(&pool, BUF_KEPT_BYTES + pool.page);
	provider_queue_mem_free(&large);
	assert_int_equal(kept_bytes, pool.kept_bytes);
	large = ring_take(&pool, BUF_KEPT_BYTES); /* this one alone fills the limit */
	provider_queue_mem_free(&large);
	assert_int_equal(pool.kept_count, 1);
	assert_int_equal(kept_bytes, BUF_KEPT_BYTES);
	provider_buf_pool_destroy(&pool);
	assert_int_equal(kept_bytes, 0);
}

/* A caller may ask for old bytes if it writes all that matters, as zeroing costs time; the next
 * caller still gets zeroes. */
static void a_place_may_keep_bytes(void **state)
{
	struct buf_place place = { .keeps_bytes = true };
	struct buf_chunk *chunk;
	struct buf_pool pool;
	struct hwbuf buf;
	uint8_t *bytes;
	void *addr;

	(void)state;
	provider_buf_pool_init(&pool);
	for (int keeps = 0; keeps < 2; keeps++) {
		place.keeps_bytes = keeps;
		for (int round = 0; round < 2; round++) {
			assert_int_equal(provider_buf_pool_alloc(&pool, 256, &place, &addr, &chunk),
					 0);
			assert_int_equal(provider_buf_pool_map(&pool, 2 * pool.page, keeps, &buf),
					 0);
			bytes = buf.addr;
			assert_int_equal(*(uint8_t *)addr, keeps ? 0xff : 0);
			assert_int_equal(bytes[2 * pool.page - 1], keeps ? 0xff : 0);
			memset(addr, 0xff, 256);
			memset(bytes, 0xff, 2 * pool.page);
			provider_buf_pool_free(chunk, addr, 256);
			provider_buf_pool_unmap(&pool, &buf);
		}
	}
	provider_buf_pool_destroy(&pool);
}

static unsigned int number(const char *value)
{
	setenv("UNIT_NUMBER", value, 1);
	return provider_env_number("UNIT_NUMBER", 2, 9, 5);
}

static void a_number_is_within_its_limits(void **state)
{
	(void)state;
	assert_int_equal(number("2"), 2);
	assert_int_equal(number("9"), 9);
	assert_int_equal(number("0x8"), 8);
	assert_int_equal(number("1"), 5);
	assert_int_equal(number("10"), 5);
	assert_int_equal(number("7x"), 5);
	assert_int_equal(number(""), 5);
	unsetenv("UNIT_NUMBER");
	assert_int_equal(provider_env_number("UNIT_NUMBER", 2, 9, 5), 5);
}

static void a_switch_is_zero_or_one(void **state)
{
	(void)state;
	setenv("UNIT_SWITCH", "0", 1);
	assert_false(provider_env_unless_zero("UNIT_SWITCH"));
	assert_false(provider_env_is_one("UNIT_SWITCH"));
	setenv("UNIT_SWITCH", "1", 1);
	assert_true(provider_env_unless_zero("UNIT_SWITCH"));
	assert_true(provider_env_is_one("UNIT_SWITCH"));
	unsetenv("UNIT_SWITCH");
	assert_true(provider_env_unless_zero("UNIT_SWITCH"));
	assert_false(provider_env_is_one("UNIT_SWITCH"));
}

enum { CELLS = 300, SMALL = 24, LINES = 128 };

/* Cells do not overlap, and each starts on a cache line, so that threads that use neighbours do not
 * slow each other down. */
static void cells_have_places_of_their_own(void **state)
{
	struct cells cells = { 0 };
	uint8_t *small[CELLS], *lines[CELLS];

	(void)state;
	for (int i = 0; i < CELLS; i++) {
		small[i] = provider_cells_take(&cells, "test", SMALL);
		lines[i] = provider_cells_take(&cells, "test", LINES);
		assert_int_equal((uintptr_t)small[i] % CELL_UNIT, 0);
		assert_int_equal((uintptr_t)lines[i] % CELL_LINE, 0);
		memset(small[i], i & 0xff, SMALL);
		memset(lines[i], ~i & 0xff, LINES);
	}
	for (int i = 0; i < CELLS; i++) {
		for (int at = 0; at < SMALL; at++)
			assert_int_equal(small[i][at], i & 0xff);
		for (int at = 0; at < LINES; at++)
			assert_int_equal(lines[i][at], ~i & 0xff);
		provider_cells_give(&cells, small[i], SMALL);
		provider_cells_give(&cells, lines[i], LINES);
	}
	provider_cells_destroy(&cells);
}

enum { TAKERS = 4, TURNS = 4000, HELD = 8 };

/* Takes and frees cells, each with this thread's mark. Returns how many held the mark of another
 * thread. */
static void *taker_run(void *cells)
{
	uint64_t *held[HELD] = { NULL };
	uintptr_t strangers = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		uint64_t **place = &held[turn % HELD];

		if (*place) {
			strangers += **place != (uintptr_t)held;
			provider_cells_give(cells, *place, SMALL);
		}
		*place = provider_cells_take(cells, "test", SMALL);
		**place = (uintptr_t)held;
	}
	for (int i = 0; i < HELD; i++)
		provider_cells_give(cells, held[i], SMALL);
	return (void *)strangers;
}

static void threads_have_cells_of_their_own(void **state)
{
	struct cells cells = { 0 };
	pthread_t thread[TAKERS];
	void *strangers;

	(void)state;
	for (int i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, taker_run, &cells), 0);
	for (int i = 0; i < TAKERS; i++) {
		assert_int_equal(pthread_join(thread[i], &strangers), 0);
		assert_null(strangers);
	}
	provider_cells_destroy(&cells);
}

/* Under a sanitizer the heap holds freed cells, so none is seen again at once. */
static void a_cell_that_was_given_back_is_taken_again(void **state)
{
	struct cells cells = { 0 };
	void *first = provider_cells_take(&cells, "test", SMALL), *other;

	(void)state;
	provider_cells_give(&cells, first, SMALL);
	other = provider_cells_take(&cells, "test", SMALL + CELL_UNIT);
	assert_true(other != first || !cells_are_kept());
	provider_cells_give(&cells, other, SMALL + CELL_UNIT);
	if (cells_are_kept()) {
		assert_ptr_equal(provider_cells_take(&cells, "test", SMALL), first);
		assert_ptr_equal(provider_cells_take(&cells, "test", SMALL + CELL_UNIT), other);
	}
	provider_cells_destroy(&cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_kept_from_children),
		cmocka_unit_test(a_parent_domain_has_both_calls_or_none),
		cmocka_unit_test(its_allocator_gives_memory_for_queues),
		cmocka_unit_test(a_freed_ring_is_the_next_one_of_its_size),
		cmocka_unit_test(few_rings_are_kept),
		cmocka_unit_test(a_place_may_keep_bytes),
		cmocka_unit_test(cells_have_places_of_their_own),
		cmocka_unit_test(threads_have_cells_of_their_own),
		cmocka_unit_test(a_cell_that_was_given_back_is_taken_again),
		cmocka_unit_test(a_number_is_within_its_limits),
		cmocka_unit_test(a_switch_is_zero_or_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
