/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring_test.c - writes of entries on an adapter that is the test's: it completes them, fails them,
 * or does neither. Time is the test's, too.
 *
 * Covers: providers/mlx5/dv/dr/ring.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dr/ring.h"
#include "providers/mlx5/qp/qp.h"

enum { WRITES = 200, CQES = 256 };

static struct {
	struct ibv_context context;
	struct ibv_pd pd;
	struct ibv_mr mr;
	struct ibv_cq cq;
	struct ibv_qp qp;
	struct dr_memory memory;
	struct dr_ring ring;
	void *registered; /* memory of the ring */
	uint64_t cqes[CQES];
	unsigned int made, polled; /* CQEs */
	unsigned int buffers;      /* that exist */
	bool is_lost;              /* no further CQEs */
	enum ibv_wc_status status;
	time_t seconds; /* the time: each look at the clock takes a second */
} it;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap___clock_gettime64(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){ .tv_sec = it.seconds++ };
	return 0;
}

int __wrap___clock_gettime64(clockid_t clock, struct timespec *time)
{
	return __wrap_clock_gettime(clock, time);
}

int provider_hwbuf_alloc(size_t size, struct hwbuf *buf)
{
	static uint8_t memory[2 * DR_RING_STAGED * PRM_STE_SIZE];

	assert_true(size <= sizeof(memory));
	*buf = (struct hwbuf){ memory, size };
	it.buffers++;
	return 0;
}

void provider_hwbuf_free(struct hwbuf *buf)
{
	if (buf->addr)
		it.buffers--;
	*buf = (struct hwbuf){ NULL, 0 };
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	assert_ptr_equal(qp, &it.qp);
	(void)bad;
	for (; wr; wr = wr->next)
		if (wr->send_flags & IBV_SEND_SIGNALED) {
			assert_true(it.made - it.polled < CQES);
			it.cqes[it.made++ % CQES] = wr->wr_id;
		}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	assert_ptr_equal(cq, &it.cq);
	assert_int_equal(count, 1);
	if (it.is_lost || it.polled == it.made)
		return 0;
	*wc = (struct ibv_wc){ .wr_id = it.cqes[it.polled++ % CQES], .status = it.status };
	return 1;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)pd, (void)length, (void)iova, (void)access;
	it.registered = addr;
	return &it.mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	assert_ptr_equal(mr, &it.mr);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	(void)context, (void)cqe, (void)cq_context, (void)channel, (void)comp_vector;
	return &it.cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, &it.cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd, (void)attr;
	return &it.qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	assert_ptr_equal(qp, &it.qp);
	return 0;
}

int mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len)
{
	(void)qp, (void)in, (void)in_len;
	return 0;
}

void mlx5_qp_note_rts(struct ibv_qp *qp)
{
	(void)qp;
}

static int ring_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.seconds = 1000;
	it.context.ops.poll_cq = poll_cq;
	it.context.ops.post_send = post_send;
	it.cq.context = it.qp.context = &it.context;
	it.memory.context = &it.context;
	it.memory.pd = &it.pd;
	it.memory.pools[0].mr = &it.mr;
	return mlx5_dr_ring_open(&it.ring, &it.memory);
}

static int ring_end(void **state)
{
	(void)state;
	mlx5_dr_ring_close(&it.ring);
	assert_int_equal(it.buffers, 0);
	return 0;
}

static int write_one(void)
{
	static const uint8_t entry[PRM_STE_SIZE];

	return mlx5_dr_ring_write(&it.ring, 3, entry);
}

static void fill_nothing(const void *arg, uint32_t i, uint8_t *entry)
{
	(void)arg, (void)i;
	memset(entry, 0, PRM_STE_SIZE);
}

static void staged_memory_is_for_the_adapter(void **state)
{
	(void)state;
	assert_int_equal(it.buffers, 1); /* children have no copies of it */
	assert_ptr_equal(it.registered, it.ring.buffer.addr);
}

static void writes_complete(void **state)
{
	(void)state;
	for (int i = 0; i < WRITES; i++)
		assert_int_equal(write_one(), 0);
	assert_true(it.polled > 0 && it.made - it.polled < DR_RING_WRITES);
	assert_int_equal(mlx5_dr_ring_drain(&it.ring), 0);
	assert_int_equal(it.ring.in_flight, 0);
	assert_int_equal(mlx5_dr_ring_fill(&it.ring, 0, 2 * DR_RING_STAGED, fill_nothing, NULL), 0);
	assert_int_equal(it.ring.in_flight, 0);
}

/* Without a limit, this test would not end. */
static void a_lost_adapter_is_waited_for_some_seconds(void **state)
{
	const time_t start = it.seconds;
	int ret = 0, writes = 0;

	(void)state;
	it.is_lost = true;
	for (; !ret; writes++)
		ret = write_one();
	assert_int_equal(ret, ETIMEDOUT);
	assert_int_equal(writes, DR_RING_WRITES + 1);
	assert_true(it.seconds > start + 5 && it.seconds < start + 60);
	/* The next calls do not wait. */
	it.seconds = start;
	assert_int_equal(write_one(), ETIMEDOUT);
	assert_int_equal(mlx5_dr_ring_drain(&it.ring), ETIMEDOUT);
	assert_int_equal(mlx5_dr_ring_fill(&it.ring, 0, 1, fill_nothing, NULL), ETIMEDOUT);
	assert_int_equal(it.seconds, start);
}

static void a_drain_of_a_lost_adapter_ends(void **state)
{
	(void)state;
	assert_int_equal(write_one(), 0);
	it.is_lost = true;
	assert_int_equal(mlx5_dr_ring_drain(&it.ring), ETIMEDOUT);
}

static void a_failed_write_loses_the_ring(void **state)
{
	(void)state;
	assert_int_equal(write_one(), 0);
	it.status = IBV_WC_RETRY_EXC_ERR;
	assert_int_equal(mlx5_dr_ring_drain(&it.ring), EIO);
	it.status = IBV_WC_SUCCESS;
	assert_int_equal(write_one(), EIO);
}

/* The adapter may still read them for a write that timed out. */
static void staged_bytes_stay_if_the_ring_is_lost(void **state)
{
	(void)state;
	it.is_lost = true;
	assert_int_equal(mlx5_dr_ring_fill(&it.ring, 0, 1, fill_nothing, NULL), ETIMEDOUT);
	it.ring.staged[0] = 0xa5;
	assert_int_equal(mlx5_dr_ring_fill(&it.ring, 9, 1, fill_nothing, NULL), ETIMEDOUT);
	assert_int_equal(it.ring.staged[0], 0xa5);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, ring_begin, ring_end)
	const struct CMUnitTest tests[] = {
		CASE(staged_memory_is_for_the_adapter),
		CASE(writes_complete),
		CASE(a_lost_adapter_is_waited_for_some_seconds),
		CASE(a_drain_of_a_lost_adapter_ends),
		CASE(a_failed_write_loses_the_ring),
		CASE(staged_bytes_stay_if_the_ring_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
