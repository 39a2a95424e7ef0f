/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr.c - ibv_wr_*(): the second entry point, beside ibv_post_send(), to the builders of
 * send_wqe.h. Programs call these functions through struct ibv_qp_ex.
 *
 * A builder (wr_send, wr_rdma_write...) starts a WQE in the ring; one setter adds the payload and
 * finishes the WQE (batch.h). A batch is posted as a whole or not at all: after the first error
 * nothing more is written, and wr_complete() cancels the batch by resetting the queue's indices.
 * wr_abort() does the same.
 * PRM: Send WQE format
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/signature.h"

void __attribute__((cold, noinline)) mlx5_batch_fail_full(struct mlx5_qp *qp)
{
	verbs_warn("ibv_wr: qp 0x%x, wr_id %#llx: the send queue is full, limit %u requests "
		   "(max_send_wr of the QP)",
		   qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, qp->sq.wq.max_post);
	batch_set_err(qp, ENOMEM);
}

static void __attribute__((cold, noinline))
batch_fail_limit(struct mlx5_qp *qp, const char *setter, const char *what, uint64_t value,
		 uint32_t limit, const char *rule)
{
	verbs_warn("%s: qp 0x%x, wr_id %#llx: %s is %llu, limit %u (%s of the QP)", setter,
		   qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, what,
		   (unsigned long long)value, limit, rule);
	batch_set_err(qp, ENOMEM);
}

bool __attribute__((cold, noinline)) mlx5_batch_pass_gate(struct mlx5_qp *qp, enum ibv_wr_opcode op)
{
	if (gate_open(qp, op)) {
		qp->batch.opened_gate = true;
		return true;
	}
	if (!qp->sq.sge_limit)
		verbs_warn(
			"ibv_wr: qp 0x%x, wr_id %#llx: the QP is in state %s, must be RTS: connect "
			"it by ibv_modify_qp() before",
			qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id,
			provider_qp_state_str(qp->vqp.qp.state));
	else
		verbs_warn(
			"ibv_wr: qp 0x%x, wr_id %#llx: opcode is %d, this QP was created for those "
			"of mask %#x "
			"(send_ops_flags)",
			qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, (int)op,
			qp->opcodes);
	batch_set_err(qp, EINVAL);
	return false;
}

bool __attribute__((cold, noinline))
mlx5_batch_begin_exception(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode, __be32 imm,
			   enum send_kind kind)
{
	bool gated = !(qp->sq.opcodes & 1u << op);
	struct send_wqe wqe;

	if (qp->batch.err)
		return false;
	if (gated && !mlx5_batch_pass_gate(qp, op))
		return false;
	if (!wq_has_room(&qp->sq.wq, qp->sq.wq.head)) {
		mlx5_batch_fail_full(qp);
		return false;
	}
	batch_start_wqe(qp, &wqe, opcode, imm, kind);
	batch_keep_wqe(qp, &wqe);
	if (gated)
		gate_fence(qp, wqe.ctrl);
	return true;
}

void __attribute__((cold, noinline))
mlx5_batch_begin_rdma_exception(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t raddr, __be32 imm,
				struct rdma_op what)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (mlx5_batch_begin_exception(qp, (enum ibv_wr_opcode)what.op, what.opcode, imm,
				       (enum send_kind)what.kind))
		batch_put_raddr(qp, raddr, rkey);
}

/* ---- builders of connected QPs */

#define BUILDERS_KIND SEND_CONNECTED
#define BUILDER(name) connected_##name
#include "providers/mlx5/data/builders.h"

/* ---- setters */

void __attribute__((noinline))
mlx5_batch_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe = batch_wqe(qp);

	if (!batch_has_wqe(qp))
		return;
	wqe_put_data(&qp->sq, &wqe, length, lkey, addr);
	batch_finish_wqe(qp, &wqe, false);
}

static void connected_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	batch_set_only_sge(qpx, lkey, addr, length, 1);
}

/* Refuses an SGE: a QP without SGEs may have no room for one, if the head fills whole WQEBBs.
 * Writing it would overwrite the next WQE. */
