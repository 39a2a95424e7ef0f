/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_ring_test.c - shared receive queues: golden bytes of WQEs, the list that links them, and
 * completions that return WQEs in any order.
 *
 * Covers: providers/mlx5/data/srq_ring.c, providers/mlx5/data/post_srq.c
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"
#include "util/bits.h"

#include <rdma/mlx5-abi.h>

#define WQES 4
#define SRQN 0x77
#define XRSN 0x000bbb

struct srq_rig {
	struct rig *rig;
	struct mlx5_srq srq;
	uint8_t ring[WQES << 6];
	uint64_t wr_ids[WQES];
	__be32 dbrec[2];
};

static struct srq_rig *srq_rig_new(bool shared)
{
	struct srq_rig *s = calloc(1, sizeof(*s));
	struct mlx5_srq *srq;

	assert_non_null(s);
	srq = &s->srq;
	s->rig = rig_new(NULL);
	srq->ring = s->ring;
	srq->wr_ids = s->wr_ids;
	srq->stride_log = 6;
	srq->max_sge = 3;
	srq->wqes = WQES;
	srq->max_wr = WQES - 1;
	srq->dbrec = s->dbrec;
	srq->srqn = SRQN;
	srq->post = mlx5_post_srq_routine(srq->max_sge, shared);
	qlock_init(&srq->lock, shared);
	assert_int_equal(mlx5_srq_ring_init(srq), 0);
	srq->rq.owner = RQ_OF_SRQ;
	srq->rq.special = RQ_SHARED;
	srq->rq.srq = srq;
	srq->rq.rsn = XRSN;
	assert_int_equal(provider_id_set(s->rig->ids, XRSN, &srq->rq), 0);
	s->rig->qp->rq.srq = srq;
	s->rig->qp->rq.special = RQ_SHARED;
	return s;
}

static void srq_rig_free(struct srq_rig *s)
{
	mlx5_srq_ring_free(&s->srq);
	rig_free(s->rig);
	free(s);
}

static int srq_post(struct srq_rig *s, uint64_t wr_id, int num_sge)
{
	static struct ibv_sge sges[] = {
		{ .addr = 0x00007fab01020304u, .length = 0x100, .lkey = 7 },
		{ .addr = 0x2000, .length = 0x20, .lkey = 8 },
		{ .addr = 0x3000, .length = 0x30, .lkey = 9 },
		{ .addr = 0x4000, .length = 0x40, .lkey = 10 }
	};
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sges, .num_sge = num_sge },
			   *bad = NULL;
	int ret = mlx5_post_srq_recv(&s->srq.vsrq.srq, &wr, &bad);

	assert_ptr_equal(bad, ret ? &wr : NULL);
	return ret;
}

static uint64_t poll_one(struct srq_rig *s)
{
	struct ibv_wc wc;

	assert_int_equal(mlx5_poll_cq(&s->rig->cq->vcq.cq, 1, &wc), 1);
	return wc.wr_id;
}

static void message_arrive(struct srq_rig *s, uint16_t wqe, uint32_t rsn)
{
	rig_complete(s->rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
						.wqe_counter = wqe,
						.byte_cnt = 8,
						.rsn = rsn });
}

static void a_wqe_is_link_then_segments_then_the_end_mark(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	assert_int_equal(srq_post(s, 1, 1), 0);
	check_bytes(s->ring, "00000001 00000000 00000000 00000000"
			     " 00000100 00000007 00007fab 01020304"
			     " 00000000 00000100 00000000 00000000");
	assert_int_equal(srq_post(s, 2, 3), 0);
	check_bytes(s->ring + 64, "00000002 00000000 00000000 00000000"
				  " 00000100 00000007 00007fab 01020304"
				  " 00000020 00000008 00000000 00002000"
				  " 00000030 00000009 00000000 00003000");
	assert_int_equal(be32toh(s->dbrec[0]), 2);
	srq_rig_free(s);
}

static void one_wqe_stays_free(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < WQES - 1; i++)
		assert_int_equal(srq_post(s, i, 1), 0);
	assert_int_equal(srq_post(s, 9, 1), ENOMEM);
	assert_int_equal(be32toh(s->dbrec[0]), WQES - 1);
	srq_rig_free(s);
}

