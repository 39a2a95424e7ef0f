/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dbrec_test.c - the mechanics under the data path: doorbell records, number lookup, buffers,
 * locks; and the sizes of rings.
 *
 * Covers: providers/common/memory/dbrec.c, providers/common/id_lookup.c,
 * providers/common/memory/free_map.c, providers/common/memory/buf_pool.c,
 * providers/common/memory/hwbuf.c, providers/common/lock.c, providers/mlx5/qp/size.c
 */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "providers/common/memory/buf_pool.h"
#include "providers/common/memory/dbrec.h"
#include "providers/common/memory/free_map.h"
#include "providers/common/memory/hwbuf.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/qp/size.h"
#include "util/bits.h"

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
	/* What is returned is given out again, as new. */
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i += 2)
		provider_dbrec_free(&pool, pages[i], recs[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i += 2) {
		assert_int_equal(provider_dbrec_alloc(&pool, &recs[i], &pages[i]), 0);
		assert_true(recs[i][0] == 0 && recs[i][1] == 0);
		recs[i][0] = 1;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(recs); i++)
		provider_dbrec_free(&pool, pages[i], recs[i]);
	assert_int_equal(pool.empty, 1); /* one page stays for whoever comes next */
	provider_dbrec_pool_destroy(&pool);
}

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
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++) { /* nobody wrote into another's */
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

/* Entries come back in any order; those that are taken are free, and as long a run as there is. */
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
			assert_false(is_free[k]); /* nothing was left out */
		assert_true(start < end && end <= COUNT && !is_free[end]);
		for (uint32_t k = start; k < end; k++, left--) {
			assert_true(is_free[k]);
			is_free[k] = false;
		}
	}
	provider_free_map_destroy(&map);
}

/* 16 buffers of a page are all that a chunk has. */
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
	assert_int_equal(pool.classes, 1); /* those without room */
	for (unsigned int i = 0; i < ARRAY_SIZE(bufs); i++)
		provider_buf_pool_free(chunks[i], bufs[i], pool.page);
	provider_buf_pool_destroy(&pool);
}

/* A chunk that has no place for a page goes to those of the run that it has. */
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

/* The pool of an adapter whose rings begin with a page: any page that is free is taken, without a
 * look at how long its run is, and is zero as far as was asked for. */
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

/* The sizes and places of rings: of CQs, QPs whose rings go on into the next page, whole pages. */
static void piece_take(struct buf_pool *pool, unsigned int i, struct piece *piece)
{
	static const size_t sizes[] = { 1024, 640, 2048, 4096, 2112, 128, 768 };
	const struct buf_place place = { .align = i % 2 ? 0 : 64, .clear = i % 3 ? 0 : 64 };

	piece->size = sizes[i % ARRAY_SIZE(sizes)];
	assert_int_equal(
		provider_buf_pool_alloc(pool, piece->size, &place, &piece->addr, &piece->chunk), 0);
	assert_int_equal((uintptr_t)piece->addr % pool->page & place.clear, 0);
}

/* The looks that each of a thousand allocations takes, in hundredths. */
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

/* A full page of records is in nobody's way, and comes back with its first one that is free. */
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