static void wr_refuse_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (length && batch_has_wqe(qp))
		batch_fail_limit(qp, "ibv_wr_set_sge", "num_sge", 1, 0, "max_send_sge");
	else
		mlx5_batch_set_sge(qpx, lkey, addr, length);
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe = batch_wqe(qp);

	if (!batch_has_wqe(qp))
		return;
	if (unlikely(num_sge > qp->sq.max_sge)) {
		batch_fail_limit(qp, "ibv_wr_set_sge_list", "num_sge", num_sge, qp->sq.max_sge,
				 "max_send_sge");
		return;
	}
	for (size_t i = 0; i < num_sge; i++)
		wqe_put_sge(&qp->sq, &wqe, &sge[i]);
	batch_finish_wqe(qp, &wqe, false);
}

/* Writes inline data on the slow path: data of length 0, data beyond the limit, or data across the
 * end of the ring. */
static void __attribute__((noinline))
set_unusual_inline(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe = batch_wqe(qp);

	if (!batch_has_wqe(qp))
		return;
	if (length > wqe_inline_limit(&qp->sq, &wqe)) {
		batch_fail_limit(qp, "ibv_wr_set_inline_data", "length", length, qp->sq.max_inline,
				 "max_inline_data");
		return;
	}
	ring_copy(&qp->sq, wqe_inline_open(&wqe), addr, length);
	wqe_inline_close(&wqe, (uint32_t)length);
	batch_finish_wqe(qp, &wqe, true);
}

WQE_INLINE void finish_inline(struct mlx5_qp *qp, uint8_t *seg, uint32_t len)
{
	const uint64_t head = qp->batch.head + inline_units(len) - BATCH_UNITS;
	const struct send_wqe wqe = { .ds = head & FLD_MASK(CTRL_DS) };

	*(__be32 *)seg = htobe32(MLX5_INLINE_SEG | len);
	seg_put_be64(qp->batch.ctrl, head);
	qp->sq.pi += wqe_blocks(&wqe);
	qp->batch.push = PUSH_INLINE;
}

WQE_INLINE void set_usual_inline(struct ibv_qp_ex *qpx, void *addr, size_t length, bool is_long)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	const uint64_t head = qp->batch.head;
	const uint32_t len = (uint32_t)length;
	uint8_t *const seg = qp->batch.seg;
	struct send_wqe wqe = { .seg = seg };

	if (is_long)
		copy_large(wqe_inline_open(&wqe), addr, len);
	else if (likely(len - 8 <= 8))
		copy_8_to_16(wqe_inline_open(&wqe), addr, len);
	else
		copy_small(wqe_inline_open(&wqe), addr, len);
	*(__be32 *)seg = htobe32(MLX5_INLINE_SEG | len);
	wqe.head = head + inline_units(len) - BATCH_UNITS;
	seg_put_be64(qp->batch.ctrl, wqe.head);
	wqe.ds = wqe.head & FLD_MASK(CTRL_DS);
	qp->sq.pi += wqe_blocks(&wqe);
	qp->batch.push = PUSH_INLINE;
}

static void __attribute__((noinline))
set_long_inline(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (inline_is_usual(&qp->sq, qp->batch.seg, length))
		set_usual_inline(qpx, addr, length, true);
	else
		set_unusual_inline(qpx, addr, length);
}

/* Writes inline data. Short data is handled here, because that needs no saved registers. */
static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (inline_is_short(&qp->sq, qp->batch.seg, length))
		set_usual_inline(qpx, addr, length, false);
	else
		set_long_inline(qpx, addr, length);
}

static uint64_t bufs_length(const struct ibv_data_buf *bufs, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += bufs[i].length;
	return total;
}

