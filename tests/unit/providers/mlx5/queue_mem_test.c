/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where rings lie: no WQE in two pages, and each type of ring only where the kernel can make its
 * context say that it starts. Rings of all sizes come and go among each other, so that each meets
 * many positions. Each test runs on hosts with pages of 4, 16 and 64 KiB, as far as the pool can
 * tell.
 *
 * Covers: providers/mlx5/queue_mem.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <unistd.h>

#include "prm/mlx5/wqe.h"
#include "providers/common/memory/hwbuf.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/queue_mem.h"
#include "util/bits.h"

#define STRIDES    6 /* 16 to 512 bytes: mlx5_ib_alloc_ucontext_resp.max_rq_desc_sz is 512 */
#define STRIDE(n)  ((size_t)16 << (n))
#define NEIGHBOURS 40
#define MAX_RINGS  400

/* PRM: a queue context counts pages of 4 KiB or more, and the ring's start in 64ths of a page. */
#define ADAPTER_PAGE ((size_t)4096)
#define PAGE_PARTS   64
#define WQ_BITS      5 /* bits of the offset, in 64ths */
#define QP_BITS      6

struct ring {
	uint64_t type;
	size_t stride, receive, size; /* in bytes: one WQE, the receive ring, both rings */
	struct queue_mem mem;
};

static struct mlx5_context *ctx;
static size_t page; /* the host's page size */

long __real_sysconf(int name);
long __wrap_sysconf(int name);
int __wrap_provider_hwbuf_alloc(size_t size, struct hwbuf *buf);
void __wrap_provider_hwbuf_free(struct hwbuf *buf);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE ? (long)page : __real_sysconf(name);
}

int __wrap_provider_hwbuf_alloc(size_t size, struct hwbuf *buf)
{
	buf->size = align_up(size, page);
	buf->addr = aligned_alloc(page, buf->size);
	assert_non_null(buf->addr);
	return 0;
}

void __wrap_provider_hwbuf_free(struct hwbuf *buf)
{
	free(buf->addr);
}

static int context_make(void **state)
{
	(void)state;
	ctx = calloc(1, sizeof(*ctx));
	provider_buf_pool_init(&ctx->common.queue_bufs);
	return 0;
}

static int context_free(void **state)
{
	(void)state;
	provider_buf_pool_destroy(&ctx->common.queue_bufs);
	free(ctx);
	return 0;
}

static void ring_make(struct ring *ring)
{
	assert_int_equal(
		mlx5_queue_mem_alloc(ctx, NULL, ring->type, ring->size, ring->stride, &ring->mem),
		0);
}

static void no_wqe_is_in_two_pages(const struct ring *ring)
{
	uintptr_t start = (uintptr_t)ring->mem.addr;

	for (size_t at = 0; at < ring->receive; at += ring->stride)
		assert_int_equal((start + at) / ADAPTER_PAGE,
				 (start + at + ring->stride - 1) / ADAPTER_PAGE);
	for (size_t at = ring->receive; at < ring->size; at += WQE_BB)
		assert_int_equal((start + at) / ADAPTER_PAGE,
				 (start + at + WQE_BB - 1) / ADAPTER_PAGE);
}

static bool offset_fits(uintptr_t start, size_t of_page, unsigned int bits)
{
	size_t offset = start % of_page, part = of_page / PAGE_PARTS;

	return offset % part == 0 && offset / part < (size_t)1 << bits;
}

/* Linux since 5.12 (drivers/infiniband/hw/mlx5/mem.c) describes the ring in adapter pages. It
 * starts with the largest that contains the ring, or with the host's if these are scattered, and
 * tries smaller ones until the start can be expressed. */
static bool new_kernel_takes(const struct ring *ring, unsigned int bits, bool scattered)
{
	uintptr_t start = (uintptr_t)ring->mem.addr;
	size_t of_page = ADAPTER_PAGE;

	while (start / of_page != (start + ring->size - 1) / of_page)
		of_page *= 2;
	if (scattered && of_page > page)
		of_page = page;
	while (of_page >= ADAPTER_PAGE && !offset_fits(start, of_page, bits))
		of_page /= 2;
	return of_page >= ADAPTER_PAGE;
}

/* Older kernels use the host's pages, or larger contiguous ones, so those must start with the
 * ring's first page and be more than half used. */
static bool old_kernel_takes(const struct ring *ring, unsigned int bits)
{
	uintptr_t start = (uintptr_t)ring->mem.addr, first = start - start % page;
	size_t needed = align_up(start + ring->size, page) - first;

	for (size_t of_page = page; of_page < 2 * needed && first % of_page == 0; of_page *= 2)
		if (!offset_fits(start, of_page, bits))
			return false;
	return true;
}

static void the_start_can_be_said(const struct ring *ring)
{
	unsigned int bits = ring->type == MLX5DV_RES_TYPE_QP ? QP_BITS : WQ_BITS;

	if (ring->type == MLX5DV_RES_TYPE_CQ)
		assert_int_equal((uintptr_t)ring->mem.addr % page, 0);
	assert_true(new_kernel_takes(ring, bits, false));
	assert_true(new_kernel_takes(ring, bits, true));
	assert_true(old_kernel_takes(ring, bits));
}

