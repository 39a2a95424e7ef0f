/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bind_mw.c - ibv_bind_mw(), which binds a window of type 1.
 *
 * Like ibv_post_send(), the routine has several instances, and the QP stores the one that fits it.
 * A connected QP with an exclusive register has a fast path for the usual requests of single_umr.h.
 * All other cases convert the call to a work request for ibv_post_send().
 * PRM: UMR control segment
 */
#include "providers/common/mw.h"
#include "providers/mlx5/data/single_umr.h"
#include "providers/mlx5/data/post.h"

WQE_INLINE bool window_is_usual(const struct mlx5_qp *qp, struct send_wqe *wqe,
				const struct ibv_mw *mw, const struct ibv_mw_bind *bind)
{
	return qp->sq.sge_limit && bind_is_usual(qp, wqe, mw, &bind->bind_info, bind->send_flags);
}

WQE_INLINE void bind_window(struct mlx5_qp *qp, struct send_wqe *wqe, struct ibv_mw *mw,
			    const struct ibv_mw_bind *bind)
{
	const uint32_t key = mw->rkey, next = ibv_inc_rkey(key);

	mw->rkey = next;
	put_bind(qp, wqe->ctrl, IBV_MW_TYPE_1, next, &bind->bind_info);
	post_bind(qp, wqe, key, bind->wr_id, bind->send_flags);
}

int mlx5_bind_mw_any(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	return provider_mw_bind(&qp->vqp.qp, mw, bind);
}

static int bind_unlocked(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct send_wqe wqe;

	if (unlikely(!window_is_usual(qp, &wqe, mw, bind)))
		return mlx5_bind_mw_any(qp, mw, bind);
	bind_window(qp, &wqe, mw, bind);
	return 0;
}

static int __attribute__((noinline))
bind_exchange(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct send_wqe wqe;
	bool usual;

	qlock_take(&qp->sq_lock);
	usual = window_is_usual(qp, &wqe, mw, bind);
	if (likely(usual))
		bind_window(qp, &wqe, mw, bind);
	qlock_drop(&qp->sq_lock);
	return likely(usual) ? 0 : mlx5_bind_mw_any(qp, mw, bind);
}

/* Binds under the QP's lock. If the process has one thread and the lock is free, does not take it:
 * its atomic operations cost more than plain loads and stores. */
static int bind_locked(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	return qlock_is_idle(&qp->sq_lock) ? bind_unlocked(qp, mw, bind)
					   : bind_exchange(qp, mw, bind);
}

bind_mw_fn *mlx5_bind_mw_routine(enum send_kind kind, bool shared, enum bfreg_use use)
{
	if (kind != SEND_CONNECTED || use != BFREG_OWN)
		return mlx5_bind_mw_any;
	return shared ? bind_locked : bind_unlocked;
}

int mlx5_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	/* a QP of another context may belong to another provider, so its struct is unknown here */
	if (unlikely(ibqp->context != mw->context))
		return provider_mw_bind(ibqp, mw, bind);
	return to_mqp(ibqp)->bind_mw(to_mqp(ibqp), mw, bind);
}
