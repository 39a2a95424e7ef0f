/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * doorbell_barriers_test.c - memory that the adapter could see at each barrier of the data path: a
 * piece of a WQE before the word that ends its stamp, a WQE before its owner bit; and no read of a
 * CQE before the barrier behind its owner bit.
 *
 * Covers: providers/mlx4/data/post_send.c, providers/mlx4/data/send_wr.c,
 * providers/mlx4/data/cq/poll_cq.c, providers/mlx4/data/cq/cq_ring.c
 */
#include <string.h>

#include "rig.h"

enum { WQE_MAX = 512, MOMENTS_MAX = 32 };

/* One slot of a send ring at each store barrier, and a CQE whose body appears at a load barrier. */
static struct {
	const uint8_t *wqe;
	uint32_t size;
	uint8_t moments[MOMENTS_MAX][WQE_MAX];
	unsigned int count;
	uint8_t *cqe, body[M4_CQE_SIZE - 1];
	unsigned int arrives, loads; /* at this load barrier, counted from 1; 0: at any */
} watch;

void order_watch(enum order_barrier barrier)
{
	if (watch.wqe && barrier == DMA_STORE) {
		assert_true(watch.count < MOMENTS_MAX);
		memcpy(watch.moments[watch.count++], watch.wqe, watch.size);
	}
	watch.loads += barrier == DMA_LOAD;
	if (watch.cqe && barrier == DMA_LOAD && (!watch.arrives || watch.arrives == watch.loads))
		memcpy(watch.cqe, watch.body, sizeof(watch.body));
}

static int watch_end(void **state)
{
	(void)state;
	memset(&watch, 0, sizeof(watch));
	return 0;
}

static bool is_stamp(const uint8_t *piece)
{
	return fld_get(piece, FLD(0x0, 31, 0)) == M4_STAMP;
}

static bool owner_of(const uint8_t *wqe)
{
	return fld_get(wqe, M4_CTRL_OWNER);
}

/* Returns whether some barrier stood between the words of the piece and its first word, which may
 * be stored with the second at once. */
static bool piece_was_whole(const uint8_t *wqe, uint32_t at, uint32_t size)
{
	uint32_t end = size - at < M4_PIECE ? size - at : M4_PIECE;

	for (unsigned int i = 0; i < watch.count; i++)
		if (is_stamp(watch.moments[i] + at) &&
		    !memcmp(watch.moments[i] + at + 8, wqe + at + 8, end - 8))
			return true;
	return false;
}

/* Returns whether some barrier stood between the other words of the WQE and its owner bit. */
static bool wqe_was_whole(const uint8_t *wqe, uint32_t size)
{
	for (unsigned int i = 0; i < watch.count; i++)
		if (owner_of(watch.moments[i]) != owner_of(wqe) &&
		    !memcmp(watch.moments[i] + 4, wqe + 4, size - 4))
			return true;
	return false;
}

static void check_order(const uint8_t *wqe)
{
	uint32_t size = (uint32_t)fld_get(wqe, M4_CTRL_DS) * M4_SEG;

	assert_true(wqe_was_whole(wqe, size));
	for (uint32_t at = M4_PIECE; at < size; at += M4_PIECE)
		assert_true(piece_was_whole(wqe, at, size));
}

enum { SGES = 8 };

static struct ibv_sge sges[SGES];

static void by_pointer(struct ibv_qp *qp, uint32_t count, int sge_count)
{
	struct ibv_send_wr wr[2], *bad;

	for (uint32_t i = 0; i < count; i++)
		wr[i] = (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
					      .sg_list = sges,
					      .num_sge = sge_count,
					      .next = i + 1 < count ? &wr[i + 1] : NULL };
	assert_int_equal(mlx4_post_send(qp, wr, &bad), 0);
}

static void by_calls(struct ibv_qp *qp, uint32_t count, int sge_count)
{
	struct ibv_qp_ex *qpx = &to_mqp(qp)->vqp.qp_ex;

	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	for (uint32_t i = 0; i < count; i++) {
		ibv_wr_send(qpx);
		ibv_wr_set_sge_list(qpx, (size_t)sge_count, sges);
	}
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

/* Watches each request of lists of one and of two. */
static void wqes_are_whole_before_they_are_posted(void **state)
{
	void (*post)(struct ibv_qp *, uint32_t, int) = *state ? by_calls : by_pointer;

	for (uint32_t i = 0; i < SGES; i++)
		sges[i] = (struct ibv_sge){ 0x1122334455667000 + i, 16 + i, 0x77 + i };
	for (unsigned int i = 0; i < 2 * 2 * 3 * SGES; i++) {
		const uint32_t watched = i & 1, count = 1 + (i / 2 % 3 > 0), bf = i / 2 % 3 == 2;
		const struct rig_options options = { .send_sge = SGES,
						     .send_wr = 8,
						     .blueflame = bf };
		struct rig *rig;

		if (watched >= count)
			continue;
		rig = rig_new(&options);
		watch.wqe = rig_slot(rig, watched);
		watch.size = 1u << rig->qp->sq.slot_log;
		assert_true(watch.size <= WQE_MAX);
		post(&rig->qp->vqp.qp, count, 1 + (int)(i / 6 % SGES));
		check_order(watch.wqe);
		watch_end(NULL);
		rig_free(rig);
	}
}

/* Writes a CQE as the adapter does, but shows only the QP number and the owner byte at first. */
static void complete_late(struct rig *rig, const struct rig_cqe *want, uint32_t shown)
{
	const uint32_t size = rig->ctx->caps.cqe_size;
	uint8_t *cqe = (uint8_t *)rig->cq->buf.addr + rig->cq_pi % 8 * size + size - M4_CQE_SIZE;

	rig_complete(rig, want);
	memcpy(watch.body, cqe, sizeof(watch.body));
	memset(cqe + shown, 0, sizeof(watch.body) - shown);
	watch.loads = 0;
	watch.cqe = cqe;
}

/* The poll's own barrier, the first CQE's barrier, and then the one under test. */
static void nothing_is_read_before_the_owner_bit(void **state)
{
	const struct rig_cqe first = { .is_send = true, .opcode = M4_SEND };
	const struct rig_cqe late = { .opcode = M4_RECV_SEND_IMM,
				      .byte_count = 0x55,
				      .imm = 0x1234 };
	struct ibv_recv_wr wr = { .wr_id = 9 }, *bad;
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc[3];

	(void)state;
	by_pointer(&rig->qp->vqp.qp, 1, 1);
	assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(rig, &first);
	complete_late(rig, &late, 4);
	watch.arrives = 3;
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 3, wc), 2);
	assert_int_equal(wc[1].byte_len, 0x55);
	assert_int_equal(be32toh(wc[1].imm_data), 0x1234);
	rig_free(rig);
}

/* A CQE that looks like another QP's until the barrier is not left in the ring. */
static void neither_when_a_qp_leaves(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	by_pointer(&rig->qp->vqp.qp, 1, 1);
	complete_late(rig, &(struct rig_cqe){ .is_send = true, .opcode = M4_SEND }, 0);
	mlx4_cq_clean(rig->cq, rig->qp);
	assert_int_equal(rig->cq->ci, 1);
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 0);
	rig_free(rig);
}

#define WATCHED(test, how) cmocka_unit_test_prestate_setup_teardown(test, NULL, watch_end, how)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED(wqes_are_whole_before_they_are_posted, NULL),
		WATCHED(wqes_are_whole_before_they_are_posted, "calls"),
		WATCHED(nothing_is_read_before_the_owner_bit, NULL),
		WATCHED(neither_when_a_qp_leaves, NULL),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