static void __attribute__((noinline))
set_unusual_inline_list(struct ibv_qp_ex *qpx, size_t num_buf, const struct ibv_data_buf *bufs)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe = batch_wqe(qp);
	uint64_t total;
	uint8_t *to;

	if (!batch_has_wqe(qp))
		return;
	total = bufs_length(bufs, num_buf);
	if (unlikely(total > wqe_inline_limit(&qp->sq, &wqe))) {
		batch_fail_limit(qp, "ibv_wr_set_inline_data_list", "length", total,
				 qp->sq.max_inline, "max_inline_data");
		return;
	}
	to = wqe_inline_open(&wqe);
	for (size_t i = 0; i < num_buf; i++)
		to = ring_copy(&qp->sq, to, bufs[i].addr, bufs[i].length);
	wqe_inline_close(&wqe, (uint32_t)total);
	batch_finish_wqe(qp, &wqe, true);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				    const struct ibv_data_buf *bufs)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	uint8_t *const seg = qp->batch.seg;
	uint8_t *to = seg + sizeof(struct mlx5_wqe_inl_data_seg);
	uint64_t total = bufs_length(bufs, num_buf);

	if (unlikely(!inline_is_usual(&qp->sq, seg, total))) {
		set_unusual_inline_list(qpx, num_buf, bufs);
		return;
	}
	for (size_t i = 0; i < num_buf; i++) {
		copy_inline(to, bufs[i].addr, (uint32_t)bufs[i].length);
		to += bufs[i].length;
	}
	finish_inline(qp, seg, (uint32_t)total);
}

/* ---- begin and end of a batch */

WQE_INLINE void batch_open(struct mlx5_qp *qp)
{
	qp->batch.first_pi = qp->sq.pi;
	qp->batch.first_head = qp->sq.wq.head;
	qp->batch.seg = BATCH_NO_WQE;
	qp->batch.push = PUSH_PLAIN;
}

static int __attribute__((noinline)) batch_end_empty(struct mlx5_qp *qp)
{
	int err = qp->batch.err;

	if (err)
		batch_cancel(qp);
	return verbs_result(err);
}

WQE_INLINE int batch_ring(struct mlx5_qp *qp, enum bfreg_use use, bool wide)
{
	struct mlx5_batch *batch = &qp->batch;
	struct mlx5_sq *sq = &qp->sq;
	uint32_t count = sq->wq.head - batch->first_head, push;

	if (count == 1) {
		push = bf_push_length(sq, sq->pi - batch->first_pi, batch->push);
		if (push) {
			doorbell_send_as(sq, sq->pi, batch->ctrl, push, use, wide);
			return 0;
		}
	} else if (unlikely(!count)) {
		return batch_end_empty(qp);
	}
	doorbell_send(sq, sq->pi, batch->ctrl, 0, use);
	return 0;
}

static void __attribute__((noinline)) wait_and_open(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	qlock_take(&qp->sq_lock);
	batch_open(qp);
}

static void wr_start_locked(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (unlikely(!qlock_try(&qp->sq_lock))) {
		wait_and_open(qpx);
		return;
	}
	batch_open(qp);
}

static void wr_start_unlocked(struct ibv_qp_ex *qpx)
{
	batch_open(to_mqp_ex(qpx));
}

WQE_INLINE int batch_complete_as(struct ibv_qp_ex *qpx, bool shared, enum bfreg_use use, bool wide)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	int ret = batch_ring(qp, use, wide);

	if (shared)
		qlock_drop(&qp->sq_lock);
	return ret;
}

WQE_INLINE int batch_complete(struct ibv_qp_ex *qpx, bool shared, enum bfreg_use use)
{
	return batch_complete_as(qpx, shared, use, false);
}

static int wr_complete_locked(struct ibv_qp_ex *qpx)
{
	return batch_complete(qpx, true, BFREG_OWN);
}

static int wr_complete_unlocked(struct ibv_qp_ex *qpx)
{
	return batch_complete(qpx, false, BFREG_OWN);
}

static int wr_complete_in_domain(struct ibv_qp_ex *qpx)
{
	return batch_complete(qpx, false, BFREG_DOMAIN);
}

static int wr_complete_locked_twice(struct ibv_qp_ex *qpx)
{
	return batch_complete(qpx, true, BFREG_SHARED);
}

