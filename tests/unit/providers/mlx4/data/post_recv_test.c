/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv_test.c - bytes of receive WQEs in a QP's ring and in a shared one: non-empty buffers
 * in their order, and a terminator if the WQE has more room.
 *
 * Covers: providers/mlx4/data/post_recv.c, providers/mlx4/srq.c
 */
#include "rig.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx4/srq.h"
#include "util/bits.h"

enum { MAX_SGES = 16, RUBBISH = 0x5a };

/* Fills N buffers; buffer EMPTY has length 0, or none if EMPTY is -1. */
static void buffers_fill(struct ibv_sge *sge, int n, int empty)
{
	for (int i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ 0x1111222233330000u + (unsigned int)i,
					   i == empty ? 0 : 0x100u + (unsigned int)i,
					   0x5500u + (unsigned int)i };
}

static void check_segments(const uint8_t *wqe, uint32_t capacity, const struct ibv_sge *sge, int n)
{
	uint32_t at = 0;

	for (int i = 0; i < n; i++) {
		if (!sge[i].length)
			continue;
		assert_int_equal(fld_get(wqe + at * M4_SEG, M4_DATA_LEN), sge[i].length);
		assert_int_equal(fld_get(wqe + at * M4_SEG, M4_DATA_LKEY), sge[i].lkey);
		assert_int_equal(fld_get(wqe + at * M4_SEG, M4_DATA_ADDR), sge[i].addr);
		at++;
	}
	if (at < capacity) {
		assert_int_equal(fld_get(wqe + at * M4_SEG, M4_DATA_LEN), 0);
		assert_int_equal(fld_get(wqe + at * M4_SEG, M4_DATA_LKEY), M4_TERMINATOR_LKEY);
	}
}

/* Posts two equal requests, as a LIST or one by one. */
static void post_two(struct rig *rig, struct ibv_sge *sge, int n, bool list)
{
	struct ibv_recv_wr wr[2] = { { .sg_list = sge, .num_sge = n },
				     { .sg_list = sge, .num_sge = n } };
	struct ibv_recv_wr *bad;

	wr[0].next = list ? &wr[1] : NULL;
	assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, wr, &bad), 0);
	if (!list)
		assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr[1], &bad), 0);
}

static void ring_has_the_buffers(uint32_t sges, int n, int empty, bool list)
{
	const struct rig_options options = { .recv_sge = sges };
	struct rig *rig = rig_new(&options);
	const struct mlx4_rq *rq = &rig->qp->rq;
	const uint32_t stride = 1u << rq->stride_log;
	struct ibv_sge sge[MAX_SGES];

	assert_int_equal(rq->max_sge, sges);
	buffers_fill(sge, n, empty);
	memset(rq->buf, RUBBISH, 3 * stride);
	post_two(rig, sge, n, list);
	for (uint32_t i = 0; i < 2; i++)
		check_segments(rq->buf + i * stride, sges, sge, n);
	check_bytes(rq->buf + 2 * stride, "5a5a5a5a");
	check_bytes(rq->dbrec, "00000002");
	rig_free(rig);
}

static void buffers_with_bytes_are_in_their_order(void **state)
{
	(void)state;
	for (uint32_t sges = 1; sges <= MAX_SGES; sges *= 2)
		for (int n = 0; n <= (int)sges; n++)
			for (int empty = -1; empty < n; empty++)
				for (int list = 0; list < 2; list++)
					ring_has_the_buffers(sges, n, empty, list);
}

/* The record's count has 16 bits and wraps; the other bits stay 0. It begins at 0xffff, so that the
 * first post wraps it. */
static void count_of_receives_goes_round(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct mlx4_rq *rq = &rig->qp->rq;
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	(void)state;
	rq->wq.head = rq->wq.tail = 0xffff;
	rq->wq.limit = rq->wq.head + rq->wq.max_post;
	assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rq->dbrec, "00000000");
	assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rq->dbrec, "00000001");
	rig_free(rig);
}

static struct mlx4_srq *new_srq(struct rig *rig, uint32_t wqes, uint32_t sges)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = wqes, .max_sge = sges },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = &rig->pd.pd,
	};
	struct verbs_srq *vsrq;

	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &vsrq), 0);
	return to_msrq(&vsrq->srq);
}

static void shared_ring_has_the_buffers(struct rig *rig, uint32_t sges, int n, int empty, bool list)
{
	struct mlx4_srq *srq = new_srq(rig, 3, sges);
	struct ibv_sge sge[MAX_SGES];
	struct ibv_recv_wr wr[2] = { { .wr_id = 10, .sg_list = sge, .num_sge = n },
				     { .wr_id = 11, .sg_list = sge, .num_sge = n } };
	struct ibv_recv_wr *bad;

	buffers_fill(sge, n, empty);
	for (uint32_t i = 0; i < srq->wqes; i++)
		memset(srq_wqe(srq, i) + M4_SEG, RUBBISH, (1u << srq->stride_log) - M4_SEG);
	wr[0].next = list ? &wr[1] : NULL;
	assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, wr, &bad), 0);
	if (!list)
		assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr[1], &bad), 0);
	for (uint32_t i = 0; i < 2; i++) {
		check_segments(srq_wqe(srq, i) + M4_SEG, srq->max_sge, sge, n);
		assert_int_equal(fld_get(srq_wqe(srq, i), M4_SRQ_NEXT), i + 1);
		assert_int_equal(srq->wr_ids[i], 10 + i);
	}
	assert_int_equal(srq->head, 2);
	check_bytes(srq->dbrec, "00000002");
	assert_int_equal(mlx4_srq_destroy(&srq->vsrq.srq), 0);
}

