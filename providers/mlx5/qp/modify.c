/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify.c - changes the state of queue pairs, and queries them.
 */
#include "providers/mlx5/qp/build.h"

#include <errno.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/umr.h"
#include "providers/mlx5/qp/dv.h"
#include "providers/mlx5/qp/extra.h"
#include "util/barrier.h"

static void qp_release_record(struct mlx5_qp *qp)
{
	struct mlx5_rq *rq = &qp->rq;

	qlock_enter(&rq->lock);
	if (rq->dbrec != qp->dbrec && rq->wq.head) {
		/* The adapter must see the WQEs before the record that makes them valid. */
		dma_store_barrier();
		qp->dbrec[MLX5_RCV_DBR] = rq->dbrec[MLX5_RCV_DBR];
	}
	rq->dbrec = qp->dbrec;
	qlock_leave(&rq->lock);
}

/* Empties both queues, as the adapter does on a reset, so that both agree on index 0. */
static void qp_reset_queues(struct mlx5_qp *qp)
{
	qlock_enter(&qp->sq_lock);
	wq_reset(&qp->sq.wq);
	qp->sq.pi = 0;
	qp->batch.err = 0;
	qp->dbrec[MLX5_SND_DBR] = 0;
	qlock_leave(&qp->sq_lock);
	qlock_enter(&qp->rq.lock);
	wq_reset(&qp->rq.wq);
	qp->dbrec[MLX5_RCV_DBR] = 0;
	if (qp_withholds(qp))
		qp->rq.dbrec = qp->withheld;
	qlock_leave(&qp->rq.lock);
	__atomic_store_n(&qp->rq.error_reported, false, __ATOMIC_RELAXED);
}

/* Opens or closes the send gate of the data path (data/post.h). IBTA vol 1, 10.3.1: receives may be
 * posted from INIT on, sends from RTS on, both until RESET. Closing drops a pending UMR fence,
 * because the queue is empty; a change from RTS or SQD to RTS keeps it. */
static inline __attribute__((always_inline)) void sq_set_gate(struct mlx5_qp *qp, bool open)
{
	qlock_enter(&qp->sq_lock);
	sq_permit(&qp->sq, open);
	if (!open)
		qp->sq.fence_next = 0;
	qp->sq.opcodes = open && !qp->sq.fence_next ? qp->opcodes & (uint16_t)~UMR_OPCODES : 0;
	qlock_leave(&qp->sq_lock);
}

static void qp_reset(struct mlx5_qp *qp)
{
	sq_set_gate(qp, false);
	rq_set_gate(&qp->rq, false);
	if (!qp_has_queues(qp))
		return;
	mlx5_qp_clean_cqs(qp);
	qp_reset_queues(qp);
}

/* Returns the driver's modify mask. Out-of-order messages are enabled in the change to INIT. */
static uint32_t qp_modify_mask(const struct mlx5_qp *qp, const struct ibv_qp_attr *attr,
			       int attr_mask)
{
	bool begins = attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_INIT;

	return qp->out_of_order && begins ? MLX5_IB_MODIFY_QP_OOO_DP : 0;
}

/* Modifies a QP with the driver's part of the command, which ECE options need at a change of state.
 * A rate limit also needs this part, because Linux 7 refuses a rate limit without it (unless the QP
 * is raw). Out of line, because such a change is rare. */
static int __attribute__((noinline))
qp_run_modify_with(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	bool has_ece = qp->ece_asked && attr_mask & IBV_QP_STATE;
	const struct mlx5_ib_modify_qp req = {
		.comp_mask = qp_modify_mask(qp, attr, attr_mask),
		.ece_options = has_ece ? qp->ece_asked : 0,
	};
	struct mlx5_ib_modify_qp_resp resp;
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret;

	if (!has_ece && !req.comp_mask && !(attr_mask & IBV_QP_RATE_LIMIT))
		return verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, NULL);
	ret = verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &udata);
	if (!ret && has_ece) {
		qp->ece_asked = 0;
		qp->ece_granted = resp.ece_options;
	}
	return ret;
}

