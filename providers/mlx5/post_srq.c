/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_srq.c - ibv_post_srq_recv(). Batch rule as everywhere: in order, up to the first that cannot be
 * posted. The way back of a WQE, when its message has arrived, is in srq.h.
 */
#include <errno.h>

#include "providers/common/branch.h"
#include "providers/mlx5/scatter.h"
#include "providers/mlx5/srq.h"
#include "util/barrier.h"
#include "util/order.h"

static int __attribute__((cold, noinline))
refuse(const struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	if ((uint32_t)wr->num_sge > srq->max_sge) {
		verbs_warn(
			"post_srq_recv: srq 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_sge of the SRQ)",
			srq->srqn, (unsigned long long)wr->wr_id, wr->num_sge, srq->max_sge);
		return EINVAL;
	}
	verbs_warn(
		"post_srq_recv: srq 0x%x, wr_id %#llx: the queue is full, limit %u requests (max_wr of the SRQ)",
		srq->srqn, (unsigned long long)wr->wr_id, srq->wqes - 1);
	return ENOMEM;
}

#define SRQ_INLINE static inline __attribute__((always_inline))

/* Returns the request that cannot be posted, or NULL. Nothing is called from here, so that all stays
 * in registers that need not be saved. */
SRQ_INLINE struct ibv_recv_wr *post_list(struct mlx5_srq *srq, struct ibv_recv_wr *wr)
{
	uint32_t head = srq->head, count = 0;

	for (; wr; wr = wr->next, count++) {
		struct mlx5_wqe_srq_next_seg *wqe = srq_wqe(srq, head);

		if (unlikely((uint32_t)wr->num_sge > srq->max_sge || head == srq->tail))
			break;
		scatter_put((struct mlx5_wqe_data_seg *)(wqe + 1), srq->max_sge, wr->sg_list,
			    wr->num_sge);
		srq->wr_ids[head] = wr->wr_id;
		head = be16toh(wqe->next_wqe_index);
	}
	if (likely(count)) {
		srq->head = head;
		srq->posted += count;
		order_publish(srq);
		/* WQEs before the record that makes them valid. */
		dma_store_barrier();
		srq->dbrec[MLX5_RCV_DBR] = htobe32(srq->posted & PRM_WQE_INDEX_MASK);
	}
	return wr;
}

SRQ_INLINE int post_under_lock(struct mlx5_srq *srq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *stop = post_list(srq, wr);

	qlock_drop(&srq->lock);
	return likely(!stop) ? 0 : refuse(srq, stop, bad_wr);
}

static int __attribute__((noinline))
post_contended(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	qlock_take(&srq->lock);
	return post_under_lock(srq, wr, bad_wr);
}

int post_srq_locked(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (unlikely(!qlock_try(&srq->lock)))
		return post_contended(srq, wr, bad_wr);
	return post_under_lock(srq, wr, bad_wr);
}

int post_srq_unlocked(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct ibv_recv_wr *stop = post_list(srq, wr);

	return likely(!stop) ? 0 : refuse(srq, stop, bad_wr);
}

/* context->ops.post_srq_recv */
int mlx5_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);

	return srq->post(srq, wr, bad_wr);
}

void srq_ring_init(struct mlx5_srq *srq)
{
	for (uint32_t i = 0; i < srq->wqes; i++)
		srq_wqe(srq, i)->next_wqe_index = htobe16((uint16_t)((i + 1) & (srq->wqes - 1)));
	srq->head = 0;
	srq->tail = srq->wqes - 1;
}