static void a_list_stops_at_the_first_that_cannot_be_posted(void **state)
{
	struct srq_rig *s = srq_rig_new(false);
	struct ibv_recv_wr wrs[3] = { { .next = &wrs[1] }, { .next = &wrs[2], .num_sge = 4 } };
	struct ibv_recv_wr *bad;

	(void)state;
	assert_int_equal(mlx5_post_srq_recv(&s->srq.vsrq.srq, wrs, &bad), EINVAL);
	assert_ptr_equal(bad, &wrs[1]);
	assert_int_equal(be32toh(s->dbrec[0]), 1);
	wrs[1].num_sge = -1;
	assert_int_equal(mlx5_post_srq_recv(&s->srq.vsrq.srq, &wrs[1], &bad), EINVAL);
	srq_rig_free(s);
}

static void a_list_counts_each_of_its_requests(void **state)
{
	struct srq_rig *s = srq_rig_new(true);
	struct ibv_recv_wr wrs[2] = { { .next = &wrs[1] }, { .num_sge = 0 } }, *bad;

	(void)state;
	assert_int_equal(mlx5_post_srq_recv(&s->srq.vsrq.srq, wrs, &bad), 0);
	assert_int_equal(be32toh(s->dbrec[0]), 2);
	srq_rig_free(s);
}

static void page_fault(struct srq_rig *s, uint16_t wqe)
{
	rig_complete(s->rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_ERR,
						.wqe_counter = wqe,
						.syndrome = MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR,
						.vendor = MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT });
}

static int poll_nothing(struct srq_rig *s)
{
	struct ibv_wc wc;

	return mlx5_poll_cq(&s->rig->cq->vcq.cq, 1, &wc);
}

static uint16_t wqe_link(const struct srq_rig *s, uint16_t wqe)
{
	return be16toh(srq_wqe(&s->srq, wqe)->next_wqe_index);
}

/* The adapter takes as many WQEs as the record allows, by their links. All messages fault except
 * each fourth one; the library posts faulted requests again, and programs see none of the faults. A
 * failed WQE keeps its segments until the room for waiting WQEs is used up. */
static void a_request_that_met_an_absent_page_is_posted_again(void **state)
{
	struct srq_rig *s = srq_rig_new(true);
	unsigned int seen = 0, taken = 0;
	uint16_t next = 0, failed[2];
	uint8_t kept[2][48];

	(void)state;
	s->srq.max_wr = 1;
	s->srq.wr_ids = calloc(2, sizeof(uint64_t));
	mlx5_srq_ring_free(&s->srq);
	assert_int_equal(mlx5_srq_ring_init(&s->srq), 0);
	for (unsigned int i = 0; i < 64; i++) {
		if (i % 4 == 0)
			assert_int_equal(srq_post(s, 100 + i, 3), 0);
		assert_int_equal(srq_post(s, 1, 1), ENOMEM);
		assert_int_equal((uint16_t)(be32toh(s->dbrec[0]) - taken), 1);
		if (i % 4 == 3) {
			message_arrive(s, next, 0);
		} else {
			failed[i % 4 & 1] = next;
			memcpy(kept[i % 4 & 1], srq_wqe(&s->srq, next) + 1, 48);
			page_fault(s, next);
		}
		taken++;
		next = wqe_link(s, next);
		if (i % 4 == 3) {
			assert_int_equal(poll_one(s), 100 + i - 3);
			seen++;
		} else {
			assert_int_equal(poll_nothing(s), 0);
			/* The next WQE has the whole request. */
			assert_memory_equal(srq_wqe(&s->srq, next) + 1, kept[i % 4 & 1], 48);
		}
		for (unsigned int k = 0; k < 2 && i % 4 >= 1; k++) {
			assert_memory_equal(srq_wqe(&s->srq, failed[k]) + 1, kept[k], 48);
			/* they wait */
			assert_int_not_equal(next, failed[k]);
		}
	}
	assert_int_equal(seen, 16);
	free(s->srq.wr_ids);
	srq_rig_free(s);
}

/* After a start_poll without result there is no end_poll, so start_poll must publish the index
 * itself. */
