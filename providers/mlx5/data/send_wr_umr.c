/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_umr.c - ibv_wr_bind_mw() and ibv_wr_local_inv(): requests of a batch (batch.h) that need
 * no setter. umr.h describes their effect on the gate.
 */
#include "providers/mlx5/data/batch.h"

static bool begin_umr(struct mlx5_qp *qp, enum ibv_wr_opcode op)
{
	struct mlx5_batch *batch = &qp->batch;

	if (batch->err || !mlx5_batch_pass_gate(qp, op))
		return false;
	if (wq_has_room(&qp->sq.wq, qp->sq.wq.head))
		return true;
	mlx5_batch_fail_full(qp);
	return false;
}

static void finish_umr(struct mlx5_qp *qp, const struct send_wqe *wqe)
{
	batch_note(qp, wqe);
	gate_fence(qp, wqe->ctrl);
	qp->batch.ctrl = wqe->ctrl;
	batch_finish_wqe(qp, wqe, false);
	gate_shut(qp);
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe;
	int err;

	if (!begin_umr(qp, IBV_WR_BIND_MW))
		return;
	err = mlx5_umr_bind(qp, &wqe, qp->sq.pi, qpx->wr_flags, mw, rkey, bind);
	if (err)
		batch_set_err(qp, err);
	else
		finish_umr(qp, &wqe);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe;

	if (!begin_umr(qp, IBV_WR_LOCAL_INV))
		return;
	mlx5_umr_invalidate(qp, &wqe, qp->sq.pi, qpx->wr_flags, rkey);
	finish_umr(qp, &wqe);
}

void mlx5_batch_fill_umr(struct mlx5_qp *qp)
{
	qp->vqp.qp_ex.wr_bind_mw = wr_bind_mw;
	qp->vqp.qp_ex.wr_local_inv = wr_local_inv;
}
