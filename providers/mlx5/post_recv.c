/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv.c - ibv_post_recv() on the receive ring of a QP. Same batch rule as ibv_post_send(): in
 * order, up to the first that cannot be posted.
 */
#include <errno.h>

#include "providers/mlx5/doorbell.h"
#include "providers/mlx5/post.h"
#include "providers/mlx5/scatter.h"

static void __attribute__((cold, noinline))
report_sges(const struct mlx5_qp *qp, const struct ibv_recv_wr *wr)
{
	if (!qp->rq.sge_limit)
		verbs_warn(
			"post_recv: qp 0x%x, wr_id %#llx: the QP is in state RESET, must be INIT or later",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id);
	else
		verbs_warn(
			"post_recv: qp 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_recv_sge of the QP)",
			qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, wr->num_sge,
			qp->rq.max_sge);
}

static void __attribute__((cold, noinline))
report_full(const struct mlx5_qp *qp, const struct ibv_recv_wr *wr)
{
	verbs_warn(
		"post_recv: qp 0x%x, wr_id %#llx: the receive queue is full, limit %u requests (max_recv_wr of the QP)",
		qp->vqp.qp.qp_num, (unsigned long long)wr->wr_id, qp->rq.wq.max_post);
}

static int __attribute__((cold, noinline))
refuse(const struct mlx5_qp *qp, const struct ibv_recv_wr *wr, bool full)
{
	if (full)
		report_full(qp, wr);
	else
		report_sges(qp, wr);
	return full ? ENOMEM : EINVAL;
}

static inline __attribute__((always_inline)) int
post_list(struct mlx5_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_rq *rq = &qp->rq;
	uint32_t head = rq->wq.head;
	int ret = 0;

	for (; wr; wr = wr->next, head++) {
		uint32_t unit = head & rq->wq.mask;

		if (unlikely(!wq_has_room(&rq->wq, head)))
			ret = refuse(qp, wr, true);
		else if (unlikely((uint32_t)wr->num_sge >= rq->sge_limit))
			ret = refuse(qp, wr, false);
		if (unlikely(ret)) {
			*bad_wr = wr;
			break;
		}
		scatter_put(
			(struct mlx5_wqe_data_seg *)(rq->buf + ((size_t)unit << rq->stride_log)),
			rq->max_sge, wr->sg_list, wr->num_sge);
		rq->wq.slots[unit].wr_id = wr->wr_id;
	}
	if (likely(head != rq->wq.head)) {
		rq->wq.head = head;
		doorbell_recv(&rq->wq, rq->dbrec);
	}
	return ret;
}

int post_recv_locked(struct mlx5_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int ret;

	qlock_take(&qp->rq_lock);
	ret = post_list(qp, wr, bad_wr);
	qlock_drop(&qp->rq_lock);
	return ret;
}

int post_recv_unlocked(struct mlx5_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_list(qp, wr, bad_wr);
}

/* context->ops.post_recv */
int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_qp *mqp = to_mqp(qp);

	return mqp->post_recv(mqp, wr, bad_wr);
}
