/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finish.c - finishes a request on a memory key after its last setter: writes everything but the
 * list. A key that computes has BSF blocks after the list, one for signatures and one for
 * encryption, and for each signed domain another WQE that initialises the signature state.
 */
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/mkey/finish_plan.h"
#include "providers/mlx5/data/mkey/request.h"
#include "providers/mlx5/data/mkey/config_rollback.h"

/* Writes the two control blocks of a WQE of UNITS at WQEBB PI. Loads each word just before its
 * store, so that few registers suffice. KEPT is a mask for the request's flags. */
WQE_INLINE void put_head(const struct mlx5_sq *sq, const struct mkey_request *request,
			 const struct mkey_head *head, uint32_t pi, uint32_t units, __be32 kept)
{
	const uint64_t index = (uint16_t)pi;
	uint8_t *const ctrl = request->ctrl, *context;

	seg_put_be64(ctrl, index << (32 + FLD_SHIFT(CTRL_INDEX)) | (uint64_t)MLX5_OPCODE_UMR << 32 |
				   (sq->qpn_shifted + units));
	seg_put_raw(ctrl + 8, head->key | side_by_side(request->flags & kept, 0));
	seg_put_raw(ctrl + WQE_SEG, head->control | htobe64((uint64_t)request->list_units
							    << FLD_SHIFT(UMR_XLT_OCTOWORDS)));
	seg_put_raw(ctrl + WQE_SEG + FLD_BYTE(UMR_MKEY_MASK), head->mask);
	clear_32(ctrl + 32);
	context = next_block(sq, ctrl);
	seg_put_raw(context, head->context[0] | side_by_side(request->context, 0));
	seg_put_raw(context + 8, head->context[1]);
	seg_put_raw(context + 16, 0);
	seg_put_be64(context + 24, request->length);
	clear_32(context + 32);
}

WQE_INLINE void put_format(uint8_t *block, const uint8_t *bsf, uint64_t kind)
{
	uint64_t first;

	copy_64(block, bsf);
	/* compiles to a single load, but allows any alignment */
	memcpy(&first, block, sizeof(first));
	seg_put_raw(block, first | kind);
}