static void numbers_find_their_object(void **state)
{
	static const uint32_t numbers[] = { 0, 1, 0xfff, 0x1000, 0x7fffff, 0xfffffe, 0xffffff };
	struct id_lookup *ids = calloc(1, sizeof(*ids));
	int objects[ARRAY_SIZE(numbers)];
	const struct id_root *root;

	(void)state;
	assert_non_null(ids);
	provider_id_lookup_init(ids);
	assert_null(ids->root); /* nobody looks yet */
	assert_int_equal(provider_id_root_get(ids, &root), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		assert_null(id_find(root, numbers[i]));
		assert_int_equal(provider_id_set(ids, numbers[i], &objects[i]), 0);
		ids->patience_ms = 1; /* for who never clears it */
		assert_int_equal(provider_id_set(ids, numbers[i], &objects[0]), EEXIST);
	}
	assert_int_equal(provider_id_set(ids, 0x1000000, &objects[0]), EINVAL);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_ptr_equal(id_find(root, numbers[i]), &objects[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		provider_id_clear(ids, numbers[i]);
		assert_null(id_find(root, numbers[i]));
	}
	provider_id_lookup_destroy(ids);
	free(ids);
}

struct taker {
	struct id_lookup *ids;
	pthread_t thread;
	int ret;
	bool done; /* atomic */
};

enum { TAKEN = 77 };

static void *take_number(void *arg)
{
	struct taker *taker = arg;

	taker->ret = provider_id_set(taker->ids, TAKEN, taker);
	__atomic_store_n(&taker->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The kernel gives a number again before who destroyed its object has cleared the entry. */
static void number_given_again_is_waited_for(void **state)
{
	struct taker taker = { .ids = calloc(1, sizeof(*taker.ids)) };

	(void)state;
	assert_non_null(taker.ids);
	provider_id_lookup_init(taker.ids);
	taker.ids->patience_ms = 60000; /* others may load the machine */
	assert_int_equal(provider_id_set(taker.ids, TAKEN, state), 0);
	assert_int_equal(pthread_create(&taker.thread, NULL, take_number, &taker), 0);
	for (int i = 0; i < 50; i++) {
		assert_false(__atomic_load_n(&taker.done, __ATOMIC_ACQUIRE));
		assert_ptr_equal(id_find(taker.ids->root, TAKEN), state);
		sched_yield();
	}
	provider_id_clear(taker.ids, TAKEN);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
	assert_int_equal(taker.ret, 0);
	assert_ptr_equal(id_find(taker.ids->root, TAKEN), &taker);
	provider_id_lookup_destroy(taker.ids);
	free(taker.ids);
}

static bool clock_is_put_forward; /* by an hour, after who waits has looked at it */

int __real_clock_gettime(clockid_t clock, struct timespec *time);
/* A sanitizer's library calls it, too. */
__attribute__((visibility("default"))) int __wrap_clock_gettime(clockid_t clock,
								struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int ret = __real_clock_gettime(clock, time);

	if (clock == CLOCK_REALTIME && clock_is_put_forward)
		time->tv_sec -= 3600;
	return ret;
}

static void a_clock_that_is_set_ends_no_wait(void **state)
{
	struct taker taker = { .ids = calloc(1, sizeof(*taker.ids)) };

	(void)state;
	assert_non_null(taker.ids);
	provider_id_lookup_init(taker.ids);
	taker.ids->patience_ms = 60000;
	assert_int_equal(provider_id_set(taker.ids, TAKEN, state), 0);
	clock_is_put_forward = true;
	assert_int_equal(pthread_create(&taker.thread, NULL, take_number, &taker), 0);
	for (int ms = 0; ms < 200 && !__atomic_load_n(&taker.done, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
	provider_id_clear(taker.ids, TAKEN);
	assert_int_equal(pthread_join(taker.thread, NULL), 0);
	clock_is_put_forward = false;
	assert_int_equal(taker.ret, 0);
	provider_id_lookup_destroy(taker.ids);
	free(taker.ids);
}

static void numbers_are_given_out_densely(void **state)
{
	struct id_lookup *ids = calloc(1, sizeof(*ids));
	uint32_t id;

	(void)state;
	assert_non_null(ids);
	provider_id_lookup_init(ids);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(ids->root->room.all & 1, 1);
	assert_int_equal(ids->root->room.word[0] & 3, 2); /* no look at the first leaf */
	provider_id_clear(ids, 4500);
	provider_id_clear(ids, 7);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 4500);
	assert_int_equal(provider_id_alloc(ids, ids, &id), 0);
	assert_int_equal(id, 5000);
	provider_id_lookup_destroy(ids);
	free(ids);
}

static void buffers_are_whole_zeroed_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct hwbuf buf;

	(void)state;
	assert_int_equal(provider_hwbuf_alloc(page + 1, &buf), 0);
	assert_int_equal(buf.size, 2 * page);
	assert_int_equal((uintptr_t)buf.addr % page, 0);
	for (size_t i = 0; i < buf.size; i++)
		assert_int_equal(((uint8_t *)buf.addr)[i], 0);
	provider_hwbuf_free(&buf);
	assert_null(buf.addr);
	assert_int_equal(provider_hwbuf_alloc(SIZE_MAX - page, &buf), ENOMEM);
}

struct counter {
	struct qlock lock;
	unsigned int n;
};

static void *count_up(void *arg)
{
	struct counter *counter = arg;

	for (unsigned int i = 0; i < 20000; i++) {
		qlock_take(&counter->lock);
		counter->n++;
		qlock_drop(&counter->lock);
	}
	return NULL;
}

static void a_lock_lets_one_in_at_a_time(void **state)
{
	struct counter counter = { .n = 0 };
	pthread_t threads[4];

	(void)state;
	qlock_init(&counter.lock, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, &counter), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter.n, ARRAY_SIZE(threads) * 20000);
}

static void an_unshared_lock_is_not_taken(void **state)
{
	struct qlock lock;

	(void)state;
	qlock_init(&lock, false);
	qlock_enter(&lock);
	qlock_enter(&lock); /* would wait for ever */
	assert_int_equal(lock.taken, 0);
	qlock_leave(&lock);
}

/* ---- sizes of rings */

static const struct mlx5_ib_alloc_ucontext_resp caps = {
	.max_sq_desc_sz = 1024,
	.max_rq_desc_sz = 512,
	.max_send_wqebb = 32768,
	.max_recv_wr = 32768,
};

struct size_case {
	uint64_t ops;
	struct ibv_qp_cap cap; /* send wr, recv wr, send sge, recv sge, inline */
	struct qp_size size;   /* sq wqebbs, post, sge, inline; rq wqes, stride_log, sge; wqe */
};

static int size_rc(const struct ibv_qp_cap *cap, uint64_t ops, struct qp_size *size)
{
	const struct qp_rules *rules = mlx5_qp_rules_of(IBV_QPT_RC);
	const struct wqe_heads heads = { .longest = mlx5_qp_head_size(rules, ops),
					 .data = mlx5_qp_data_head_size(rules, ops) };

	return mlx5_qp_size_queues(&caps, cap, &heads, size);
}

static void rings_have_room_for_the_longest_wqe(void **state)
{
	const uint64_t any = SEND_OPS_ANY, rdma = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
	const struct size_case cases[] = {
		{ any, { 0, 0, 3, 3, 10 }, { 0, 0, 0, 0, 0, 0, 0, 0 } },
		{ any, { 1, 1, 1, 1, 0 }, { 4, 1, 1, 60, 4, 4, 1, 256 } },
		{ any, { 1, 1, 0, 0, 0 }, { 4, 1, 0, 0, 4, 4, 1, 192 } },
		{ any, { 16, 5, 4, 3, 0 }, { 64, 16, 4, 60, 8, 6, 4, 256 } },
		{ any, { 10, 1, 1, 1, 61 }, { 64, 12, 1, 124, 4, 4, 1, 320 } },
		{ any, { 128, 128, 1, 1, 236 }, { 1024, 146, 1, 252, 128, 4, 1, 448 } },
		{ any, { 8192, 32768, 4, 32, 0 }, { 32768, 8192, 4, 60, 32768, 9, 32, 256 } },
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 1, 1, 0 }, { 1, 1, 1, 44, 4, 4, 1, 64 } },
		{ rdma, { 3, 1, 2, 1, 0 }, { 4, 4, 2, 28, 4, 4, 1, 64 } },
		/* The head of a binding has 192 bytes, and the ring room for it. The control
		 * segment counts 63 units of 16 bytes: of a WRITE or READ, whose head has 32
		 * bytes, and of an atomic, whose head has 48. */
		{ any, { 1, 1, 52, 1, 0 }, { 16, 1, 52, 828, 4, 4, 1, 1024 } },
		{ any, { 1, 1, 1, 1, 828 }, { 16, 1, 1, 828, 4, 4, 1, 1024 } },
		/* 64 units fit into the place. */
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 62, 1, 0 }, { 16, 1, 62, 988, 4, 4, 1, 1024 } },
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 1, 1, 988 }, { 16, 1, 1, 988, 4, 4, 1, 1024 } },
		{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		  { 3, 1, 2, 1, 0 },
		  { 8, 4, 2, 76, 4, 4, 1, 128 } },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qp_size size;

		print_message("  case %u\n", i);
		assert_int_equal(size_rc(&cases[i].cap, cases[i].ops, &size), 0);
		assert_int_equal(size.sq_wqebbs, cases[i].size.sq_wqebbs);
		assert_int_equal(size.sq_max_post, cases[i].size.sq_max_post);
		assert_int_equal(size.sq_max_sge, cases[i].size.sq_max_sge);
		assert_int_equal(size.sq_max_inline, cases[i].size.sq_max_inline);
		assert_int_equal(size.rq_wqes, cases[i].size.rq_wqes);
		assert_int_equal(size.rq_stride_log, cases[i].size.rq_stride_log);
		assert_int_equal(size.rq_max_sge, cases[i].size.rq_max_sge);
		assert_int_equal(size.sq_wqe_bytes, cases[i].size.sq_wqe_bytes);
	}
}

