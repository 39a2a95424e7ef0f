/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * configure.c - requests that lay out a memory key (mkey.h): mlx5dv_wr_mr_list(),
 * mlx5dv_wr_mr_interleaved(), and mlx5dv_wr_mkey_configure() with its setters, as builders of a
 * batch (batch.h). umr.h says what they do to the gate.
 *
 * A WQE is one block of control segments, one of the key's context, and blocks of the list and of
 * what the key computes. Lists go into the ring as they come; all else is noted and written with
 * the last of the setters that were announced. A configuration that lacks setters is none: whatever
 * comes next takes the place, as with the distribution's library. What a key that computes has been
 * told is kept, since later requests tell it only what changes, and the end of a batch that is
 * cancelled puts back what was before the batch.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/mkey/again.h"
#include "providers/mlx5/data/mkey/blocks.h"
#include "providers/mlx5/data/mkey/head.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/mkey.h"

WQE_INLINE struct mlx5_qp *dv_mqp(struct mlx5dv_qp_ex *dv)
{
	return container_of(dv, struct mlx5_qp, dv_qp);
}

static void __attribute__((cold, format(printf, 3, 4)))
request_fail(struct mlx5_qp *qp, int err, const char *why, ...)
{
	char text[160];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	verbs_warn("mlx5dv_wr: qp 0x%x, wr_id %#llx: %s", qp->vqp.qp.qp_num,
		   (unsigned long long)qp->vqp.qp_ex.wr_id, text);
	qp->mkey_request.waits = 0;
	batch_set_err(qp, err);
}

/* ---- the WQE ---- */

/* The function says whether the request may begin after all, or else logs why not. */
static bool __attribute__((cold, noinline)) request_may_begin(struct mlx5_qp *qp)
{
	if (qp->batch.err)
		return false;
	if (!(qp->vqp.qp_ex.wr_flags & IBV_SEND_INLINE))
		request_fail(qp, EOPNOTSUPP,
			     "wr_flags is %#x: what a key stands for is sent inline",
			     qp->vqp.qp_ex.wr_flags);
	else if (!qp->sq.sge_limit)
		request_fail(qp, EINVAL, "the QP is in state %d, must be RTS (%d)",
			     (int)qp->vqp.qp.state, IBV_QPS_RTS);
	else if (wq_has_room(&qp->sq.wq, qp->sq.wq.head))
		return true;
	else
		mlx5_batch_fail_full(qp);
	return false;
}

/* The usual request may begin. A batch that has failed finds no room. */
WQE_INLINE bool may_begin(const struct mlx5_qp *qp)
{
	return likely(qp->vqp.qp_ex.wr_flags & qp->sq.key_flags &&
		      qp->sq.wq.head != qp->sq.wq.limit);
}

/* The function starts the request, at the place that is next. Its flags have the fence, too. */
WQE_INLINE void request_start(const struct mlx5_qp *qp, struct mlx5_mkey *mkey,
			      struct mkey_request *request)
{
	const struct mlx5_sq *sq = &qp->sq;

	request->mkey = mkey;
	request->head = sq->wq.head;
	request->flags = sq->umr_flags[(qp->vqp.qp_ex.wr_flags % FENCE_NEXT) | sq->fence_next];
	request->ctrl = sq_wqebb(sq, sq->pi);
}

/* The function starts a request that WAITS for setters. */
WQE_INLINE void request_begin(const struct mlx5_qp *qp, struct mlx5_mkey *mkey,
			      struct mkey_request *request, uint32_t waits)
{
	request_start(qp, mkey, request);
	request->waits = waits;
}

/* The function returns the mask of what the setters of a key without formats change. */
WQE_INLINE uint64_t mask_of(const struct mkey_request *request)
{
	uint64_t mask = MKEY_MASK_ALWAYS;

	if (!(request->waits & SET_ACCESS))
		mask |= MKEY_MASK_ACCESS;
	if (!(request->waits & SET_LAYOUT))
		mask |= MKEY_MASK_LAYOUT;
	return mask;
}

/* The function writes the two blocks in front, of a WQE of UNITS at WQEBB PI. Each word is read
 * where it is written, so that few registers are enough. KEPT are the flags that it may have. */
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

/* The function does what put_head() does, for a request that sets access and layout, in front of
 * the end of the ring, whose list has LIST_UNITS. FORMAT_UNITS are behind the list. */
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

