/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4dv.c - a program that builds its own WQEs and reads its own CQEs through mlx4dv: RDMA writes
 * of five buffers, which need slots of two pieces, for several laps of the ring. "writes" follows
 * all rules of the adapter. "unstamped" leaves old WQEs ahead of the head, "crowded" posts into the
 * space that must stay free, "astray" also rings an invalid QP's doorbell: a strict adapter must
 * report each. "overlong" ends with a WQE whose size exceeds its slot, which any adapter refuses.
 * "allocators" puts the rings of a context into the program's memory. "wqs" checks work queues,
 * whose numbers are consecutive. "inline" receives into WQEs.
 *
 * Covers: providers/mlx4/dv/, providers/mlx4/mlx4dv.h
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/mlx4dv.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/store.h"
#include "tests/lib/topics.h"

enum { WRITES = 300, AT_ONCE = 8, SGES = 5, PART = 16, SPARE_BYTES = 2048, PIECE = 64 };

struct ring {
	struct mlx4dv_qp qp;
	struct mlx4dv_cq cq;
	uint32_t head, ci;
	bool stamps;
};

static uint8_t *slot_at(const struct ring *ring, uint32_t index)
{
	uint32_t slot = index & (ring->qp.sq.wqe_cnt - 1);

	return (uint8_t *)ring->qp.buf.buf + ring->qp.sq.offset +
	       ((size_t)slot << ring->qp.sq.wqe_shift);
}

static uint32_t spare_wqes(const struct ring *ring)
{
	return (SPARE_BYTES >> ring->qp.sq.wqe_shift) + 1;
}

static void wqe_stamp(const struct ring *ring, uint32_t index)
{
	uint8_t *slot = slot_at(ring, index);

	for (int at = PIECE; at < 1 << ring->qp.sq.wqe_shift; at += PIECE)
		memset(slot + at, 0xff, sizeof(uint32_t));
}

/* Writes the first word of each piece last, as the adapter reads ahead and takes a piece by that
 * word. */
static void wqe_build(struct ring *ring, const struct rig_pair *pair, uint32_t nth)
{
	struct mlx4_wqe_ctrl_seg *ctrl = (void *)slot_at(ring, ring->head);
	struct mlx4_wqe_raddr_seg *raddr = (void *)(ctrl + 1);
	struct mlx4_wqe_data_seg *data = (void *)(raddr + 1);
	const struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	bool odd = ring->head & ring->qp.sq.wqe_cnt;

	raddr->raddr = htobe64((uintptr_t)to->buf + (uint64_t)nth * SGES * PART);
	raddr->rkey = htobe32(to->mr->rkey);
	raddr->reserved = 0;
	for (int i = SGES - 1; i >= 0; i--) {
		__sync_synchronize();
		mlx4dv_set_data_seg(&data[i], PART, from->mr->lkey,
				    (uintptr_t)from->buf + (nth * SGES + i) * PART);
	}
	memset(ctrl->reserved, 0, sizeof(ctrl->reserved));
	ctrl->fence_size = (sizeof(*ctrl) + sizeof(*raddr) + SGES * sizeof(*data)) / 16;
	ctrl->srcrb_flags = htobe32(MLX4_WQE_CTRL_CQ_UPDATE);
	ctrl->imm = 0;
	__sync_synchronize();
	ctrl->owner_opcode = htobe32(MLX4_OPCODE_RDMA_WRITE | (odd ? 1u << 31 : 0));
	if (ring->stamps)
		wqe_stamp(ring, ring->head + spare_wqes(ring));
	ring->head++;
}

static void ring_bell(const struct ring *ring)
{
	__sync_synchronize();
	*(volatile uint32_t *)ring->qp.sdb = ring->qp.doorbell_qpn;
}

/* The register has been read by the adapter when a WQE is done whose doorbell came behind. */
static void ring_for_nobody(const struct ring *ring)
{
	__sync_synchronize();
	*(volatile uint32_t *)ring->qp.sdb = htobe32(0xfffffeu << 8);
	while (*(volatile uint32_t *)ring->qp.sdb)
		__sync_synchronize();
}

static struct mlx4_cqe *cqe_at(const struct ring *ring, uint32_t index)
{
	uint8_t *entry = (uint8_t *)ring->cq.buf.buf +
			 (size_t)(index & (ring->cq.cqe_cnt - 1)) * ring->cq.cqe_size;