static void a_start_poll_that_meets_only_faults_publishes_the_index(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct srq_rig *s = srq_rig_new(i);
		struct mlx5_cq *cq = s->rig->cq;
		struct ibv_poll_cq_attr attr = { 0 };

		qlock_init(&cq->lock, i);
		mlx5_cq_ex_fill(cq, 0);
		assert_int_equal(srq_post(s, 100, 1), 0);
		for (uint16_t wqe = 0; wqe < 2; wqe++) {
			page_fault(s, wqe);
			assert_int_equal(ibv_start_poll(&cq->vcq.cq_ex, &attr), ENOENT);
			assert_int_equal(be32toh(cq->dbrec[0]), wqe + 1);
		}
		message_arrive(s, 2, 0);
		assert_int_equal(ibv_start_poll(&cq->vcq.cq_ex, &attr), 0);
		assert_int_equal(cq->vcq.cq_ex.wr_id, 100);
		ibv_end_poll(&cq->vcq.cq_ex);
		assert_int_equal(be32toh(cq->dbrec[0]), 3);
		srq_rig_free(s);
	}
}

static void without_room_the_request_comes_back_all_the_same(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, 100 + i, 1), 0);
	page_fault(s, 0);
	assert_int_equal(poll_nothing(s), 0);
	assert_int_equal(be32toh(s->dbrec[0]), 4);
	message_arrive(s, 1, 0);
	message_arrive(s, 2, 0);
	message_arrive(s, 3, 0);
	assert_int_equal(poll_one(s), 101);
	assert_int_equal(poll_one(s), 102);
	assert_int_equal(poll_one(s), 100);
	srq_rig_free(s);
}

/* The QP is destroyed before any poll, so only the cleaning of its CQ can return the WQE. */
static void a_request_comes_back_also_when_its_cq_is_cleaned(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	assert_int_equal(srq_post(s, 100, 1), 0);
	page_fault(s, 0);
	mlx5_cq_clean(s->rig->cq, &s->rig->qp->rq);
	assert_int_equal(be32toh(s->dbrec[0]), 2);
	message_arrive(s, 1, 0);
	assert_int_equal(poll_one(s), 100);
	srq_rig_free(s);
}

/* The adapter takes 0, 1, 2; messages complete as 2, 0. The list goes on by address, so 3, 0, 2. */
static void wqes_come_back_in_the_order_of_addresses(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, 100 + i, 1), 0);
	message_arrive(s, 2, 0);
	message_arrive(s, 0, 0);
	assert_int_equal(poll_one(s), 102);
	assert_int_equal(poll_one(s), 100);
	assert_int_equal(srq_post(s, 103, 1), 0); /* into 3 */
	check_bytes(s->ring + 3 * 64, "00000000");
	assert_int_equal(srq_post(s, 104, 1), 0); /* into 0; 2 stays free */
	check_bytes(s->ring, "00000002");
	assert_int_equal(srq_post(s, 105, 1), ENOMEM);
	assert_int_equal(be32toh(s->dbrec[0]), 5);
	message_arrive(s, 3, 0);
	message_arrive(s, 0, 0);
	message_arrive(s, 1, 0);
	assert_int_equal(poll_one(s), 103);
	assert_int_equal(poll_one(s), 104);
	assert_int_equal(poll_one(s), 101);
	srq_rig_free(s);
}

/* WQE 2 is free, WQE 1 is in use, and the run of free WQEs ends before both: following numbers
 * instead of links would post WQE 1 twice. */
static void a_wqe_in_use_is_left_out(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, i, 1), 0);
	message_arrive(s, 0, 0);
	assert_int_equal(poll_one(s), 0);
	assert_int_equal(srq_post(s, 3, 1), 0);
	message_arrive(s, 2, 0);
	assert_int_equal(poll_one(s), 2);
	assert_int_equal(srq_post(s, 4, 1), 0);
	assert_int_equal(s->srq.head, 2);
	srq_rig_free(s);
}

static void free_wqes_are_linked_for_whoever_goes_on(void **state)
{
	struct srq_rig *s = srq_rig_new(true);
	struct srq_ends ends;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, 100 + i, 1), 0);
	message_arrive(s, 1, 0);
	assert_int_equal(poll_one(s), 101);
	ends = srq_show(&s->srq);
	assert_int_equal(ends.head, 3);
	assert_int_equal(ends.tail, 1);
	check_bytes(s->ring + 3 * 64, "00000001");
	assert_int_equal(srq_post(s, 103, 1), 0); /* the library may post as well */
	assert_int_equal(srq_post(s, 104, 1), ENOMEM);
	srq_rig_free(s);
}

