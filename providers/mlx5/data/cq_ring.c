/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.c - the ring of a CQ outside polling: cq.c prepares it before the first completion, and
 * qp.c, wq.c and srq.c clean it when what completes there goes away.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/data/cq_ring.h"
#include "providers/mlx5/data/cqe.h"
#include "providers/mlx5/data/cqe_run.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"

/* Each entry gets the owner bit of a lap before the first, so that ownership is one comparison for
 * ever. The opcode says the same to programs that read the ring by themselves. */
void mlx5_cq_ring_init(struct mlx5_cq *cq)
{
	for (uint32_t i = 0; i < 1u << cq->count_log; i++)
		cqe_at(cq, i)->op_own =
			MLX5_CQE_INVALID << FLD_SHIFT(CQE_OPCODE) | MLX5_CQE_OWNER_MASK;
	cq->rsn_raw = CQ_RSN_NONE;
}

/* ---- whose the consumer index is
 *
 * mlx5dv_init_obj() does not say what a program wants with a ring. One that reads the CQ by itself
 * moves the index in the doorbell record, where the library's, which stays behind, is not; one that
 * only looks goes on with the library's calls, which write ci there. (Between ibv_start_poll() and
 * ibv_end_poll() the record is behind ci, by as much as the ring holds. Nobody else has the lock
 * then, but a CQ without a lock may be in the middle of that.) */

/* Returns whether nobody has read by the library's calls since the program was told where the ring
 * is. */
static bool cq_is_unread(const struct mlx5_cq *cq)
{
	return __atomic_load_n(&cq->shown, __ATOMIC_ACQUIRE) &&
	       cq->ci == __atomic_load_n(&cq->shown_ci, __ATOMIC_RELAXED);
}

static bool cq_record_is_others(const struct mlx5_cq *cq)
{
	__be32 record = cq->dbrec[FLD_DWORD(CQ_DBREC_CI)];
	uint32_t behind = (cq->ci - be32toh(record)) & FLD_MASK(CQ_ARM_CI);
	bool may_be_polling = !cq->lock.shared && !cq_is_unread(cq);

	/* The program may have been told in the middle of a poll, as well. */
	if (!cq->lock.shared && record == cq->shown_record)
		return false;
	return behind > (may_be_polling ? 1u << cq->count_log : 0);
}

bool mlx5_cq_is_taken(struct mlx5_cq *cq)
{
	if (__atomic_load_n(&cq->shown, __ATOMIC_ACQUIRE) && cq_record_is_others(cq))
		cq->taken = true;
	return cq->taken;
}

void mlx5_cq_show(struct mlx5_cq *cq)
{
	uint32_t ci = __atomic_load_n(&cq->ci, __ATOMIC_RELAXED);

	__atomic_store_n(&cq->shown_ci, ci, __ATOMIC_RELAXED);
	/* Where there is a lock, another thread may be writing the record. */
	if (!cq->lock.shared)
		cq->shown_record = cq->dbrec[FLD_DWORD(CQ_DBREC_CI)];
	__atomic_store_n(&cq->shown, true, __ATOMIC_RELEASE);
}

/* Returns the first index whose entry is not software's. */
static uint32_t cq_ring_end(const struct mlx5_cq *cq)
{
	uint32_t index = cq->ci;

	while (index - cq->ci < 1u << cq->count_log &&
	       cqe_is_sw_owned(cq, cqe_at(cq, index), index))
		index++;
	dma_load_barrier();
	return index;
}

/* Moves a CQE to a later place, which may be in the next lap; the owner bit belongs to the
 * place. */
static void cqe_move(struct mlx5_cq *cq, uint32_t to, uint32_t from)
{
	size_t front =
		((size_t)1 << cq->entry_log) - sizeof(struct mlx5_cqe64); /* of a 128-byte entry */
	struct mlx5_cqe64 *dst = cqe_at(cq, to);
	const struct mlx5_cqe64 *src = cqe_at(cq, from);
	uint8_t owner = dst->op_own & MLX5_CQE_OWNER_MASK;

	/* Pollers look at the last byte without the lock, so its owner bit may not change for a
	 * moment. */
	memcpy((uint8_t *)dst - front, (const uint8_t *)src - front, front + sizeof(*dst) - 1);
	__atomic_store_n(&dst->op_own, (src->op_own & ~MLX5_CQE_OWNER_MASK) | owner,
			 __ATOMIC_RELAXED);
}

/* The WQE of a message that nobody will hear of goes back to its SRQ; its request as well, if the
 * message did not reach it. */
static void wqe_give_back(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	if (!rq->srq || opcode_is_request(cqe_opcode(cqe)) || mlx5_srq_is_taken(rq->srq))
		return;
	if (cqe_is_page_fault(cqe))
		mlx5_srq_put_back(rq->srq, be16toh(cqe->wqe_counter));
	else
		mlx5_srq_complete(rq->srq, be16toh(cqe->wqe_counter));
}

/* What tells of a wrong signature has something else where others have the number of a queue. */
static bool cqe_is_of(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t rsn_raw)
{
	return cqe_opcode(cqe) != MLX5_CQE_SIG_ERR && cqe_rsn_raw(cq, cqe) == rsn_raw;
}

