/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * create.c - creates and destroys queue pairs. build.h has the steps.
 */
#include "providers/mlx5/qp/build.h"

#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/raw.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/qp/dv.h"
#include "util/alloc.h"

static int qp_create_indexed(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
			     const struct qp_size *size, const struct mlx5_qp_dv *dv,
			     struct mlx5_qp *qp)
{
	int ret;

	qp->rq.rsn = PRM_NO_USER_INDEX;
	if (qp->rules == mlx5_qp_rss_rules())
		return mlx5_qp_run_create_rss(ctx, attr, dv, qp);
	if (!qp_is_indexed(qp))
		return mlx5_qp_run_create(ctx, attr, size, dv, qp);
	if (context_has_user_index(ctx)) {
		ret = provider_id_alloc(&ctx->common.ids, &qp->rq, &qp->rq.rsn);
		if (ret) {
			verbs_warn("create_qp: no user index is free");
			return ret;
		}
		ret = mlx5_qp_run_create(ctx, attr, size, dv, qp);
		if (ret)
			provider_id_clear(&ctx->common.ids, qp->rq.rsn);
		return ret;
	}
	ret = mlx5_qp_run_create(ctx, attr, size, dv, qp);
	/* a DCT gets its number only in state RTR, so it is indexed there */
	if (ret || qp->rules->is_target)
		return ret;
	ret = qp_index_by_qpn(ctx, qp);
	if (ret)
		verbs_cmd_destroy_qp(&qp->vqp.qp);
	return ret;
}

static int qp_build(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
		    const struct qp_size *size, const struct mlx5_qp_dv *dv, struct mlx5_qp *qp)
{
	int ret;

	mlx5_qp_set_limits(size, qp);
	ret = mlx5_qp_alloc_doorbell(ctx, qp_attr_pd(attr), qp);
	if (ret)
		return ret;
	ret = mlx5_qp_choose_routines(ctx, attr, size, qp);
	if (ret)
		goto free_doorbell;
	ret = mlx5_qp_alloc_queues(ctx, qp_attr_pd(attr), qp, size);
	if (ret)
		goto free_doorbell;
	ret = mlx5_qp_dv_take(ctx, qp_attr_pd(attr), dv, qp);
	if (ret)
		goto free_queues;
	ret = qp_create_indexed(ctx, attr, size, dv, qp);
	if (ret)
		goto release_dv;
	return 0;
release_dv:
	mlx5_qp_dv_release(qp);
free_queues:
	mlx5_qp_free_queues(qp);
free_doorbell:
	mlx5_qp_free_doorbell(ctx, qp);
	return ret;
}

static uint32_t tso_head_size(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t header = qp_tso_header(attr);

	return header ? WQE_SEG + (uint32_t)align_up(ETH_HEADER_AT + header, WQE_SEG) : 0;
}

/* Returns whether WQEs carry signatures. If the adapter implements the QP by a separate RQ and SQ,
 * they do not: the kernel does not enable signatures for those. */
static bool qp_signs(const struct mlx5_context *ctx, const struct qp_rules *rules,
		     const struct mlx5_qp_dv *dv)
{
	return ctx->env.qp_signatures && rules->kind != SEND_RAW && !rules->rings_apart &&
	       (rules->sends || rules->receives) && !(dv->flags & QP_CREATE_UNSIGNED);
}

static int qp_size_for(const struct mlx5_context *ctx, const struct qp_rules *rules,
		       const struct ibv_qp_init_attr_ex *attr, const struct mlx5_qp_dv *dv,
		       bool sign, struct qp_size *size)
{
	const uint32_t tso = tso_head_size(attr);
	const uint32_t longest = max_of(mlx5_qp_head_size(rules, qp_send_ops(attr)), tso);
	const struct wqe_heads heads = {
		.longest = max_of(longest, mlx5_qp_dv_head(dv)),
		.data = max_of(mlx5_qp_data_head_size(rules, qp_send_ops(attr)), tso),
		.room = mlx5_qp_dv_room(dv),
		.recv = sign ? RECV_SIGNATURE_SIZE : 0,
	};
	struct ibv_qp_cap cap = attr->cap;

	if (!rules->sends)
		cap.max_send_wr = cap.max_send_sge = cap.max_inline_data = 0;
	if (!rules->receives || attr->srq)
		cap.max_recv_wr = 0;
	return mlx5_qp_size_queues(&ctx->caps, &cap, &heads, size);
}

/* Doubles the receive ring for out-of-order messages. WQEs complete in any order, but their slots
 * become free in order, so slots of completed WQEs may stay occupied. The second half of the ring
 * replaces these. */
static void qp_size_early(const struct mlx5_qp_dv *dv, struct qp_size *size)
{
	if (dv->flags & MLX5DV_QP_CREATE_OOO_DP)
		size->rq_wqes *= 2;
}

/* Allocates a QP at a cache line boundary, so that the hot fields share lines as their order
 * intends. */
struct mlx5_qp *mlx5_qp_new(const char *call)
{
	return zalloc_aligned_for(call, CACHE_LINE, sizeof(struct mlx5_qp));
}

int mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		      const struct mlx5_qp_dv *dv, struct verbs_qp **vqp)
{
	const struct qp_rules *rules = dv->rules ? dv->rules : mlx5_qp_rules_for(attr);
	struct mlx5_context *ctx = to_mctx(context);
	struct qp_size size;
	struct mlx5_qp *qp;
	bool sign;
	int ret;

	if (!rules)
		return mlx5_qp_refuse_type(attr->qp_type);
	ret = mlx5_qp_check_attr(context, rules, attr);
	sign = qp_signs(ctx, rules, dv);
	if (!ret)
		ret = qp_size_for(ctx, rules, attr, dv, sign, &size);
	if (ret)
		return ret;
	qp_size_early(dv, &size);
	qp = mlx5_qp_new("create_qp");
	if (!qp)
		return ENOMEM;
	qp->rules = rules;
	qp->has_signatures = sign;
	qp->out_of_order = dv->flags & MLX5DV_QP_CREATE_OOO_DP;
	ret = qp_build(ctx, attr, &size, dv, qp);
	if (ret) {
		free_aligned(qp);
		return ret;
	}
	*vqp = &qp->vqp;
	return 0;
}

int mlx5_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp)
{
	return mlx5_qp_create_dv(context, attr, &(struct mlx5_qp_dv){ 0 }, vqp);
}

/* Destroys the QP in the kernel, and then removes it from the lookup table: after that the adapter
 * writes no CQE for it, and CQEs already written no longer find it. */
static int qp_leave(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	int ret = qp->is_gone ? 0 : verbs_cmd_destroy_qp(&qp->vqp.qp);

	if (ret || qp->is_gone)
		return ret;
	mlx5_qp_clean_cqs(qp);
	if (qp_is_indexed(qp) && qp->rq.rsn != PRM_NO_USER_INDEX)
		provider_id_clear(&ctx->common.ids, qp->rq.rsn);
	qp->is_gone = true;
	return 0;
}

int mlx5_qp_destroy(struct ibv_qp *ibqp)
{
	struct mlx5_context *ctx = to_mctx(ibqp->context);
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret = qp_leave(ctx, qp);

	if (!ret)
		ret = mlx5_qp_dv_release(qp);
	if (ret)
		return ret;
	mlx5_qp_free_queues(qp);
	mlx5_qp_free_doorbell(ctx, qp);
	free_aligned(qp);
	return 0;
}
