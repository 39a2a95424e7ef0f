/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * batch.h - a batch of ibv_wr_*(): the helpers that builders and setters in the files send_wr*.c
 * share.
 *
 * A builder starts a WQE in the ring with the functions of send_wqe.h. One setter adds the payload
 * and finishes the WQE. Where the WQE names its destination, the builder reserves the space and a
 * second setter fills it, before or after the payload. send_wr.c opens the batch and rings the
 * doorbell. The QP's sq_lock, where it has one, is held from ibv_wr_start() to ibv_wr_complete() or
 * ibv_wr_abort().
 * PRM: Send WQE format
 */
#ifndef PROVIDERS_MLX5_DATA_BATCH_H
#define PROVIDERS_MLX5_DATA_BATCH_H

#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/data/umr.h"
#include "providers/mlx5/data/variant.h"

static inline bool batch_has_wqe(const struct mlx5_qp *qp)
{
	return likely(qp->batch.seg != BATCH_NO_WQE);
}

/* Records the failure of the batch, and drops a pending request on a memory key. To keep checks off
 * the fast path, sets wq.limit so that the next builder finds no room, and only then looks for the
 * error. The end of the batch checks for the error only when the batch has no request. */
static inline void batch_set_err(struct mlx5_qp *qp, int err)
{
	qp->batch.err = err;
	qp->batch.seg = BATCH_NO_WQE;
	qp->sq.wq.head = qp->batch.first_head;
	qp->sq.wq.limit = qp->sq.wq.head;
	qp->mkey_request.progress.word = 0;
}

/* Fails the batch because the send queue is full, and logs that. Out of line: a full queue is
 * rare. */
void mlx5_batch_fail_full(struct mlx5_qp *qp);
/* Handles an OP that is not in sq.opcodes. If the OP was missing only because the queue's gate was
 * shut (umr.h), opens the gate and returns true. Otherwise fails the batch and returns false. */
bool mlx5_batch_pass_gate(struct mlx5_qp *qp, enum ibv_wr_opcode op);

bool mlx5_batch_begin_exception(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode,
				__be32 imm, enum send_kind kind);

/* Enters WQE's request into the queue, with the QP's wr_id of this moment: the program may change
 * wr_id before the next builder. */
WQE_INLINE void batch_note(struct mlx5_qp *qp, const struct send_wqe *wqe)
{
	wq_slot_note(wqe->slot, qp->sq.wq.head++, qp->vqp.qp_ex.wr_id);
}

WQE_INLINE void batch_keep_wqe(struct mlx5_qp *qp, const struct send_wqe *wqe)
{
	qp->batch.ctrl = wqe->ctrl;
	qp->batch.seg = wqe->seg;
	qp->batch.head = wqe->head | (wqe->ds + BATCH_UNITS);
}

WQE_INLINE struct send_wqe batch_wqe(const struct mlx5_qp *qp)
{
	const uint64_t head = qp->batch.head - BATCH_UNITS;

	return (struct send_wqe){
		.ctrl = qp->batch.ctrl,
		.seg = qp->batch.seg,
		.ds = head & FLD_MASK(CTRL_DS),
		.head = head & ~(uint64_t)FLD_MASK(CTRL_DS),
	};
}

WQE_INLINE void batch_start_wqe(struct mlx5_qp *qp, struct send_wqe *wqe, uint8_t opcode,
				__be32 imm, enum send_kind kind)
{
	const struct mlx5_sq *sq = &qp->sq;
	/* Read all fields before the first store: the compiler does not know that the ring cannot
	 * alias them, and would read them again. */
	const uint32_t pi = sq->pi & FLD_MASK(CTRL_INDEX), head = sq->wq.head;
	const uint64_t wr_id = qp->vqp.qp_ex.wr_id;

	wqe_place(sq, wqe, pi);
	wqe_begin_placed(sq, wqe, pi, opcode, qp->vqp.qp_ex.wr_flags, imm);
	qp->sq.wq.head = head + 1;
	wq_slot_set(wqe->slot, head, wr_id, done_as(opcode));
	if (kind == SEND_XRC)
		wqe_reserve_xrc(wqe);
	else if (kind == SEND_DATAGRAM || kind == SEND_DC)
		wqe_reserve_av(sq, wqe);
}

/* Returns whether the gate is shut or the queue is full: rare cases, which the builder leaves to a
 * call out of line. */
WQE_INLINE bool batch_is_exception(const struct mlx5_qp *qp, enum ibv_wr_opcode op)
{
	return unlikely(!(qp->sq.opcodes & 1u << op) || qp->sq.wq.head == qp->sq.wq.limit);
}

WQE_INLINE bool batch_begin(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode, __be32 imm,
			    enum send_kind kind)
{
	struct send_wqe wqe;

