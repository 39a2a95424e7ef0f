/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_umr.c - ibv_wr_bind_mw() and ibv_wr_local_inv(): requests of a batch (batch.h) that need
 * no setter. umr.h describes their effect on the gate.
 * PRM: UMR control segment
 */
#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/single_umr.h"

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

static void __attribute__((noinline))
bind_slowly(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
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

static void __attribute__((noinline)) invalidate_slowly(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe;

	if (!begin_umr(qp, IBV_WR_LOCAL_INV))
		return;
	mlx5_umr_invalidate(qp, &wqe, qp->sq.pi, qpx->wr_flags, rkey);
	finish_umr(qp, &wqe);
}

/* Returns whether the QP's state permits requests on keys. Does not test for a failed batch: such a
 * batch has no room, so on_key_fits() returns false. */
WQE_INLINE bool may_post_on_key(const struct mlx5_qp *qp)
{
	return likely(qp->sq.sge_limit);
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe;

	/* First whether there is room, because in a failed batch MW may be anything. */
	if (!may_post_on_key(qp) || !bind_is_usual(qp, &wqe, mw, bind, qpx->wr_flags) ||
	    mw->type != IBV_MW_TYPE_2) {
		bind_slowly(qpx, mw, rkey, bind);
		return;
	}
	put_bind(qp, wqe.ctrl, IBV_MW_TYPE_2, rkey, bind);
	qp->batch.ctrl = wqe.ctrl;
	enter_on_key(qp, &wqe, mw->rkey, qpx->wr_id, qpx->wr_flags, BIND_BLOCKS, IBV_WC_BIND_MW);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct send_wqe wqe;

	if (!may_post_on_key(qp) || !inval_is_usual(qp, &wqe, qpx->wr_flags)) {
		invalidate_slowly(qpx, rkey);
		return;
	}
	put_inval(wqe.ctrl);
	qp->batch.ctrl = wqe.ctrl;
	enter_on_key(qp, &wqe, rkey, qpx->wr_id, qpx->wr_flags, INVAL_BLOCKS, IBV_WC_LOCAL_INV);
}

void mlx5_batch_fill_umr(struct mlx5_qp *qp)
{
	qp->vqp.qp_ex.wr_bind_mw = wr_bind_mw;
	qp->vqp.qp_ex.wr_local_inv = wr_local_inv;
}
