/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_mkey.c - requests that lay out a memory key (mkey.h): mlx5dv_wr_mr_list(),
 * mlx5dv_wr_mr_interleaved(), and mlx5dv_wr_mkey_configure() with its setters, as builders of a
 * batch (batch.h). umr.h says what they do to the gate.
 *
 * A configuration takes its place in the queue with the last of the setters that it announced. One
 * that lacks setters is none: whatever comes next takes the place, as with the distribution's
 * library. What a key that computes has been told is kept, since later requests tell it only what
 * changes: setters write a draft of it, and the end of a batch that is cancelled puts back what was
 * before the batch.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/mkey.h"

#define ACCESS_KNOWN                                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

#define MASK_ACCESS                                        \
	(MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE |  \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |  \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE | \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC)

/* A WQE has 63 units at most, of which the head takes 8; a list comes in blocks of 4. */
enum { LIST_MAX = 52 };

/* The parts of a configuration, of which each is set once. */
enum { SET_ACCESS = 1 << 0, SET_LAYOUT = 1 << 1, SET_SIGNATURE = 1 << 2, SET_CRYPTO = 1 << 3 };

static struct mlx5_qp *dv_mqp(struct mlx5dv_qp_ex *dv)
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
	qp->mkey_request.mkey = NULL;
	batch_set_err(qp, err);
}

/* ---- the WQE ---- */

static void *put_zeroes(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t size)
{
	void *at;

	wqe_wrap(sq, wqe);
	at = memset(wqe->seg, 0, size);
	wqe->seg += size;
	wqe->ds += size / WQE_SEG;
	return at;
}

/* The function starts the WQE of the request, at the place that is next. */
static bool request_begin(struct mlx5_qp *qp, struct mlx5_mkey *mkey, unsigned int setters)
{
	struct mkey_request *request = &qp->mkey_request;

	if (qp->batch.err)
		return false;
	if (!(qp->vqp.qp_ex.wr_flags & IBV_SEND_INLINE)) {
		request_fail(qp, EOPNOTSUPP,
			     "wr_flags is %#x: what a key stands for is sent inline",
			     qp->vqp.qp_ex.wr_flags);
		return false;
	}
	if (!qp->sq.sge_limit) {
		request_fail(qp, EINVAL, "the QP is in state %d, must be RTS (%d)",
			     (int)qp->vqp.qp.state, IBV_QPS_RTS);
		return false;
	}
	if (!wq_has_room(&qp->sq.wq, qp->sq.wq.head)) {
		mlx5_batch_fail_full(qp);
		return false;
	}
	*request = (struct mkey_request){ .mkey = mkey, .setters = setters, .pi = qp->sq.pi };
	wqe_begin(&qp->sq, &request->wqe, qp->sq.pi, MLX5_OPCODE_UMR, qp->vqp.qp_ex.wr_flags,
		  htobe32(mkey->dv.lkey));
	request->wqe.slot->done_as = MLX5DV_WC_UMR;
	request->ctrl = put_zeroes(&qp->sq, &request->wqe, sizeof(*request->ctrl));
	request->context = put_zeroes(&qp->sq, &request->wqe, sizeof(*request->context));
	request->ctrl->flags = MLX5_WQE_UMR_CTRL_FLAG_INLINE;
	if (mkey_computes(mkey))
		mkey->draft = mkey->config;
	request->mask = MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY;
	request->context->qpn_mkey =
		htobe32(FLD_BITS(MKC_QPN) | (mkey->dv.lkey & FLD_MASK(MKC_MKEY_7_0)));
	return true;
}

/* ---- what the key computes: a block for signatures and one for encryption behind the list, and a
 * WQE for each domain of signatures that starts its state ---- */

/* The formats of a key are written anew, all of them, when one of them changes. */
struct formats {
	bool any; /* of those that follow, or there are none any more */
	bool sig, crypt;
	bool sig_is_on;
};

static struct formats formats_of(const struct mlx5_mkey *mkey)
{
	const struct mkey_crypt_config *crypt = &mkey->draft.crypt;
	enum mkey_sig_state state = mkey->sig ? mkey->draft.sig.state : MKEY_SIG_NONE;
	bool changed = state == MKEY_SIG_CHANGED || crypt->changed;
	bool dropped = state == MKEY_SIG_RESET;
	struct formats formats = { .any = changed || dropped };

	if (!formats.any)
		return formats;
	formats.crypt = crypt->on;
	formats.sig_is_on = state == MKEY_SIG_CHANGED || state == MKEY_SIG_SET;
	formats.sig = formats.sig_is_on || (mkey->sig && formats.crypt);
	return formats;
}

