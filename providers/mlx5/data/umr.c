/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.c - builds UMR WQEs, for post_send.c and send_wr_umr.c: control, UMR control, memory key
 * context, and for a binding one block of inline translations with the region below the window.
 */
#include "providers/common/mw.h"
#include "providers/mlx5/data/umr.h"

#include "libibverbs/driver.h"
#include "prm/mlx5/umr.h"

#define ANY_QPN   FLD_MASK(MKC_QPN)

#define MASK_FREE (MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY | MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE)
#define MASK_BIND                                                                               \
	(MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN | MLX5_WQE_UMR_CTRL_MKEY_MASK_START_ADDR | \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE |                                       \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |                                       \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE |                                      \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC)

/* A window of type 2 belongs to the QP that bound it, and only a free one can be bound. */
#define FLAGS_ANY      (MLX5_WQE_UMR_CTRL_FLAG_INLINE | MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET)
#define FLAGS_BIND_2   (FLAGS_ANY | MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE)
#define FLAGS_UNBIND_2 (FLAGS_ANY | MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN)

/* The function puts a segment of SIZE bytes, all 0, at a multiple of its size from the start of the
 * WQE. */
static void *put_seg(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t size)
{
	void *seg;

	wqe_wrap(sq, wqe);
	seg = memset(wqe->seg, 0, size);
	wqe->seg += size;
	wqe->ds += size / WQE_SEG;
	return seg;
}

static void begin_umr(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
		      unsigned int flags, uint32_t rkey, enum ibv_wc_opcode done_as)
{
	wqe_begin(sq, wqe, pi, MLX5_OPCODE_UMR, flags, htobe32(rkey));
	wqe->slot->done_as = done_as;
}

static void put_control(const struct mlx5_sq *sq, struct send_wqe *wqe, uint8_t flags,
			uint32_t klm_bytes, uint64_t mask)
{
	struct mlx5_wqe_umr_ctrl_seg *ctrl = put_seg(sq, wqe, sizeof(*ctrl));

	ctrl->flags = flags;
	ctrl->klm_octowords = htobe16((uint16_t)(klm_bytes / WQE_SEG));
	ctrl->mkey_mask = htobe64(mask);
}

static void put_free(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t low_key)
{
	struct mlx5_wqe_mkey_context_seg *mkey = put_seg(sq, wqe, sizeof(*mkey));

	mkey->free = MLX5_WQE_MKEY_CONTEXT_FREE;
	mkey->qpn_mkey = htobe32(FLD_BITS(MKC_QPN) | low_key);
}

static void put_bound(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t qpn, uint32_t rkey,
		      const struct ibv_mw_bind_info *bind)
{
	struct mlx5_wqe_mkey_context_seg *mkey = put_seg(sq, wqe, sizeof(*mkey));
	bool zero_based = bind->mw_access_flags & IBV_ACCESS_ZERO_BASED;

	mkey->access_flags = (uint8_t)(umr_access_word(bind->mw_access_flags) >> 8);
	mkey->qpn_mkey = htobe32(qpn << FLD_SHIFT(MKC_QPN) | (rkey & FLD_MASK(MKC_MKEY_7_0)));
	mkey->start_addr = zero_based ? 0 : htobe64(bind->addr);
	mkey->len = htobe64(bind->length);
	seg_put_data(put_seg(sq, wqe, UMR_KLM_BLOCK), (uint32_t)bind->length, bind->mr->lkey,
		     bind->addr);
}

static int bind_refuse(const struct mlx5_qp *qp, const struct ibv_mw *mw, int err, const char *why)
{
	verbs_warn("bind_mw: qp 0x%x, window 0x%x: %s", qp->vqp.qp.qp_num, mw->rkey, why);
	return err;
}

static int check_bind(const struct mlx5_qp *qp, const struct ibv_mw *mw,
		      const struct ibv_mw_bind_info *bind)
{
	if (!bind->mr)
		return bind->length || bind->addr
			       ? bind_refuse(qp, mw, EINVAL,
					     "addr or length is set, but mr is NULL")
			       : 0;
	if (!pd_is_same(mw->pd, qp->vqp.qp.pd))
		return bind_refuse(qp, mw, EPERM, "the window belongs to another PD than the QP");
	if (!pd_is_same(bind->mr->pd, mw->pd))
		return bind_refuse(qp, mw, EPERM,
				   "the window belongs to another PD than the region");
	if (to_vmr(bind->mr)->access & IBV_ACCESS_ZERO_BASED)
		return bind_refuse(qp, mw, EINVAL, "the region is zero based");
	/* The translation has 32 bits for the length, and an adapter takes no more than this. */
	if (bind->length > 1ull << 31)
		return bind_refuse(qp, mw, EOPNOTSUPP, "length is above 2 GiB");
	return 0;
}

int mlx5_umr_bind(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, unsigned int flags,
		  const struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *bind)
{
	const bool type2 = mw->type == IBV_MW_TYPE_2;
	const struct mlx5_sq *sq = &qp->sq;
	const uint64_t qpn_mask = type2 ? MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN : 0;
	int ret = check_bind(qp, mw, bind);

	if (ret)
		return ret;
	begin_umr(sq, wqe, pi, flags, mw->rkey, IBV_WC_BIND_MW);
	if (bind->length) {
		put_control(sq, wqe, type2 ? FLAGS_BIND_2 : FLAGS_ANY, UMR_KLM_BLOCK,
			    MASK_BIND | qpn_mask);
		put_bound(sq, wqe, type2 ? qp->vqp.qp.qp_num : ANY_QPN, rkey, bind);
	} else {
		put_control(sq, wqe, type2 ? FLAGS_UNBIND_2 : FLAGS_ANY, 0, MASK_FREE | qpn_mask);
		put_free(sq, wqe, rkey & FLD_MASK(MKC_MKEY_7_0));
	}
	return 0;
}

void mlx5_umr_invalidate(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 unsigned int flags, uint32_t rkey)
{
	begin_umr(&qp->sq, wqe, pi, flags, rkey, IBV_WC_LOCAL_INV);
	put_control(&qp->sq, wqe, FLAGS_UNBIND_2, 0, MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN);
	put_free(&qp->sq, wqe, 0);
}
