/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_done.c - completions of tag matching, for cqe.c: of operations on the matching list, and of
 * messages to the SRQ. tm.c posts the operations.
 *
 * PRM: CQE
 */
#include <endian.h>

#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/data/tm_done.h"
#include "providers/mlx5/tm.h"
#include "util/bits.h"

/* ---- operations, identified by the slot of their request in the queue */

static uint32_t slot_of(const struct mlx5_tm *tm, const struct mlx5_cqe64 *cqe)
{
	return be16toh(cqe->wqe_counter) & tm->qp->sq.wq.mask;
}

static bool cqe_has_deleted(const struct mlx5_cqe64 *cqe)
{
	return cqe->app_op == TM_CQE_REMOVE && be32toh(cqe->tm_cqe.success) & MLX5_TMC_SUCCESS;
}

/* Completes an operation. A deleted tag becomes free, because no message can complete in it any
 * more. */
static uint64_t complete_operation(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe,
				   uint32_t *noted)
{
	struct mlx5_tm *tm = srq->tm;
	uint64_t wr_id;

	qlock_enter(&srq->lock);
	wr_id = wq_complete_at(&tm->qp->sq.wq, be16toh(cqe->wqe_counter), noted);
	if (cqe_has_deleted(cqe))
		tm_release(tm, tm->deleting[slot_of(tm, cqe)]);
	/* The device has unexpected messages that the program has not acknowledged, so it holds
	 * back added tags until the program synchronises. */
	if ((int16_t)(be16toh(cqe->tm_cqe.hw_phase_cnt) - tm->told) > 0)
		*noted |= IBV_WC_TM_SYNC_REQ << WQ_DONE_FLAGS_SHIFT;
	qlock_leave(&srq->lock);
	return wr_id;
}

int mlx5_tm_take_operation(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe)
{
	struct mlx5_tm *tm = srq->tm;
	uint32_t noted;

	if (cqe->app_op < TM_CQE_APPEND || cqe->app_op > TM_CQE_NOOP)
		return IBV_WC_SUCCESS;
	if (tm->qp->sq.wq.slots[slot_of(tm, cqe)].done_as & TM_DONE_QUIETLY) {
		complete_operation(srq, cqe, &noted);
		return -1;
	}
	return cqe->app_op == TM_CQE_REMOVE && !cqe_has_deleted(cqe) ? IBV_WC_TM_ERR
								     : IBV_WC_SUCCESS;
}

/* ---- messages */

static struct tm_tag *tag_of(const struct mlx5_tm *tm, const struct mlx5_cqe64 *cqe)
{
	return &tm->tags[be16toh(cqe->app_info) & (tm->size - 1)];
}

int mlx5_tm_copy_inline(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe, const uint8_t *payload)
{
	const struct tm_tag *tag = tag_of(srq->tm, cqe);
	uint32_t len = be32toh(cqe->byte_cnt);

	if (len > tag->len)
		return IBV_WC_LOC_LEN_ERR;
	if (tag->buf)
		memcpy(tag->buf, payload, len);
	return IBV_WC_SUCCESS;
}

static const struct tm_kind {
	uint8_t flags;
	bool incomplete; /* the program must fetch the remaining data */
	bool first;      /* the tag stays in use, because another CQE follows */
} tm_kinds[] = {
	[TM_CQE_CONSUMED] = { IBV_WC_TM_MATCH, false, true },
	[TM_CQE_EXPECTED] = { IBV_WC_TM_DATA_VALID, false, false },
	[TM_CQE_CONSUMED_SW_RNDV] = { IBV_WC_TM_MATCH, true, true },
	[TM_CQE_CONSUMED_MSG] = { IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, false, false },
	[TM_CQE_CONSUMED_MSG_SW_RNDV] = { IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, true, false },
	[TM_CQE_CANCELED] = { IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID, true, false },
};

static const struct tm_kind *kind_of(const struct mlx5_cqe64 *cqe)
{
	return &tm_kinds[cqe->app_op < ARRAY_SIZE(tm_kinds) ? cqe->app_op : 0];
}

static struct special_completion complete_tag(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe,
					      int status)
{
	struct tm_tag *tag = tag_of(srq->tm, cqe);
	const struct tm_kind *kind = kind_of(cqe);
	struct special_completion done = { .status = kind->flags ? (uint8_t)status
								 : IBV_WC_GENERAL_ERR };

	qlock_enter(&srq->lock);
	if (!tag->used) {
		verbs_warn("poll_cq: srq 0x%x: a message for tag %u, which was not added",
			   srq->srqn, be16toh(cqe->app_info));
		done.status = IBV_WC_GENERAL_ERR;
	} else {
		done.wr_id = tag->recv_wr_id;
		if (!kind->first)
			tm_release(srq->tm, (uint32_t)(tag - srq->tm->tags));
		if (kind->incomplete)
			done.status = IBV_WC_TM_RNDV_INCOMPLETE;
	}
	qlock_leave(&srq->lock);
	done.wc_flags = IBV_WC_TM_RECV | (uint32_t)kind->flags << WQ_DONE_FLAGS_SHIFT;
	return done;
}

/* Completes a message that matched no tag: it is in a WQE of the SRQ, headers included. Counts of
 * such messages have 16 bits, so the program is asked to synchronise before they could wrap. */
static struct special_completion complete_unmatched(struct mlx5_srq *srq,
						    const struct mlx5_cqe64 *cqe, int status)
{
	enum { MAX_UNTOLD = 1 << 14 };
	struct special_completion done = {
		.status = (uint8_t)status,
		.wr_id = mlx5_srq_complete(srq, be16toh(cqe->wqe_counter)),
		.wc_flags = cqe->app_op == TM_CQE_NO_TAG ? IBV_WC_TM_NO_TAG : IBV_WC_TM_RECV,
	};

	if (cqe->app_op == TM_CQE_NO_TAG)
		return done;
	qlock_enter(&srq->lock);
	if ((uint16_t)(++srq->tm->seen - srq->tm->told) > MAX_UNTOLD)
		done.wc_flags |= IBV_WC_TM_SYNC_REQ << WQ_DONE_FLAGS_SHIFT;
	qlock_leave(&srq->lock);
	return done;
}

struct special_completion mlx5_tm_complete(struct mlx5_srq *srq, const struct mlx5_cqe64 *cqe,
					   int status)
{
	struct special_completion done = { .status = (uint8_t)status };

	if (cqe->app_op >= TM_CQE_APPEND && cqe->app_op <= TM_CQE_NOOP)
		done.wr_id = complete_operation(srq, cqe, &done.wc_flags);
	else if (cqe->app_op == TM_CQE_UNEXPECTED || cqe->app_op == TM_CQE_NO_TAG)
		done = complete_unmatched(srq, cqe, status);
	else
		done = complete_tag(srq, cqe, status);
	if (cqe_opcode(cqe) == MLX5_CQE_RESP_SEND_IMM)
		done.wc_flags |= IBV_WC_WITH_IMM << WQ_DONE_FLAGS_SHIFT;
	done.opcode = MLX5_CQE_NO_PACKET;
	return done;
}