/* The WQE at WQEBB PI is the request's. The function returns the head behind that. */
WQE_INLINE uint32_t take_wqe(struct mlx5_qp *qp, uint32_t pi)
{
	struct wq_slot *slot = wq_slot_at(&qp->sq.wq, pi);
	const uint32_t head = qp->sq.wq.head;

	wq_slot_note(slot, head, qp->vqp.qp_ex.wr_id);
	slot->done_as = MLX5DV_WC_UMR;
	return head + 1;
}

/* The request takes its place in the queue, so that no setter finds it any more; the next one waits
 * for it. */
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

/* ---- what the key computes: a block for signatures and one for encryption behind the list, and a
 * WQE for each domain of signatures that starts its state ---- */

/* The formats of a key are written anew, all of them, when one of them changes. The function
 * returns whether one does, or there are none any more. */
static bool formats_change(const struct mlx5_mkey *mkey, const struct mkey_request *request,
			   struct mkey_end *end)
{
	const enum mkey_sig_state state = mkey->sig ? told_sig(request->waits) : MKEY_SIG_NONE;

	if (!(~request->waits & (SET_SIGNATURE | SET_CRYPTO)) && state != MKEY_SIG_DROPPED)
		return false;
	end->crypt = told_crypt(request->waits) != MKEY_CRYPT_NONE;
	end->sig = state >= MKEY_SIG_SET || (mkey->sig && end->crypt);
	return true;
}

/* The function puts a format of KIND, the highest bits of its first word. */
WQE_INLINE void put_format(uint8_t *block, const uint8_t *bsf, uint64_t kind)
{
	uint64_t first;

	copy_64(block, bsf);
	memcpy(&first, block, sizeof(first)); /* so this is one instruction */
	seg_put_raw(block, first | kind);
}

WQE_INLINE void put_formats(const struct mlx5_sq *sq, const struct mkey_request *request,
			    const struct mlx5_mkey *mkey, const struct mkey_end *end, uint8_t *ctrl,
			    bool usual)
{
	/* It has no signature, and any length. */
	static const uint8_t without[BSF_SIZE] = { 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	const struct mkey_config *next = &request->next;
	const uint64_t kind = mkey->head.kind;
	uint8_t *block = usual ? ctrl + (HEAD_UNITS + BLOCK_UNITS) * WQE_SEG
			       : block_behind(sq, ctrl, HEAD_UNITS + request->list_units);

	if (end->sig) {
		put_format(block,
			   usual || likely(told_sig(request->waits) >= MKEY_SIG_SET)
				   ? mkey_sig_at(mkey, next->sig)->bsf
				   : without,
			   kind);
		block = usual ? block + WQE_BB : next_block(sq, block);
	}
	if (end->crypt)
		put_format(block, mkey_crypt_at(mkey, next->crypt)->bsf, kind);
}

/* The device that does not count units takes a key for one. */
static bool crypt_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_config *next = &qp->mkey_request.next;
	const uint16_t unit = mkey_crypt_at(mkey, next->crypt)->unit;

	if (!told_crypt(qp->mkey_request.waits) || mkey->encrypts_units || next->length <= unit)
		return true;
	request_fail(
		qp, EINVAL,
		"key %#x has %llu bytes: the device encrypts one data unit for each key, of %u",
		mkey->dv.lkey, (unsigned long long)next->length, unit);
	return false;
}

/* Between two signatures, of both sides, nothing is encrypted. */
static bool crypt_has_order(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const uint32_t told = qp->mkey_request.waits;

	if (!mkey->sig || told_sig(told) != MKEY_SIG_SET_TWICE ||
	    told_crypt(told) != MKEY_CRYPT_RAW)
		return true;
	request_fail(qp, EINVAL,
		     "key %#x has signatures of memory and wire: what is encrypted has to have one "
		     "of them inside (signature_crypto_order)",
		     mkey->dv.lkey);
	return false;
}

/* Encryption has room of its own. */
static bool formats_fit(struct mlx5_qp *qp, const struct mkey_end *end)
{
	const uint32_t list = qp->mkey_request.list_units;
	const uint32_t in_front = (list + (end->sig ? BLOCK_UNITS : 0)) * WQE_SEG;

	if (in_front > qp->sq.max_inline) {
		request_fail(qp, ENOMEM, "list and signature have %u bytes: max_inline_data is %u",
			     in_front, qp->sq.max_inline);
		return false;
	}
	if (list + end->bsf_units > LIST_MAX) {
		request_fail(qp, ENOMEM,
			     "list, signature and encryption have %u bytes, a request %u",
			     (list + end->bsf_units) * WQE_SEG, LIST_MAX * WQE_SEG);
		return false;
	}
	return true;
}

