/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring_order_test.c - order of an SRQ's WQEs in its linked list, when several QPs hold a
 * message each and complete in any order. The adapter fetches neighbours together, so longer runs
 * of neighbours need fewer reads.
 *
 * Covers: providers/mlx5/data/srq_ring.c
 */
#include "rig.h"

#include <stdlib.h>

#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"
#include "util/bits.h"

#define QPS        10
#define MAX_WQES   4096
#define MESSAGES   200000 /* counted messages, after as many uncounted ones that create disorder */
#define STRIDE_LOG 5

struct order {
	struct mlx5_srq srq;
	uint8_t ring[MAX_WQES << STRIDE_LOG];
	bool is_posted[MAX_WQES];
	__be32 dbrec[2];
	uint32_t next;
	uint32_t taken[QPS];
	bool is_busy[QPS];
	uint32_t random;
};

static struct order *order_new(uint32_t wqes)
{
	struct order *o = calloc(1, sizeof(*o));
	struct mlx5_srq *srq;

	assert_non_null(o);
	srq = &o->srq;
	srq->ring = o->ring;
	srq->stride_log = STRIDE_LOG;
	srq->max_sge = 1;
	srq->wqes = wqes;
	srq->max_wr = wqes - 1;
	srq->wr_ids = calloc(wqes, sizeof(*srq->wr_ids));
	assert_non_null(srq->wr_ids);
	srq->dbrec = o->dbrec;
	srq->post = mlx5_post_srq_routine(1, false);
	qlock_init(&srq->lock, false);
	assert_int_equal(mlx5_srq_ring_init(srq), 0);
	return o;
}

static void order_free(struct order *o)
{
	mlx5_srq_ring_free(&o->srq);
	free(o->srq.wr_ids);
	free(o);
}

static void order_post(struct order *o, uint32_t count)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 64, .lkey = 1 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	while (count--)
		assert_int_equal(mlx5_post_srq_recv(&o->srq.vsrq.srq, &wr, &bad), 0);
}

static uint32_t order_random(struct order *o, uint32_t below)
{
	o->random = o->random * 1664525 + 1013904223;
	return (o->random >> 8) % below;
}

/* Completes the QP's message, if any, and starts another. Returns whether one completed. */
static bool order_message(struct order *o, uint32_t *index)
{
	uint32_t qp = order_random(o, QPS);
	bool ended = o->is_busy[qp];

	if (ended) {
		o->is_posted[o->taken[qp]] = false;
		mlx5_srq_complete(&o->srq, o->taken[qp]);
	}
	*index = o->next;
	assert_false(o->is_posted[*index]); /* one message per WQE, so none is posted twice */
	o->is_posted[*index] = true;
	o->is_busy[qp] = true;
	o->taken[qp] = *index;
	o->next = be16toh(srq_wqe(&o->srq, *index)->next_wqe_index);
	return ended;
}

/* Returns the average length of runs of neighbours in a ring of WQES, with POSTED requests, posted
 * in groups of BATCH. */
static double order_run_length(uint32_t wqes, uint32_t posted, uint32_t batch)
{
	struct order *o = order_new(wqes);
	uint32_t index, before = 0, ended = 0, runs = 0;

	order_post(o, posted);
	for (uint32_t i = 0; i < 2 * MESSAGES; i++) {
		ended += order_message(o, &index);
		runs += i >= MESSAGES && index != before + 1;
		before = index;
		if (ended == batch) {
			order_post(o, batch);
			ended = 0;
		}
	}
	order_free(o);
	return (double)MESSAGES / runs;
}

static const struct {
	uint32_t wqes, posted, batch;
	double at_least;
} cases[] = {
	{ 64, 32, 1, 20 },      { 1024, 512, 1, 500 }, /* max_wr = 512 */
	{ 1024, 512, 16, 500 }, { 4096, 2048, 1, 1000 }, { 1024, 900, 1, 200 },
	{ 1024, 1023, 256, 2 }, /* max_wr is all of the ring; posts in batches */
};

static void neighbours_follow_each_other(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		double length = order_run_length(cases[i].wqes, cases[i].posted, cases[i].batch);

		print_message("%u WQEs, %u posted, %u at a time: %.1f follow each other\n",
			      cases[i].wqes, cases[i].posted, cases[i].batch, length);
		assert_true(length >= cases[i].at_least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_follow_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