static void put_formats(struct mlx5_qp *qp, const struct mlx5_mkey *mkey,
			const struct formats *formats)
{
	struct mkey_request *request = &qp->mkey_request;

	if (formats->sig)
		mlx5_mkey_put_bsf(mkey->sig, &mkey->draft.sig, formats->sig_is_on, formats->crypt,
				  put_zeroes(&qp->sq, &request->wqe, BSF_SIZE));
	if (formats->crypt)
		mlx5_mkey_put_crypt(&mkey->draft.crypt, formats->sig,
				    put_zeroes(&qp->sq, &request->wqe, BSF_SIZE));
}

/* The device that does not count units takes a key for one. */
static bool crypt_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	static const uint16_t bytes[] = {
		[MLX5DV_BLOCK_SIZE_512] = 512,   [MLX5DV_BLOCK_SIZE_520] = 520,
		[MLX5DV_BLOCK_SIZE_4048] = 4048, [MLX5DV_BLOCK_SIZE_4096] = 4096,
		[MLX5DV_BLOCK_SIZE_4160] = 4160,
	};
	const struct mkey_crypt_config *crypt = &mkey->draft.crypt;
	const uint64_t length = mkey->draft.length;

	if (!crypt->on || mkey->encrypts_units || length <= bytes[crypt->block])
		return true;
	request_fail(
		qp, EINVAL,
		"key %#x has %llu bytes: the device encrypts one data unit for each key, of %u",
		mkey->dv.lkey, (unsigned long long)length, bytes[crypt->block]);
	return false;
}

/* The key's context says whether there are formats, and which error of signatures is the next. */
static bool put_computed(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	struct mkey_request *request = &qp->mkey_request;
	const struct formats formats = formats_of(mkey);
	uint32_t list = be16toh(request->ctrl->klm_octowords) * WQE_SEG;
	uint32_t size = BSF_SIZE * ((uint32_t)formats.sig + formats.crypt), flags = 0;
	uint32_t in_front =
		list + (formats.sig ? BSF_SIZE : 0); /* encryption has room of its own */

	if (!crypt_fits(qp, mkey))
		return false;
	if (formats.any)
		request->mask |= MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE;
	if (mkey->sig && mkey->sig->count != mkey->draft.sig.count_told) {
		request->mask |= MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR;
		flags |= (mkey->sig->count & 1) << FLD_SHIFT(MKC_EXPECTED_SIGERR_COUNT);
	}
	request->context->flags_pd = htobe32(flags | (size ? FLD_BITS(MKC_BSF_EN) : 0));
	if (!size)
		return true;
	if (in_front > qp->sq.max_inline) {
		request_fail(qp, ENOMEM, "list and signature have %u bytes: max_inline_data is %u",
			     in_front, qp->sq.max_inline);
		return false;
	}
	if (list + size > LIST_MAX * WQE_SEG) {
		request_fail(qp, ENOMEM,
			     "list, signature and encryption have %u bytes, a request %u",
			     list + size, LIST_MAX * WQE_SEG);
		return false;
	}
	put_formats(qp, mkey, &formats);
	request->ctrl->bsf_octowords = htobe16((uint16_t)(size / WQE_SEG));
	return true;
}

static void put_psv(struct mlx5_qp *qp, const struct mkey_sig_domain *domain,
		    const struct mkey_psv *psv, unsigned int flags, bool is_last)
{
	struct send_wqe wqe;
	uint8_t *seg;

	if (!domain->on)
		return;
	wqe_begin(&qp->sq, &wqe, qp->sq.pi, MLX5_OPCODE_SET_PSV, flags, 0);
	if (!is_last)
		((struct mlx5_wqe_ctrl_seg *)wqe.ctrl)->fm_ce_se &=
			(uint8_t)~MLX5_WQE_CTRL_CQ_UPDATE;
	wqe.slot->done_as = MLX5DV_WC_UMR;
	wq_slot_note(wqe.slot, qp->sq.wq.head, qp->vqp.qp_ex.wr_id);
	((struct mlx5_wqe_ctrl_seg *)wqe.ctrl)->fm_ce_se |= MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE;
	seg = put_zeroes(&qp->sq, &wqe, PSV_SEG_SIZE);
	fld_set(seg, SET_PSV_N, psv->n);
	fld_set(seg, SET_PSV_SIGNATURE, mlx5_mkey_psv_start(domain));
	qp->batch.ctrl = wqe.ctrl;
	batch_finish_wqe(qp, &wqe, false);
}