/* The key's context says whether there are formats, and which error of signatures is the next. */
static bool request_look(struct mlx5_qp *qp, const struct mlx5_mkey *mkey, struct mkey_end *end)
{
	const struct mkey_request *request = &qp->mkey_request;

	*end = (struct mkey_end){
		.mask = mask_of(request),
		.has_states = !(request->waits & SET_SIGNATURE),
		.push = PUSH_INLINE,
		.flags_kept = UINT32_MAX,
	};
	if (end->has_states) {
		end->push = PUSH_NEVER;
		/* It is complete when the last of its WQEs is. */
		end->flags_kept = ~htobe32(MLX5_WQE_CTRL_CQ_UPDATE);
	}
	if (!crypt_fits(qp, mkey) || !crypt_has_order(qp, mkey))
		return false;
	if (formats_change(mkey, request, end))
		end->mask |= MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE;
	if (mkey->sig_count != request->next.count_told) {
		end->mask |= MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR;
		end->flags_pd = (mkey->sig_count & 1u) << FLD_SHIFT(MKC_EXPECTED_SIGERR_COUNT);
	}
	if (!end->sig && !end->crypt)
		return true;
	end->bsf_units = (uint32_t)(end->sig + end->crypt) * BLOCK_UNITS;
	end->flags_pd |= FLD_BITS(MKC_BSF_EN);
	return formats_fit(qp, end);
}

/* The function returns what the end of a request depends on, beside its list and the limits of its
 * QP. It is not 0: who has set all parts has set a signature. */
WQE_INLINE uint32_t request_found(const struct mkey_request *request)
{
	return request->waits & ~(uint32_t)USUAL_LIST;
}

/* The last request on the key was one on the same parts, and no error is to be told. */
static bool request_comes_again(const struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_request *request = &qp->mkey_request;

	return mkey->again.found == request_found(request) &&
	       mkey->again.list_units == request->list_units &&
	       mkey->again.max_inline == qp->sq.max_inline &&
	       mkey->sig_count == request->next.count_told;
}

/* The function returns what a usual request has found that has the end of this one, or 0. A
 * signature that is not there is not usual. */
static uint32_t request_usual(const struct mkey_request *request, const struct mkey_end *end)
{
	const uint32_t found = request->waits | USUAL_LIST;

	if (found & (SET_ACCESS | SET_LAYOUT) || request->list_units != BLOCK_UNITS ||
	    (end->sig && told_sig(found) < MKEY_SIG_SET))
		return 0;
	return found;
}

/* The end is kept unless it takes a signature away, tells of an error, or depends on how long the
 * key is. */
static bool __attribute__((noinline)) request_look_anew(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	struct mkey_request *request = &qp->mkey_request;
	struct mkey_again *again = &mkey->again;

	again->found = again->usual = 0;
	if (!request_look(qp, mkey, &again->end))
		return false;
	again->end.usual_wqebbs = blocks_of(HEAD_UNITS + BLOCK_UNITS + again->end.bsf_units);
	again->list_units = request->list_units;
	again->max_inline = qp->sq.max_inline;
	if (told_sig(request->waits) != MKEY_SIG_DROPPED &&
	    !(again->end.mask & MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR) &&
	    (!told_crypt(request->waits) || mkey->encrypts_units)) {
		again->found = request_found(request);
		again->usual = request_usual(request, &again->end);
	}
	mkey_make_head(mkey, &again->end);
	request->next.count_told = mkey->sig_count;
	if (told_sig(request->waits) == MKEY_SIG_DROPPED)
		request->waits |= MKEY_SIG_NONE << TOLD_SIG_SHIFT;
	return true;
}

/* FLAGS is the third word of the control segment, but for the fence. */
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

/* The last of them has the completion, and the program's fence is in front of all. */
WQE_INLINE void put_states(struct mlx5_qp *qp, const struct mkey_sig_format *format, __be32 flags)
{
	const __be32 last = flags & ~htobe32(MLX5_WQE_CTRL_FENCE);

	__asm__("" : "+r"(format)); /* found once, not anew for each field */
	if (format->mem)
		put_psv(qp, &format->mem_start,
			format->wire ? last & ~htobe32(MLX5_WQE_CTRL_CQ_UPDATE) : last);
	if (format->wire)
		put_psv(qp, &format->wire_start, last);
}

/* ---- what a key has been told */

