/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_recv.c - posts receives to a QP's own ring and to an SRQ.
 *
 * A queue stores the routine that fits it: for WQEs of one segment or several, with or without
 * lock. A usual single request is posted without calls, so that the compiler saves no registers;
 * lists and other cases are out of line.
 */
#include <errno.h>

#include "providers/common/report.h"
#include "providers/common/scatter.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"
#include "providers/mlx4/srq.h"

#define RECV_INLINE __attribute__((always_inline)) static inline
#define OUT_OF_LINE static int __attribute__((noinline))

/* Sizes of WQEs with one segment, in a QP and, with the link before it, in an SRQ. */
enum { ONE_SGE_LOG = 4, SHARED_ONE_SGE_LOG = 5 };

static int __attribute__((cold))
refuse(const struct mlx4_rq *rq, const struct ibv_recv_wr *wr, bool is_full)
{
	const struct mlx4_qp *qp = container_of(rq, struct mlx4_qp, rq);

	if (is_full)
		provider_report_full_rq("qp", qp->vqp.qp.qp_num, wr, rq->wq.max_post);
	else if (rq->sge_limit)
		provider_report_rq_sges("qp", qp->vqp.qp.qp_num, wr, rq->max_sge);
	else
		verbs_warn("post_recv: qp 0x%x: %s", qp->vqp.qp.qp_num,
			   rq->buf ? "the state is RESET"
				   : "the QP has no receive queue of its own");
	return verbs_result(is_full ? ENOMEM : EINVAL);
}

RECV_INLINE bool recv_is_usual(const struct mlx4_rq *rq, uint32_t head,
			       const struct ibv_recv_wr *wr, uint32_t sge_limit, bool one)
{
	if (unlikely(head == rq->wq.limit))
		return false;
	return one ? likely(wr->num_sge == 1 && seg_has_bytes(seg_load_sge(wr->sg_list)))
		   : likely((uint32_t)wr->num_sge < sge_limit);
}

RECV_INLINE bool recv_is_closed(const struct mlx4_rq *rq)
{
	return !rq->sge_limit;
}

/* Writes a receive. WR_IDS points to the queue's array of wr_ids; for a list, to a local copy of
 * that pointer, which stays in a register. */
RECV_INLINE void recv_put(struct mlx4_rq *rq, uint32_t head, const struct ibv_recv_wr *wr,
			  uint64_t *const *wr_ids, bool one)
{
	const uint32_t unit = head & rq->wq.mask;
	uint8_t *wqe = rq->buf + ((size_t)unit << (one ? ONE_SGE_LOG : rq->stride_log));

	if (one)
		seg_put_sge(wqe, wr->sg_list);
	else
		scatter_put((struct data_seg *)wqe, rq->max_sge, wr->sg_list, wr->num_sge);
	(*wr_ids)[unit] = wr->wr_id;
}

OUT_OF_LINE recv_put_unusual(struct mlx4_rq *rq, uint32_t head, const struct ibv_recv_wr *wr)
{
	if (rq->sge_limit && !wq_has_room(&rq->wq, head))
		return refuse(rq, wr, true);
	if ((uint32_t)wr->num_sge >= rq->sge_limit)
		return refuse(rq, wr, false);
	recv_put(rq, head, wr, &rq->wq.wr_ids, false);
	return 0;
}

RECV_INLINE void recv_ring_doorbell(struct mlx4_rq *rq, uint32_t head)
{
	rq->wq.head = head;
	order_publish(&rq->wq);
	doorbell_recv(rq->dbrec, head);
}

/* Posts a list. The caller holds the lock, if there is one; the routine drops it, so that the call
 * can be the last one of its caller. */
