/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_done_test.c - messages of an SRQ with tag matching, by prepared CQEs: unexpected messages in
 * the WQE that the CQE names, their counts, and payload inside the CQE.
 */
#include "rig.h"

#include <string.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/data/tm_done.h"
#include "providers/mlx5/tm.h"
#include "util/bits.h"

enum { WQES = 4, STRIDE_LOG = 5, TAGS = 4, RSN = 0x000bbb };

static struct {
	struct rig *rig;
	struct mlx5_srq srq;
	struct mlx5_tm tm;
	struct tm_tag tags[TAGS];
	uint8_t ring[WQES << STRIDE_LOG] __attribute__((aligned(64)));
	uint64_t wr_ids[WQES];
	__be32 dbrec[2];
} it;

static int tm_begin(void **state)
{
	struct mlx5_srq *srq = &it.srq;

	(void)state;
	memset(&it, 0, sizeof(it));
	it.rig = rig_new(&(struct rig_options){ .cqes = 16 });
	srq->ring = it.ring;
	srq->wr_ids = it.wr_ids;
	srq->stride_log = STRIDE_LOG;
	srq->max_sge = 1;
	srq->wqes = WQES;
	srq->max_wr = WQES - 1;
	srq->dbrec = it.dbrec;
	srq->post = mlx5_post_srq_routine(srq->max_sge, true);
	qlock_init(&srq->lock, true);
	assert_int_equal(mlx5_srq_ring_init(srq), 0);
	srq->rq.owner = RQ_OF_SRQ;
	srq->rq.special = RQ_OTHER;
	srq->rq.srq = srq;
	srq->rq.rsn = RSN;
	srq->tm = &it.tm;
	it.tm.tags = it.tags;
	it.tm.size = TAGS;
	assert_int_equal(provider_id_set(it.rig->ids, RSN, &srq->rq), 0);
	return 0;
}

static int tm_end(void **state)
{
	(void)state;
	mlx5_srq_ring_free(&it.srq);
	rig_free(it.rig);
	return 0;
}

static void srq_post(uint64_t wr_id, void *buf, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)buf, length, 7 };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	assert_int_equal(mlx5_post_srq_recv(&it.srq.vsrq.srq, &wr, &bad), 0);
}

/* Delivers the CQE as one of tag matching. */
static void message_arrive(struct rig_cqe cqe, uint8_t op)
{
	uint8_t *entry = it.rig->cq->ring + (size_t)(it.rig->cq_pi & it.rig->cq->mask) * 64;

	cqe.rsn = RSN;
	rig_complete(it.rig, &cqe);
	fld_set(entry, CQE_APP, CQE_APP_TAG_MATCHING);
	fld_set(entry, CQE_APP_OP, op);
}

static struct ibv_wc poll_one(void)
{
	struct ibv_wc wc;

	memset(&wc, 0xee, sizeof(wc));
	assert_int_equal(mlx5_poll_cq(&it.rig->cq->vcq.cq, 1, &wc), 1);
	return wc;
}

static struct ibv_wc unmatched(uint16_t counter, uint8_t op, unsigned int opcode)
{
	message_arrive((struct rig_cqe){ .opcode = opcode, .wqe_counter = counter, .byte_cnt = 8 },
		       op);
	return poll_one();
}

/* Messages take WQEs in any order, and a freed WQE is reused at once. */
static void a_message_without_a_tag_is_in_the_wqe_that_its_cqe_names(void **state)
{
	static const uint16_t order[] = { 1, 0, 2 };
	static const uint16_t again[] = { 3, 1, 0 }; /* WQEs stay in the order of their messages */
	char buf[64];

	(void)state;
	for (uint64_t i = 0; i < ARRAY_SIZE(order); i++)
		srq_post(100 + i, buf, sizeof(buf));
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		struct ibv_wc wc = unmatched(order[i], TM_CQE_UNEXPECTED, MLX5_CQE_RESP_SEND);

		assert_int_equal(wc.wr_id, 100 + order[i]);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, IBV_WC_TM_RECV);
		assert_int_equal(wc.wc_flags, 0);
		assert_int_equal(wc.byte_len, 8);
	}
	for (uint64_t i = 0; i < ARRAY_SIZE(again); i++)
		srq_post(200 + i, buf, sizeof(buf));
	for (unsigned int i = 0; i < ARRAY_SIZE(again); i++) {
		uint32_t wqe = (WQES - 1 + i) % WQES;

		assert_int_equal(
			unmatched((uint16_t)wqe, TM_CQE_UNEXPECTED, MLX5_CQE_RESP_SEND).wr_id,
			200 + i);
	}
}

