/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - shared receive queues: golden bytes of their WQEs, the list that links them, and
 * completions that put WQEs back in any order.
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/srq.h"
#include "util/bits.h"

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
	srq->dbrec = s->dbrec;
	srq->srqn = SRQN;
	srq->post = mlx5_post_srq_routine(srq->max_sge, shared);
	qlock_init(&srq->lock, shared);
	mlx5_srq_ring_init(srq);
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

/* The adapter walks 0, 1, 2; messages complete as 2, 0: those come next after 3, in that order. */
static void completions_in_any_order_put_wqes_behind_the_last_free_one(void **state)
{
	struct srq_rig *s = srq_rig_new(true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(srq_post(s, 100 + i, 1), 0);
	message_arrive(s, 2, 0);
	message_arrive(s, 0, 0);
	assert_int_equal(poll_one(s), 102);
	assert_int_equal(poll_one(s), 100);
	check_bytes(s->ring + 3 * 64, "00000002");
	check_bytes(s->ring + 2 * 64, "00000000");
	assert_int_equal(srq_post(s, 103, 1), 0); /* into 3 */
	assert_int_equal(srq_post(s, 104, 1), 0); /* into 2; 0 stays free */
	assert_int_equal(srq_post(s, 105, 1), ENOMEM);
	assert_int_equal(be32toh(s->dbrec[0]), 5);
	message_arrive(s, 3, 0);
	message_arrive(s, 2, 0);
	message_arrive(s, 1, 0);
	assert_int_equal(poll_one(s), 103);
	assert_int_equal(poll_one(s), 104);
	assert_int_equal(poll_one(s), 101);
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
	assert_int_equal(s->srq.tail, 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wqe_is_link_then_segments_then_the_end_mark),
		cmocka_unit_test(one_wqe_stays_free),
		cmocka_unit_test(a_list_stops_at_the_first_that_cannot_be_posted),
		cmocka_unit_test(completions_in_any_order_put_wqes_behind_the_last_free_one),
		cmocka_unit_test(the_record_counts_modulo_16_bits),
		cmocka_unit_test(an_xrc_srq_is_found_by_its_own_number),
		cmocka_unit_test(an_error_gives_its_wqe_back_too),
		cmocka_unit_test(a_payload_in_the_cqe_goes_to_the_wqe_that_it_names),
		cmocka_unit_test(a_qp_that_goes_away_leaves_its_wqes_to_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
