/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * poll_cq_test.c - random completions of all kinds from a seed: a result does not depend on
 * earlier completions or on the number polled at once, and the readers agree.
 *
 * Covers: providers/mlx4/data/cq/poll_cq.c, providers/mlx4/data/cq/cq_ex.c
 */
#include "rig.h"

#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx5/cqe.h"
#include "providers/mlx4/srq.h"
#include "util/bits.h"

enum {
	TARGET = M4_XRC_TARGET | 0x4242,
	STRAY_QPN = 0x777,
	STRAY_SRQN = 0x666,
	SRQS = 2,
	SRQ_WQES = 64,
	AT_ONCE = 7, /* the CQ's size */
	ROUNDS = 600,
};

struct scene {
	struct rig *rig;
	struct verbs_srq *srqs[SRQS];
	uint32_t seed, posted;
};

static uint32_t number(struct scene *scene, uint32_t limit)
{
	scene->seed = scene->seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(scene->seed >> 4) * limit >> 28);
}

static struct verbs_srq *new_srq(struct rig *rig)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = SRQ_WQES - 1, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_XRCD,
		.srq_type = IBV_SRQT_XRC,
		.pd = &rig->pd.pd,
		.cq = &rig->cq->vcq.cq,
	};
	struct verbs_srq *srq;

	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &srq), 0);
	return srq;
}

static struct scene scene_new(enum ibv_qp_type type, uint32_t seed)
{
	const bool frames = type == IBV_QPT_RAW_PACKET;
	struct scene scene = { .seed = seed };

	scene.rig = rig_new(&(struct rig_options){ .type = type,
						   .second_port_is_ethernet = frames,
						   .port = frames ? 2 : 1,
						   .checksums = true });
	for (unsigned int i = 0; i < SRQS; i++)
		scene.srqs[i] = new_srq(scene.rig);
	return scene;
}

static void scene_free(struct scene *scene)
{
	for (unsigned int i = 0; i < SRQS; i++)
		assert_int_equal(mlx4_srq_destroy(&scene->srqs[i]->srq), 0);
	rig_free(scene->rig);
}

static void complete_request(struct scene *scene, struct rig_cqe *cqe)
{
	struct mlx4_sq *sq = &scene->rig->qp->sq;

	cqe->is_send = true;
	cqe->opcode = M4_SEND;
	cqe->wqe_index = (uint16_t)scene->posted;
	wq_slot_set(wq_slot_at(&sq->wq, scene->posted), scene->posted, number(scene, UINT32_MAX),
		    IBV_WC_SEND);
	scene->posted++;
}

/* The sender's QP number may equal the number of an SRQ, so the library must not look it up
 * there. */
static void complete_receive(struct scene *scene, struct rig_cqe *cqe)
{
	struct wq *wq = &scene->rig->qp->rq.wq;

	cqe->opcode = number(scene, 3) ? (unsigned int)M4_RECV_SEND : number(scene, 4);
	if (!number(scene, 3))
		cqe->rqpn = scene->srqs[number(scene, SRQS)]->srq_num;
	for (uint32_t i = 0; i <= wq->mask; i++)
		wq->wr_ids[i] = i;
}

/* Takes a WQE that is not in use; the free list is not consulted. */
static uint32_t complete_xrc(struct scene *scene, struct rig_cqe *cqe)
{
	uint32_t which = number(scene, SRQS + 1);

	cqe->opcode = number(scene, 3) ? (unsigned int)M4_RECV_SEND : number(scene, 4);
	cqe->qpn = TARGET + number(scene, 3);
	cqe->wqe_index = (uint16_t)number(scene, SRQ_WQES);
	if (which == SRQS)
		return STRAY_SRQN;
	to_msrq(&scene->srqs[which]->srq)->wr_ids[cqe->wqe_index] = 1000 * which + cqe->wqe_index;
	return scene->srqs[which]->srq_num;
}

/* Returns whether a program sees the completion. */
static bool complete_any(struct scene *scene)
{
	struct rig_cqe cqe = { .byte_count = number(scene, 5000),
			       .imm = number(scene, UINT32_MAX),
			       .sl_rlid = number(scene, UINT32_MAX),
			       .status = number(scene, 2) ? number(scene, UINT32_MAX) : UINT32_MAX,
			       .rqpn = number(scene, UINT32_MAX) };
	uint32_t kind = number(scene, 16);

	if (kind < 4) {
		complete_request(scene, &cqe);
	} else if (kind < 9) {
		complete_receive(scene, &cqe);
	} else if (kind < 15) {
		cqe.rqpn =
			(cqe.rqpn & ~(uint32_t)FLD_BITS(M4_CQE_RQPN)) | complete_xrc(scene, &cqe);
	} else {
		cqe.qpn = STRAY_QPN;
		cqe.opcode = number(scene, 4);
	}
	if (!number(scene, 20)) {
		cqe.syndrome = SYND_LOCAL_LENGTH;
		cqe.vendor = 0x42;
	}
	rig_complete(scene->rig, &cqe);
	return kind != 15 && (cqe.rqpn & FLD_BITS(M4_CQE_RQPN)) != STRAY_SRQN;
}