/* The request is complete when the last of its WQEs is. */
static void put_states(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_sig_domain *mem = &mkey->draft.sig.mem, *wire = &mkey->draft.sig.wire;
	unsigned int flags = qp->vqp.qp_ex.wr_flags & ~(unsigned int)IBV_SEND_FENCE;

	put_psv(qp, mem, &mkey->sig->mem, wire->on ? 0 : flags, !wire->on);
	put_psv(qp, wire, &mkey->sig->wire, flags, true);
}

/* ---- what a key has been told */

/* The function is told that the draft is in the ring: later requests add to it. */
static void config_take(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	if (!mkey->is_in_batch) {
		mkey->before_batch = mkey->config;
		mkey->is_in_batch = true;
		mkey->next_in_batch = qp->mkey_batch.changed;
		qp->mkey_batch.changed = mkey;
	}
	mkey->draft.crypt.changed = false;
	if (mkey->sig)
		mkey->draft.sig.count_told = mkey->sig->count;
	if (mkey->draft.sig.state == MKEY_SIG_CHANGED)
		mkey->draft.sig.state = MKEY_SIG_SET;
	else if (mkey->draft.sig.state == MKEY_SIG_RESET)
		mkey->draft.sig.state = MKEY_SIG_NONE;
	mkey->config = mkey->draft;
}

/* The batch ends. A configuration that still lacks setters ends with it. */
static void configs_end(struct mlx5_qp *qp, bool cancelled)
{
	struct mlx5_mkey *mkey;

	qp->mkey_request.mkey = NULL;
	while ((mkey = qp->mkey_batch.changed) != NULL) {
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

static void request_finish(struct mlx5_qp *qp)
{
	struct mkey_request *request = &qp->mkey_request;
	struct mlx5_mkey *mkey = request->mkey;
	bool computes = mkey_computes(mkey);
	bool states = computes && mkey->draft.sig.state == MKEY_SIG_CHANGED;

	if (computes && !put_computed(qp, mkey))
		return;
	request->ctrl->mkey_mask = htobe64(request->mask);
	if (states) {
		struct mlx5_wqe_ctrl_seg *ctrl = (struct mlx5_wqe_ctrl_seg *)request->wqe.ctrl;

		ctrl->fm_ce_se &= (uint8_t)~MLX5_WQE_CTRL_CQ_UPDATE;
	}
	wq_slot_note(request->wqe.slot, qp->sq.wq.head, qp->vqp.qp_ex.wr_id);
	gate_fence(qp, request->wqe.ctrl);
	qp->batch.ctrl = request->wqe.ctrl;
	batch_finish_wqe(qp, &request->wqe, !states); /* several WQEs are not pushed */
	if (states)
		put_states(qp, mkey);
	qp->sq.wq.head++;
	if (computes)
		config_take(qp, mkey);
	gate_shut(qp);
	request->mkey = NULL;
}

/* ---- parts ---- */

/* PRM: access rights of a memory key context */
static bool put_access(struct mlx5_qp *qp, uint32_t access)
{
	struct mkey_request *request = &qp->mkey_request;

	if (access & ~(uint32_t)ACCESS_KNOWN) {
		request_fail(qp, EINVAL, "access_flags is %#x, a key may have those of %#x", access,
			     ACCESS_KNOWN);
		return false;
	}
	request->context->access_flags = mlx5_umr_access(access);
	request->mask |= MASK_ACCESS;
	return true;
}

/* So many entries fit into the key, and into what the QP was created to have inline. */
static bool layout_fits(struct mlx5_qp *qp, uint32_t count, uint32_t header)
{
	uint32_t inline_bytes = qp->sq.max_inline + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);
	uint32_t limit = min_of(inline_bytes / (uint32_t)sizeof(struct mlx5_wqe_umr_klm_seg),
				(uint32_t)LIST_MAX);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;

	if (count + header > limit) {
		request_fail(qp, ENOMEM, "%u pieces: max_inline_data %u of the QP has room for %u",
			     count, qp->sq.max_inline, limit - min_of(limit, header));
		return false;
	}
	if (count > mkey->max_entries) {
		request_fail(qp, ENOMEM, "%u pieces: key %#x was created with max_entries %u",
			     count, mkey->dv.lkey, mkey->max_entries);
		return false;
	}
	return true;
}

/* PRM: what a key stands for is a list of entries in whole blocks. They begin behind two other
 * blocks, so the ring ends between two of them, and what is left of the last one is 0. */
struct layout {
	const struct mlx5_sq *sq;
	uint8_t *seg; /* of the next entry */
	uint32_t count;
};

static struct layout layout_open(const struct mlx5_qp *qp)
{
	return (struct layout){ &qp->sq, qp->mkey_request.wqe.seg, 0 };
}

static uint8_t *layout_add(struct layout *layout)
{
	uint8_t *seg = layout->seg;

	if (layout->count++ % (UMR_KLM_BLOCK / WQE_SEG) == 0) {
		if (unlikely(seg == layout->sq->end))
			seg = layout->sq->buf;
		memset(seg, 0, UMR_KLM_BLOCK);
	}
	layout->seg = seg + WQE_SEG;
	return seg;
}

/* The function says how long the list is and how much it covers. */
static void layout_close(struct mlx5_qp *qp, const struct layout *layout, uint64_t bytes)
{
	struct mkey_request *request = &qp->mkey_request;
	uint32_t whole = (uint32_t)align_up(layout->count, UMR_KLM_BLOCK / WQE_SEG);

	request->wqe.seg = layout->seg + (size_t)(whole - layout->count) * WQE_SEG;
	request->wqe.ds += whole;
	request->ctrl->klm_octowords = htobe16((uint16_t)whole);
	request->context->len = htobe64(bytes);
	request->mask |= MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN;
	request->mkey->draft.length = bytes;
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

static bool put_list(struct mlx5_qp *qp, uint16_t count, const struct ibv_sge *sge)
{
	struct layout layout = layout_open(qp);
	uint32_t lengths = 0;
	uint64_t bytes = 0;

	if (!layout_fits(qp, count, 0))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		seg_put_sge(layout_add(&layout), &sge[i]);
		lengths |= sge[i].length;
		bytes += sge[i].length;
	}
	if (unlikely(lengths > KLM_LEN_MAX) && !pieces_fit(qp, count, sge))
		return false;
	layout_close(qp, &layout, bytes);
	return true;
}

/* The stride leads from a part to the same part of the next repetition, in 16 bits. */
static bool pattern_is_right(struct mlx5_qp *qp, uint16_t count,
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

static uint64_t put_parts(struct layout *layout, uint16_t count,
			  const struct mlx5dv_mr_interleaved *part)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct mlx5_wqe_umr_repeat_ent_seg *entry =
			(struct mlx5_wqe_umr_repeat_ent_seg *)layout_add(layout);

		entry->stride = htobe16((uint16_t)(part[i].bytes_count + part[i].bytes_skip));
		entry->byte_count = htobe16((uint16_t)part[i].bytes_count);
		entry->memkey = htobe32(part[i].lkey);
		entry->va = htobe64(part[i].addr);
		bytes += part[i].bytes_count;
	}
	return bytes;
}