	return (void *)(entry + ring->cq.cqe_size - sizeof(struct mlx4_cqe));
}

static struct mlx4_cqe *cqe_next(struct ring *ring)
{
	struct mlx4_cqe *cqe = cqe_at(ring, ring->ci);
	bool odd = ring->ci & ring->cq.cqe_cnt;

	while (!!mlx4dv_get_cqe_owner(cqe) != odd)
		__sync_synchronize();
	__sync_synchronize();
	return cqe;
}

/* Returns the index of the WQE that has completed. */
static uint32_t cqe_await(struct ring *ring)
{
	struct mlx4_cqe *cqe = cqe_next(ring);

	MUST(mlx4dv_get_cqe_opcode(cqe) == MLX4_OPCODE_RDMA_WRITE);
	MUST(cqe->owner_sr_opcode & MLX4_CQE_IS_SEND_MASK);
	ring->ci++;
	*ring->cq.set_ci_db = htobe32(ring->ci & 0xffffff);
	return be16toh(cqe->wqe_index);
}

static void overlong_is_refused(struct ring *ring, const struct rig_pair *pair)
{
	struct mlx4_wqe_ctrl_seg *ctrl = (void *)slot_at(ring, ring->head);
	struct mlx4_cqe *cqe;

	wqe_build(ring, pair, 0);
	ctrl->fence_size = (1 << ring->qp.sq.wqe_shift) / 16 + 1;
	ring_bell(ring);
	cqe = cqe_next(ring);
	say_check(mlx4dv_get_cqe_opcode(cqe) == MLX4_CQE_OPCODE_ERROR &&
			  ((struct mlx4_err_cqe *)cqe)->syndrome ==
				  MLX4_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		  "a WQE longer than its slot is refused");
}

static void objects_look(struct rig_pair *pair, struct ring *ring)
{
	struct mlx4dv_obj obj = {
		.qp = { pair->end[0].qp, &ring->qp },
		.cq = { pair->end[0].cq, &ring->cq },
	};

	ring->qp.comp_mask = MLX4DV_QP_MASK_UAR_MMAP_OFFSET;
	ring->cq.comp_mask = MLX4DV_CQ_MASK_UAR;
	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_QP | MLX4DV_OBJ_CQ));
	say_check(ring->qp.comp_mask == MLX4DV_QP_MASK_UAR_MMAP_OFFSET, "the page of doorbells");
	say_check(ring->cq.comp_mask == MLX4DV_CQ_MASK_UAR && ring->cq.cq_uar, "the CQ's page");
	say_check((uint8_t *)ring->qp.sdb == (uint8_t *)ring->cq.cq_uar + MLX4_SEND_DOORBELL,
		  "the register is on it");
	say_check(ring->qp.doorbell_qpn == htobe32(pair->end[0].qp->qp_num << 8), "the number");
	say_check(1 << ring->qp.sq.wqe_shift >= 2 * PIECE, "slots of two pieces");
}

static void rings_are_of(const struct store *store, struct rig_pair *pair)
{
	struct ring ring = { 0 };
	struct mlx4dv_obj obj = {
		.qp = { pair->end[0].qp, &ring.qp },
		.cq = { pair->end[0].cq, &ring.cq },
	};

	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_QP | MLX4DV_OBJ_CQ));
	say_check(store_has(store, ring.qp.buf.buf), "the QP's rings are the program's");
	say_check(store_has(store, ring.qp.rdb), "its record too");
	say_check(store_has(store, ring.cq.buf.buf), "the CQ's ring too");
	say_check(store_has(store, ring.cq.set_ci_db), "its record too");
}

static void message(struct rig_pair *pair)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_recv_wr recv = { .wr_id = 7 }, *bad_recv;
	struct ibv_wc wc;

	MUST(!ibv_post_recv(pair->end[1].qp, &recv, &bad_recv));
	MUST(!ibv_post_send(pair->end[0].qp, &wr, &bad));
	say("a message: %d and %d completions", rig_poll(pair->end[0].cq, 1, &wc),
	    rig_poll(pair->end[1].cq, 1, &wc));
}

