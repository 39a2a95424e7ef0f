/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_srq.c - ibv_post_srq_recv(). An SRQ holds one instance, for the shape of its WQEs, with or
 * without the lock. As with ibv_post_send(), requests are posted in order up to the first that
 * cannot be. The way back of a WQE, when its message has arrived, is in srq.h.
 */
#include <errno.h>

#include "prm/mlx5/wqe.h"
#include "providers/common/branch.h"
#include "providers/common/scatter.h"
#include "providers/mlx5/srq.h"
#include "util/barrier.h"
#include "util/order.h"

static int __attribute__((cold, noinline))
srq_refuse(const struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	if ((uint32_t)wr->num_sge > srq->max_sge) {
		verbs_warn(
			"post_srq_recv: srq 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_sge of "
			"the SRQ)",
			srq->srqn, (unsigned long long)wr->wr_id, wr->num_sge, srq->max_sge);
		return EINVAL;
	}
	verbs_warn("post_srq_recv: srq 0x%x, wr_id %#llx: the queue is full, limit %u requests "
		   "(max_wr of the SRQ)",
		   srq->srqn, (unsigned long long)wr->wr_id, srq->wqes - 1);
	return ENOMEM;
}

#define SRQ_INLINE static inline __attribute__((always_inline))

/* SRQs whose WQEs have a single data segment are the most common, and have instances of their own,
 * in which the constant ONE is true. */
#define ONE_SGE_STRIDE_LOG 5

SRQ_INLINE struct mlx5_wqe_srq_next_seg *srq_free_wqe(const struct mlx5_srq *srq, uint32_t head,
						      bool one)
{
	return (void *)(srq->ring + ((size_t)head << (one ? ONE_SGE_STRIDE_LOG : srq->stride_log)));
}

SRQ_INLINE bool srq_is_postable(const struct mlx5_srq *srq, uint32_t head,
				const struct ibv_recv_wr *wr)
{
	return likely((uint32_t)wr->num_sge <= srq->max_sge && head != srq->tail);
}

/* false: the request is unusual, and perhaps cannot be posted. */
SRQ_INLINE bool srq_is_usual(const struct mlx5_srq *srq, uint32_t head,
			     const struct ibv_recv_wr *wr, bool one)
{
	if (!one)
		return srq_is_postable(srq, head, wr);
	return likely(wr->num_sge == 1 && head != srq->tail && wr->sg_list->length);
}

/* Returns the free WQE after HEAD, which the request takes. */
SRQ_INLINE uint32_t srq_put_usual(struct mlx5_srq *srq, uint32_t head, const struct ibv_recv_wr *wr,
				  bool one)
{
	struct mlx5_wqe_srq_next_seg *wqe = srq_free_wqe(srq, head, one);
	struct data_seg *seg = (struct data_seg *)(wqe + 1);

	if (one)
		seg_put_sge(seg, wr->sg_list);
	else
		scatter_put(seg, srq->max_sge, wr->sg_list, wr->num_sge);
	srq->wr_ids[head] = wr->wr_id;
	return be16toh(wqe->next_wqe_index);
}

/* HEAD is the first free WQE behind COUNT that have been filled. */
SRQ_INLINE void srq_ring_doorbell(struct mlx5_srq *srq, uint32_t head, uint32_t count)
{
	uint32_t posted = srq->posted + count;

	srq->head = head;
	srq->posted = posted;
	order_publish(srq);
	/* The WQEs come before the record that makes them valid. */
	dma_store_barrier();
	srq->dbrec[MLX5_RCV_DBR] = htobe32(posted & FLD_MASK(CTRL_INDEX));
}

/* Posts a list. The lock is held, if there is one, and dropped. */
static int __attribute__((noinline))
list_any(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head = srq->head, count = 0;

	for (; wr && srq_is_postable(srq, head, wr); wr = wr->next, count++)
		head = srq_put_usual(srq, head, wr, false);
	if (likely(count))
		srq_ring_doorbell(srq, head, count);
	qlock_leave(&srq->lock);
	return likely(!wr) ? 0 : srq_refuse(srq, wr, bad_wr);
}

/* Posts a list of single buffers; nothing is called for them, and so no register is saved. What is
 * not usual is for list_any(). */
static int __attribute__((noinline))
list_one_sge(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head = srq->head, count = 0;

	for (; wr && srq_is_usual(srq, head, wr, true); wr = wr->next, count++)
		head = srq_put_usual(srq, head, wr, true);
	if (likely(count))
		srq_ring_doorbell(srq, head, count);
	if (unlikely(wr))
		return list_any(srq, wr, bad_wr);
	qlock_leave(&srq->lock);
	return 0;
}

/* Somebody has the lock, or there is a list: nothing here is in a hurry. */
static int __attribute__((noinline))
enter_and_list(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	qlock_enter(&srq->lock);
	return srq->max_sge == 1 ? list_one_sge(srq, wr, bad_wr) : list_any(srq, wr, bad_wr);
}

/* For a usual request, one by itself, nothing is called either. */
SRQ_INLINE int post_one(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			bool one, bool shared)
{
	if (unlikely(!wr || wr->next))
		return enter_and_list(srq, wr, bad_wr);
	if (shared && unlikely(!qlock_try(&srq->lock)))
		return enter_and_list(srq, wr, bad_wr);
	if (unlikely(!srq_is_usual(srq, srq->head, wr, one)))
		return list_any(srq, wr, bad_wr);
	srq_ring_doorbell(srq, srq_put_usual(srq, srq->head, wr, one), 1);
	if (shared)
		qlock_drop(&srq->lock);
	return 0;
}

static int post_one_sge_locked(struct mlx5_srq *srq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, true, true);
}

static int post_one_sge(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, true, false);
}

static int post_any_locked(struct mlx5_srq *srq, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, false, true);
}

static int post_any(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, false, false);
}

/* A WQE of 32 bytes is the smallest, and has place for one segment. */
post_srq_fn *mlx5_post_srq_routine(uint32_t max_sge, bool shared)
{
	if (max_sge == 1)
		return shared ? post_one_sge_locked : post_one_sge;
	return shared ? post_any_locked : post_any;
}

/* This is context->ops.post_srq_recv. */
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
