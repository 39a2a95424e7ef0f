/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_srq.c - ibv_post_srq_recv(). The routine has several instances, by the layout of the WQEs
 * and with or without the lock; the SRQ stores the one that fits. Requests are posted in order, up
 * to the first that fails. srq.h has the functions that free a WQE when its message has arrived.
 *
 * PRM: Shared Receive Queue, Receive WQE format
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/wqe.h"
#include "providers/common/branch.h"
#include "providers/common/report.h"
#include "providers/common/scatter.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"
#include "util/barrier.h"
#include "util/order.h"

static int __attribute__((cold, noinline))
srq_refuse(const struct mlx5_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	*bad_wr = wr;
	if ((uint32_t)wr->num_sge > srq->max_sge) {
		provider_report_srq_sges(srq->srqn, wr, srq->max_sge);
		return EINVAL;
	}
	provider_report_full_srq(srq->srqn, wr, srq->max_wr);
	return ENOMEM;
}

#define SRQ_INLINE static inline __attribute__((always_inline))

/* Most SRQs have WQEs of a single data segment. These SRQs have their own instances of the
 * routines, in which ONE is the constant true: the compiler drops the loop over segments. */
#define ONE_SGE_STRIDE_LOG 5

SRQ_INLINE struct mlx5_wqe_srq_next_seg *srq_free_wqe(const struct mlx5_srq *srq, uint32_t head,
						      bool one)
{
	return (void *)(srq->ring + ((size_t)head << (one ? ONE_SGE_STRIDE_LOG : srq->stride_log)));
}

SRQ_INLINE bool srq_run_goes_on(const struct mlx5_srq *srq, uint32_t head)
{
	return likely(head + 1 != srq->run_end);
}

SRQ_INLINE bool srq_is_single(const struct ibv_recv_wr *wr)
{
	return wr->num_sge == 1 && wr->sg_list->length;
}

SRQ_INLINE bool srq_is_usual(const struct mlx5_srq *srq, uint32_t head,
			     const struct ibv_recv_wr *wr, bool one)
{
	if (!one)
		return likely((uint32_t)wr->num_sge <= srq->max_sge) && srq_run_goes_on(srq, head);
	return likely(srq_is_single(wr)) && srq_run_goes_on(srq, head);
}

/* Sets *NEXT to the free WQE after HEAD. Returns false if HEAD is the last free one, which must
 * stay free. */
SRQ_INLINE bool srq_find_next(struct mlx5_srq *srq, uint32_t head, uint32_t *next)
{
	*next = head + 1;
	if (srq_run_goes_on(srq, head))
		return true;
	return provider_free_map_take_run(&srq->free_map, next, &srq->run_end);
}

SRQ_INLINE void srq_put(const struct mlx5_srq *srq, struct mlx5_wqe_srq_next_seg *wqe,
			uint32_t next, const struct ibv_recv_wr *wr, bool one)
{
	struct data_seg *seg = (struct data_seg *)(wqe + 1);

	if (one)
		seg_put_sge(seg, wr->sg_list);
	else
		scatter_put(seg, srq->max_sge, wr->sg_list, wr->num_sge);
	srq_link(wqe, next);
}

SRQ_INLINE void srq_ring_doorbell(struct mlx5_srq *srq, uint32_t head, uint32_t count)
{
	uint32_t posted = srq->posted + count;

	srq->head = head;
	srq->posted = posted;
	order_publish(srq);
	/* The adapter must see the WQEs before the record that makes them valid. */
	dma_store_barrier();
	srq->dbrec[MLX5_RCV_DBR] = htobe32(posted & FLD_MASK(CTRL_INDEX));
}

/* Posts a list. The caller holds the lock, if there is one. This routine drops the lock, so that
 * callers can make a tail call. */
static int __attribute__((noinline))
list_any(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);
	uint32_t head, count = 0, next;

	mlx5_srq_list_end(srq);
	head = srq->head;
	for (; wr; wr = wr->next, count++) {
		if ((uint32_t)wr->num_sge > srq->max_sge || !srq_find_next(srq, head, &next))
			break;
		srq_put(srq, srq_wqe(srq, head), next, wr, false);
		srq->wr_ids[head] = wr->wr_id;
		head = next;
	}
	if (likely(count))
		srq_ring_doorbell(srq, head, count);
	qlock_leave(&srq->lock);
	return likely(!wr) ? 0 : srq_refuse(srq, wr, bad_wr);
}

/* Posts a list of single buffers, without calls, so that the compiler saves no registers. Unusual
 * requests go on to list_any(). */
static int __attribute__((noinline))
list_one_sge(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);
	struct mlx5_wqe_srq_next_seg *wqe = srq_free_wqe(srq, srq->head, true);
	const uint32_t last = srq->run_end - 1;
	uint64_t *const wr_ids = srq->wr_ids;
	size_t head = srq->head; /* size_t, so that indexing needs no conversion */

	for (; wr && likely(srq_is_single(wr) && head != last); wr = wr->next) {
		const uint64_t wr_id = wr->wr_id;

		head++;
		srq_put(srq, wqe, (uint32_t)head, wr, true);
		wr_ids[head - 1] = wr_id;
		wqe += (1 << ONE_SGE_STRIDE_LOG) / sizeof(*wqe);
	}
	if (likely(head != srq->head))
		srq_ring_doorbell(srq, head, head - srq->head);
	if (unlikely(wr))
		return list_any(ibsrq, wr, bad_wr);
	qlock_leave(&srq->lock);
	return 0;
}