static void the_record_counts_modulo_16_bits(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	s->srq.posted = 0xffff;
	assert_int_equal(srq_post(s, 1, 1), 0);
	assert_int_equal(be32toh(s->dbrec[0]), 0);
	assert_int_equal(srq_post(s, 2, 1), 0);
	assert_int_equal(be32toh(s->dbrec[0]), 1);
	srq_rig_free(s);
}

static void an_xrc_srq_is_found_by_its_own_number(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	assert_int_equal(srq_post(s, 1, 1), 0);
	assert_int_equal(srq_post(s, 2, 1), 0);
	message_arrive(s, 1, XRSN);
	message_arrive(s, 0, XRSN);
	assert_int_equal(poll_one(s), 2);
	assert_int_equal(poll_one(s), 1);
	srq_rig_free(s);
}

static void an_error_gives_its_wqe_back_too(void **state)
{
	struct srq_rig *s = srq_rig_new(true);
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(srq_post(s, 1, 1), 0);
	assert_int_equal(srq_post(s, 2, 1), 0);
	rig_complete(s->rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_ERR,
						.wqe_counter = 1,
						.syndrome = 0x04,
						.vendor = 0x51 });
	assert_int_equal(mlx5_poll_cq(&s->rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	assert_true(s->srq.free_map.is_free[1]);
	srq_rig_free(s);
}

static void a_payload_in_the_cqe_goes_to_the_wqe_that_it_names(void **state)
{
	struct srq_rig *s = srq_rig_new(true);
	char first[16] = "", second[16] = "";
	struct ibv_sge to[] = { { .addr = (uintptr_t)first, .length = 3, .lkey = 1 },
				{ .addr = (uintptr_t)second, .length = 16, .lkey = 1 } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = to, .num_sge = 2 }, *bad;
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(srq_post(s, 4, 1), 0);
	assert_int_equal(mlx5_post_srq_recv(&s->srq.vsrq.srq, &wr, &bad), 0);
	rig_complete(s->rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
						.wqe_counter = 1,
						.byte_cnt = 8,
						.payload = "abcdefgh" });
	assert_int_equal(mlx5_poll_cq(&s->rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_string_equal(first, "abc");
	assert_string_equal(second, "defgh");
	srq_rig_free(s);
}

static void a_qp_that_goes_away_leaves_its_wqes_to_the_others(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, i, 1), 0);
	message_arrive(s, 0, 0);
	message_arrive(s, 1, XRSN);
	message_arrive(s, 2, 0);
	mlx5_cq_clean(s->rig->cq, &s->rig->qp->rq);
	assert_int_equal(poll_one(s), 1);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, i, 1), 0);
	srq_rig_free(s);
}

/* Each completion of a run frees its WQE, whether the library or the program reads the run, as
 * either may post. */
static void each_of_a_run_leaves_its_wqe_to_the_others(void **state)
{
	enum { COMPRESSED = 3 << 2 };

	(void)state;
	for (unsigned int shown = 0; shown < 2; shown++) {
		struct srq_rig *s = srq_rig_new(true);
		struct mlx5_cq *cq = s->rig->cq;

		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(srq_post(s, i, 1), 0);
		if (shown)
			mlx5_cq_show(cq);
		rig_complete(s->rig,
			     &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .byte_cnt = 3 });
		cq->ring[63] |= COMPRESSED;
		mlx5_cq_clean(cq, &s->rig->qp->rq);
		assert_int_equal(cq->ci, shown ? 0 : 3);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(srq_post(s, i, 1), 0);
		srq_rig_free(s);
	}
}

/* Mini CQEs may name WQEs that are not neighbours, so each is freed by its own index. */
static void a_run_names_the_wqe_of_each(void **state)
{
	enum { COMPRESSED = 3 << 2, MINI = 8 };
	static const uint16_t order[] = { 2, 0, 1 };

	(void)state;
	for (unsigned int cleaned = 0; cleaned < 2; cleaned++) {
		struct srq_rig *s = srq_rig_new(true);
		struct mlx5_cq *cq = s->rig->cq;

		cq->mini_cqe_format = MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(srq_post(s, i, 1), 0);
		if (cleaned)
			mlx5_cq_show(cq);
		rig_complete(s->rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
							.byte_cnt = 3,
							.wqe_counter = 2 });
		cq->ring[63] |= COMPRESSED;
		for (unsigned int i = 0; i < 3; i++)
			cq->ring[64 + i * MINI + 3] = (uint8_t)order[i];
		if (cleaned)
			mlx5_cq_clean(cq, &s->rig->qp->rq);
		for (unsigned int i = 0; i < 3 && !cleaned; i++)
			assert_int_equal(poll_one(s), order[i]);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(srq_post(s, i, 1), 0);
		srq_rig_free(s);
	}
}

