/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - a shared receive queue: WQEs in a linked list, because messages of many QPs complete in
 * any order.
 *
 * PRM: each WQE starts with the index of the next one to use. The adapter follows the links past
 * the WQEs already posted, so a posted WQE must already name the WQE that will be posted next. That
 * WQE is head; it stays free until then, and its own link is set when it is posted. Because the
 * adapter prefetches neighbours, WQEs are used in the order of addresses, skipping those in use:
 * WQEs from head up to run_end are free, and free_map has the free ones elsewhere. lock guards all
 * of this; posters and pollers take it.
 *
 * A message that meets an absent page of an on-demand buffer returns its WQE with an error
 * completion. The request is posted again in another WQE, because the driver may still read the
 * failed WQE to learn which pages it needs. The failed WQE waits in a list until enough other WQEs
 * have failed after it. Where the device supports this, half of the ring is room for waiting WQEs.
 */
#ifndef PROVIDERS_MLX5_SRQ_H
#define PROVIDERS_MLX5_SRQ_H

#include <endian.h>
#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "prm/mlx5/wqe.h"
#include "providers/common/branch.h"
#include "providers/common/memory/free_map.h"
#include "providers/common/lock.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/rq.h"
#include "util/bits.h"
#include "util/order.h"

struct mlx5_tm;

struct mlx5_srq {
	int (*post)(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
	struct qlock lock;
	uint8_t *ring;
	uint64_t *wr_ids;
	uint32_t stride_log;
	uint32_t max_sge;
	/* run_end is the index after the run that contains head; guarded by lock, as free_map is */
	uint32_t head, run_end;
	/* count of all posted WQEs; the adapter sees the low 16 bits through dbrec */
	uint32_t posted;
	__be32 *dbrec;
	struct free_map free_map;
	bool listed; /* free WQEs are linked for a program that posts itself: see srq_ring.c */

	struct verbs_srq vsrq;

	struct mlx5_rq rq;
	struct mlx5_tm *tm; /* NULL unless the type is TM: tm.h */
	uint32_t srqn;
	bool shown;
	bool taken; /* the program posts by itself: see srq_ring.c */
	bool followed;
	uint32_t list_head, list_tail;
	/* WQEs of the ring, a power of two; larger than max_wr because the last link names a WQE
	 * that is not posted */
	uint32_t wqes;
	uint32_t max_wr; /* limit of posted requests; WQEs after this index are room to wait */
	/* Room for WQEs that wait after page faults: WQEs never used so far, from free_map.count
	 * on, and a linked list of waiting WQEs. */
	uint32_t waiting, wait_head, wait_tail;
	struct queue_mem buf;
	struct queue_rec rec;
};

static inline struct mlx5_srq *to_msrq(struct ibv_srq *srq)
{
	return container_of(srq, struct mlx5_srq, vsrq.srq);
}

static inline struct mlx5_wqe_srq_next_seg *srq_wqe(const struct mlx5_srq *srq, uint32_t index)
{
	return (struct mlx5_wqe_srq_next_seg *)(srq->ring + ((size_t)index << srq->stride_log));
}

static inline void srq_add_free(struct mlx5_srq *srq, uint32_t index)
{
	if (index == srq->run_end)
		srq->run_end++;
	else
		free_map_add(&srq->free_map, index);
}

static inline void srq_link(struct mlx5_wqe_srq_next_seg *wqe, uint32_t next)
{
	wqe->next_wqe_index = htobe16((uint16_t)next);
}

/* Gives WQE INDEX back as mlx5_srq_complete() does. Returns false if the lock is contended or a
 * program's list of free WQEs exists. INDEX is within the ring. */
static inline bool srq_try_complete(struct mlx5_srq *srq, uint32_t index, uint64_t *wr_id)
{
	bool done = true;

	if (srq->lock.shared && !qlock_is_idle(&srq->lock) && !qlock_exchange(&srq->lock))
		return false;
	order_observe(srq);
	*wr_id = srq->wr_ids[index];
	if (index == srq->run_end)
		srq->run_end++;
	else if (likely(!srq->listed))
		free_map_add(&srq->free_map, index);
	else
		done = false;
	qlock_leave(&srq->lock);
	return done;
}

int mlx5_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq);
int mlx5_srq_query(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int mlx5_srq_destroy(struct ibv_srq *srq);

#endif
