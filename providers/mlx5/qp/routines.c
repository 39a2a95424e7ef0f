/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routines.c - chooses the data path's functions of a QP, before the program can post.
 */
#include "providers/mlx5/data/datapath.h"

#include "providers/mlx5/context.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/raw.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/build.h"
#include "providers/mlx5/srq.h"

static void rq_choose_routines(struct mlx5_rq *rq, const struct ibv_qp_init_attr_ex *attr,
			       const struct qp_size *size, bool shared)
{
	const struct datapath *path = mlx5_datapath();

	qlock_init(&rq->lock, shared);
	rq->owner = RQ_OF_QP;
	rq->post = rq_qp(rq)->has_signatures
			   ? path->post_recv_signed
			   : path->post_recv_routine(size->rq_max_sge, size->rq_stride_log, shared);
	rq->out_of_order = rq_qp(rq)->out_of_order;
	if (attr->srq) {
		rq->srq = to_msrq(attr->srq);
		rq->special = RQ_SHARED;
	} else if (rq->out_of_order) {
		rq->special = RQ_OTHER;
	}
}

/* Sets the length of the Ethernet header that the WQE must contain inline; older devices read it
 * there. */
static void qp_choose_raw(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			  struct mlx5_qp *qp)
{
	bool sees_none = ctx->caps.eth_min_inline == MLX5_USER_INLINE_MODE_NONE;

	qp->min_header = sees_none ? 0 : WQE_ETH_MIN_HEADER;
	qp->max_tso_header = qp_tso_header(attr);
	rq_choose_checksums(&qp->rq, mlx5_device_checks_ip(ctx));
}

static void qp_choose_sends(struct mlx5_qp *qp)
{
	const struct datapath *path = mlx5_datapath();
	const enum bfreg_use use = (enum bfreg_use)qp->sq.db.use;
	const bool shared = qp->sq_lock.shared;

	if (qp->has_signatures) {
		qp->post_send = path->post_send_signed;
		qp->bind_mw = path->bind_mw_any;
		return;
	}
	qp->post_send = path->post_send_routine(qp->rules->kind, shared, use);
	qp->bind_mw = path->bind_mw_routine(qp->rules->kind, shared, use);
}

int mlx5_qp_choose_routines(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			    const struct qp_size *size, struct mlx5_qp *qp)
{
	const struct ibv_device_attr *device;
	bool shared = !ctx->env.single_threaded && !pd_thread_domain(qp_attr_pd(attr)), atomics;
	int ret;

	ret = provider_device_attr_get(&ctx->common.device, &device);
	if (ret)
		return ret;
	verbs_threads_look();
	qlock_init(&qp->sq_lock, shared);
	qp_choose_sends(qp);
	sq_prepare_flags(&qp->sq, attr->sq_sig_all);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		mlx5_datapath()->send_wr_fill(qp);
		verbs_qp_set_ex(&qp->vqp);
	}
	rq_choose_routines(&qp->rq, attr, size, shared);
	if (qp->rules->kind == SEND_RAW)
		qp_choose_raw(ctx, attr, qp);
	atomics = device->atomic_cap != IBV_ATOMIC_NONE;
	ret = mlx5_qp_send_opcodes(qp->rules, qp_send_ops(attr), atomics,
				   qp->sq.wqe_bytes - size->sq_max_sge * WQE_SEG, &qp->opcodes);
	qp->long_opcodes = mlx5_qp_long_opcodes(qp->rules, atomics, qp->opcodes);
	return ret;
}
