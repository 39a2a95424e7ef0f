/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list_requests.c - requests that configure a memory key in a single call: mlx5dv_wr_mr_list() and
 * mlx5dv_wr_mr_interleaved(), as builders of a batch (batch.h).
 * PRM: UMR control segment
 */
#include "providers/mlx5/data/mkey/blocks.h"
#include "providers/mlx5/data/mkey/checks.h"
#include "providers/mlx5/data/mkey/request.h"
#include "providers/mlx5/mkey.h"

static bool begin_slowly(struct mlx5_qp *qp, struct mlx5_mkey *mkey, uint32_t access)
{
	struct mkey_request *request = &qp->mkey_request;

	if ((!may_begin(qp) && !mlx5_mkey_may_begin(qp)) || !mlx5_mkey_access_fits(qp, access))
		return false;
	request_begin(qp, mkey, request, SIG_PENDING | CRYPTO_PENDING | mkey->config.told);
	request->context = umr_access_word(access);
	request->next = mkey->config;
	return true;
}

static void __attribute__((noinline))
list_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access, uint16_t count,
	    struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (begin_slowly(qp, to_mkey(mkey), access) &&
	    mlx5_mkey_layout_fits(qp, to_mkey(mkey), count, 0) &&
	    (put_list(&qp->sq, &qp->mkey_request, count, sge) ||
	     mlx5_mkey_pieces_fit(qp, count, sge)))
		mlx5_mkey_finish(dv);
}

static void wr_mr_list(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
		       uint16_t count, struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	uint8_t *const block = sq_wqebb(&qp->sq, qp->sq.pi) + HEAD_UNITS * WQE_SEG;
	const uint32_t bytes = (uint32_t)count * WQE_SEG;
	struct mkey_request request;

	if (unlikely(!may_begin(qp) || !access_is_known(access) ||
		     !list_is_usual(&qp->sq, block, bytes, to_mkey(mkey)->plain_bytes) ||
		     !put_usual_list(&request, block, bytes, sge))) {
		list_slowly(dv, mkey, access, count, sge);
		return;
	}
	request_start(qp, to_mkey(mkey), &request);
	request.context = umr_access_word(access);
	finish_plain_usual(qp, &request, BLOCK_UNITS);
}

static void __attribute__((noinline))
pattern_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access, uint32_t repeats,
	       uint16_t count, const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (begin_slowly(qp, to_mkey(mkey), access) &&
	    mlx5_mkey_layout_fits(qp, to_mkey(mkey), count, 1) &&
	    mlx5_mkey_pattern_fits(qp, count, part)) {
		put_pattern(&qp->sq, &qp->mkey_request, repeats, count, part);
		mlx5_mkey_finish(dv);
	}
}

static void wr_mr_interleaved(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
			      uint32_t repeats, uint16_t count, struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	uint8_t *const first = sq_wqebb(&qp->sq, qp->sq.pi) + HEAD_UNITS * WQE_SEG;
	struct mkey_request request;

	if (unlikely(!may_begin(qp) || !access_is_known(access) ||
		     !entries_fit(qp, to_mkey(mkey), count, 1) || mkey_computes(to_mkey(mkey)) ||
		     !pattern_is_usual(&qp->sq, first, count) ||
		     !put_usual_pattern(&request, first, repeats, count, part))) {
		pattern_slowly(dv, mkey, access, repeats, count, part);
		return;
	}
	request_start(qp, to_mkey(mkey), &request);
	request.context = umr_access_word(access);
	finish_plain_usual(qp, &request, request.list_units);
}

void mlx5_mkey_fill_at_once(struct mlx5_qp *qp, uint64_t ops)
{
	struct mlx5dv_qp_ex *dv = &qp->dv_qp;

	if (ops & MLX5DV_QP_EX_WITH_MR_LIST) /* fast path if there is room for a block */
		dv->wr_mr_list = qp->mkey_entries >= BLOCK_UNITS ? wr_mr_list : list_slowly;
	if (ops & MLX5DV_QP_EX_WITH_MR_INTERLEAVED)
		dv->wr_mr_interleaved = wr_mr_interleaved;
}