RECV_INLINE int post_list(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			  bool one)
{
	const uint32_t sge_limit = rq->sge_limit;
	uint64_t *const wr_ids = rq->wq.wr_ids;
	uint32_t head = rq->wq.head;
	int ret = 0;

	for (; wr; wr = wr->next, head++) {
		if (recv_is_usual(rq, head, wr, sge_limit, one)) {
			recv_put(rq, head, wr, &wr_ids, one);
			continue;
		}
		ret = recv_put_unusual(rq, head, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (likely(head != rq->wq.head))
		recv_ring_doorbell(rq, head);
	qlock_leave(&rq->lock);
	return ret;
}

OUT_OF_LINE list_any(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return post_list(rq, wr, bad_wr, false);
}

OUT_OF_LINE list_one_sge(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	if (unlikely(recv_is_closed(rq)))
		return list_any(rq, wr, bad_wr);
	return post_list(rq, wr, bad_wr, true);
}

RECV_INLINE int post_one(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr,
			 bool one, bool locked)
{
	uint32_t head;

	if (locked)
		qlock_take(&rq->lock);
	head = rq->wq.head;
	if (unlikely(!wr || wr->next || (one && recv_is_closed(rq)) ||
		     !recv_is_usual(rq, head, wr, rq->sge_limit, one)))
		return one ? list_one_sge(rq, wr, bad_wr) : list_any(rq, wr, bad_wr);
	recv_put(rq, head, wr, &rq->wq.wr_ids, one);
	recv_ring_doorbell(rq, head + 1);
	if (locked)
		qlock_drop(&rq->lock);
	return 0;
}

/* Two routines, without and with lock. In a process with one thread, the latter only checks that
 * the lock is free, which costs less than an atomic exchange. */
#define RECV_ROUTINES(name, one)                                                                 \
	static int name(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) \
	{                                                                                        \
		return post_one(rq, wr, bad_wr, one, false);                                     \
	}                                                                                        \
	OUT_OF_LINE name##_exchange(struct mlx4_rq *rq, struct ibv_recv_wr *wr,                  \
				    struct ibv_recv_wr **bad_wr)                                 \
	{                                                                                        \
		return post_one(rq, wr, bad_wr, one, true);                                      \
	}                                                                                        \
	static int name##_locked(struct mlx4_rq *rq, struct ibv_recv_wr *wr,                     \
				 struct ibv_recv_wr **bad_wr)                                    \
	{                                                                                        \
		return qlock_is_idle(&rq->lock) ? name(rq, wr, bad_wr)                           \
						: name##_exchange(rq, wr, bad_wr);               \
	}

RECV_ROUTINES(post_one_sge, true)
RECV_ROUTINES(post_any, false)

post_recv_fn *mlx4_post_recv_routine(uint32_t stride_log, bool shared)
{
	if (stride_log == ONE_SGE_LOG)
		return shared ? post_one_sge_locked : post_one_sge;
	return shared ? post_any_locked : post_any;
}

int mlx4_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct mlx4_rq *rq = &to_mqp(ibqp)->rq;

	return rq->post(rq, wr, bad_wr);
}

static int __attribute__((cold, noinline))
refuse_shared(const struct mlx4_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	bool is_full = srq->head == srq->tail;

	*bad_wr = wr;
	if (is_full)
		provider_report_full_srq(srq->srqn, wr, srq->wqes - 1);
	else
		provider_report_srq_sges(srq->srqn, wr, srq->max_sge);
	return is_full ? ENOMEM : EINVAL;
}

RECV_INLINE uint32_t srq_put(const struct mlx4_srq *srq, uint32_t head,
			     const struct ibv_recv_wr *wr, uint64_t *const *wr_ids, bool one)
{
	uint8_t *wqe;
	seg_sge first;

	if (one)
		first = seg_load_sge(wr->sg_list);
	/* Store first, because the index is not needed any more after this, which frees a
	 * register. */
	(*wr_ids)[head] = wr->wr_id;
	wqe = srq->ring + ((size_t)head << (one ? SHARED_ONE_SGE_LOG : srq->stride_log));
	if (one)
		seg_put_loaded(wqe + M4_SEG, first);
	else
		scatter_put((struct data_seg *)(wqe + M4_SEG), srq->max_sge, wr->sg_list,
			    wr->num_sge);
	return be32toh(*srq_link(wqe));
}

