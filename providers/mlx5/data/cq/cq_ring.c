/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ring.c - the ring of a CQ outside polling. cq.c initialises it. qp.c, wq.c and srq.c remove
 * the completions of a queue that is destroyed or reset.
 * PRM: CQE ownership
 */
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/cq/cqe_run.h"
#include "providers/mlx5/data/doorbell.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"

/* Gives each entry the owner bit of the lap before the first, so that the ownership check is the
 * same comparison in every lap. The invalid opcode serves programs that read the ring by
 * themselves. */
void mlx5_cq_ring_init(struct mlx5_cq *cq)
{
	for (uint32_t i = 0; i < 1u << cq->count_log; i++)
		cqe_at(cq, i)->op_own =
			MLX5_CQE_INVALID << FLD_SHIFT(CQE_OPCODE) | MLX5_CQE_OWNER_MASK;
	cqe_forget_rq(cq);
}

/* ---- who moves the consumer index
 *
 * mlx5dv_init_obj() does not tell what a program will do with the ring. A program that polls by
 * itself moves the index in the doorbell record, while the library's ci stays behind. A program
 * that uses the library's calls leaves the record to them. The record differs from ci also between
 * ibv_start_poll() and ibv_end_poll(), by at most the size of the ring. Under a lock that state is
 * never visible here; on a CQ without a lock it is.
 */

/* Returns whether the library has read nothing since the program learned the address of the
 * ring. */
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

	/* mlx5dv_init_obj() may have been called in the middle of a poll, whose entries the record
	 * does not count yet. */
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
	/* With a lock, another thread may be writing the record now, so its value proves
	 * nothing. */
	if (!cq->lock.shared)
		cq->shown_record = cq->dbrec[FLD_DWORD(CQ_DBREC_CI)];
	__atomic_store_n(&cq->shown, true, __ATOMIC_RELEASE);
}

/* Returns the first index whose entry the adapter owns. Later entries may arrive meanwhile; they
 * belong to the next call. */
static uint32_t cq_ring_end(const struct mlx5_cq *cq)
{
	uint32_t index = cq->ci;

	while (index - cq->ci < 1u << cq->count_log &&
	       cqe_is_sw_owned(cq, cqe_at(cq, index), index))
		index++;
	dma_load_barrier();
	return index;
}

/* Moves a CQE to a later entry, perhaps in the next lap. The destination keeps its owner bit,
 * because that bit says in which lap the entry was written. */
static void cqe_move(struct mlx5_cq *cq, uint32_t to, uint32_t from)
{
	size_t front =
		/* a 128-byte entry has the CQE in its second half, payload in its first */
		((size_t)1 << cq->entry_log) - sizeof(struct mlx5_cqe64);
	struct mlx5_cqe64 *dst = cqe_at(cq, to);
	const struct mlx5_cqe64 *src = cqe_at(cq, from);
	uint8_t owner = dst->op_own & MLX5_CQE_OWNER_MASK;

	/* Pollers read the last byte without the lock, so it is stored once, with the right owner
	 * bit. */
	memcpy((uint8_t *)dst - front, (const uint8_t *)src - front, front + sizeof(*dst) - 1);
	__atomic_store_n(&dst->op_own, (src->op_own & ~MLX5_CQE_OWNER_MASK) | owner,
			 __ATOMIC_RELAXED);
}

/* Gives the WQE of a message back to its SRQ, because the completion of the message is dropped. If
 * the message met a page fault, posts the request again. */
static void wqe_give_back(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	if (!rq->srq || opcode_is_request(cqe_opcode(cqe)) || mlx5_srq_is_taken(rq->srq))
		return;
	if (cqe_is_page_fault(cqe))
		mlx5_srq_put_back(rq->srq, be16toh(cqe->wqe_counter));
	else
		mlx5_srq_complete(rq->srq, be16toh(cqe->wqe_counter));
}

/* Returns whether the CQE belongs to queue RSN_RAW. A signature error belongs to no queue: its CQE
 * has error data in the field of the queue number, which could match by chance. */
static bool cqe_is_of(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe, uint32_t rsn_raw)
{
	return cqe_opcode(cqe) != MLX5_CQE_SIG_ERR && cqe_rsn_raw(cq, cqe) == rsn_raw;
}

/* Expands compressed runs into plain CQEs, because a mini CQE has no queue number by which the
 * caller could drop or move it. */
static void cq_take_runs(struct mlx5_cq *cq)
{
	for (uint32_t i = cq->ci; i - cq->ci <= cq->mask && cqe_is_sw_owned(cq, cqe_at(cq, i), i);
	     i++) {
		dma_load_barrier();
		if (cqe_is_title(cqe_at(cq, i)))
			mlx5_cqe_run_take(cq, cqe_at(cq, i));
	}
}

/* Drops the CQEs of RQ. The loop runs from the newest CQE to the oldest and moves the CQEs of other
 * queues towards the end, in order; then the consumer index skips the free entries at the front. */
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

/* Gives the WQE of each message of a compressed run back to its SRQ, as wqe_give_back() does for
 * one. Only reads the mini CQEs, because a poller may still need them. */
static void run_give_back(const struct mlx5_cq *cq, const struct mlx5_rq *rq,
			  const struct mlx5_cqe64 *title, uint32_t count)
{
	if (!rq->srq || opcode_is_request(cqe_opcode(title)) || mlx5_srq_is_taken(rq->srq))
		return;
	for (uint32_t i = 0; i < count; i++)
		mlx5_srq_complete(rq->srq, mlx5_cqe_run_counter(cq, title, i));
}

/* ---- a ring that a program may read by itself
 *
 * The program may read the CQEs, so the library must not change them. The CQEs of a destroyed queue
 * are noted in orphans, and ids becomes an empty table, so that the library's next poll finds no
 * queue and comes to mlx5_cq_disown(). That poll shows that the library reads the ring; then the
 * noted CQEs lose their user index, or their QPN in version 0, and no longer lead to a queue.
 */

/* empty table, so that each CQE takes the slow path, where orphans are noticed */
static struct id_root nobody;

/* Removes the number of the queue. No QP has the QPN that equals PRM_NO_USER_INDEX. */
static void cqe_disown(const struct mlx5_cq *cq, struct mlx5_cqe64 *cqe)
{
	__be32 *number = (__be32 *)(void *)((uint8_t *)cqe + cq->rsn_offset);

	*number |= htobe32(PRM_NO_USER_INDEX);
}

/* Notes the CQE at INDEX in orphans. Without memory for orphans, removes its number at once. */
static void cqe_note_orphan(struct mlx5_cq *cq, uint32_t index)
{
	if (!cq->orphans)
		cq->orphans = calloc((size_t)cq->mask + 1, sizeof(*cq->orphans));
	if (!cq->orphans) {
		cqe_disown(cq, cqe_at(cq, index));
		return;
	}
	cq->orphans[index & cq->mask] = true;
	if (cq->ids != &nobody)
		cq->all_ids = cq->ids;
	cq->ids = &nobody;
}

/* Notes the CQE at INDEX if it belongs to RQ. Returns the number of entries to advance: for the
 * title of a run the whole run, because its other entries are not CQEs. */
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
			cqe_disown(cq, cqe_at(cq, i));
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
	cqe_forget_rq(cq);
	qlock_leave(&cq->lock);
}