/* The function returns which format is neither NOW in use nor was BEFORE, which differ. SECOND is
 * the one in the middle. */
WQE_INLINE uint16_t other_format(uint16_t second, uint16_t now, uint16_t before)
{
	static_assert(MKEY_FORMATS == 3, "they are as far from each other");
	return (uint16_t)(3 * second - now - before);
}

/* The function is told that the request is in the ring: later requests add to it. */
WQE_INLINE void config_take(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	const struct mkey_config *next = &qp->mkey_request.next;
	const uint32_t waits = qp->mkey_request.waits;

	if (likely(!mkey->is_in_batch)) {
		mkey->before_batch = mkey->config;
		mkey->is_in_batch = true;
		mkey->next_in_batch = qp->mkey_batch.changed;
		qp->mkey_batch.changed = mkey;
	}
	if (!(waits & SET_SIGNATURE))
		mkey->spare_sig = other_format(MKEY_SIG(1), next->sig, mkey->before_batch.sig);
	if (!(waits & SET_CRYPTO))
		mkey->spare_crypt =
			other_format(MKEY_CRYPT(1), next->crypt, mkey->before_batch.crypt);
	mkey->config = *next;
	mkey->config.told = waits & (TOLD_SIG | TOLD_CRYPT);
}

/* The batch ends. A configuration that still lacks setters ends with it. */
static void configs_end(struct mlx5_qp *qp, bool cancelled)
{
	struct mlx5_mkey *mkey;

	qp->mkey_request.waits = 0;
	while (unlikely((mkey = qp->mkey_batch.changed) != NULL)) {
		qp->mkey_batch.changed = mkey->next_in_batch;
		mkey->is_in_batch = false;
		if (cancelled)
			mkey->config = mkey->before_batch;
	}
}

static int configs_complete(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	configs_end(qp, qp->batch.err);
	return qp->mkey_batch.complete(qpx);
}

static void configs_abort(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	configs_end(qp, true);
	qp->mkey_batch.abort(qpx);
}

/* ---- the end of a request */

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

/* Nothing is called from where a request is like the one before, and so no register is saved. */
static void __attribute__((noinline)) finish_anew(struct mlx5_qp *qp)
{
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;

	if (request_look_anew(qp, mkey))
		put_computing(qp, mkey, false);
}

static void __attribute__((noinline)) finish_computing(struct mlx5_qp *qp)
{
	struct mkey_request *request = &qp->mkey_request;
	struct mlx5_mkey *mkey = request->mkey;

	if (!(request->waits & SET_LAYOUT))
		request->next.length = request->length;
	if (request_comes_again(qp, mkey))
		put_computing(qp, mkey, false);
	else
		finish_anew(qp);
}

/* The key computes nothing, and the request is in front of the end of the ring. */
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

/* The key computes nothing. */
static void finish_plain(struct mlx5_qp *qp, const struct mkey_request *request)
{
	const uint32_t pi = qp->sq.pi, units = HEAD_UNITS + request->list_units;

	put_head(&qp->sq, request, &request->mkey->head, pi, units, UINT32_MAX);
	if (unlikely(request->waits & (SET_ACCESS | SET_LAYOUT)))
		seg_put_be64(request->ctrl + WQE_SEG + FLD_BYTE(UMR_MKEY_MASK), mask_of(request));
	qp->batch.ctrl = request->ctrl;
	qp->sq.pi = pi + blocks_of(units);
	request_close(qp, PUSH_INLINE, take_wqe(qp, pi));
}

/* ---- parts ---- */

static bool access_fits(struct mlx5_qp *qp, uint32_t access)
{
	if (access_is_known(access))
		return true;
	request_fail(qp, EINVAL, "access_flags is %#x, a key may have those of %#x", access,
		     ACCESS_KNOWN);
	return false;
}

/* So many entries fit into the key, and into what the QP was created to have inline. */
WQE_INLINE bool entries_fit(const struct mlx5_qp *qp, const struct mlx5_mkey *mkey, uint32_t count,
			    uint32_t header)
{
	return likely(count + header <= qp->mkey_entries && count <= mkey->max_entries);
}

static bool layout_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey, uint32_t count,
			uint32_t header)
{
	if (entries_fit(qp, mkey, count, header))
		return true;
	if (count + header > qp->mkey_entries)
		request_fail(qp, ENOMEM, "%u pieces: max_inline_data %u of the QP has room for %u",
			     count, qp->sq.max_inline,
			     qp->mkey_entries - min_of((uint32_t)qp->mkey_entries, header));
	else
		request_fail(qp, ENOMEM, "%u pieces: key %#x was created with max_entries %u",
			     count, mkey->dv.lkey, mkey->max_entries);
	return false;
}