/* Modifies a QP. Most changes need no driver's part of the command, and use the form without it,
 * which every kernel has. */
static inline int qp_run_modify(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	if (qp->ece_asked || qp->out_of_order || attr_mask & IBV_QP_RATE_LIMIT)
		return qp_run_modify_with(qp, attr, attr_mask);
	return verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, NULL);
}

/* Checks the mask here for a clear log message: the kernel would return only EINVAL. */
static int underlay_check_mask(const struct mlx5_qp *qp, int attr_mask)
{
	if (qp->rules != mlx5_qp_underlay_rules() ||
	    !(attr_mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE)))
		return 0;
	verbs_warn("modify_qp: qp 0x%x: attr_mask is %#x: a QP with IBV_QP_CREATE_SOURCE_QPN has "
		   "nothing but a state",
		   qp->vqp.qp.qp_num, attr_mask);
	return EINVAL;
}

/* Modifies a DCT. The kernel creates it only in the change to RTR, because the adapter's command
 * needs all attributes at once, and then returns its number. */
static int dct_modify(struct mlx5_qp *qp, const struct ibv_qp_attr *attr, int attr_mask)
{
	struct mlx5_context *ctx = to_mctx(qp->vqp.qp.context);
	const struct mlx5_ib_modify_qp req = {
		.comp_mask = qp_modify_mask(qp, attr, attr_mask),
		.ece_options = qp->ece_asked,
	};
	struct mlx5_ib_modify_qp_resp resp = { 0 };
	const struct verbs_udata udata = { &req, sizeof(req), &resp, sizeof(resp), NULL, 0 };
	int ret = verbs_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &udata);

	if (ret || !(attr_mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTR)
		return ret;
	qp->vqp.qp.qp_num = resp.dctn;
	qp->rq.number = resp.dctn;
	qp->ece_asked = 0;
	qp->ece_granted = resp.ece_options;
	return context_has_user_index(ctx) ? 0 : qp_index_by_qpn(ctx, qp);
}

static int __attribute__((noinline)) qp_check_modify(const struct mlx5_qp *qp, int attr_mask)
{
	if (qp->rules != mlx5_qp_rss_rules())
		return underlay_check_mask(qp, attr_mask);
	verbs_warn("modify_qp: qp 0x%x spreads frames over WQs, and has no states",
		   qp->vqp.qp.qp_num);
	return EOPNOTSUPP;
}

static int qp_enter_state(struct mlx5_qp *qp, enum ibv_qp_state state)
{
	int ret;

	if (state == IBV_QPS_INIT) {
		ret = mlx5_qp_dv_init(qp);
		if (ret)
			return ret;
		rq_set_gate(&qp->rq, true);
	} else if (state == IBV_QPS_RESET) {
		qp_reset(qp);
	} else if (qp_withholds(qp)) {
		qp_release_record(qp);
	}
	if (state == IBV_QPS_RTS)
		sq_set_gate(qp, true);
	return 0;
}

void mlx5_qp_note_rts(struct ibv_qp *ibqp)
{
	ibqp->state = IBV_QPS_RTS;
	sq_set_gate(to_mqp(ibqp), true);
}

int mlx5_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct mlx5_qp *qp = to_mqp(ibqp);
	int ret;

	if (qp->rules->is_target)
		return dct_modify(qp, attr, attr_mask);
	ret = qp->rules->modifies_apart ? qp_check_modify(qp, attr_mask) : 0;
	if (!ret)
		ret = qp_run_modify(qp, attr, attr_mask);
	return ret || !(attr_mask & IBV_QP_STATE) ? ret : qp_enter_state(qp, attr->qp_state);
}

int mlx5_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr)
{
	int ret = verbs_cmd_query_qp(ibqp, attr, attr_mask, init_attr);

	if (ret)
		return ret;
	init_attr->cap = to_mqp(ibqp)->cap;
	attr->cap = init_attr->cap;
	return 0;
}
