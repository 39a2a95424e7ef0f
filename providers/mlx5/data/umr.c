/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.c - builds UMR WQEs, for post_send.c and send_wr_umr.c: control, UMR control, memory key
 * context, and for a binding one block of inline translations with the region under the window.
 */
#include "providers/common/mw.h"
#include "providers/mlx5/data/umr.h"

#include "libibverbs/driver.h"

static void *put_seg(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t size)
{
	void *seg;

	wqe_wrap(sq, wqe);
	seg = wqe->seg;
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

static int bind_refuse(const struct mlx5_qp *qp, const struct ibv_mw *mw, int err, const char *why)
{
	verbs_warn("bind_mw: qp 0x%x, window 0x%x: %s", qp->vqp.qp.qp_num, mw->rkey, why);
	return verbs_result(err);
}

static int check_bind(const struct mlx5_qp *qp, const struct ibv_mw *mw,
		      const struct ibv_mw_bind_info *bind)
{
	if (mw_access_is_wrong(bind->mw_access_flags))
		return bind_refuse(qp, mw, EINVAL,
				   "mw_access_flags has rights that a window cannot have");
	/* IBTA vol 1, 10.6.7.2.6: only a window of type 2 may be zero-based. */
	if (mw->type == IBV_MW_TYPE_1 && bind->mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return bind_refuse(qp, mw, EINVAL,
				   "mw_access_flags has ZERO_BASED, which is for type 2");
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
	if (bind->length > UMR_BIND_MAX)
		return bind_refuse(qp, mw, EOPNOTSUPP, "length is above 2 GiB");
	return 0;
}

int mlx5_umr_bind(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi, unsigned int flags,
		  const struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *bind)
{
	const struct mlx5_sq *sq = &qp->sq;
	int ret = check_bind(qp, mw, bind);

	if (ret)
		return ret;
	begin_umr(sq, wqe, pi, flags, mw->rkey, IBV_WC_BIND_MW);
	umr_fill_bind_control(put_seg(sq, wqe, UMR_CTRL_SIZE), mw->type, bind->length);
	if (bind->length) {
		umr_fill_bound_key(put_seg(sq, wqe, UMR_MKEY_SIZE), qp, mw->type, rkey, bind);
		umr_fill_translation(put_seg(sq, wqe, UMR_KLM_BLOCK), bind);
	} else {
		umr_fill_free_key(put_seg(sq, wqe, UMR_MKEY_SIZE), rkey);
	}
	return 0;
}

void mlx5_umr_invalidate(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			 unsigned int flags, uint32_t rkey)
{
	begin_umr(&qp->sq, wqe, pi, flags, rkey, IBV_WC_LOCAL_INV);
	umr_fill_free_control(put_seg(&qp->sq, wqe, UMR_CTRL_SIZE));
	umr_fill_free_key(put_seg(&qp->sq, wqe, UMR_MKEY_SIZE), 0);
}
