/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_dv.c - two builders of a batch (batch.h) that only direct verbs have:
 * mlx5dv_wr_raw_wqe(), a WQE built by the program, and mlx5dv_wr_memcpy(), a memory copy.
 *
 * The program is responsible for all fields of its WQE, flags included; the library only sets index
 * and signature. The completion reports MLX5DV_WC_RAW_WQE, whatever the opcode.
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/mlx5/data/batch.h"

/* Checks the size of a program's WQE: it must not exceed the longest WQE that the QP was created
 * for, because room in the ring is counted in WQEs of that length. */
static bool raw_wqe_has_size(struct mlx5_qp *qp, uint32_t ds)
{
	uint32_t limit = qp->sq.wqe_bytes / WQE_SEG;

	if (ds && ds <= limit)
		return true;
	verbs_warn(
		"mlx5dv_wr_raw_wqe: qp 0x%x, wr_id %#llx: the WQE has %u parts of 16 bytes, must "
		"be 1 to %u on this QP",
		qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, ds, limit);
	batch_set_err(qp, ENOMEM);
	return false;
}

static bool qp_is_ready(struct mlx5_qp *qp, const char *call)
{
	if (gate_open_for_any(qp)) {
		qp->batch.opened_gate = true;
		return true;
	}
	verbs_warn("%s: qp 0x%x, wr_id %#llx: the QP is in state %s, must be RTS", call,
		   qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id,
		   provider_qp_state_str(qp->vqp.qp.state));
	batch_set_err(qp, EINVAL);
	return false;
}

static void raw_wqe_copy(const struct mlx5_sq *sq, struct send_wqe *wqe, const void *from,
			 uint32_t pi)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)wqe->ctrl;
	uint32_t first;

	ring_copy(sq, wqe->ctrl, from, (size_t)wqe->ds * WQE_SEG);
	first = be32toh(ctrl->opmod_idx_opcode) & ~FLD_BITS(CTRL_INDEX);
	ctrl->opmod_idx_opcode =
		htobe32(first | (pi & FLD_MASK(CTRL_INDEX)) << FLD_SHIFT(CTRL_INDEX));
	ctrl->signature = 0;
}

static void wr_raw_wqe(struct mlx5dv_qp_ex *dv, const void *from)
{
	struct mlx5_qp *qp = container_of(dv, struct mlx5_qp, dv_qp);
	const struct mlx5_wqe_ctrl_seg *ctrl = from;
	const uint32_t pi = qp->sq.pi;
	struct send_wqe wqe = { .ds = be32toh(ctrl->qpn_ds) & FLD_MASK(CTRL_DS) };

	if (qp->batch.err || !raw_wqe_has_size(qp, wqe.ds) || !qp_is_ready(qp, "mlx5dv_wr_raw_wqe"))
		return;
	if (!wq_has_room(&qp->sq.wq, qp->sq.wq.head)) {
		mlx5_batch_fail_full(qp);
		return;
	}
	wqe_place(&qp->sq, &wqe, pi);
	raw_wqe_copy(&qp->sq, &wqe, from, pi);
	wqe.slot->done_as = MLX5DV_WC_RAW_WQE;
	batch_note(qp, &wqe);
	gate_fence(qp, wqe.ctrl);
	qp->batch.ctrl = wqe.ctrl;
	qp->sq.pi += wqe_blocks(&wqe);
}

void mlx5_send_wr_fill_raw_wqe(struct mlx5_qp *qp)
{
	qp->dv_qp.wr_raw_wqe = wr_raw_wqe;
}

/* PRM: the segment of a memory copy, after the control segment: address for the status, source,
 * destination. mlx5dv.h has no structure for it. */
struct wqe_copy_seg {
	__be32 control;
	__be32 outcome_lkey;
	__be64 outcome_addr;
	struct mlx5_wqe_data_seg from, to;
};
static_assert(sizeof(struct wqe_copy_seg) == 3 * WQE_SEG, "PRM: MMO DMA");

static bool copy_has_length(struct mlx5_qp *qp, size_t length)
{
	if (length && length <= qp->copy.max)
		return true;
	verbs_warn("mlx5dv_wr_memcpy: qp 0x%x, wr_id %#llx: length is %zu, must be 1 to %u "
		   "(max_wr_memcpy_length of the device)",
		   qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, length,
		   qp->copy.max);
	batch_set_err(qp, EINVAL);
	return false;
}

static void wr_memcpy(struct mlx5dv_qp_ex *dv, uint32_t to_lkey, uint64_t to, uint32_t from_lkey,
		      uint64_t from, size_t length)
{
	struct mlx5_qp *qp = container_of(dv, struct mlx5_qp, dv_qp);
	struct wqe_copy_seg *seg;
	struct send_wqe wqe;

	if (qp->batch.err || !copy_has_length(qp, length) || !qp_is_ready(qp, "mlx5dv_wr_memcpy"))
		return;
	if (!wq_has_room(&qp->sq.wq, qp->sq.wq.head)) {
		mlx5_batch_fail_full(qp);
		return;
	}
	wqe_begin(&qp->sq, &wqe, qp->sq.pi, MLX5_OPCODE_MMO, qp->vqp.qp_ex.wr_flags, 0);
	wqe.head |= (uint64_t)WQE_MMO_DMA << (32 + FLD_SHIFT(CTRL_OPMOD));
	wqe.slot->done_as = MLX5DV_WC_MEMCPY;
	seg = (struct wqe_copy_seg *)wqe.seg;
	seg->control = 0;
	seg->outcome_lkey = htobe32(qp->copy.mr->mr.lkey);
	seg->outcome_addr = htobe64((uintptr_t)qp->copy.buf.addr);
	/* PRM: length 0 means 2 GiB, so the top bit is dropped. */
	seg_put_data((uint8_t *)&seg->from, length & INT32_MAX, from_lkey, from);
	seg_put_data((uint8_t *)&seg->to, length & INT32_MAX, to_lkey, to);
	wqe.ds += sizeof(*seg) / WQE_SEG;
	batch_note(qp, &wqe);
	gate_fence(qp, wqe.ctrl);
	qp->batch.ctrl = wqe.ctrl;
	batch_finish_wqe(qp, &wqe, false);
}

void mlx5_send_wr_fill_copy(struct mlx5_qp *qp)
{
	qp->dv_qp.wr_memcpy = wr_memcpy;
}