static int __attribute__((noinline))
take_and_list(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);

	qlock_take(&srq->lock);
	return srq->max_sge == 1 ? list_one_sge(ibsrq, wr, bad_wr) : list_any(ibsrq, wr, bad_wr);
}

/* Posts a single request. The usual path calls nothing, so the compiler saves no registers. */
SRQ_INLINE int post_one(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			bool one, bool shared)
{
	struct mlx5_srq *srq = to_msrq(ibsrq);
	uint32_t head;

	if (shared && unlikely(!wr || wr->next || !qlock_exchange(&srq->lock)))
		return take_and_list(ibsrq, wr, bad_wr);
	if (!shared && unlikely(!wr || wr->next))
		return one ? list_one_sge(ibsrq, wr, bad_wr) : list_any(ibsrq, wr, bad_wr);
	head = srq->head;
	if (unlikely(!srq_is_usual(srq, head, wr, one)))
		return list_any(ibsrq, wr, bad_wr);
	srq_put(srq, srq_free_wqe(srq, head, one), head + 1, wr, one);
	srq->wr_ids[head] = wr->wr_id;
	srq_ring_doorbell(srq, head + 1, 1);
	if (shared)
		qlock_drop(&srq->lock);
	return 0;
}

static int post_one_sge(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, true, false);
}

static int post_one_sge_locked(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	if (qlock_is_idle(&to_msrq(srq)->lock))
		return post_one_sge(srq, wr, bad_wr);
	return post_one(srq, wr, bad_wr, true, true);
}

static int post_any(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(srq, wr, bad_wr, false, false);
}

static int post_any_locked(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (qlock_is_idle(&to_msrq(srq)->lock))
		return post_any(srq, wr, bad_wr);
	return post_one(srq, wr, bad_wr, false, true);
}

/* Returns the routine for MAX_SGE. The smallest WQE has 32 bytes, for the link and one segment, so
 * only SRQs with a limit of 1 have WQEs of that size. */
post_srq_fn *mlx5_post_srq_routine(uint32_t max_sge, bool shared)
{
	if (max_sge == 1)
		return shared ? post_one_sge_locked : post_one_sge;
	return shared ? post_any_locked : post_any;
}

int mlx5_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return to_msrq(srq)->post(srq, wr, bad_wr);
}

/* ---- requests whose message met a page fault */

/* Makes room for WQEs that wait after a page fault: allocates their wr_ids. Does so at the first
 * page fault, since most SRQs never have one. Without memory, there is no room. */
static void srq_open_room(struct mlx5_srq *srq)
{
	uint64_t *wr_ids = reallocarray(srq->wr_ids, srq->wqes, sizeof(*wr_ids));

	if (wr_ids)
		srq->wr_ids = wr_ids;
	else
		srq->free_map.count = srq->wqes;
}

/* Puts WQE INDEX into the list of waiting WQEs. Returns the WQE that replaces it: a WQE that was
 * never used, the WQE that has waited longest, or INDEX itself if there is no room. */
static uint32_t srq_wait(struct mlx5_srq *srq, uint32_t index)
{
	uint32_t instead;

	if (srq->free_map.count == srq->max_wr + 1 && srq->free_map.count < srq->wqes)
		srq_open_room(srq);
	if (srq->free_map.count == srq->wqes && !srq->waiting)
		return index;
	if (srq->waiting)
		srq_wqe(srq, srq->wait_tail)->next_wqe_index = htobe16((uint16_t)index);
	else
		srq->wait_head = index;
	srq->wait_tail = index;
	if (srq->free_map.count < srq->wqes) {
		srq->waiting++;
		return srq->free_map.count++;
	}
	instead = srq->wait_head;
	srq->wait_head = be16toh(srq_wqe(srq, instead)->next_wqe_index);
	return instead;
}

/* Posts the request of WQE INDEX, which met a page fault, again. WQE INDEX keeps its segments while
 * it waits. The WQE that replaces it is freed first, because one WQE must always stay free. */
void mlx5_srq_put_back(struct mlx5_srq *srq, uint32_t index)
{
	const struct mlx5_wqe_srq_next_seg *failed;
	struct mlx5_wqe_srq_next_seg *wqe;
	uint32_t head, next;

	qlock_enter(&srq->lock);
	order_observe(srq);
	index &= srq->wqes - 1;
	mlx5_srq_list_end(srq);
	srq_add_free(srq, srq_wait(srq, index));
	head = srq->head;
	srq_find_next(srq, head, &next);
	failed = srq_wqe(srq, index);
	wqe = srq_wqe(srq, head);
	memcpy(wqe + 1, failed + 1, ((size_t)1 << srq->stride_log) - sizeof(*wqe));
	srq_link(wqe, next);
	srq->wr_ids[head] = srq->wr_ids[index];
	srq_ring_doorbell(srq, next, 1);
	qlock_leave(&srq->lock);
}