static void allocators_are_asked(void)
{
	struct rig_conf conf = rig_conf_default();
	struct store store = { .room = PIECES };
	struct mlx4dv_ctx_allocators allocators = { store_give, store_take, &store };
	struct rig_pair pair;
	struct rig rig;

	rig_open(&rig);
	MUST(!mlx4dv_set_context_attr(rig.ctx, MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS, &allocators));
	rig_pair_open(&rig, &conf, &pair);
	message(&pair);
	rings_are_of(&store, &pair);
	rig_pair_close(&pair);
	rig_close(&rig);
	say_check(store.given && store.given == store.back, "all came back");
}

enum { LOG_WQS = 2, WQS = 1 << LOG_WQS };

struct wqs {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_wq *odd, *row[WQS];
};

static struct ibv_wq *wq_make(struct ibv_context *ctx, const struct wqs *wqs)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 2, .pd = wqs->pd, .cq = wqs->cq
	};
	struct ibv_wq *wq = ibv_create_wq(ctx, &attr);

	MUST(wq);
	return wq;
}

/* A WQ before the range, so that the range begins at no multiple of the count. */
static void row_open(struct ibv_context *ctx, struct wqs *wqs)
{
	uint8_t log = LOG_WQS;

	MUST(wqs->pd = ibv_alloc_pd(ctx));
	MUST(wqs->cq = ibv_create_cq(ctx, 16, NULL, NULL, 0));
	wqs->odd = wq_make(ctx, wqs);
	MUST(!mlx4dv_set_context_attr(ctx, MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ, &log));
	for (int i = 0; i < WQS; i++)
		wqs->row[i] = wq_make(ctx, wqs);
}

static void row_close(struct wqs *wqs)
{
	for (int i = 0; i < WQS; i++)
		MUST(!ibv_destroy_wq(wqs->row[i]));
	MUST(!ibv_destroy_wq(wqs->odd));
	MUST(!ibv_destroy_cq(wqs->cq) && !ibv_dealloc_pd(wqs->pd));
}

static void row_is_one_range(struct ibv_context *ctx, struct wqs *wqs)
{
	struct ibv_rwq_ind_table_init_attr attr = { .log_ind_tbl_size = LOG_WQS,
						    .ind_tbl = wqs->row };
	struct ibv_rwq_ind_table *table = ibv_create_rwq_ind_table(ctx, &attr);

	say_check(!(wqs->row[0]->wq_num % WQS), "the first number is a multiple");
	for (uint32_t i = 1; i < WQS; i++)
		say_check(wqs->row[i]->wq_num == wqs->row[0]->wq_num + i, "the next one follows");
	say_check(table, "a table of them");
	MUST(!table || !ibv_destroy_rwq_ind_table(table));
}

static void wq_looks(struct ibv_wq *wq, const struct store *store)
{
	struct ibv_sge sge = { 0x1000, 0x20, 0x77 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct mlx4dv_rwq out = { .comp_mask = 1 };
	struct mlx4dv_obj obj = { .rwq = { wq, &out } };
	struct mlx4_wqe_data_seg *segs;

	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_RWQ));
	say("%u WQEs of 2^%d bytes at %d", out.rq.wqe_cnt, out.rq.wqe_shift, out.rq.offset);
	say_check(!out.comp_mask, "no field beyond");
	say_check(store_has(store, out.buf.buf), "the ring is the program's");
	say_check(store_has(store, out.rdb), "the record too");
	MUST(!ibv_post_wq_recv(wq, &wr, &bad) && !ibv_post_wq_recv(wq, &wr, &bad));
	say_check(*out.rdb == htobe32(2), "the record counts");
	segs = (void *)((uint8_t *)out.buf.buf + out.rq.offset + (1 << out.rq.wqe_shift));
	say_check(segs->byte_count == htobe32(0x20) && segs->lkey == htobe32(0x77) &&
			  segs->addr == htobe64(0x1000),
		  "the second WQE");
}

static void wqs_look(void)
{
	struct store store = { .room = PIECES };
	struct mlx4dv_ctx_allocators allocators = { store_give, store_take, &store };
	struct wqs wqs;
	struct rig rig;

	rig_open(&rig);
	MUST(!mlx4dv_set_context_attr(rig.ctx, MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS, &allocators));
	row_open(rig.ctx, &wqs);
	row_is_one_range(rig.ctx, &wqs);
	wq_looks(wqs.row[1], &store);
	row_close(&wqs);
	rig_close(&rig);
	say_check(store.given && store.given == store.back, "all came back");
}

