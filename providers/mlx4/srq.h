/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - shared receive queues: a ring whose free WQEs form a list, linked by an index in the
 * first segment of each. The last free WQE is never posted, so that the link of a posted one is
 * always valid.
 */
#ifndef PROVIDERS_MLX4_SRQ_H
#define PROVIDERS_MLX4_SRQ_H

#include <assert.h>

#include "libibverbs/driver.h"
#include "prm/mlx4/wqe.h"
#include "providers/common/lock.h"
#include "providers/common/memory/queue_mem.h"
#include "providers/common/wq.h"
#include "util/bits.h"
#include "util/order.h"

struct mlx4_srq;

typedef int post_srq_fn(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* A post reads one cache line of this struct: the fields up to dbrec. */
struct mlx4_srq {
	struct qlock lock; /* guards the list and wr_ids */
	uint8_t *ring;
	post_srq_fn *post;
	uint32_t stride_log;
	uint32_t wqes, max_sge;
	uint32_t head, tail;
	uint64_t *wr_ids;
	__be32 *dbrec;
	bool error_reported;
	uint32_t srqn;
	struct verbs_srq vsrq;
	struct queue_mem buf;
	struct queue_rec rec;
};

static_assert(offsetof(struct mlx4_srq, dbrec) + sizeof(__be32 *) <= CACHE_LINE,
	      "a post reads one line");

static inline struct mlx4_srq *to_msrq(struct ibv_srq *srq)
{
	return container_of(srq, struct mlx4_srq, vsrq.srq);
}

static inline uint8_t *srq_wqe(const struct mlx4_srq *srq, uint32_t index)
{
	return srq->ring + ((size_t)index << srq->stride_log);
}

/* Returns the link to the next WQE: the lower half of a word whose upper half is 0. */
static inline __be32 *srq_link(const uint8_t *wqe)
{
	static_assert(FLD_DWORD(M4_SRQ_NEXT) == 0 && FLD_SHIFT(M4_SRQ_NEXT) == 0,
		      "it is the first word");
	return (__be32 *)(uintptr_t)wqe;
}

/* Appends the WQE at INDEX to the list of free WQEs, and returns its request's wr_id. The caller
 * holds the lock. */
static inline uint64_t srq_take_back(struct mlx4_srq *srq, uint32_t index)
{
	index &= srq->wqes - 1;
	order_observe(srq);
	*srq_link(srq_wqe(srq, srq->tail)) = htobe32(index);
	srq->tail = index;
	return srq->wr_ids[index];
}

static inline uint64_t srq_complete(struct mlx4_srq *srq, uint32_t index)
{
	uint64_t wr_id;

	qlock_enter(&srq->lock);
	wr_id = srq_take_back(srq, index);
	qlock_leave(&srq->lock);
	return wr_id;
}

/* Returns the id of an XRC SRQ in the context's table. No QP has this id there, because XRC receive
 * QPs are not in the table. */
static inline uint32_t srq_id(uint32_t srqn)
{
	return srqn | M4_XRC_TARGET;
}

int mlx4_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq);
int mlx4_srq_destroy(struct ibv_srq *srq);

#endif
