/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.h - the request on a memory key under construction: its begin, the control blocks of its
 * WQE, and its end if the key computes nothing. finish.c has the other ends.
 * PRM: UMR control segment
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_REQUEST_H
#define PROVIDERS_MLX5_DATA_MKEY_REQUEST_H

#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/mkey/blocks.h"
#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/mkey.h"

/* Finish a request after its last setter. mlx5_mkey_finish_computing() is the fast path for a key
 * with signature or encryption when the cached end fits. */
void mlx5_mkey_finish(struct mlx5dv_qp_ex *dv);
void mlx5_mkey_finish_computing(struct mlx5dv_qp_ex *dv);

void mlx5_mkey_fill_at_once(struct mlx5_qp *qp, uint64_t ops);
void mlx5_mkey_fill_ends(struct mlx5_qp *qp, uint64_t ops);

WQE_INLINE struct mlx5_qp *dv_mqp(struct mlx5dv_qp_ex *dv)
{
	return container_of(dv, struct mlx5_qp, dv_qp);
}

/* Returns whether the fast path may begin a request. A failed batch needs no test of its own,
 * because it has no room. */
WQE_INLINE bool may_begin(const struct mlx5_qp *qp)
{
	return likely(qp->vqp.qp_ex.wr_flags & qp->sq.key_flags &&
		      qp->sq.wq.head != qp->sq.wq.limit);
}

WQE_INLINE void request_start(const struct mlx5_qp *qp, struct mlx5_mkey *mkey,
			      struct mkey_request *request)
{
	const struct mlx5_sq *sq = &qp->sq;

	request->mkey = mkey;
	request->head = sq->wq.head;
	request->flags =
		ctrl_word(sq->umr_flags[(qp->vqp.qp_ex.wr_flags % FENCE_NEXT) | sq->fence_next]);
	request->ctrl = sq_wqebb(sq, sq->pi);
}

WQE_INLINE void request_begin(const struct mlx5_qp *qp, struct mlx5_mkey *mkey,
			      struct mkey_request *request, uint32_t progress)
{
	request_start(qp, mkey, request);
	request->progress.word = progress;
}

/* Writes the control blocks as put_head() does, for a request that sets access and layout and does
 * not wrap. The list has LIST_UNITS, followed by FORMAT_UNITS of BSF blocks. */
WQE_INLINE void put_usual_head(const struct mlx5_qp *qp, const struct mkey_request *request,
			       const struct mkey_head *head, uint32_t list_units,
			       uint32_t format_units, __be32 kept, uint8_t *ctrl)
{
	const uint64_t index = (uint16_t)qp->sq.pi;
	uint8_t *const context = ctrl + WQE_BB;
	const uint64_t length = request->length;

	static_assert(offsetof(struct mkey_head, mask) ==
				      offsetof(struct mkey_head, usual_control) + 8 &&
			      FLD_BYTE(UMR_MKEY_MASK) == 8,
		      "both are copied at once");
	seg_put_be64(ctrl, (index << (32 + FLD_SHIFT(CTRL_INDEX))) + qp->mkey_first +
				   (list_units - BLOCK_UNITS) + format_units);
	seg_put_raw(ctrl + 8, head->key | side_by_side(request->flags & kept, 0));
	memcpy(ctrl + WQE_SEG, &head->usual_control, 16);
	if (list_units != BLOCK_UNITS)
		seg_put_raw(ctrl + WQE_SEG,
			    head->control |
				    htobe64((uint64_t)list_units << FLD_SHIFT(UMR_XLT_OCTOWORDS)));
	clear_32(ctrl + 32);
	copy_32(context, (const uint8_t *)head->context);
	memcpy(context, &request->context, sizeof(request->context));
	seg_put_be64(context + 24, length);
	clear_32(context + 32);
}

/* Assigns the WQE at WQEBB PI to the request. Returns the next value of the queue's head. */
WQE_INLINE uint32_t take_wqe(struct mlx5_qp *qp, uint32_t pi)
{
	struct wq_slot *slot = wq_slot_at(&qp->sq.wq, pi);
	const uint32_t head = qp->sq.wq.head;

	wq_slot_note(slot, head, qp->vqp.qp_ex.wr_id);
	slot->done_as = MLX5DV_WC_UMR;
	return head + 1;
}

/* Enters the request into the queue, so that no further setter finds the request under
 * construction. Shuts the gate, because the next request must wait for this one. */
WQE_INLINE void request_close(struct mlx5_qp *qp, uint8_t push, uint32_t head)
{
	qp->batch.push = push;
	qp->sq.wq.head = head;
	gate_shut(qp);
}

WQE_INLINE uint32_t blocks_of(uint32_t units)
{
	return (units + BLOCK_UNITS - 1) / BLOCK_UNITS;
}

WQE_INLINE void finish_plain_usual(struct mlx5_qp *qp, const struct mkey_request *request,
				   uint32_t list_units)
{
	const uint32_t pi = qp->sq.pi;
	uint8_t *const ctrl = request->ctrl;

	put_usual_head(qp, request, &request->mkey->head, list_units, 0, UINT32_MAX, ctrl);
	qp->batch.ctrl = ctrl;
	qp->sq.pi = pi + blocks_of(HEAD_UNITS + list_units);
	request_close(qp, PUSH_INLINE, take_wqe(qp, pi));
}

#endif