static unsigned int next_random(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 16;
}

/* Makes send queues without a receive queue, of 1 to 8 WQEBBs, and frees every other one. */
static void neighbours_make(struct ring *rings)
{
	for (unsigned int i = 0; i < NEIGHBOURS; i++) {
		rings[i] = (struct ring){ .type = MLX5DV_RES_TYPE_QP,
					  .stride = 1,
					  .size = (next_random() % 8 + 1) * WQE_BB };
		ring_make(&rings[i]);
	}
	for (unsigned int i = 0; i < NEIGHBOURS; i += 2)
		provider_queue_mem_free(&rings[i].mem);
}

static void rings_free(struct ring *rings, unsigned int count)
{
	while (count--)
		provider_queue_mem_free(&rings[count].mem);
}

/* Makes rings of RING's shape in all sizes up to two pages, and checks each. */
static void rings_of_all_sizes_fit(uint64_t type, size_t sq_bytes)
{
	static struct ring rings[MAX_RINGS], neighbours[NEIGHBOURS];
	unsigned int count = 0;

	neighbours_make(neighbours);
	for (unsigned int n = 0; n < STRIDES; n++)
		for (size_t wqes = 1; wqes << n << 4 <= 2 * page; wqes *= 2) {
			struct ring *ring = &rings[count++];

			assert_true(count < MAX_RINGS);
			*ring = (struct ring){ .type = type,
					       .stride = STRIDE(n),
					       .receive = max_of(wqes << n << 4, (size_t)WQE_BB) };
			ring->size = ring->receive + sq_bytes;
			ring_make(ring);
			no_wqe_is_in_two_pages(ring);
			the_start_can_be_said(ring);
		}
	rings_free(rings, count);
	for (unsigned int i = 1; i < NEIGHBOURS; i += 2)
		provider_queue_mem_free(&neighbours[i].mem);
}

static void rings_of_qps(void **state)
{
	(void)state;
	for (size_t sq_bytes = 0; sq_bytes <= page; sq_bytes = sq_bytes ? sq_bytes * 2 : WQE_BB)
		rings_of_all_sizes_fit(MLX5DV_RES_TYPE_QP, sq_bytes);
}

static void rings_of_wqs(void **state)
{
	(void)state;
	rings_of_all_sizes_fit(MLX5DV_RES_TYPE_RWQ, 0);
}

static void rings_of_srqs(void **state)
{
	(void)state;
	rings_of_all_sizes_fit(MLX5DV_RES_TYPE_SRQ, 0);
}

static void rings_of_cqs(void **state)
{
	struct ring ring = { .type = MLX5DV_RES_TYPE_CQ, .stride = 64 };

	(void)state;
	for (ring.size = 64; ring.size <= 2 * page; ring.size *= 2) {
		ring_make(&ring);
		the_start_can_be_said(&ring);
		provider_queue_mem_free(&ring.mem);
	}
}

/* Four SRQs of 16 requests share two pages, as the adapter places a ring at any 64th of a page, and
 * QPs use the rest of these. */
static void small_srqs_share_pages(void **state)
{
	struct ring rings[4], qp = { .type = MLX5DV_RES_TYPE_QP, .stride = 1, .size = 1024 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rings); i++) {
		rings[i] = (struct ring){ .type = MLX5DV_RES_TYPE_SRQ, .stride = 64, .size = 1024 };
		ring_make(&rings[i]);
	}
	assert_int_equal((uintptr_t)rings[0].mem.addr / page, (uintptr_t)rings[1].mem.addr / page);
	assert_int_equal((uintptr_t)rings[2].mem.addr / page, (uintptr_t)rings[3].mem.addr / page);
	ring_make(&qp);
	assert_int_equal((uintptr_t)qp.mem.addr / page, (uintptr_t)rings[0].mem.addr / page);
	provider_queue_mem_free(&qp.mem);
	rings_free(rings, ARRAY_SIZE(rings));
}

/* A short CQ starts on a page, followed by rings of others. */
static void short_cqs_share_pages(void **state)
{
	struct ring cqs[2], qp = { .type = MLX5DV_RES_TYPE_QP, .stride = 1, .size = 1024 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cqs); i++) {
		cqs[i] = (struct ring){ .type = MLX5DV_RES_TYPE_CQ, .stride = 64, .size = 1024 };
		ring_make(&cqs[i]);
		the_start_can_be_said(&cqs[i]);
	}
	ring_make(&qp);
	assert_int_equal((uintptr_t)qp.mem.addr / page, (uintptr_t)cqs[0].mem.addr / page);
	provider_queue_mem_free(&qp.mem);
	rings_free(cqs, ARRAY_SIZE(cqs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_of_qps),           cmocka_unit_test(rings_of_wqs),
		cmocka_unit_test(rings_of_srqs),          cmocka_unit_test(rings_of_cqs),
		cmocka_unit_test(small_srqs_share_pages), cmocka_unit_test(short_cqs_share_pages),
	};
	int failed = 0;

	for (page = 4096; page <= 65536; page *= 4)
		failed +=
			cmocka_run_group_tests_name("queue_mem", tests, context_make, context_free);
	return failed;
}