/* Runs become the CQEs that they stand for, which have places of their own. */
static void cq_take_runs(struct mlx5_cq *cq)
{
	for (uint32_t i = cq->ci; i - cq->ci <= cq->mask && cqe_is_sw_owned(cq, cqe_at(cq, i), i);
	     i++) {
		dma_load_barrier();
		if (cqe_is_title(cqe_at(cq, i)))
			mlx5_cqe_run_take(cq, cqe_at(cq, i));
	}
}

/* Completions of other queues stay, in order: the walk goes back from the newest CQE and moves them
 * towards the end; the consumer index then steps over what is free at the front. */
static void cq_drop(struct mlx5_cq *cq, const struct mlx5_rq *rq)
{
	uint32_t gone = htobe32(rq->rsn), end, keep;

	cq_take_runs(cq);
	end = keep = cq_ring_end(cq);
	for (uint32_t i = end; i != cq->ci;) {
		i--;
		if (cqe_is_of(cq, cqe_at(cq, i), gone)) {
			wqe_give_back(rq, cqe_at(cq, i));
			continue;
		}
		keep--;
		if (keep != i)
			cqe_move(cq, keep, i);
	}
	if (keep != cq->ci) {
		__atomic_store_n(&cq->ci, keep, __ATOMIC_RELAXED);
		doorbell_cq_consumed(cq->dbrec, keep);
	}
}

/* Does that for each message of a run, whose mini CQEs nobody may have read. */
static void run_give_back(const struct mlx5_cq *cq, const struct mlx5_rq *rq,
			  const struct mlx5_cqe64 *title, uint32_t count)
{
	if (!rq->srq || opcode_is_request(cqe_opcode(title)) || mlx5_srq_is_taken(rq->srq))
		return;
	for (uint32_t i = 0; i < count; i++)
		mlx5_srq_complete(rq->srq, mlx5_cqe_run_counter(cq, title, i));
}

/* ---- a ring of which it is not known who will read it
 *
 * Its CQEs belong to the program, which may read them by itself, so nothing is written there. What
 * is for a queue that goes away is noted beside the ring, and no number is found any more until the
 * library polls: then nobody else reads, and those CQEs lose the user index, by which the library
 * knows their queue. CQEs of version 0 have no user index, and stay as they are. */

static struct id_root nobody; /* has no queues */

static void cqe_disown(struct mlx5_cqe64 *cqe)
{
	cqe->srqn_uidx |= htobe32(PRM_NO_USER_INDEX);
}

/* Without memory for the notes, it is done at once. */
static void cqe_note_orphan(struct mlx5_cq *cq, uint32_t index)
{
	if (!cq->orphans)
		cq->orphans = calloc((size_t)cq->mask + 1, sizeof(*cq->orphans));
	if (!cq->orphans) {
		cqe_disown(cqe_at(cq, index));
		return;
	}
	cq->orphans[index & cq->mask] = true;
	if (cq->ids != &nobody)
		cq->all_ids = cq->ids;
	cq->ids = &nobody;
}

/* Notes the CQE at INDEX, if it is for RQ, and returns how many entries it has. Of a run that is
 * the title's to say: what is behind it are no CQEs. */
static uint32_t cqe_leave(struct mlx5_cq *cq, const struct mlx5_rq *rq, uint32_t index)
{
	const struct mlx5_cqe64 *cqe = cqe_at(cq, index);
	uint32_t length = cqe_is_title(cqe) ? mlx5_cqe_run_length(cq, cqe) : 0;

	if (cqe_is_of(cq, cqe, htobe32(rq->rsn)) &&
	    !(cq->orphans && cq->orphans[index & cq->mask])) {
		if (length)
			run_give_back(cq, rq, cqe, length);
		else
			wqe_give_back(rq, cqe);
		cqe_note_orphan(cq, index);
	}
	return length ? length : 1;
}

static void cq_leave(struct mlx5_cq *cq, const struct mlx5_rq *rq)
{
	uint32_t i = cq->ci;

	if (cq->rsn_offset != offsetof(struct mlx5_cqe64, srqn_uidx))
		return;
	while (i - cq->ci <= cq->mask && cqe_is_sw_owned(cq, cqe_at(cq, i), i)) {
		dma_load_barrier();
		i += cqe_leave(cq, rq, i);
	}
}

bool mlx5_cq_disown(struct mlx5_cq *cq)
{
	if (!cq->orphans)
		return false;
	for (uint32_t i = 0; i <= cq->mask; i++)
		if (cq->orphans[i])
			cqe_disown(cqe_at(cq, i));
	free(cq->orphans);
	cq->orphans = NULL;
	cq->ids = cq->all_ids;
	return true;
}

void mlx5_cq_clean(struct mlx5_cq *cq, const struct mlx5_rq *rq)
{
	qlock_enter(&cq->lock);
	if (!mlx5_cq_is_taken(cq)) {
		if (cq_is_unread(cq)) {
			cq_leave(cq, rq);
		} else {
			mlx5_cq_disown(cq);
			cq_drop(cq, rq);
		}
	}
	cq->rsn_raw = CQ_RSN_NONE;
	qlock_leave(&cq->lock);
}
