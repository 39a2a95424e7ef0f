/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell_order_test.c - memory that the adapter could see at each barrier of the data path: a
 * WQE before the record that covers it, the record before the register, the register before the
 * next store; and no read of a CQE before the barrier behind its owner bit.
 *
 * Covers: providers/mlx5/data/doorbell.c, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/post_recv.c, providers/mlx5/data/post_srq.c, providers/mlx5/data/cq/poll_cq.c
 */
#include <string.h>

#include "rig.h"

#include "prm/mlx5/uar.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"

struct moment {
	enum order_barrier barrier;
	uint32_t wqe, record, reg;
};

static struct {
	const uint8_t *wqe;
	const __be32 *record;
	const uint8_t *reg;
	struct moment moments[16];
	unsigned int count;
	/* An entry whose body appears at this load barrier, counted from 1; 0: at any. */
	uint8_t *cqe;
	uint8_t body[63];
	unsigned int arrives, loads;
} watch;

static uint32_t word_at(const void *at)
{
	uint32_t word = 0;

	if (at)
		memcpy(&word, at, sizeof(word));
	return word;
}

void order_watch(enum order_barrier barrier)
{
	assert_true(watch.count < 16);
	watch.moments[watch.count++] = (struct moment){
		.barrier = barrier,
		.wqe = word_at(watch.wqe),
		.record = word_at(watch.record),
		.reg = word_at(watch.reg),
	};
	watch.loads += barrier == DMA_LOAD;
	if (watch.cqe && barrier == DMA_LOAD && (!watch.arrives || watch.arrives == watch.loads))
		memcpy(watch.cqe, watch.body, sizeof(watch.body));
}

static void watch_start(const void *wqe, const __be32 *record, const void *reg)
{
	memset(&watch, 0, sizeof(watch));
	watch.wqe = wqe;
	watch.record = record;
	watch.reg = reg;
}

#define assert_moment(n, what, has_wqe, has_record, has_reg)             \
	do {                                                             \
		assert_true((n) < watch.count);                          \
		assert_int_equal(watch.moments[n].barrier, what);        \
		assert_int_equal(!!watch.moments[n].wqe, has_wqe);       \
		assert_int_equal(!!watch.moments[n].record, has_record); \
		assert_int_equal(!!watch.moments[n].reg, has_reg);       \
	} while (0)

static void assert_rung(void)
{
	assert_moment(0, DMA_STORE, true, false, false);
	assert_moment(1, WC_START, true, true, false);
	assert_moment(2, WC_FLUSH, true, true, true);
	assert_int_equal(watch.count, 3);
}

static struct ibv_sge sge = { .addr = 0x1000, .length = 16, .lkey = 7 };

static void post_one(struct rig *rig)
{
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

static void post_list(struct rig *rig)
{
	struct ibv_send_wr next = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_send_wr wr = next;

	wr.next = &next;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

static void post_batch(struct rig *rig)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void post_binding(struct rig *rig)
{
	struct ibv_pd pd = { .handle = 1 };
	struct verbs_mr region = { .mr.pd = &pd };
	struct ibv_mw mw = { .pd = &pd, .type = IBV_MW_TYPE_2 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad;

	wr.bind_mw.mw = &mw;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ &region.mr, 0x1000, 16, 0 };
	rig->qp->vqp.qp.pd = &pd;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
}

/* Posts in each way, by doorbell and by BlueFlame, on a register of this use. */
static void posts_ring_in_order(struct mlx5_bfreg *bfreg, uint8_t *reg)
{
	static void (*const posts[])(struct rig *) = { post_one, post_list, post_batch,
						       post_binding };
	struct rig_options opt = { .bfreg = bfreg };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(posts); i++) {
		struct rig *rig;

		opt.bf_max = i % 2 ? 256 : 0;
		rig = rig_new(&opt);
		if (bfreg) {
			memset(reg, 0, 4 * WQE_BB);
			bfreg->half = reg;
		}
		watch_start(rig_sq(rig, 0), &rig->qp->dbrec[MLX5_SND_DBR],
			    bfreg ? reg : rig->qp->sq.db.reg);
		posts[i / 2](rig);
		assert_rung();
		rig_free(rig);
	}
}

static void sends_are_wqe_record_register(void **state)
{
	static const enum bfreg_use uses[] = { BFREG_DOMAIN, BFREG_SHARED };
	static uint8_t reg[4 * WQE_BB] __attribute__((aligned(64)));

	(void)state;
	posts_ring_in_order(NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		struct mlx5_bfreg bfreg = { .reg = reg, .use = uses[i], .pushes = true };

		qlock_init(&bfreg.lock, true);
		posts_ring_in_order(&bfreg, reg);
	}
}

static void receives_are_wqe_record(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	watch_start(rig_rq(rig, 0), &rig->qp->dbrec[MLX5_RCV_DBR], NULL);
	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	assert_moment(0, DMA_STORE, true, false, false);
	assert_int_equal(watch.count, 1);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 1);
	rig_free(rig);
}

