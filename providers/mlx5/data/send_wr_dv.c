/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_dv.c - mlx5dv_wr_raw_wqe(): a WQE that the program has built, as one more builder of a
 * batch (batch.h).
 *
 * The program answers for all of it, flags included, but for its index and its signature. The
 * completion says MLX5DV_WC_RAW_WQE, whatever the opcode is.
 */
#include <errno.h>

#include "providers/mlx5/data/batch.h"

/* A WQE may be as long as those that the QP was created for: room in the ring is counted in
 * these. */
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

static bool qp_is_ready(struct mlx5_qp *qp)
{
	if (gate_open_for_any(qp))
		return true;
	verbs_warn(
		"mlx5dv_wr_raw_wqe: qp 0x%x, wr_id %#llx: the QP is in state %d, must be RTS (%d)",
		qp->vqp.qp.qp_num, (unsigned long long)qp->vqp.qp_ex.wr_id, (int)qp->vqp.qp.state,
		IBV_QPS_RTS);
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

	if (qp->batch.err || !raw_wqe_has_size(qp, wqe.ds) || !qp_is_ready(qp))
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
