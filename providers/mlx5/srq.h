/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - a shared receive queue: WQEs in a linked list, because messages of many QPs complete in
 * any order.
 *
 * PRM: each WQE starts with the index of the one to use after it. Free WQEs are a list in that same
 * field, from head (the next to be posted) to tail: what is posted was once next in it, so the
 * adapter, following the links, walks from the WQEs posted into those that will be. One WQE stays
 * free for that: a list that was emptied would have no link to go on from. Completions put WQEs
 * back behind tail. lock guards the list; posters and pollers take it.
 */
#ifndef PROVIDERS_MLX5_SRQ_H
#define PROVIDERS_MLX5_SRQ_H

#include <endian.h>
#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/common/lock.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/rq.h"
#include "providers/mlx5/data/variant.h"
#include "util/bits.h"
#include "util/order.h"

struct mlx5_tm;

struct mlx5_srq {
	int (*post)(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	struct qlock lock;
	uint8_t *ring;
	uint64_t *wr_ids; /* by index of the WQE */
	uint32_t stride_log;
	uint32_t max_sge;
	uint32_t head, tail; /* of the free WQEs */
	uint32_t posted;     /* ever; the adapter sees the low 16 bits through dbrec */
	__be32 *dbrec;

	struct verbs_srq vsrq;

	struct mlx5_rq rq;  /* XRC and TM: what CQEs lead to */
	struct mlx5_tm *tm; /* of type TM: tm.h */
	uint32_t srqn;
	uint32_t wqes; /* a power of two; one more than may be posted */
	struct queue_mem buf;
};

static inline struct mlx5_srq *to_msrq(struct ibv_srq *srq)
{
	return container_of(srq, struct mlx5_srq, vsrq.srq);
}

static inline struct mlx5_wqe_srq_next_seg *srq_wqe(const struct mlx5_srq *srq, uint32_t index)
{
	return (struct mlx5_wqe_srq_next_seg *)(srq->ring + ((size_t)index << srq->stride_log));
}

/* Gives back WQE INDEX, whose message is complete, and returns its wr_id. */
static inline uint64_t srq_complete(struct mlx5_srq *srq, uint32_t index)
{
	uint64_t wr_id;

	order_observe(srq);
	index &= srq->wqes - 1;
	qlock_enter(&srq->lock);
	wr_id = srq->wr_ids[index];
	srq_wqe(srq, srq->tail)->next_wqe_index = htobe16((uint16_t)index);
	srq->tail = index;
	qlock_leave(&srq->lock);
	return wr_id;
}

/* Does the same, unless somebody has the lock. INDEX is within the ring. */
static inline bool srq_try_complete(struct mlx5_srq *srq, uint32_t index, uint64_t *wr_id)
{
	if (srq->lock.shared && !qlock_try(&srq->lock))
		return false;
	order_observe(srq);
	*wr_id = srq->wr_ids[index];
	srq_wqe(srq, srq->tail)->next_wqe_index = htobe16((uint16_t)index);
	srq->tail = index;
	qlock_leave(&srq->lock);
	return true;
}

/* Links all WQEs of a fresh ring as free. */
void mlx5_srq_ring_init(struct mlx5_srq *srq);

/* It is context->ops.post_srq_recv. */
int mlx5_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

typedef int post_srq_fn(struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* Returns the instance of srq.post for such a ring. */
post_srq_fn *mlx5_post_srq_routine(uint32_t max_sge, bool shared);

int mlx5_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq);
int mlx5_srq_destroy(struct ibv_srq *srq);

#endif
