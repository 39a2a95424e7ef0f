/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_srq.c - ibv_post_srq_recv(). Batch rule as everywhere: in order, up to the first that cannot be
 * posted. The way back of a WQE, when its message has arrived, is in srq.h.
 */
#include <errno.h>

#include "providers/common/branch.h"
#include "providers/mlx5/data/scatter.h"
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

/* SRQs whose WQEs have a single data segment are the most common, and have instances of their own:
 * ONE is a constant. */
#define ONE_SGE_STRIDE_LOG 5

SRQ_INLINE struct mlx5_wqe_srq_next_seg *free_wqe(const struct mlx5_srq *srq, uint32_t head,
						  bool one)
{
	return (void *)(srq->ring + ((size_t)head << (one ? ONE_SGE_STRIDE_LOG : srq->stride_log)));
}

SRQ_INLINE bool is_postable(const struct mlx5_srq *srq, uint32_t head, const struct ibv_recv_wr *wr)
{
	return likely((uint32_t)wr->num_sge <= srq->max_sge && head != srq->tail);
}

/* false: unusual, perhaps not possible. */
SRQ_INLINE bool is_usual(const struct mlx5_srq *srq, uint32_t head, const struct ibv_recv_wr *wr,
			 bool one)
{
	if (!one)
		return is_postable(srq, head, wr);
	return likely(wr->num_sge == 1 && head != srq->tail && wr->sg_list->length);
}

/* Returns the free WQE after this one. */
SRQ_INLINE uint32_t put_usual(struct mlx5_srq *srq, uint32_t head, const struct ibv_recv_wr *wr,
			      bool one)
{
	struct mlx5_wqe_srq_next_seg *wqe = free_wqe(srq, head, one);
	struct mlx5_wqe_data_seg *seg = (struct mlx5_wqe_data_seg *)(wqe + 1);

	if (one)
		seg_put_sge(seg, wr->sg_list);
	else
		scatter_put(seg, srq->max_sge, wr->sg_list, wr->num_sge);
	srq->wr_ids[head] = wr->wr_id;
	return be16toh(wqe->next_wqe_index);
}

/* HEAD is the first free WQE behind COUNT that have been filled. */
SRQ_INLINE void ring(struct mlx5_srq *srq, uint32_t head, uint32_t count)
{
	uint32_t posted = srq->posted + count;

	srq->head = head;
	srq->posted = posted;
	order_publish(srq);
	/* WQEs before the record that makes them valid. */
	dma_store_barrier();
	srq->dbrec[MLX5_RCV_DBR] = htobe32(posted & PRM_WQE_INDEX_MASK);
}

/* With the lock held, if there is one; drops it. */
static int __attribute__((noinline))
list_any(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head = srq->head, count = 0;

	for (; wr && is_postable(srq, head, wr); wr = wr->next, count++)
		head = put_usual(srq, head, wr, false);
	if (likely(count))
		ring(srq, head, count);
	qlock_leave(&srq->lock);
	return likely(!wr) ? 0 : refuse(srq, wr, bad_wr);
}

/* The same, which calls nothing and so saves no registers. What it cannot post is for list_any(). */
static int __attribute__((noinline))
list_one_sge(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head = srq->head, count = 0;

	for (; wr && is_usual(srq, head, wr, true); wr = wr->next, count++)
		head = put_usual(srq, head, wr, true);
	if (likely(count))
		ring(srq, head, count);
	if (unlikely(wr))
		return list_any(srq, wr, bad_wr);
	qlock_leave(&srq->lock);
	return 0;
}

/* A list, or the lock is taken: no hurry. */
static int __attribute__((noinline))
enter_and_list(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	qlock_enter(&srq->lock);
	return srq->max_sge == 1 ? list_one_sge(srq, wr, bad_wr) : list_any(srq, wr, bad_wr);
}

/* The usual request, one by itself, calls nothing either. */
SRQ_INLINE int post_one(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			bool one, bool shared)
{
	if (unlikely(!wr || wr->next))
		return enter_and_list(srq, wr, bad_wr);
	if (shared && unlikely(!qlock_try(&srq->lock)))
		return enter_and_list(srq, wr, bad_wr);
	if (unlikely(!is_usual(srq, srq->head, wr, one)))
		return list_any(srq, wr, bad_wr);
	ring(srq, put_usual(srq, srq->head, wr, one), 1);
	if (shared)
		qlock_drop(&srq->lock);
	return 0;
}

static int one_sge_locked(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, true, true);
}

static int one_sge(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, true, false);
}

static int any_locked(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, false, true);
}

static int any(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, false, false);
}

/* A WQE of 32 bytes is the smallest, and has place for one segment. */
post_srq_fn *mlx5_post_srq_routine(uint32_t max_sge, bool shared)
{
	if (max_sge == 1)
		return shared ? one_sge_locked : one_sge;
	return shared ? any_locked : any;
}

/* context->ops.post_srq_recv */
int mlx5_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);

	return srq->post(srq, wr, bad_wr);
}

void mlx5_srq_ring_init(struct mlx5_srq *srq)
{
	for (uint32_t i = 0; i < srq->wqes; i++)
		srq_wqe(srq, i)->next_wqe_index = htobe16((uint16_t)((i + 1) & (srq->wqes - 1)));
	srq->head = 0;
	srq->tail = srq->wqes - 1;
}
