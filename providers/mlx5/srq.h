/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - a shared receive queue: WQEs in a linked list, because messages of many QPs complete in
 * any order.
 *
 * PRM: each WQE starts with the index of the one to use after it. The adapter follows these links,
 * from the WQEs posted into those that will be, so a WQE that is posted names the one that will be
 * next: head, which stays free until then. What comes after that is decided when it is posted
 * itself. The adapter fetches neighbours together; so the order is that of addresses, round and
 * round, leaving out what is in use: the WQEs behind head, up to run_end, are free, and free_map
 * has those elsewhere. lock guards all of it; posters and pollers take it.
 *
 * A message that meets an absent page of a buffer on demand gives its WQE back: an error completion
 * says so. Its request is posted again, in another WQE, because the driver may yet read the one
 * that failed to see which pages it wants. That one waits, in a list of its own, until as many have
 * failed after it as there is room to wait; where the device may do so, half of the ring is that
 * room.
 */
#ifndef PROVIDERS_MLX5_SRQ_H
#define PROVIDERS_MLX5_SRQ_H

#include <endian.h>
#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "prm/mlx5/wqe.h"
#include "providers/common/branch.h"
#include "providers/common/free_map.h"
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
	uint64_t *wr_ids; /* by index of the WQE; of the room to wait once that is in use */
	uint32_t stride_log;
	uint32_t max_sge;
	uint32_t head, run_end; /* run_end is the one behind the run that head is in */
	uint32_t posted;        /* ever; the adapter sees the low 16 bits through dbrec */
	__be32 *dbrec;
	struct free_map free_map;
	bool listed; /* the free WQEs are linked for a program: see srq_ring.c */

	struct verbs_srq vsrq;

	struct mlx5_rq rq;  /* XRC and TM: what CQEs lead to */
	struct mlx5_tm *tm; /* of type TM: tm.h */
	uint32_t srqn;
	bool shown;    /* a program was told where the ring is, */
	bool taken;    /* and posts by itself: see srq_ring.c, */
	bool followed; /* along the links that it finds */
	uint32_t list_head, list_tail;
	uint32_t wqes;   /* a power of two; more than may be posted */
	uint32_t max_wr; /* may be posted; the WQEs behind this index are there to wait in */
	/* These are the room to wait: WQEs that have never been in use, from free_map.count on, and
	 * those that wait, by their links. */
	uint32_t waiting, wait_head, wait_tail;
	struct queue_mem buf;
	struct queue_rec rec; /* dbrec */
};

static inline struct mlx5_srq *to_msrq(struct ibv_srq *srq)
{
	return container_of(srq, struct mlx5_srq, vsrq.srq);
}

static inline struct mlx5_wqe_srq_next_seg *srq_wqe(const struct mlx5_srq *srq, uint32_t index)
{
	return (struct mlx5_wqe_srq_next_seg *)(srq->ring + ((size_t)index << srq->stride_log));
}

/* Adds WQE INDEX to the free ones; the lock is held. */
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

/* Gives back WQE INDEX as mlx5_srq_complete() does, unless somebody has the lock, or there is a
 * list. INDEX is within the ring. */
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