WQE_INLINE void put_formats(const struct mlx5_sq *sq, const struct mkey_request *request,
			    const struct mlx5_mkey *mkey, const struct mkey_end *end, uint8_t *ctrl,
			    bool usual)
{
	/* A BSF without signature, for any length: the block must be there when the key has one. */
	static const uint8_t without[BSF_SIZE] = { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	const struct mkey_config *next = &request->next;
	const uint64_t kind = mkey->head.kind;
	uint8_t *block = usual ? ctrl + (HEAD_UNITS + BLOCK_UNITS) * WQE_SEG
			       : block_behind(sq, ctrl, HEAD_UNITS + request->list_units);

	if (end->sig) {
		put_format(block,
			   usual || likely(request->progress.sig_told >= MKEY_SIG_SET)
				   ? mkey_sig_at(mkey, next->sig)->bsf
				   : without,
			   kind);
		block = usual ? block + WQE_BB : next_block(sq, block);
	}
	if (end->crypt)
		put_format(block, mkey_crypt_at(mkey, next->crypt)->bsf, kind);
}

/* Writes a WQE that sets a PSV. FLAGS is the third word of the control segment, to which the small
 * fence is added. */
WQE_INLINE void put_psv(struct mlx5_qp *qp, const struct mkey_start *start, __be32 flags)
{
	const uint32_t pi = qp->sq.pi;
	const uint64_t index = (uint16_t)pi;
	uint8_t *const ctrl = sq_wqebb(&qp->sq, pi);

	qp->sq.pi = pi + 1;
	seg_put_be64(ctrl, (index << (32 + FLD_SHIFT(CTRL_INDEX))) + qp->psv_first);
	seg_put_raw_pair(ctrl + 8, flags | htobe32(MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE), 0);
	static_assert(offsetof(struct mkey_start, state) == FLD_BYTE(SET_PSV_SIGNATURE) &&
			      sizeof(*start) == PSV_SEG_SIZE,
		      "PRM: SET_PSV");
	memcpy(ctrl + WQE_SEG, start, sizeof(*start));
	take_wqe(qp, pi);
	qp->batch.ctrl = ctrl;
}

/* Writes the WQEs that set the PSVs. Only the last one requests a completion. The program's fence
 * is already on the first WQE of the request, so these WQEs do not repeat it. */
WQE_INLINE void put_states(struct mlx5_qp *qp, const struct mkey_sig_format *format, __be32 flags)
{
	const __be32 last = flags & ~htobe32(MLX5_WQE_CTRL_FENCE);

	/* keeps the address in a register, as the compiler would recompute it for each field */
	__asm__("" : "+r"(format));
	if (format->mem)
		put_psv(qp, &format->mem_start,
			format->wire ? last & ~htobe32(MLX5_WQE_CTRL_CQ_UPDATE) : last);
	if (format->wire)
		put_psv(qp, &format->wire_start, last);
}

WQE_INLINE void put_computing(struct mlx5_qp *qp, struct mlx5_mkey *mkey, bool usual)
{
	const struct mkey_request *request = &qp->mkey_request;
	const struct mkey_end *end = &mkey->again.end;
	const uint32_t units = HEAD_UNITS + request->list_units + end->bsf_units;
	const uint32_t pi = qp->sq.pi;
	uint8_t *const ctrl = request->ctrl;
	uint32_t head;

	if (usual)
		put_usual_head(qp, request, &mkey->head, BLOCK_UNITS, end->bsf_units,
			       end->flags_kept, ctrl);
	else
		put_head(&qp->sq, request, &mkey->head, pi, units, end->flags_kept);
	put_formats(&qp->sq, request, mkey, end, ctrl, usual);
	head = take_wqe(qp, pi);
	qp->sq.pi = pi + (usual ? end->usual_wqebbs : blocks_of(units));
	if (end->has_states)
		put_states(qp, mkey_sig_at(mkey, request->next.sig), request->flags);
	else
		qp->batch.ctrl = ctrl;
	request_close(qp, end->push, head);
	config_take(qp, mkey);
}

/* Finishes a request that differs from the previous one. Out of line, so that the fast path makes
 * no calls and saves no registers. */
static void __attribute__((noinline)) finish_anew(struct mlx5_qp *qp)
{
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;

	if (mlx5_mkey_look_anew(qp, mkey))
		put_computing(qp, mkey, false);
}

static void __attribute__((noinline)) finish_computing(struct mlx5_qp *qp)
{
	struct mkey_request *request = &qp->mkey_request;
	struct mlx5_mkey *mkey = request->mkey;

	if (!request->progress.layout_pending)
		request->next.length = request->length;
	if (request_comes_again(qp, mkey))
		put_computing(qp, mkey, false);
	else
		finish_anew(qp);
}

static void finish_plain(struct mlx5_qp *qp, const struct mkey_request *request)
{
	const uint32_t pi = qp->sq.pi, units = HEAD_UNITS + request->list_units;

	put_head(&qp->sq, request, &request->mkey->head, pi, units, UINT32_MAX);
	if (unlikely(request->progress.access_pending || request->progress.layout_pending))
		seg_put_be64(request->ctrl + WQE_SEG + FLD_BYTE(UMR_MKEY_MASK), mask_of(request));
	qp->batch.ctrl = request->ctrl;
	qp->sq.pi = pi + blocks_of(units);
	request_close(qp, PUSH_INLINE, take_wqe(qp, pi));
}

/* Finishes any request. Clears the fields of each part whose setter was not called, because they
 * may have the last request's values. */
static void __attribute__((noinline)) finish_slowly(struct mlx5dv_qp_ex *dv)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	if (request->progress.access_pending)
		request->context = 0;
	if (request->progress.layout_pending) {
		request->list_units = 0;
		request->length = 0;
	}
	if (request->progress.list_usual)
		request->list_units = BLOCK_UNITS;
	if (mkey_computes(request->mkey))
		finish_computing(qp);
	else
		finish_plain(qp, request);
}

/* Finishes a usual request that sets the same parts as the one before. Takes the slow path if the
 * device must learn a new error count. */
void __attribute__((noinline)) mlx5_mkey_finish_computing(struct mlx5dv_qp_ex *dv)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;
	struct mlx5_mkey *mkey = request->mkey;

	if (unlikely(mkey->sig_count != request->next.count_told)) {
		finish_slowly(dv);
		return;
	}
	request->next.length = request->length;
	put_computing(qp, mkey, true);
}

/* Finishes a request after its last setter. Out of line, so that the setters stay small. Passes on
 * DV as it is, so that no other pointer must be kept in a register. */
void __attribute__((noinline)) mlx5_mkey_finish(struct mlx5dv_qp_ex *dv)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	const struct mkey_request *request = &qp->mkey_request;

	if (unlikely(request->progress.word != request->mkey->again.usual.word))
		finish_slowly(dv);
	else if (mkey_computes(request->mkey))
		mlx5_mkey_finish_computing(dv);
	else
		finish_plain_usual(qp, request, BLOCK_UNITS);
}