static void requests_of_an_srq_are_wqe_record(void **state)
{
	uint8_t ring[4 << 5] __attribute__((aligned(64))) = { 0 };
	uint64_t wr_ids[4];
	__be32 dbrec[2] = { 0 };
	struct mlx5_srq srq = {
		.ring = ring,
		.wr_ids = wr_ids,
		.stride_log = 5,
		.max_sge = 1,
		.wqes = 4,
		.max_wr = 3,
		.dbrec = dbrec,
		.post = mlx5_post_srq_routine(1, false),
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	assert_int_equal(mlx5_srq_ring_init(&srq), 0);
	watch_start(ring + 16, &dbrec[MLX5_RCV_DBR], NULL);
	assert_int_equal(mlx5_post_srq_recv(&srq.vsrq.srq, &wr, &bad), 0);
	assert_moment(0, DMA_STORE, true, false, false);
	assert_int_equal(watch.count, 1);
	assert_int_equal(be32toh(dbrec[MLX5_RCV_DBR]), 1);
	mlx5_srq_ring_free(&srq);
}

static void an_arm_request_is_record_register(void **state)
{
	struct rig *rig = rig_new(NULL);

	(void)state;
	watch_start(NULL, &rig->cq->dbrec[1], rig->uar + MLX5_CQ_DOORBELL);
	doorbell_cq_arm(rig->cq->dbrec, rig->uar, RIG_CQN, 5, 1, false);
	assert_moment(0, WC_START, false, true, false);
	assert_moment(1, WC_FLUSH, false, true, true);
	assert_int_equal(watch.count, 2);
	rig_free(rig);
}

/* Writes a CQE as the adapter does, but shows only the owner byte and the QP number at first: a
 * poll that reads the rest too early finds old bytes. */
static void complete_late(struct rig *rig, const struct rig_cqe *want)
{
	uint8_t *entry = rig->cq->ring + (rig->cq_pi % 8) * 64;
	uint32_t number;

	rig_complete(rig, want);
	watch_start(NULL, rig->cq->dbrec, NULL);
	memcpy(watch.body, entry, sizeof(watch.body));
	memcpy(&number, entry + 32, sizeof(number));
	memset(entry, 0, sizeof(watch.body));
	memcpy(entry + 32, &number, sizeof(number));
	watch.cqe = entry;
}

/* Checks that the consumer index moves only after the entry was read, as the adapter may overwrite
 * it from then on. */
static void assert_given_back_last(struct rig *rig)
{
	assert_true(watch.count >= 2);
	assert_int_equal(watch.moments[watch.count - 1].barrier, DMA_LOAD);
	assert_int_equal(be32toh(watch.moments[watch.count - 1].record), rig->cq->ci - 1);
	assert_int_equal(be32toh(rig->cq->dbrec[0]), rig->cq->ci);
}

static void poll_request(struct rig *rig)
{
	struct ibv_wc wc;

	post_one(rig);
	complete_late(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .byte_cnt = 0x77 });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.byte_len, 0x77);
	assert_int_equal(wc.qp_num, RIG_QPN);
}