static bool put_pattern(struct mlx5_qp *qp, uint32_t repeats, uint16_t count,
			const struct mlx5dv_mr_interleaved *part)
{
	struct layout layout = layout_open(qp);
	struct mlx5_wqe_umr_repeat_block_seg *header;
	uint64_t bytes;

	if (!layout_fits(qp, count, 1) || !pattern_is_right(qp, count, part))
		return false;
	header = (struct mlx5_wqe_umr_repeat_block_seg *)layout_add(&layout);
	bytes = put_parts(&layout, count, part);
	header->byte_count = htobe32((uint32_t)bytes);
	header->op = htobe32(PATTERN_OP_REPEAT);
	header->repeat_count = htobe32(repeats);
	header->num_ent = htobe16(count);
	layout_close(qp, &layout, bytes * repeats);
	return true;
}

/* ---- builders of one call ---- */

static void wr_mr_list(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
		       uint16_t count, struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (request_begin(qp, to_mkey(mkey), 0) && put_access(qp, access) &&
	    put_list(qp, count, sge))
		request_finish(qp);
}

static void wr_mr_interleaved(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint32_t access,
			      uint32_t repeats, uint16_t count, struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (request_begin(qp, to_mkey(mkey), 0) && put_access(qp, access) &&
	    put_pattern(qp, repeats, count, part))
		request_finish(qp);
}

/* ---- configuration ---- */

static void wr_mkey_configure(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey,
			      uint8_t num_setters, struct mlx5dv_mkey_conf_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (qp->batch.err)
		return;
	if (attr->comp_mask || attr->conf_flags & ~(uint32_t)MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR) {
		request_fail(qp, EOPNOTSUPP,
			     "mkey_configure: conf_flags is %#x, comp_mask %#llx: known are %#x, 0",
			     attr->conf_flags, (unsigned long long)attr->comp_mask,
			     MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR);
		return;
	}
	if (!request_begin(qp, to_mkey(mkey), num_setters))
		return;
	if (attr->conf_flags & MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR && to_mkey(mkey)->sig)
		to_mkey(mkey)->draft.sig.state = MKEY_SIG_RESET;
	if (!num_setters)
		request_finish(qp);
}