RECV_INLINE bool srq_is_usual(const struct mlx4_srq *srq, uint32_t head,
			      const struct ibv_recv_wr *wr, bool one)
{
	if (unlikely(head == srq->tail))
		return false;
	return one ? likely(wr->num_sge == 1 && seg_has_bytes(seg_load_sge(wr->sg_list)))
		   : likely((uint32_t)wr->num_sge <= srq->max_sge);
}

/* Writes a request with empty buffers or none. Returns false if it cannot be posted. */
static bool __attribute__((noinline))
srq_put_unusual(const struct mlx4_srq *srq, uint32_t *head, const struct ibv_recv_wr *wr)
{
	if (!srq_is_usual(srq, *head, wr, false))
		return false;
	*head = srq_put(srq, *head, wr, &srq->wr_ids, false);
	return true;
}

RECV_INLINE void srq_ring_doorbell(struct mlx4_srq *srq, uint32_t head, uint32_t n)
{
	srq->head = head;
	order_publish(srq);
	doorbell_recv_more(srq->dbrec, n);
}

/* Posts a list. The caller holds the lock, if there is one; the routine drops it, so that the call
 * can be the last one of its caller. */
RECV_INLINE int srq_post_list(struct mlx4_srq *srq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr, bool one)
{
	uint64_t *const wr_ids = srq->wr_ids;
	uint32_t head = srq->head, n = 0, next;
	int ret = 0;

	for (; wr; wr = wr->next, n++) {
		if (likely(srq_is_usual(srq, head, wr, one))) {
			head = srq_put(srq, head, wr, &wr_ids, one);
			continue;
		}
		next = head;
		if (!srq_put_unusual(srq, &next, wr))
			break;
		head = next;
	}
	if (likely(n))
		srq_ring_doorbell(srq, head, n);
	if (unlikely(wr))
		ret = refuse_shared(srq, wr, bad_wr);
	qlock_leave(&srq->lock);
	return ret;
}

OUT_OF_LINE srq_list_one_sge(struct mlx4_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr)
{
	return srq_post_list(srq, wr, bad_wr, true);
}

OUT_OF_LINE srq_list_any(struct mlx4_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return srq_post_list(srq, wr, bad_wr, false);
}

RECV_INLINE int srq_post_one(struct mlx4_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr, bool one, bool locked)
{
	uint32_t head;

	if (locked)
		qlock_take(&srq->lock);
	head = srq->head;
	if (unlikely(!wr || wr->next || !srq_is_usual(srq, head, wr, one)))
		return one ? srq_list_one_sge(srq, wr, bad_wr) : srq_list_any(srq, wr, bad_wr);
	srq_ring_doorbell(srq, srq_put(srq, head, wr, &srq->wr_ids, one), 1);
	if (locked)
		qlock_drop(&srq->lock);
	return 0;
}

#define SRQ_ROUTINES(name, one)                                                                \
	static int name(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) \
	{                                                                                      \
		return srq_post_one(to_msrq(srq), wr, bad, one, false);                        \
	}                                                                                      \
	OUT_OF_LINE name##_exchange(struct ibv_srq *srq, struct ibv_recv_wr *wr,               \
				    struct ibv_recv_wr **bad)                                  \
	{                                                                                      \
		return srq_post_one(to_msrq(srq), wr, bad, one, true);                         \
	}                                                                                      \
	static int name##_locked(struct ibv_srq *srq, struct ibv_recv_wr *wr,                  \
				 struct ibv_recv_wr **bad)                                     \
	{                                                                                      \
		return likely(qlock_is_idle(&to_msrq(srq)->lock))                              \
			       ? srq_post_one(to_msrq(srq), wr, bad, one, false)               \
			       : name##_exchange(srq, wr, bad);                                \
	}

SRQ_ROUTINES(srq_post_one_sge, true)
SRQ_ROUTINES(srq_post_any, false)

post_srq_fn *mlx4_post_srq_routine(uint32_t stride_log, bool shared)
{
	if (stride_log == SHARED_ONE_SGE_LOG)
		return shared ? srq_post_one_sge_locked : srq_post_one_sge;
	return shared ? srq_post_any_locked : srq_post_any;
}

int mlx4_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	return to_msrq(ibsrq)->post(ibsrq, wr, bad_wr);
}
