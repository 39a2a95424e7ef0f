/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * build.h - the steps of creating a QP, which create.c takes in turn, and undoes in reverse. No
 * step takes a lock, as no other thread knows the QP yet.
 */
#ifndef PROVIDERS_MLX5_QP_BUILD_H
#define PROVIDERS_MLX5_QP_BUILD_H

#include "providers/mlx5/context.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/qp/size.h"

/* ---- check.c ---- */

/* Returns the rules of the type that ATTR asks for, or NULL for a type that does not exist. */
const struct qp_rules *mlx5_qp_rules_for(const struct ibv_qp_init_attr_ex *attr);
int mlx5_qp_refuse_type(enum ibv_qp_type type);
int mlx5_qp_check_attr(const struct ibv_context *context, const struct qp_rules *rules,
		       const struct ibv_qp_init_attr_ex *attr);

/* ---- queues.c ---- */

/* Sets the limits of both queues, from which mlx5_qp_choose_routines() chooses. */
void mlx5_qp_set_limits(const struct qp_size *size, struct mlx5_qp *qp);
int mlx5_qp_alloc_doorbell(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp);
void mlx5_qp_free_doorbell(struct mlx5_context *ctx, struct mlx5_qp *qp);
int mlx5_qp_alloc_queues(struct mlx5_context *ctx, struct ibv_pd *pd, struct mlx5_qp *qp,
			 const struct qp_size *size);
void mlx5_qp_free_queues(struct mlx5_qp *qp);
/* Removes the completions of QP from its CQs, which may be the same CQ. The CQs that an XRC QP does
 * not use are skipped: the program may have destroyed them already. */
void mlx5_qp_clean_cqs(struct mlx5_qp *qp);

/* ---- routines.c ---- */

/* Chooses the posting routines by the doorbell and the limits of the QP, which must be set before.
 * The rings may be allocated later, as no routine looks at them before the first post. */
int mlx5_qp_choose_routines(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			    const struct qp_size *size, struct mlx5_qp *qp);

/* ---- command.c ---- */

/* Creates the QP in the kernel. Sets the granted capacities in ATTR, and the numbers in QP. */
int mlx5_qp_run_create(struct mlx5_context *ctx, struct ibv_qp_init_attr_ex *attr,
		       const struct qp_size *size, const struct mlx5_qp_dv *dv, struct mlx5_qp *qp);
int mlx5_qp_run_create_rss(struct mlx5_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			   const struct mlx5_qp_dv *dv, struct mlx5_qp *qp);

/* ---- shared by the steps ---- */

static inline struct ibv_pd *qp_attr_pd(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

static inline uint64_t qp_send_ops(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags
								 : SEND_OPS_ANY;
}

static inline uint32_t qp_tso_header(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER ? attr->max_tso_header : 0;
}

/* Returns the limit of posted receives. With out-of-order messages the ring is twice as long: see
 * qp_size_early(). */
static inline uint32_t qp_rq_max_post(const struct mlx5_qp *qp, const struct qp_size *size)
{
	return size->rq_wqes >> qp->out_of_order;
}

static inline bool qp_has_queues(const struct mlx5_qp *qp)
{
	return qp->rules->sends || qp->rules->receives;
}

/* Returns whether to hide the receive doorbell record until state RTR. QPs with separate rings (raw
 * packet, underlay) have an RQ in the adapter that is ready before the QP is; without posted
 * receives, it accepts no packet. */
static inline bool qp_withholds(const struct mlx5_qp *qp)
{
	return qp->rules->rings_apart && qp->rules->receives;
}

static inline bool qp_is_indexed(const struct mlx5_qp *qp)
{
	return qp_has_queues(qp) || qp->rules->is_target;
}

/* Registers the QP by its QPN, for CQEs without a user index; the QPN is known only after
 * creation. */
static inline int qp_index_by_qpn(struct mlx5_context *ctx, struct mlx5_qp *qp)
{
	qp->rq.rsn = qp->vqp.qp.qp_num;
	return provider_id_set(&ctx->common.ids, qp->rq.rsn, &qp->rq);
}
#endif