static void read_one(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->qp_num = ibv_wc_read_qp_num(cq);
	wc->vendor_err = ibv_wc_read_vendor_err(cq);
	if (wc->status)
		return;
	wc->opcode = ibv_wc_read_opcode(cq);
	wc->wc_flags = ibv_wc_read_wc_flags(cq);
	wc->byte_len = ibv_wc_read_byte_len(cq);
	if (wc->opcode < IBV_WC_RECV)
		return;
	wc->imm_data = ibv_wc_read_imm_data(cq);
	wc->src_qp = ibv_wc_read_src_qp(cq);
	wc->slid = (uint16_t)ibv_wc_read_slid(cq);
	wc->sl = ibv_wc_read_sl(cq);
	wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
}

static int read_all(struct rig *rig, struct ibv_wc *wc)
{
	struct ibv_cq_ex *cq = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	int n = 0;

	if (ibv_start_poll(cq, &attr))
		return 0;
	do
		read_one(cq, &wc[n++]);
	while (!ibv_next_poll(cq));
	ibv_end_poll(cq);
	return n;
}

static int poll_all(struct rig *rig, int room, struct ibv_wc *wc)
{
	int n = 0, more;

	do {
		more = mlx4_poll_cq(&rig->cq->vcq.cq, room, wc + n);
		n += more;
	} while (more);
	return n;
}

/* Masks fields that a completion lacks, as the two ways may leave them different, and numbers of
 * SRQs, as these differ between scenes. */
static void keep_what_is_said(const struct scene *scene, struct ibv_wc *wc)
{
	const struct ibv_wc all = *wc;

	memset(wc, 0, sizeof(*wc));
	wc->wr_id = all.wr_id;
	wc->status = all.status;
	wc->qp_num = all.qp_num;
	wc->vendor_err = all.vendor_err;
	if (all.status)
		return;
	wc->opcode = all.opcode;
	wc->wc_flags = all.wc_flags;
	wc->byte_len = all.byte_len;
	if (all.opcode < IBV_WC_RECV)
		return;
	wc->imm_data = all.imm_data;
	wc->src_qp = all.src_qp;
	if (all.src_qp - scene->srqs[0]->srq_num < SRQS)
		wc->src_qp -= scene->srqs[0]->srq_num;
	wc->slid = all.slid;
	wc->sl = all.sl;
	wc->dlid_path_bits = all.dlid_path_bits;
}

/* Polls all completions, ROOM at a time, or by the readers if ROOM is 0. Returns their number. */
static unsigned int tell_completions(enum ibv_qp_type type, int room, struct ibv_wc *wc)
{
	struct scene scene = scene_new(type, (uint32_t)type + 1);
	unsigned int told = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint32_t n = number(&scene, AT_ONCE) + 1;
		int want = 0, got;

		while (n--)
			want += complete_any(&scene);
		memset(wc, 0, AT_ONCE * sizeof(*wc));
		got = room ? poll_all(scene.rig, room, wc) : read_all(scene.rig, wc);
		assert_int_equal(got, want);
		for (; got; got--, told++)
			keep_what_is_said(&scene, wc++);
	}
	scene_free(&scene);
	return told;
}

static void compare_polls_of(enum ibv_qp_type type)
{
	static struct ibv_wc want[(ROUNDS + 1) * AT_ONCE], wc[(ROUNDS + 1) * AT_ONCE];
	unsigned int n = tell_completions(type, 0, want);

	for (int room = 1; room <= AT_ONCE; room++) {
		assert_int_equal(tell_completions(type, room, wc), n);
		for (unsigned int i = 0; i < n; i++)
			assert_memory_equal(&wc[i], &want[i], sizeof(*wc));
	}
}

static void connected(void **state)
{
	(void)state;
	compare_polls_of(IBV_QPT_RC);
}

static void datagrams(void **state)
{
	(void)state;
	compare_polls_of(IBV_QPT_UD);
}

static void frames(void **state)
{
	(void)state;
	compare_polls_of(IBV_QPT_RAW_PACKET);
}

/* A resize would find a lock of a one-thread CQ taken for ever, so polls must not take it. */
static void a_second_look_takes_no_lock_of_a_cq_without(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct mlx4_cq *cq = rig->cq;
	struct ibv_wc wc;

	(void)state;
	qlock_init(&cq->lock, false);
	cq->is_moving = true;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mlx4_poll_cq(&cq->vcq.cq, 1, &wc), 0);
		assert_int_equal(cq->lock.taken, 0);
	}
	cq->is_moving = false;
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connected),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(frames),
		cmocka_unit_test(a_second_look_takes_no_lock_of_a_cq_without),
	};

	return RIG_RUN(tests);
}
