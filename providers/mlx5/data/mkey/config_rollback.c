/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config_rollback.c - ends the batches of QPs that configure memory keys: see config_rollback.h.
 *
 * PRM: UMR control segment, BSF
 */
#include "providers/mlx5/data/mkey/config_rollback.h"

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/mkey/request.h"
#include "providers/mlx5/data/post.h"

/* Ends a batch. Drops a configuration that still lacks setters, because the next request takes its
 * place. */
static void configs_end(struct mlx5_qp *qp, bool cancelled)
{
	struct mlx5_mkey *mkey;

	qp->mkey_request.progress.word = 0;
	while (unlikely((mkey = qp->mkey_batch.changed) != NULL)) {
		qp->mkey_batch.changed = mkey->next_in_batch;
		mkey->is_in_batch = false;
		if (cancelled)
			mkey->config = mkey->before_batch;
	}
}

static int configs_complete(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	configs_end(qp, qp->batch.err);
	return qp->mkey_batch.complete(qpx);
}

static void configs_abort(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	configs_end(qp, true);
	qp->mkey_batch.abort(qpx);
}

void mlx5_mkey_fill_ends(struct mlx5_qp *qp, uint64_t ops)
{
	const uint64_t lay_out = MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				 MLX5DV_QP_EX_WITH_MKEY_CONFIGURE;
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	if (!(ops & lay_out))
		return;
	qp->mkey_entries = (uint16_t)min_of(list_room(&qp->sq) / WQE_SEG, (uint32_t)LIST_MAX);
	qp->mkey_first =
		qp->sq.qpn_shifted | (uint64_t)MLX5_OPCODE_UMR << 32 | (HEAD_UNITS + BLOCK_UNITS);
	qp->psv_first = qp->sq.qpn_shifted | (uint64_t)MLX5_OPCODE_SET_PSV << 32 |
			(1 + PSV_SEG_SIZE / WQE_SEG);
	mlx5_send_wr_fill_long(qp);
	qp->mkey_batch.complete = qpx->wr_complete;
	qp->mkey_batch.abort = qpx->wr_abort;
	qpx->wr_complete = configs_complete;
	qpx->wr_abort = configs_abort;
}