static void shared_buffers_are_in_their_order(void **state)
{
	struct rig *rig = rig_new(NULL);

	(void)state;
	for (uint32_t sges = 1; sges < MAX_SGES; sges = sges * 2 + 1)
		for (int n = 0; n <= (int)sges; n++)
			for (int empty = -1; empty < n; empty++)
				for (int list = 0; list < 2; list++)
					shared_ring_has_the_buffers(rig, sges, n, empty, list);
	rig_free(rig);
}

/* WQEs are freed in any order, and reused in that order. The order here goes neither up nor down,
 * so that no order of indices passes for it. */
static void free_wqes_are_taken_as_they_came_back(void **state)
{
	static const uint16_t back[] = { 2, 0, 1 };
	struct rig *rig = rig_new(NULL);
	struct mlx4_srq *srq = new_srq(rig, 3, 1);
	struct ibv_sge sge = { 0x1000, 1, 1 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		wr.wr_id = i;
		assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	}
	assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), ENOMEM);
	for (unsigned int i = 0; i < ARRAY_SIZE(back); i++)
		assert_int_equal(srq_complete(srq, back[i]), back[i]);
	/* the last WQE ends the list and is never posted, as the next post links behind it */
	assert_int_equal(srq->head, 3);
	for (uint64_t i = 10; i < 13; i++) {
		wr.wr_id = i;
		assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	}
	assert_int_equal(srq->wr_ids[3], 10);
	assert_int_equal(srq->wr_ids[2], 11);
	assert_int_equal(srq->wr_ids[0], 12);
	check_bytes(srq->dbrec, "00000006");
	check_bytes(srq_wqe(srq, 2), "00000000");
	assert_int_equal(mlx4_srq_destroy(&srq->vsrq.srq), 0);
	rig_free(rig);
}

/* A shared ring's count has 16 bits as well. It begins at the last value of 15 bits, and then of
 * 16, since a mask that is too narrow shows there. */
static void count_of_shared_receives_goes_round(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct mlx4_srq *srq = new_srq(rig, 3, 1);
	struct ibv_sge sge = { 0x1000, 1, 1 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	srq->dbrec[0] = htobe32(0x7fff);
	assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	check_bytes(srq->dbrec, "00008000");
	srq->dbrec[0] = htobe32(0xffff);
	assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	check_bytes(srq->dbrec, "00000000");
	assert_int_equal(mlx4_post_srq_recv(&srq->vsrq.srq, &wr, &bad), 0);
	check_bytes(srq->dbrec, "00000001");
	assert_int_equal(mlx4_srq_destroy(&srq->vsrq.srq), 0);
	rig_free(rig);
}

struct post {
	struct mlx4_srq *srq;
	struct ibv_recv_wr *wr;
	int ret;
};

static void *post_shared(void *arg)
{
	struct post *post = arg;
	struct ibv_recv_wr *bad;

	post->ret = mlx4_post_srq_recv(&post->srq->vsrq.srq, post->wr, &bad);
	return NULL;
}

/* While another thread holds the lock, posts of all kinds wait for it, as two posts would write one
 * slot, and they release it. */
static void a_shared_ring_is_posted_to_under_its_lock(void **state)
{
	struct ibv_sge sges[2] = { { 0x1000, 1, 1 }, { 0x2000, 1, 1 } };
	struct ibv_recv_wr last = { .sg_list = sges, .num_sge = 1 };
	struct ibv_recv_wr wr[] = { { .sg_list = sges, .num_sge = 1 },
				    { .num_sge = 0 },
				    { .sg_list = sges, .num_sge = 1, .next = &last } };

	(void)state;
	for (uint32_t sges_of_wqe = 1; sges_of_wqe <= 3; sges_of_wqe += 2)
		for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++) {
			struct rig *rig = rig_new(NULL);
			struct post post = { new_srq(rig, 3, sges_of_wqe), &wr[i], -1 };
			pthread_t thread;

			assert_true(qlock_exchange(&post.srq->lock));
			assert_int_equal(pthread_create(&thread, NULL, post_shared, &post), 0);
			usleep(2000);
			assert_int_equal(post.srq->head, 0);
			qlock_drop(&post.srq->lock);
			assert_int_equal(pthread_join(thread, NULL), 0);
			assert_int_equal(post.ret, 0);
			assert_int_equal(post.srq->head, i == 2 ? 2 : 1);
			assert_int_equal(post.srq->lock.taken, 0);
			assert_int_equal(mlx4_srq_destroy(&post.srq->vsrq.srq), 0);
			rig_free(rig);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_with_bytes_are_in_their_order),
		cmocka_unit_test(count_of_receives_goes_round),
		cmocka_unit_test(shared_buffers_are_in_their_order),
		cmocka_unit_test(free_wqes_are_taken_as_they_came_back),
		cmocka_unit_test(count_of_shared_receives_goes_round),
		cmocka_unit_test(a_shared_ring_is_posted_to_under_its_lock),
	};

	return RIG_RUN(tests);
}