/* PRM: KLM. The highest of the 32 bits of a length stands alone, for 2 GiB. */
static bool pieces_fit(struct mlx5_qp *qp, uint16_t count, const struct ibv_sge *sge)
{
	for (uint32_t i = 0; i < count; i++)
		if (sge[i].length > KLM_LEN_MAX) {
			request_fail(qp, EOPNOTSUPP, "piece %u has %u bytes: the device has 2 GiB",
				     i, sge[i].length);
			return false;
		}
	return true;
}

/* The stride leads from a part to the same part of the next repetition, in 16 bits. */
static bool pattern_fits(struct mlx5_qp *qp, uint16_t count,
			 const struct mlx5dv_mr_interleaved *part)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t stride = (uint64_t)part[i].bytes_count + part[i].bytes_skip;

		if (stride <= UINT16_MAX)
			continue;
		request_fail(qp, EINVAL,
			     "part %u of the pattern has bytes_count %u and bytes_skip %u: the "
			     "device has 16 bits for their sum",
			     i, part[i].bytes_count, part[i].bytes_skip);
		return false;
	}
	return true;
}

/* ---- builders of one call ---- */

/* Requests that have all their parts at once, and that are not usual, or not right, go a way that
 * looks at everything. */

static bool begin_slowly(struct mlx5_qp *qp, struct mlx5_mkey *mkey, uint32_t access)
{
	struct mkey_request *request = &qp->mkey_request;

	if ((!may_begin(qp) && !request_may_begin(qp)) || !access_fits(qp, access))
		return false;
	request_begin(qp, mkey, request, SET_SIGNATURE | SET_CRYPTO | mkey->config.told);
	request->context = access_word(access);
	request->next = mkey->config;
	return true;
}

/* What was not set is 0. */
static void __attribute__((noinline)) finish_slowly(struct mlx5dv_qp_ex *dv)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	if (request->waits & SET_ACCESS)
		request->context = 0;
	if (request->waits & SET_LAYOUT) {
		request->list_units = 0;
		request->length = 0;
	}
	if (request->waits & USUAL_LIST)
		request->list_units = BLOCK_UNITS;
	if (mkey_computes(request->mkey))
		finish_computing(qp);
	else
		finish_plain(qp, request);
}

/* The request is like the one before, and usual. It may yet have to tell of an error. */
static void __attribute__((noinline)) finish_computing_usual(struct mlx5dv_qp_ex *dv)
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

/* The end of a request is not part of each setter. It waits for none from here on. What may be
 * called last is given what the program gave, so that no other pointer is made of it. */
static void __attribute__((noinline)) request_finish(struct mlx5dv_qp_ex *dv)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	const struct mkey_request *request = &qp->mkey_request;

	if (unlikely(request->waits != request->mkey->again.usual))
		finish_slowly(dv);
	else if (mkey_computes(request->mkey))
		finish_computing_usual(dv);
	else
		finish_plain_usual(qp, request, BLOCK_UNITS);
}

static void __attribute__((noinline))
list_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access, uint16_t count,
	    struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (begin_slowly(qp, to_mkey(mkey), access) && layout_fits(qp, to_mkey(mkey), count, 0) &&
	    (put_list(&qp->sq, &qp->mkey_request, count, sge) || pieces_fit(qp, count, sge)))
		request_finish(dv);
}

static void wr_mr_list(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
		       uint16_t count, struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	uint8_t *const block = sq_wqebb(&qp->sq, qp->sq.pi) + HEAD_UNITS * WQE_SEG;
	const uint32_t bytes = (uint32_t)count * WQE_SEG;
	struct mkey_request request;

	if (unlikely(!may_begin(qp) || !access_is_known(access) ||
		     !list_is_usual(&qp->sq, block, bytes, to_mkey(mkey)->plain_bytes) ||
		     !put_usual_list(&request, block, bytes, sge))) {
		list_slowly(dv, mkey, access, count, sge);
		return;
	}
	request_start(qp, to_mkey(mkey), &request);
	request.context = access_word(access);
	finish_plain_usual(qp, &request, BLOCK_UNITS);
}

static void __attribute__((noinline))
pattern_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access, uint32_t repeats,
	       uint16_t count, const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (begin_slowly(qp, to_mkey(mkey), access) && layout_fits(qp, to_mkey(mkey), count, 1) &&
	    pattern_fits(qp, count, part)) {
		put_pattern(&qp->sq, &qp->mkey_request, repeats, count, part);
		request_finish(dv);
	}
}