	if (batch_is_exception(qp, op))
		return mlx5_batch_begin_exception(qp, op, opcode, imm, kind);
	batch_start_wqe(qp, &wqe, opcode, imm, kind);
	batch_keep_wqe(qp, &wqe);
	return true;
}

/* Advances the queue past WQE, which is complete, payload included. */
WQE_INLINE void batch_finish_wqe(struct mlx5_qp *qp, const struct send_wqe *wqe, bool has_inline)
{
	qp->sq.pi += wqe_finish(wqe);
	if (has_inline)
		qp->batch.push = PUSH_INLINE;
}

WQE_INLINE void batch_extend(struct mlx5_qp *qp, const struct send_wqe *wqe, uint32_t units)
{
	qp->batch.seg = wqe->seg;
	qp->batch.head += units;
}

WQE_INLINE void batch_put_raddr(struct mlx5_qp *qp, uint64_t raddr, uint32_t rkey)
{
	struct send_wqe wqe = batch_wqe(qp);

	wqe_put_raddr(&wqe, raddr, rkey);
	batch_extend(qp, &wqe, 1);
}

/* Adds a payload of one SGE to any WQE. Out of line, as its segment may meet the end of the ring,
 * which is rare. */
void mlx5_batch_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length);

/* Adds a payload of one SGE to a WQE that then has BLOCKS WQEBBs. The builder has already begun the
 * last WQEBB, so the segment cannot meet the end of the ring. */
WQE_INLINE void batch_set_only_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr,
				   uint32_t length, uint32_t blocks)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	uint8_t *const seg = qp->batch.seg, *const ctrl = qp->batch.ctrl;

	if (unlikely(seg == BATCH_NO_WQE || !length)) {
		mlx5_batch_set_sge(qpx, lkey, addr, length);
		return;
	}
	seg_put_be64(ctrl, qp->batch.head);
	seg_put_data(seg, length, lkey, addr);
	qp->sq.pi += blocks;
}

/* An operation whose only segment before the payload is the remote address. */
struct rdma_op {
	uint8_t op, opcode, kind;
};

void mlx5_batch_begin_rdma_exception(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr,
				     __be32 imm, struct rdma_op what);

/* Begins an RDMA request. The usual path calls nothing but the tail function, so the compiler saves
 * no registers. */
WQE_INLINE void begin_rdma(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode, uint32_t rkey,
			   uint64_t raddr, __be32 imm, enum send_kind kind)
{
	struct send_wqe wqe;

	if (batch_is_exception(qp, op)) {
		mlx5_batch_begin_rdma_exception(
			&qp->vqp.qp_ex, rkey, raddr, imm,
			(struct rdma_op){ (uint8_t)op, opcode, (uint8_t)kind });
		return;
	}
	batch_start_wqe(qp, &wqe, opcode, imm, kind);
	wqe_put_raddr(&wqe, raddr, rkey);
	batch_keep_wqe(qp, &wqe);
}

WQE_INLINE void begin_atomic(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode,
			     uint32_t rkey, uint64_t raddr, uint64_t swap_add, uint64_t compare,
			     enum send_kind kind)
{
	struct send_wqe wqe;

	if (unlikely(!batch_begin(qp, op, opcode, 0, kind)))
		return;
	batch_put_raddr(qp, raddr, rkey);
	wqe = batch_wqe(qp);
	wqe_put_atomic(&wqe, swap_add, compare);
	if (kind == SEND_XRC)
		wqe_wrap(&qp->sq, &wqe);
	batch_extend(qp, &wqe, 1);
}

/* Cancels the batch. If it contained the request that was to wait for a UMR, the fence is restored
 * for the next request. */
WQE_INLINE void batch_cancel(struct mlx5_qp *qp)
{
	qp->batch.err = 0;
	qp->sq.pi = qp->batch.first_pi;
	qp->sq.wq.head = qp->batch.first_head;
	if (unlikely(qp->batch.opened_gate)) {
		qp->batch.opened_gate = false;
		gate_shut(qp);
	}
}

/* Each function installs its builders and setters in the QP's table. Datagram, XRC and DC requests
 * name their destination (send_wr_addr.c); raw packet requests begin with a header
 * (send_wr_raw.c). */
void mlx5_batch_fill_datagram(struct ibv_qp_ex *qpx);
void mlx5_batch_fill_xrc(struct ibv_qp_ex *qpx);
void mlx5_batch_fill_raw(struct ibv_qp_ex *qpx);
void mlx5_batch_fill_dc(struct mlx5_qp *qp);
/* Adds the builders of UMR requests (send_wr_umr.c) if the QP supports them. */
void mlx5_batch_fill_umr(struct mlx5_qp *qp);

#endif
