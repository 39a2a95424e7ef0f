/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv.c - posts receives, to a QP's own ring and to a shared one.
 */
#include <errno.h>

#include "providers/common/scatter.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"
#include "providers/mlx4/srq.h"

static int __attribute__((cold))
refuse(const struct mlx4_qp *qp, const struct ibv_recv_wr *wr, bool is_full)
{
	const struct mlx4_rq *rq = &qp->rq;

	if (!rq->open || !rq->buf)
		verbs_warn("post_recv: qp 0x%x: %s", qp->vqp.qp.qp_num,
			   rq->buf ? "the state is RESET"
				   : "the QP has no receive queue of its own");
	else if (is_full)
		verbs_warn("post_recv: qp 0x%x: %u requests are posted, as many as max_recv_wr",
			   qp->vqp.qp.qp_num, rq->wq.max_post);
	else
		verbs_warn("post_recv: qp 0x%x: num_sge is %d, limit %u", qp->vqp.qp.qp_num,
			   wr->num_sge, rq->max_sge);
	return is_full ? ENOMEM : EINVAL;
}

int mlx4_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx4_qp *qp = to_mqp(ibqp);
	struct mlx4_rq *rq = &qp->rq;
	uint32_t head, first;
	int ret = 0;

	qlock_enter(&rq->lock);
	head = first = rq->wq.head;
	for (; wr; wr = wr->next, head++) {
		bool is_full = rq->open && !wq_has_room(&rq->wq, head);

		if (unlikely(!rq->open || is_full || (unsigned int)wr->num_sge > rq->max_sge)) {
			ret = refuse(qp, wr, is_full);
			*bad_wr = wr;
			break;
		}
		scatter_put((struct data_seg *)(rq->buf +
						((size_t)(head & rq->wq.mask) << rq->stride_log)),
			    rq->max_sge, wr->sg_list, wr->num_sge);
		rq->wq.wr_ids[head & rq->wq.mask] = wr->wr_id;
	}
	if (likely(head != first)) {
		rq->wq.head = head;
		order_publish(&rq->wq);
		doorbell_recv(rq->dbrec, head);
	}
	qlock_leave(&rq->lock);
	return ret;
}

static int __attribute__((cold))
refuse_shared(const struct mlx4_srq *srq, const struct ibv_recv_wr *wr, bool is_full)
{
	if (is_full)
		verbs_warn("post_srq_recv: %u requests are posted, as many as max_wr",
			   srq->wqes - 1);
	else
		verbs_warn("post_srq_recv: num_sge is %d, limit %u", wr->num_sge, srq->max_sge);
	return is_full ? ENOMEM : EINVAL;
}

int mlx4_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx4_srq *srq = to_msrq(ibsrq);
	uint16_t before;
	int ret = 0;

	qlock_enter(&srq->lock);
	for (before = srq->posted; wr; wr = wr->next) {
		uint8_t *wqe = srq_wqe(srq, srq->head);
		bool is_full = srq->head == srq->tail;

		if (unlikely(is_full || (unsigned int)wr->num_sge > srq->max_sge)) {
			ret = refuse_shared(srq, wr, is_full);
			*bad_wr = wr;
			break;
		}
		scatter_put((struct data_seg *)(wqe + M4_SEG), srq->max_sge, wr->sg_list,
			    wr->num_sge);
		srq->wr_ids[srq->head] = wr->wr_id;
		srq->head = fld_get(wqe, M4_SRQ_NEXT);
		srq->posted++;
	}
	if (likely(srq->posted != before)) {
		order_publish(srq);
		doorbell_recv(srq->dbrec, srq->posted);
	}
	qlock_leave(&srq->lock);
	return ret;
}