/* Of these, the headers of a TSO may be as long as the program says. */
static void a_head_that_does_not_fit_is_einval(void **state)
{
	static const uint32_t longest[] = { 1009, 1024, 1025, 4096, 65536, UINT32_MAX };
	const struct ibv_qp_cap cap = { .max_send_wr = 1 };
	struct qp_size size;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(longest); i++) {
		const struct wqe_heads heads = { .longest = longest[i], .data = longest[i] };

		assert_int_equal(mlx5_qp_size_queues(&caps, &cap, &heads, &size), EINVAL);
	}
}

static void what_does_not_fit_is_einval(void **state)
{
	static const struct ibv_qp_cap wrong[] = {
		{ 1, 1, 53, 1, 0 },         { 1, 1, 1, 33, 0 },          { 1, 1, 1, 1, 829 },
		{ 8193, 1, 1, 1, 0 },       { 1, 32769, 1, 1, 0 },       { 0xffffffff, 1, 1, 1, 0 },
		{ 1, 0xffffffff, 1, 1, 0 }, { 1, 1, 0xffffffff, 1, 0 },  { 1, 1, 1, 0xffffffff, 0 },
		{ 1, 1, 1, 1, 0xffffffff }, { 0x80000000, 1, 32, 1, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct qp_size size;

		assert_int_equal(size_rc(&wrong[i], SEND_OPS_ANY, &size), EINVAL);
	}
}

static void a_send_wqe_has_at_most_63_units(void **state)
{
	static const struct ibv_qp_cap wrong[] = { { 1, 1, 63, 1, 0 }, { 1, 1, 1, 1, 989 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct qp_size size;

		assert_int_equal(size_rc(&wrong[i], IBV_QP_EX_WITH_SEND, &size), EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_zero_and_have_a_cache_line_each),
		cmocka_unit_test(small_buffers_share_pages),
		cmocka_unit_test(free_neighbours_are_taken_together),
		cmocka_unit_test(a_freed_buffer_is_used_again_and_zeroed),
		cmocka_unit_test(a_chunk_is_used_to_its_end),
		cmocka_unit_test(a_chunk_without_a_place_is_measured),
		cmocka_unit_test(a_pool_may_give_pages),
		cmocka_unit_test(many_buffers_cost_what_few_do),
		cmocka_unit_test(full_pages_of_records_are_passed_over),
		cmocka_unit_test(numbers_find_their_object),
		cmocka_unit_test(number_given_again_is_waited_for),
		cmocka_unit_test(a_clock_that_is_set_ends_no_wait),
		cmocka_unit_test(numbers_are_given_out_densely),
		cmocka_unit_test(buffers_are_whole_zeroed_pages),
		cmocka_unit_test(a_lock_lets_one_in_at_a_time),
		cmocka_unit_test(an_unshared_lock_is_not_taken),
		cmocka_unit_test(rings_have_room_for_the_longest_wqe),
		cmocka_unit_test(a_head_that_does_not_fit_is_einval),
		cmocka_unit_test(what_does_not_fit_is_einval),
		cmocka_unit_test(a_send_wqe_has_at_most_63_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