static void wr_mr_interleaved(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
			      uint32_t repeats, uint16_t count, struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	uint8_t *const first = sq_wqebb(&qp->sq, qp->sq.pi) + HEAD_UNITS * WQE_SEG;
	struct mkey_request request;

	if (unlikely(!may_begin(qp) || !access_is_known(access) ||
		     !entries_fit(qp, to_mkey(mkey), count, 1) || mkey_computes(to_mkey(mkey)) ||
		     !pattern_is_usual(&qp->sq, first, count) ||
		     !put_usual_pattern(&request, first, repeats, count, part))) {
		pattern_slowly(dv, mkey, access, repeats, count, part);
		return;
	}
	request_start(qp, to_mkey(mkey), &request);
	request.context = access_word(access);
	finish_plain_usual(qp, &request, request.list_units);
}

/* ---- configuration ---- */

WQE_INLINE void configure(struct mlx5dv_qp_ex *dv, struct mlx5_mkey *mkey, uint8_t num_setters,
			  bool drops)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	request_begin(qp, mkey, request,
		      (uint32_t)num_setters * SETTER + SET_ANY + mkey->config.told);
	request->next = mkey->config;
	if (drops)
		request->waits &= ~(uint32_t)TOLD_SIG; /* MKEY_SIG_DROPPED */
	if (unlikely(!num_setters))
		request_finish(dv);
}

static void __attribute__((cold, noinline))
configure_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint8_t num_setters,
		 const struct mlx5dv_mkey_conf_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (qp->batch.err)
		return;
	if (attr->comp_mask || attr->conf_flags & ~(uint32_t)MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR)
		request_fail(qp, EOPNOTSUPP,
			     "mkey_configure: conf_flags is %#x, comp_mask %#llx: known are %#x, 0",
			     attr->conf_flags, (unsigned long long)attr->comp_mask,
			     MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR);
	else if (request_may_begin(qp))
		configure(dv, to_mkey(mkey), num_setters, attr->conf_flags);
}

static void wr_mkey_configure(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey,
			      uint8_t num_setters, struct mlx5dv_mkey_conf_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (unlikely(attr->comp_mask | attr->conf_flags || !may_begin(qp)))
		configure_slowly(dv, mkey, num_setters, attr);
	else
		configure(dv, to_mkey(mkey), num_setters, false);
}

/* Nothing else has begun since the request did. */
WQE_INLINE bool request_has_place(const struct mlx5_qp *qp)
{
	return likely(qp->mkey_request.head == qp->sq.wq.head);
}

/* A request that waits for setters, and no other, has parts that may be set. */
WQE_INLINE bool setter_is_awaited(const struct mlx5_qp *qp, unsigned int part)
{
	return likely(qp->mkey_request.waits & part) && request_has_place(qp);
}

static bool setter_begin(struct mlx5_qp *qp, unsigned int part)
{
	if (setter_is_awaited(qp, part))
		return true;
	if (qp->batch.err)
		return false;
	if (!qp->mkey_request.waits || !request_has_place(qp))
		request_fail(qp, EINVAL, "a setter of a key, and no mkey_configure waits for one");
	else
		request_fail(qp, EINVAL, "this part of key %#x is set already",
			     qp->mkey_request.mkey->dv.lkey);
	return false;
}

/* The part has been set, and what the request waits for has become NOW. */
WQE_INLINE void setter_finish(struct mlx5dv_qp_ex *dv, uint32_t now)
{
	dv_mqp(dv)->mkey_request.waits = now;
	if (now < SETTER)
		request_finish(dv);
}

WQE_INLINE uint32_t without(struct mlx5dv_qp_ex *dv, unsigned int part)
{
	return dv_mqp(dv)->mkey_request.waits - (SETTER + part);
}

/* The function does what setter_finish() does, for a part that only keys have which compute. */
WQE_INLINE void computed_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey, uint32_t now)
{
	if (likely(now == mkey->again.usual)) {
		dv_mqp(dv)->mkey_request.waits = now;
		finish_computing_usual(dv);
	} else {
		setter_finish(dv, now);
	}
}

static void __attribute__((cold, noinline)) access_slowly(struct mlx5dv_qp_ex *dv, uint32_t access)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_begin(qp, SET_ACCESS))
		access_fits(qp, access);
}