static void poll_message(struct rig *rig, unsigned int opcode)
{
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	complete_late(rig, &(struct rig_cqe){ .opcode = opcode, .byte_cnt = 0x55 });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 9);
	assert_int_equal(wc.byte_len, 0x55);
}

/* The second completion of a kind is handled by the loop for that kind, so each kind comes
 * twice. */
static void nothing_is_read_before_the_owner_bit(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = *state != NULL });

	for (int i = 0; i < 2; i++) {
		poll_request(rig);
		assert_given_back_last(rig);
	}
	for (int i = 0; i < 2; i++) {
		poll_message(rig, MLX5_CQE_RESP_SEND);
		assert_given_back_last(rig);
	}
	for (int i = 0; i < 2; i++) {
		poll_message(rig, MLX5_CQE_RESP_SEND_IMM);
		assert_given_back_last(rig);
	}
	rig_free(rig);
}

/* After an error CQE, the library takes CQEs one by one, so the barriers are those of the poll, of
 * the error, and then the one under test. */
static void nor_behind_a_failure(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc[2];

	(void)state;
	post_list(rig);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ_ERR, .syndrome = 0x13 });
	complete_late(rig, &(struct rig_cqe){
				   .opcode = MLX5_CQE_REQ, .byte_cnt = 0x44, .wqe_counter = 1 });
	watch.arrives = 3;
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 2, wc), 2);
	assert_int_equal(wc[1].byte_len, 0x44);
	rig_free(rig);
}

/* Format of an arm request. PRM: Completion Queue doorbell */
static void an_arm_request_names_its_number(void **state)
{
	struct rig *rig = rig_new(NULL);

	(void)state;
	watch_start(NULL, NULL, NULL);
	doorbell_cq_arm(rig->cq->dbrec, rig->uar, RIG_CQN, 0x1000005, 6, false);
	check_bytes(rig->uar + MLX5_CQ_DOORBELL, "20000005 00000042");
	check_bytes(&rig->cq->dbrec[1], "20000005");
	doorbell_cq_arm(rig->cq->dbrec, rig->uar, RIG_CQN, 5, 1, true);
	check_bytes(rig->uar + MLX5_CQ_DOORBELL, "11000005 00000042");
	rig_free(rig);
}

static void neither_by_the_extended_readers(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = *state != NULL });
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	for (int i = 0; i < 2; i++) {
		post_one(rig);
		complete_late(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .byte_cnt = 0x33 });
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(ibv_wc_read_byte_len(cqx), 0x33);
		ibv_end_poll(cqx);
		assert_given_back_last(rig);
	}
	rig_free(rig);
}

/* Ends the watch before its rig is freed. */
static int watch_end(void **state)
{
	(void)state;
	memset(&watch, 0, sizeof(watch));
	return 0;
}

#define WATCHED(test, how) cmocka_unit_test_prestate_setup_teardown(test, NULL, watch_end, how)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED(sends_are_wqe_record_register, NULL),
		WATCHED(receives_are_wqe_record, NULL),
		WATCHED(requests_of_an_srq_are_wqe_record, NULL),
		WATCHED(an_arm_request_is_record_register, NULL),
		WATCHED(nothing_is_read_before_the_owner_bit, NULL),
		WATCHED(nothing_is_read_before_the_owner_bit, "unshared"),
		WATCHED(nor_behind_a_failure, NULL),
		WATCHED(an_arm_request_names_its_number, NULL),
		WATCHED(neither_by_the_extended_readers, NULL),
		WATCHED(neither_by_the_extended_readers, "unshared"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