/* Advances the doorbell record by COUNT, as a program does that posts to the ring itself. */
static void program_posts(struct srq_rig *s, uint32_t count)
{
	s->dbrec[0] = htobe32((be32toh(s->dbrec[0]) + count) & 0xffff);
}

static bool wqe_comes_back(struct srq_rig *s, uint16_t wqe)
{
	message_arrive(s, wqe, 0);
	mlx5_cq_clean(s->rig->cq, &s->rig->qp->rq);
	return s->srq.free_map.is_free[wqe];
}

static void whoever_moves_the_record_has_the_ring(void **state)
{
	static const uint32_t counts[] = { 1, 3, 0xffff, 0x10000, 0x10001, 0x30000 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(counts); i++) {
		struct srq_rig *s = srq_rig_new(true);

		srq_show(&s->srq);
		program_posts(s, counts[i]);
		assert_false(wqe_comes_back(s, 0));
		srq_rig_free(s);
	}
}

/* A ring that the program has taken stays the program's, even if the record equals the library's:
 * the program may post at any time. */
static void a_ring_that_was_taken_stays_so(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	srq_show(&s->srq);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, i, 1), 0);
	assert_true(wqe_comes_back(s, 0));
	program_posts(s, 1);
	assert_false(wqe_comes_back(s, 1));
	program_posts(s, 0xffff);
	assert_false(wqe_comes_back(s, 2));
	srq_rig_free(s);
}

/* After another mlx5dv_init_obj(), before or after the program's first post, the program's links
 * stay, as its posts depend on them. */
static void a_program_that_is_told_again_keeps_its_links(void **state)
{
	(void)state;
	for (uint32_t posted = 0; posted < 2; posted++) {
		struct srq_rig *s = srq_rig_new(true);
		struct srq_ends ends = srq_show(&s->srq), same;

		for (uint16_t i = 0; i < WQES; i++)
			srq_wqe(&s->srq, i)->next_wqe_index = htobe16((i + 3) % WQES);
		program_posts(s, posted);
		same = srq_show(&s->srq);
		for (uint16_t i = 0; i < WQES; i++)
			assert_int_equal(wqe_link(s, i), (i + 3) % WQES);
		assert_true(ends.head == same.head && ends.tail == same.tail);
		srq_rig_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wqe_is_link_then_segments_then_the_end_mark),
		cmocka_unit_test(one_wqe_stays_free),
		cmocka_unit_test(a_list_stops_at_the_first_that_cannot_be_posted),
		cmocka_unit_test(a_list_counts_each_of_its_requests),
		cmocka_unit_test(a_request_that_met_an_absent_page_is_posted_again),
		cmocka_unit_test(a_start_poll_that_meets_only_faults_publishes_the_index),
		cmocka_unit_test(without_room_the_request_comes_back_all_the_same),
		cmocka_unit_test(a_request_comes_back_also_when_its_cq_is_cleaned),
		cmocka_unit_test(wqes_come_back_in_the_order_of_addresses),
		cmocka_unit_test(a_wqe_in_use_is_left_out),
		cmocka_unit_test(free_wqes_are_linked_for_whoever_goes_on),
		cmocka_unit_test(the_record_counts_modulo_16_bits),
		cmocka_unit_test(an_xrc_srq_is_found_by_its_own_number),
		cmocka_unit_test(an_error_gives_its_wqe_back_too),
		cmocka_unit_test(a_payload_in_the_cqe_goes_to_the_wqe_that_it_names),
		cmocka_unit_test(a_qp_that_goes_away_leaves_its_wqes_to_the_others),
		cmocka_unit_test(each_of_a_run_leaves_its_wqe_to_the_others),
		cmocka_unit_test(a_run_names_the_wqe_of_each),
		cmocka_unit_test(whoever_moves_the_record_has_the_ring),
		cmocka_unit_test(a_ring_that_was_taken_stays_so),
		cmocka_unit_test(a_program_that_is_told_again_keeps_its_links),
	};

	return RIG_RUN(tests);
}
