/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv.c - ibv_post_recv() and ibv_post_wq_recv() on a receive ring. Same batch rule as
 * ibv_post_send(): in order, up to the first that cannot be posted.
 */
#include <errno.h>

#include "providers/mlx5/doorbell.h"
#include "providers/mlx5/post.h"
#include "providers/mlx5/scatter.h"

static void __attribute__((cold, noinline))
report_sges(const struct mlx5_rq *rq, const struct ibv_recv_wr *wr)
{
	if (!rq->sge_limit)
		verbs_warn(
			"post_recv: %s 0x%x, wr_id %#llx: the %s is in state RESET, must be INIT or later",
			rq_owner_name(rq), rq->number, (unsigned long long)wr->wr_id,
			rq->owner == RQ_OF_QP ? "QP" : "WQ");
	else
		verbs_warn(
			"post_recv: %s 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_recv_sge of the QP)",
			rq_owner_name(rq), rq->number, (unsigned long long)wr->wr_id, wr->num_sge,
			rq->max_sge);
}

static void __attribute__((cold, noinline))
report_full(const struct mlx5_rq *rq, const struct ibv_recv_wr *wr)
{
	verbs_warn(
		"post_recv: %s 0x%x, wr_id %#llx: the receive queue is full, limit %u requests (max_recv_wr of the QP)",
		rq_owner_name(rq), rq->number, (unsigned long long)wr->wr_id, rq->wq.max_post);
}

static int __attribute__((cold, noinline))
refuse(const struct mlx5_rq *rq, const struct ibv_recv_wr *wr, bool full)
{
	if (full)
		report_full(rq, wr);
	else
		report_sges(rq, wr);
	return full ? ENOMEM : EINVAL;
}

static inline __attribute__((always_inline)) int
post_list(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head = rq->wq.head;
	int ret = 0;

	for (; wr; wr = wr->next, head++) {
		uint32_t unit = head & rq->wq.mask;

		if (unlikely(!wq_has_room(&rq->wq, head)))
			ret = refuse(rq, wr, true);
		else if (unlikely((uint32_t)wr->num_sge >= rq->sge_limit))
			ret = refuse(rq, wr, false);
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

int post_recv_locked(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int ret;

	qlock_take(&rq->lock);
	ret = post_list(rq, wr, bad_wr);
	qlock_drop(&rq->lock);
	return ret;
}

int post_recv_unlocked(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_list(rq, wr, bad_wr);
}

/* context->ops.post_recv */
int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_rq *rq = &to_mqp(qp)->rq;

	return rq->post(rq, wr, bad_wr);
}