/* Nothing else may have taken the place since the request began. */
static bool setter_begin(struct mlx5_qp *qp, unsigned int part)
{
	struct mkey_request *request = &qp->mkey_request;

	if (qp->batch.err)
		return false;
	if (!request->mkey || request->pi != qp->sq.pi || !request->setters) {
		request_fail(qp, EINVAL, "a setter of a key, and no mkey_configure waits for one");
		return false;
	}
	if (request->set & part) {
		request_fail(qp, EINVAL, "this part of key %#x is set already",
			     request->mkey->dv.lkey);
		return false;
	}
	request->set |= part;
	return true;
}

static void setter_finish(struct mlx5_qp *qp)
{
	if (!--qp->mkey_request.setters)
		request_finish(qp);
}

static void wr_set_mkey_access_flags(struct mlx5dv_qp_ex *dv, uint32_t access)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_begin(qp, SET_ACCESS) && put_access(qp, access))
		setter_finish(qp);
}

static void wr_set_mkey_layout_list(struct mlx5dv_qp_ex *dv, uint16_t count,
				    const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_begin(qp, SET_LAYOUT) && put_list(qp, count, sge))
		setter_finish(qp);
}

static void wr_set_mkey_layout_interleaved(struct mlx5dv_qp_ex *dv, uint32_t repeats,
					   uint16_t count, const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_begin(qp, SET_LAYOUT) && put_pattern(qp, repeats, count, part))
		setter_finish(qp);
}

static void wr_set_mkey_sig_block(struct mlx5dv_qp_ex *dv, const struct mlx5dv_sig_block_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey;
	const char *why;

	if (!setter_begin(qp, SET_SIGNATURE))
		return;
	mkey = qp->mkey_request.mkey;
	why = mkey->sig ? mlx5_mkey_take_sig(&mkey->draft.sig, attr)
			: "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE";
	if (why)
		request_fail(qp, EINVAL, "a signature of key %#x: %s", mkey->dv.lkey, why);
	else
		setter_finish(qp);
}

static void wr_set_mkey_crypto(struct mlx5dv_qp_ex *dv, const struct mlx5dv_crypto_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey;
	const char *why;

	if (!setter_begin(qp, SET_CRYPTO))
		return;
	mkey = qp->mkey_request.mkey;
	why = mkey->encrypts ? mlx5_mkey_take_crypt(&mkey->draft.crypt, mkey->encrypts_units, attr)
			     : "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO";
	if (why)
		request_fail(qp, EINVAL, "encryption by key %#x: %s", mkey->dv.lkey, why);
	else
		setter_finish(qp);
}

static void fill_ends(struct mlx5_qp *qp, uint64_t ops)
{
	const uint64_t lay_out = MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				 MLX5DV_QP_EX_WITH_MKEY_CONFIGURE;
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	if (!(ops & lay_out))
		return;
	qp->mkey_batch.complete = qpx->wr_complete;
	qp->mkey_batch.abort = qpx->wr_abort;
	qpx->wr_complete = configs_complete;
	qpx->wr_abort = configs_abort;
}

void mlx5_send_wr_fill_mkeys(struct mlx5_qp *qp, uint64_t ops)
{
	struct mlx5dv_qp_ex *dv = &qp->dv_qp;

	fill_ends(qp, ops);
	if (ops & MLX5DV_QP_EX_WITH_MR_LIST)
		dv->wr_mr_list = wr_mr_list;
	if (ops & MLX5DV_QP_EX_WITH_MR_INTERLEAVED)
		dv->wr_mr_interleaved = wr_mr_interleaved;
	if (!(ops & MLX5DV_QP_EX_WITH_MKEY_CONFIGURE))
		return;
	dv->wr_mkey_configure = wr_mkey_configure;
	dv->wr_set_mkey_access_flags = wr_set_mkey_access_flags;
	dv->wr_set_mkey_layout_list = wr_set_mkey_layout_list;
	dv->wr_set_mkey_layout_interleaved = wr_set_mkey_layout_interleaved;
	dv->wr_set_mkey_sig_block = wr_set_mkey_sig_block;
	dv->wr_set_mkey_crypto = wr_set_mkey_crypto;
}
