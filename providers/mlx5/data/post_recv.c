/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv.c - ibv_post_recv() and ibv_post_wq_recv() on a receive ring (rq.h). The routine has
 * several instances, by the layout of the WQEs and with or without the lock; the QP or WQ stores
 * the one that fits. Requests are posted in order, up to the first that fails.
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/common/scatter.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/data/signature.h"

static_assert(sizeof(struct data_seg) == sizeof(struct mlx5_wqe_data_seg) &&
		      offsetof(struct data_seg, byte_count) ==
			      offsetof(struct mlx5_wqe_data_seg, byte_count) &&
		      offsetof(struct data_seg, lkey) == offsetof(struct mlx5_wqe_data_seg, lkey) &&
		      offsetof(struct data_seg, addr) == offsetof(struct mlx5_wqe_data_seg, addr) &&
		      DATA_SEG_LKEY_END == MLX5_INVALID_LKEY,
	      "PRM: Data Segment");

static int __attribute__((cold, noinline))
recv_refuse(const struct mlx5_rq *rq, const struct ibv_recv_wr *wr, bool full)
{
	if (full)
		provider_report_full_rq(rq_owner_name(rq), rq->number, wr, rq->wq.max_post);
	else if (rq->sge_limit)
		provider_report_rq_sges(rq_owner_name(rq), rq->number, wr, rq->max_sge);
	else
		verbs_warn(
			"post_recv: %s 0x%x, wr_id %#llx: the %s is in state RESET, must be INIT "
			"or later",
			rq_owner_name(rq), rq->number, (unsigned long long)wr->wr_id,
			rq->owner == RQ_OF_QP ? "QP" : "WQ");
	return verbs_result(full ? ENOMEM : EINVAL);
}

#define RQ_INLINE static inline __attribute__((always_inline))

/* Most rings have WQEs of a single data segment. These rings have their own instances of the
 * routines, in which ONE is the constant true: the compiler drops the loop and the terminator. */
#define ONE_SGE_STRIDE_LOG 4

RQ_INLINE bool recv_is_usual(const struct mlx5_rq *rq, uint32_t head, const struct ibv_recv_wr *wr,
			     bool one)
{
	if (unlikely(head == rq->wq.limit))
		return false;
	if (one)
		return likely(wr->num_sge == 1 && rq->sge_limit > 1 && wr->sg_list->length);
	return likely((uint32_t)wr->num_sge < rq->sge_limit);
}

RQ_INLINE void recv_put_usual(struct mlx5_rq *rq, uint32_t head, const struct ibv_recv_wr *wr,
			      bool one)
{
	uint32_t unit = head & rq->wq.mask;
	uint8_t *wqe = rq->buf + ((size_t)unit << (one ? ONE_SGE_STRIDE_LOG : rq->stride_log));

	if (one)
		seg_put_sge(wqe, wr->sg_list);
	else
		scatter_put((struct data_seg *)wqe, rq->max_sge, wr->sg_list, wr->num_sge);
	rq->wq.wr_ids[unit] = wr->wr_id;
}

/* Posts on the slow path. Returns 0, or an errno, logged. Out of line, so that the fast path saves
 * no registers for it. */
static int __attribute__((noinline))
recv_put_unusual(struct mlx5_rq *rq, uint32_t head, const struct ibv_recv_wr *wr)
{
	if (!wq_has_room(&rq->wq, head))
		return recv_refuse(rq, wr, true);
	if ((uint32_t)wr->num_sge >= rq->sge_limit)
		return recv_refuse(rq, wr, false);
	recv_put_usual(rq, head, wr, false);
	return 0;
}

/* Posts a list. The caller holds the lock, if there is one. This routine drops the lock, so that
 * callers can make a tail call. */
RQ_INLINE int post_list(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			bool one)
{
	uint32_t head = rq->wq.head;
	int ret = 0;

	for (; wr; wr = wr->next, head++) {
		if (recv_is_usual(rq, head, wr, one)) {
			recv_put_usual(rq, head, wr, one);
			continue;
		}
		ret = recv_put_unusual(rq, head, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (likely(head != rq->wq.head))
		doorbell_recv(&rq->wq, rq->dbrec, head);
	qlock_leave(&rq->lock);
	return ret;
}

#define OUT_OF_LINE static int __attribute__((noinline))

OUT_OF_LINE list_one_sge(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_list(rq, wr, bad_wr, true);
}

OUT_OF_LINE list_any(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_list(rq, wr, bad_wr, false);
}

OUT_OF_LINE take_and_list(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			  bool one)
{
	qlock_take(&rq->lock);
	return one ? list_one_sge(rq, wr, bad_wr) : list_any(rq, wr, bad_wr);
}

/* Posts a single request. The usual path calls nothing, so the compiler saves no registers. */
RQ_INLINE int post_one(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
		       bool one, bool shared)
{
	uint32_t head;

	if (shared && unlikely(!wr || wr->next || !qlock_exchange(&rq->lock)))
		return take_and_list(rq, wr, bad_wr, one);
	if (!shared && unlikely(!wr || wr->next))
		return one ? list_one_sge(rq, wr, bad_wr) : list_any(rq, wr, bad_wr);
	head = rq->wq.head;
	if (unlikely(!recv_is_usual(rq, head, wr, one)))
		return list_any(rq, wr, bad_wr);
	recv_put_usual(rq, head, wr, one);
	doorbell_recv(&rq->wq, rq->dbrec, head + 1);
	if (shared)
		qlock_drop(&rq->lock);
	return 0;
}

static int post_one_sge(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(rq, wr, bad_wr, true, false);
}

static int post_one_sge_locked(struct mlx5_rq *rq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	if (qlock_is_idle(&rq->lock))
		return post_one_sge(rq, wr, bad_wr);
	return post_one(rq, wr, bad_wr, true, true);
}

static int post_any(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_one(rq, wr, bad_wr, false, false);
}

static int post_any_locked(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (qlock_is_idle(&rq->lock))
		return post_any(rq, wr, bad_wr);
	return post_one(rq, wr, bad_wr, false, true);
}

int mlx5_post_recv_signed(struct mlx5_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	uint32_t head;
	int ret = 0;

	qlock_enter(&rq->lock);
	for (head = rq->wq.head; wr; wr = wr->next, head++) {
		ret = recv_put_unusual(rq, head, wr);
		if (ret)
			break;
		mlx5_sign_recv(rq, head);
	}
	if (ret)
		*bad_wr = wr;
	if (head != rq->wq.head)
		doorbell_recv(&rq->wq, rq->dbrec, head);
	qlock_leave(&rq->lock);
	return ret;
}

post_recv_fn *mlx5_post_recv_routine(uint32_t max_sge, uint32_t stride_log, bool shared)
{
	if (max_sge == 1 && stride_log == ONE_SGE_STRIDE_LOG)
		return shared ? post_one_sge_locked : post_one_sge;
	return shared ? post_any_locked : post_any;
}

int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx5_rq *rq = &to_mqp(qp)->rq;

	return rq->post(rq, wr, bad_wr);
}