static void wr_set_mkey_access_flags(struct mlx5dv_qp_ex *dv, uint32_t access)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (unlikely(!setter_is_awaited(qp, SET_ACCESS) || !access_is_known(access))) {
		access_slowly(dv, access);
		return;
	}
	qp->mkey_request.context = access_word(access);
	setter_finish(dv, without(dv, SET_ACCESS));
}

static void __attribute__((noinline))
layout_list_slowly(struct mlx5dv_qp_ex *dv, uint16_t count, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	if (setter_begin(qp, SET_LAYOUT) && layout_fits(qp, request->mkey, count, 0) &&
	    (put_list(&qp->sq, request, count, sge) || pieces_fit(qp, count, sge)))
		setter_finish(dv, without(dv, SET_LAYOUT));
}

/* The function does what setter_finish() does, behind a list that is usual, which mostly is last
 * where a key computes nothing. */
WQE_INLINE void listed_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey, uint32_t now)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (now == (SET_SIGNATURE | SET_CRYPTO | USUAL_LIST) && !mkey_computes(mkey))
		finish_plain_usual(qp, &qp->mkey_request, BLOCK_UNITS);
	else
		setter_finish(dv, now);
}

static void wr_set_mkey_layout_list(struct mlx5dv_qp_ex *dv, uint16_t count,
				    const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;
	uint8_t *const block = request->ctrl + HEAD_UNITS * WQE_SEG;
	const uint32_t bytes = (uint32_t)count * WQE_SEG;

	if (likely(setter_is_awaited(qp, SET_LAYOUT) &&
		   list_is_usual(&qp->sq, block, bytes, request->mkey->usual_bytes) &&
		   put_usual_list(request, block, bytes, sge)))
		listed_finish(dv, request->mkey, without(dv, SET_LAYOUT) + USUAL_LIST);
	else
		layout_list_slowly(dv, count, sge);
}

/* A list and a signature together may be too long for the QP. */
static void layout_list_narrowly(struct mlx5dv_qp_ex *dv, uint16_t count, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_is_awaited(qp, SET_LAYOUT) && !mkey_computes(qp->mkey_request.mkey))
		wr_set_mkey_layout_list(dv, count, sge);
	else
		layout_list_slowly(dv, count, sge);
}

static void __attribute__((noinline))
layout_pattern_slowly(struct mlx5dv_qp_ex *dv, uint32_t repeats, uint16_t count,
		      const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	if (setter_begin(qp, SET_LAYOUT) && layout_fits(qp, request->mkey, count, 1) &&
	    pattern_fits(qp, count, part)) {
		put_pattern(&qp->sq, request, repeats, count, part);
		setter_finish(dv, without(dv, SET_LAYOUT));
	}
}

static void wr_set_mkey_layout_interleaved(struct mlx5dv_qp_ex *dv, uint32_t repeats,
					   uint16_t count, const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;
	uint8_t *const first = request->ctrl + HEAD_UNITS * WQE_SEG;

	if (likely(setter_is_awaited(qp, SET_LAYOUT) && entries_fit(qp, request->mkey, count, 1) &&
		   pattern_is_usual(&qp->sq, first, count) &&
		   put_usual_pattern(request, first, repeats, count, part)))
		setter_finish(dv, without(dv, SET_LAYOUT));
	else
		layout_pattern_slowly(dv, repeats, count, part);
}

WQE_INLINE void signature_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey,
				 const struct mkey_sig_format *format)
{
	dv_mqp(dv)->mkey_request.next.sig = mkey->spare_sig;
	computed_finish(dv, mkey,
			(without(dv, SET_SIGNATURE) & ~(uint32_t)TOLD_SIG) + format->told);
}

static void __attribute__((noinline))
signature_slowly(struct mlx5dv_qp_ex *dv, const struct mlx5dv_sig_block_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	const char *why = "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE";

	if (!setter_begin(qp, SET_SIGNATURE))
		return;
	if (mkey->sig)
		why = mlx5_mkey_take_sig(mkey->sig, attr, mkey_sig_at(mkey, mkey->spare_sig));
	if (why)
		request_fail(qp, EINVAL, "a signature of key %#x: %s", mkey->dv.lkey, why);
	else
		signature_finish(dv, mkey, mkey_sig_at(mkey, mkey->spare_sig));
}