/* The WQE counter exceeds the ring, so only its low bits are the WQE's index. */
static void the_counter_is_taken_modulo_the_ring(void **state)
{
	char buf[64];

	(void)state;
	srq_post(100, buf, sizeof(buf));
	srq_post(101, buf, sizeof(buf));
	assert_int_equal(unmatched(0xfffd, TM_CQE_UNEXPECTED, MLX5_CQE_RESP_SEND).wr_id, 101);
	assert_int_equal(unmatched(0xfffc, TM_CQE_UNEXPECTED, MLX5_CQE_RESP_SEND).wr_id, 100);
}

/* A message without a tag header is an ordinary one, so it is not counted. */
static void a_message_without_headers_is_not_counted(void **state)
{
	char buf[64];
	struct ibv_wc wc;

	(void)state;
	srq_post(100, buf, sizeof(buf));
	srq_post(101, buf, sizeof(buf));
	wc = unmatched(0, TM_CQE_NO_TAG, MLX5_CQE_RESP_SEND_IMM);
	assert_int_equal(wc.wr_id, 100);
	assert_int_equal(wc.opcode, IBV_WC_TM_NO_TAG);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);
	assert_int_equal(it.tm.seen, 0);
	unmatched(1, TM_CQE_UNEXPECTED, MLX5_CQE_RESP_SEND);
	assert_int_equal(it.tm.seen, 1);
}

/* PRM: the counts have 16 bits, so the library requests a sync when the program lags by 1 << 14. */
static void too_many_untold_messages_ask_for_a_sync(void **state)
{
	static const uint16_t told[] = { 0, 0xc123, 0xffff };
	char buf[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(told); i++) {
		it.tm.told = told[i];
		it.tm.seen = (uint16_t)(told[i] + (1 << 14) - 1);
		for (unsigned int k = 0; k < 2; k++) {
			struct ibv_wc wc;

			srq_post(1, buf, sizeof(buf));
			wc = unmatched((uint16_t)(2 * i + k), TM_CQE_UNEXPECTED,
				       MLX5_CQE_RESP_SEND);
			assert_int_equal(wc.wc_flags, k ? IBV_WC_TM_SYNC_REQ : 0);
		}
		assert_int_equal(it.tm.seen, (uint16_t)(told[i] + (1 << 14) + 1));
	}
}

/* A payload inside the CQE must fit into the WQE's buffer, as the library copies it; else the
 * request fails. */
static void a_payload_inside_the_cqe_fits_its_wqe_or_fails(void **state)
{
	struct ibv_cq_ex *cqx = &it.rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	const struct rig_cqe cqe = { .opcode = MLX5_CQE_RESP_SEND,
				     .byte_cnt = 8,
				     .payload = "abcdefgh" };
	struct rig_cqe second = cqe;
	char first[9] = "", tight[9] = "";
	struct ibv_wc wc;

	(void)state;
	srq_post(100, first, 8);
	srq_post(101, tight, 3);
	srq_post(102, tight, 3);
	message_arrive(cqe, TM_CQE_UNEXPECTED);
	wc = poll_one();
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_string_equal(first, "abcdefgh");
	second.wqe_counter = 1;
	message_arrive(second, TM_CQE_UNEXPECTED);
	wc = poll_one();
	assert_int_equal(wc.wr_id, 101);
	assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_string_equal(tight, "abc");
	second.wqe_counter = 2;
	message_arrive(second, TM_CQE_NO_TAG);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(cqx->wr_id, 102);
	assert_int_equal(cqx->status, IBV_WC_LOC_LEN_ERR);
	ibv_end_poll(cqx);
}

/* An unknown operation fails its tag, as it would index beyond the table. */
static void an_unknown_operation_fails_its_tag(void **state)
{
	(void)state;
	for (unsigned int op = 0; op <= UINT8_MAX; op++) {
		struct ibv_wc wc;

		if (op && op <= TM_CQE_CANCELED && op != TM_CQE_CONSUMED_SW_RNDV - 1)
			continue;
		it.tags[0] = (struct tm_tag){ .recv_wr_id = 0x77, .used = true };
		it.tm.tail = 1;
		message_arrive((struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND }, (uint8_t)op);
		wc = poll_one();
		assert_int_equal(wc.wr_id, 0x77);
		assert_int_equal(wc.status, IBV_WC_GENERAL_ERR);
		assert_int_equal(wc.wc_flags, 0);
		assert_false(it.tags[0].used);
	}
}

#define TM_TEST(test) cmocka_unit_test_setup_teardown(test, tm_begin, tm_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TM_TEST(a_message_without_a_tag_is_in_the_wqe_that_its_cqe_names),
		TM_TEST(the_counter_is_taken_modulo_the_ring),
		TM_TEST(a_message_without_headers_is_not_counted),
		TM_TEST(too_many_untold_messages_ask_for_a_sync),
		TM_TEST(a_payload_inside_the_cqe_fits_its_wqe_or_fails),
		TM_TEST(an_unknown_operation_fails_its_tag),
	};

	return RIG_RUN(tests);
}
