/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.c - the ring of a CQ outside polling. cq.c initialises it; qp.c removes the completions
 * of a QP that is destroyed or reset.
 */
#include <string.h>

#include "providers/mlx4/data/cq/cqe.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"

/* Gives all entries to the adapter: their ownership bits get the value of the lap before the first
 * one. */
void mlx4_cq_ring_init(struct mlx4_cq *cq)
{
	uint8_t *last = cq->ring + CQE_LAST;

#pragma GCC unroll 8 /* else half the instructions are the loop's */
	for (uint32_t count = 1u << cq->count_log; count; count--, last += cq->entry_size)
		*last = M4_CQE_NEW;
	cq_forget_qp(cq);
}

/* Moves a CQE to a later entry, which keeps its ownership bit. Pollers read that bit without the
 * lock, so it is stored only once. */
static void cqe_move(uint8_t *to, const uint8_t *from)
{
	uint8_t owner = to[CQE_LAST] & FLD_BITS(M4_CQE_OWNER);

	memcpy(to, from, CQE_LAST);
	__atomic_store_n(to + CQE_LAST,
			 (uint8_t)(owner | (from[CQE_LAST] & ~FLD_BITS(M4_CQE_OWNER))),
			 __ATOMIC_RELAXED);
}

static uint32_t cq_ring_end(const struct mlx4_cq *cq)
{
	uint32_t index = cq->ci;

	while (index - cq->ci < 1u << cq->count_log &&
	       cqe_is_sw_owned(cq, cqe_at(cq, index), index))
		index++;
	dma_load_barrier();
	return index;
}

struct leaving {
	const struct mlx4_qp *qp;
	uint32_t srqn;
};

/* Returns whether a CQE belongs to the QP or SRQ that is destroyed. If the CQE is of the QP and has
 * used a WQE of its SRQ, frees that WQE, because the completion is never polled. */
static bool cqe_leaves(const struct leaving *leaving, const uint8_t *cqe)
{
	const struct mlx4_qp *qp = leaving->qp;

	if (!qp)
		return cqe_qpn(cqe) & M4_XRC_TARGET && !cqe_is_request(cqe) &&
		       fld_get(cqe, M4_CQE_RQPN) == leaving->srqn;
	if (cqe_qpn(cqe) != qp->vqp.qp.qp_num)
		return false;
	if (qp->srq && !cqe_is_request(cqe))
		srq_complete(qp->srq, cqe_wqe_index(cqe));
	return true;
}

/* Removes the CQEs of LEAVING. The loop runs from the newest to the oldest and moves the remaining
 * ones towards the newest, so that the free entries are at the consumer index, which can skip them.
 * If the program polls the ring itself, it owns the index, so nothing is removed. */
static void cq_clean(struct mlx4_cq *cq, const struct leaving *leaving)
{
	uint32_t end, keep;

	qlock_enter(&cq->lock);
	end = keep = __atomic_load_n(&cq->taken, __ATOMIC_ACQUIRE) ? cq->ci : cq_ring_end(cq);
	for (uint32_t i = end; i != cq->ci;) {
		const uint8_t *cqe = cqe_at(cq, --i);

		if (!cqe_leaves(leaving, cqe) && --keep != i)
			cqe_move((uint8_t *)(uintptr_t)cqe_at(cq, keep), cqe);
	}
	if (keep != cq->ci) {
		__atomic_store_n(&cq->ci, keep, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, keep);
	}
	cq->poll = mlx4_datapath()->cq_poll_any;
	cq_forget_qp(cq);
	cq->srq = NULL;
	qlock_leave(&cq->lock);
}

void mlx4_cq_clean(struct mlx4_cq *cq, const struct mlx4_qp *qp)
{
	cq_clean(cq, &(struct leaving){ .qp = qp });
}

void mlx4_cq_clean_srq(struct mlx4_cq *cq, uint32_t srqn)
{
	cq_clean(cq, &(struct leaving){ .srqn = srqn });
}