/* Requests on memory keys have several WQEBBs, so these variants push with wide stores. */
static int wr_complete_long_locked(struct ibv_qp_ex *qpx)
{
	return batch_complete_as(qpx, true, BFREG_OWN, true);
}

static int wr_complete_long_unlocked(struct ibv_qp_ex *qpx)
{
	return batch_complete_as(qpx, false, BFREG_OWN, true);
}

static int wr_complete_long_in_domain(struct ibv_qp_ex *qpx)
{
	return batch_complete_as(qpx, false, BFREG_DOMAIN, true);
}

static int wr_complete_long_locked_twice(struct ibv_qp_ex *qpx)
{
	return batch_complete_as(qpx, true, BFREG_SHARED, true);
}

/* Signs the WQEs at the end of the batch: only then are they complete, and the signature covers
 * every byte. */
static int wr_complete_signed(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	int ret;

	if (!qp->batch.err)
		mlx5_sign_sends(&qp->sq, qp->batch.first_pi, qp->sq.pi);
	ret = batch_ring(qp, (enum bfreg_use)qp->sq.db.use, false);
	qlock_leave(&qp->sq_lock);
	return ret;
}

static void wr_abort_locked(struct ibv_qp_ex *qpx)
{
	batch_cancel(to_mqp_ex(qpx));
	qlock_drop(&to_mqp_ex(qpx)->sq_lock);
}

static void wr_abort_unlocked(struct ibv_qp_ex *qpx)
{
	batch_cancel(to_mqp_ex(qpx));
}

static void fill_connected(struct ibv_qp_ex *qpx)
{
	qpx->wr_set_sge = connected_set_sge;
	connected_fill(qpx);
}

static void fill_critical_section(struct ibv_qp_ex *qpx, bool shared, enum bfreg_use use)
{
	qpx->wr_start = shared ? wr_start_locked : wr_start_unlocked;
	qpx->wr_abort = shared ? wr_abort_locked : wr_abort_unlocked;
	if (use == BFREG_OWN)
		qpx->wr_complete = shared ? wr_complete_locked : wr_complete_unlocked;
	else
		qpx->wr_complete = shared ? wr_complete_locked_twice : wr_complete_in_domain;
}

void mlx5_send_wr_fill_long(struct mlx5_qp *qp)
{
	const bool shared = qp->sq_lock.shared;
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	if (qp->has_signatures)
		return;
	if (qp->sq.db.use == BFREG_OWN)
		qpx->wr_complete = shared ? wr_complete_long_locked : wr_complete_long_unlocked;
	else
		qpx->wr_complete =
			shared ? wr_complete_long_locked_twice : wr_complete_long_in_domain;
}

void mlx5_send_wr_fill(struct mlx5_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	qpx->wr_set_sge = mlx5_batch_set_sge;
	qpx->wr_set_sge_list = wr_set_sge_list;
	qpx->wr_set_inline_data = wr_set_inline_data;
	qpx->wr_set_inline_data_list = wr_set_inline_data_list;
	if (qp->rules->ops & UMR_OPCODES)
		mlx5_batch_fill_umr(qp);
	switch (qp->rules->kind) {
	case SEND_CONNECTED:
		fill_connected(qpx);
		break;
	case SEND_DATAGRAM:
		mlx5_batch_fill_datagram(qpx);
		break;
	case SEND_XRC:
		mlx5_batch_fill_xrc(qpx);
		break;
	case SEND_RAW:
		mlx5_batch_fill_raw(qpx);
		break;
	case SEND_DC:
		mlx5_batch_fill_dc(qp);
		break;
	case SEND_UNDERLAY: /* not available for ibv_wr_* */
		break;
	}
	if (!qp->sq.max_sge && (qp->rules->kind == SEND_DATAGRAM || qp->rules->kind == SEND_XRC ||
				qp->rules->kind == SEND_DC))
		qpx->wr_set_sge = wr_refuse_sge;
	fill_critical_section(qpx, qp->sq_lock.shared, (enum bfreg_use)qp->sq.db.use);
	if (qp->has_signatures)
		qpx->wr_complete = wr_complete_signed;
}