static struct ibv_qp *inline_qp(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t bytes)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct mlx4dv_qp_init_attr mlx4 = { .comp_mask = MLX4DV_QP_INIT_ATTR_MASK_INL_RECV,
					    .inl_recv_sz = bytes };

	return mlx4dv_create_qp(pd->context, &attr, &mlx4);
}

/* A QP supports the announced limit. */
static void inline_receives_look(void)
{
	struct mlx4dv_context attrs = { .max_inl_recv_sz = 1 };
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct rig rig;

	rig_open(&rig);
	pd = ibv_alloc_pd(rig.ctx);
	cq = ibv_create_cq(rig.ctx, 15, NULL, NULL, 0);
	MUST(pd && cq && !mlx4dv_query_device(rig.ctx, &attrs));
	say("announced are %u bytes", attrs.max_inl_recv_sz);
	errno = 0;
	MUST(!inline_qp(pd, cq, 64));
	say_check(errno == EOPNOTSUPP, "64 bytes: %s", say_errno(errno));
	qp = inline_qp(pd, cq, 0);
	say("a QP of none: %s", qp ? "made" : say_errno(errno));
	if (qp)
		MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
	rig_close(&rig);
}

/* What a program may do wrong, or right. */
struct manner {
	bool stamps, crowded, astray, overlong;
};

/* The stamps ahead of the last WQEs fall on the first WQEs here, so the adapter may meet an opcode
 * that does not exist. */
static void ring_crowd(struct ring *ring, const struct rig_pair *pair)
{
	for (uint32_t i = 0; i < ring->qp.sq.wqe_cnt - 2; i++)
		wqe_build(ring, pair, i);
	ring_bell(ring);
	cqe_next(ring);
}

static void writes_fill(struct ring *ring, const struct rig_pair *pair)
{
	for (uint32_t done = 0; done < WRITES;) {
		uint32_t n = WRITES - done < AT_ONCE ? WRITES - done : AT_ONCE;

		for (uint32_t i = 0; i < n; i++)
			wqe_build(ring, pair, done + i);
		ring_bell(ring);
		for (uint32_t i = 0; i < n; i++, done++)
			MUST(cqe_await(ring) == (done & 0xffff));
	}
}

static void writes_run(struct manner manner)
{
	struct ring ring = { .stamps = manner.stamps };
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct rig rig;

	conf.cap.max_send_sge = SGES;
	conf.cqe = 256;
	rig_open(&rig);
	rig_pair_open(&rig, &conf, &pair);
	for (int i = 0; i < WRITES * SGES * PART; i++)
		pair.end[0].buf[i] = (uint8_t)(i * 7 + i / 256);
	objects_look(&pair, &ring);
	if (manner.crowded) {
		ring_crowd(&ring, &pair);
	} else {
		writes_fill(&ring, &pair);
		say_check(!memcmp(pair.end[0].buf, pair.end[1].buf, WRITES * SGES * PART),
			  "the bytes");
	}
	if (manner.astray)
		ring_for_nobody(&ring);
	if (manner.overlong)
		overlong_is_refused(&ring, &pair);
	rig_pair_close(&pair);
	rig_close(&rig);
}

static void writes(void)
{
	writes_run((struct manner){ .stamps = true });
}

static void unstamped(void)
{
	writes_run((struct manner){ 0 });
}

static void crowded(void)
{
	writes_run((struct manner){ .stamps = true, .crowded = true });
}

static void astray(void)
{
	writes_run((struct manner){ .stamps = true, .astray = true });
}

static void overlong(void)
{
	writes_run((struct manner){ .stamps = true, .overlong = true });
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = {
		{ "writes", writes },     { "unstamped", unstamped },
		{ "crowded", crowded },   { "astray", astray },
		{ "overlong", overlong }, { "allocators", allocators_are_asked },
		{ "wqs", wqs_look },      { "inline", inline_receives_look },
	};

	return topics_main(topics, sizeof(topics) / sizeof(topics[0]), argc, argv);
}