static void wr_set_mkey_sig_block(struct mlx5dv_qp_ex *dv, const struct mlx5dv_sig_block_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	struct mkey_sig_format *format;

	if (likely(setter_is_awaited(qp, SET_SIGNATURE))) {
		format = mkey_sig_at(mkey, mkey->spare_sig);
		__asm__("" : "+r"(format)); /* found once, not anew for each field */
		if (likely(sig_comes_again(attr, format))) {
			signature_finish(dv, mkey, format);
			return;
		}
	}
	signature_slowly(dv, attr);
}

WQE_INLINE void crypto_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey,
			      const struct mkey_crypt_format *format)
{
	dv_mqp(dv)->mkey_request.next.crypt = mkey->spare_crypt;
	computed_finish(dv, mkey, (without(dv, SET_CRYPTO) & ~(uint32_t)TOLD_CRYPT) + format->told);
}

static void __attribute__((noinline))
crypto_slowly(struct mlx5dv_qp_ex *dv, const struct mlx5dv_crypto_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	const char *why = "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO";

	if (!setter_begin(qp, SET_CRYPTO))
		return;
	if (mkey->encrypts)
		why = mlx5_mkey_take_crypt(mkey->encrypts_units, attr,
					   mkey_crypt_at(mkey, mkey->spare_crypt));
	if (why)
		request_fail(qp, EINVAL, "encryption by key %#x: %s", mkey->dv.lkey, why);
	else
		crypto_finish(dv, mkey, mkey_crypt_at(mkey, mkey->spare_crypt));
}

static void wr_set_mkey_crypto(struct mlx5dv_qp_ex *dv, const struct mlx5dv_crypto_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	struct mkey_crypt_format *format;

	if (likely(setter_is_awaited(qp, SET_CRYPTO))) {
		format = mkey_crypt_at(mkey, mkey->spare_crypt);
		__asm__("" : "+r"(format)); /* found once, not anew for each field */
		if (likely(crypt_comes_again(mkey, attr, format))) {
			crypto_finish(dv, mkey, format);
			return;
		}
	}
	crypto_slowly(dv, attr);
}

static void fill_ends(struct mlx5_qp *qp, uint64_t ops)
{
	const uint64_t lay_out = MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				 MLX5DV_QP_EX_WITH_MKEY_CONFIGURE;
	const uint32_t inline_bytes =
		qp->sq.max_inline + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	if (!(ops & lay_out))
		return;
	qp->mkey_entries = (uint16_t)min_of(inline_bytes / WQE_SEG, (uint32_t)LIST_MAX);
	qp->mkey_first =
		qp->sq.qpn_shifted | (uint64_t)MLX5_OPCODE_UMR << 32 | (HEAD_UNITS + BLOCK_UNITS);
	qp->psv_first = qp->sq.qpn_shifted | (uint64_t)MLX5_OPCODE_SET_PSV << 32 |
			(1 + PSV_SEG_SIZE / WQE_SEG);
	mlx5_send_wr_fill_long(qp);
	qp->mkey_batch.complete = qpx->wr_complete;
	qp->mkey_batch.abort = qpx->wr_abort;
	qpx->wr_complete = configs_complete;
	qpx->wr_abort = configs_abort;
}

void mlx5_send_wr_fill_mkeys(struct mlx5_qp *qp, uint64_t ops)
{
	struct mlx5dv_qp_ex *dv = &qp->dv_qp;
	bool has_room, has_room_twice;

	fill_ends(qp, ops);
	has_room = qp->mkey_entries >= BLOCK_UNITS;       /* for a usual list */
	has_room_twice = qp->sq.max_inline >= 2 * WQE_BB; /* for a signature behind it */
	if (ops & MLX5DV_QP_EX_WITH_MR_LIST)
		dv->wr_mr_list = has_room ? wr_mr_list : list_slowly;
	if (ops & MLX5DV_QP_EX_WITH_MR_INTERLEAVED)
		dv->wr_mr_interleaved = wr_mr_interleaved;
	if (!(ops & MLX5DV_QP_EX_WITH_MKEY_CONFIGURE))
		return;
	dv->wr_mkey_configure = wr_mkey_configure;
	dv->wr_set_mkey_access_flags = wr_set_mkey_access_flags;
	dv->wr_set_mkey_layout_list = has_room_twice ? wr_set_mkey_layout_list
				      : has_room     ? layout_list_narrowly
						     : layout_list_slowly;
	dv->wr_set_mkey_layout_interleaved = wr_set_mkey_layout_interleaved;
	dv->wr_set_mkey_sig_block = wr_set_mkey_sig_block;
	dv->wr_set_mkey_crypto = wr_set_mkey_crypto;
}
