/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * configure.c - requests that configure a memory key part by part (mkey.h):
 * mlx5dv_wr_mkey_configure() and its setters, as builders of a batch (batch.h). umr.h describes
 * their effect on the gate.
 *
 * A WQE has a block of control segments, a block with the key's context, the blocks of the list,
 * and a BSF block each for signature and encryption. Lists are written to the ring at once;
 * everything else is collected and written after the last announced setter (finish.c). A
 * configuration that lacks setters is dropped: the next request takes its place, as in the
 * distribution's library.
 * PRM: UMR control segment
 */
#include <errno.h>

#include "prm/mlx5/bsf.h"
#include "providers/mlx5/data/mkey/template_match.h"
#include "providers/mlx5/data/mkey/blocks.h"
#include "providers/mlx5/data/mkey/checks.h"
#include "providers/mlx5/data/mkey/request.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/mkey.h"

WQE_INLINE void configure(struct mlx5dv_qp_ex *dv, struct mlx5_mkey *mkey, uint8_t num_setters,
			  bool drops)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	request_begin(qp, mkey, request,
		      (uint32_t)num_setters * ONE_SETTER + ALL_PENDING + mkey->config.told);
	request->next = mkey->config;
	if (drops)
		request->progress.sig_told = MKEY_SIG_DROPPED;
	if (unlikely(!num_setters))
		mlx5_mkey_finish(dv);
}

static void __attribute__((cold, noinline))
configure_slowly(struct mlx5dv_qp_ex *dv, struct mlx5dv_mkey *mkey, uint8_t num_setters,
		 const struct mlx5dv_mkey_conf_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (qp->batch.err)
		return;
	if (attr->comp_mask || attr->conf_flags & ~(uint32_t)MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR)
		mlx5_mkey_fail(
			qp, EOPNOTSUPP,
			"mkey_configure: conf_flags is %#x, comp_mask %#llx: known are %#x, 0",
			attr->conf_flags, (unsigned long long)attr->comp_mask,
			MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR);
	else if (mlx5_mkey_may_begin(qp))
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

/* Returns whether no other request has begun since this one. */
WQE_INLINE bool request_has_place(const struct mlx5_qp *qp)
{
	return likely(qp->mkey_request.head == qp->sq.wq.head);
}

/* Returns whether a request is under construction whose PART may still be set. */
WQE_INLINE bool setter_is_awaited(const struct mlx5_qp *qp, unsigned int part)
{
	return likely(qp->mkey_request.progress.word & part) && request_has_place(qp);
}

static bool setter_begin(struct mlx5_qp *qp, unsigned int part)
{
	if (setter_is_awaited(qp, part))
		return true;
	if (qp->batch.err)
		return false;
	if (!qp->mkey_request.progress.word || !request_has_place(qp))
		mlx5_mkey_fail(qp, EINVAL,
			       "a setter of a key, and no mkey_configure waits for one");
	else
		mlx5_mkey_fail(qp, EINVAL, "this part of key %#x is set already",
			       qp->mkey_request.mkey->dv.lkey);
	return false;
}

/* Ends a setter: stores the progress NOW, and finishes the request after the last setter. */
WQE_INLINE void setter_finish(struct mlx5dv_qp_ex *dv, union mkey_progress now)
{
	dv_mqp(dv)->mkey_request.progress = now;
	if (!now.setters_pending)
		mlx5_mkey_finish(dv);
}

WQE_INLINE union mkey_progress progress_now(struct mlx5dv_qp_ex *dv)
{
	return dv_mqp(dv)->mkey_request.progress;
}

WQE_INLINE void part_finish(struct mlx5dv_qp_ex *dv, uint32_t part)
{
	setter_finish(dv, progress_after(progress_now(dv), part));
}

WQE_INLINE void computed_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey,
				union mkey_progress now)
{
	if (likely(now.word == mkey->again.usual.word)) {
		dv_mqp(dv)->mkey_request.progress = now;
		mlx5_mkey_finish_computing(dv);
	} else {
		setter_finish(dv, now);
	}
}

static void __attribute__((cold, noinline)) access_slowly(struct mlx5dv_qp_ex *dv, uint32_t access)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_begin(qp, ACCESS_PENDING))
		mlx5_mkey_access_fits(qp, access);
}

static void wr_set_mkey_access_flags(struct mlx5dv_qp_ex *dv, uint32_t access)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (unlikely(!setter_is_awaited(qp, ACCESS_PENDING) || !access_is_known(access))) {
		access_slowly(dv, access);
		return;
	}
	qp->mkey_request.context = umr_access_word(access);
	part_finish(dv, ACCESS_PENDING);
}

static void __attribute__((noinline))
layout_list_slowly(struct mlx5dv_qp_ex *dv, uint16_t count, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;

	if (setter_begin(qp, LAYOUT_PENDING) &&
	    mlx5_mkey_layout_fits(qp, request->mkey, count, 0) &&
	    (put_list(&qp->sq, request, count, sge) || mlx5_mkey_pieces_fit(qp, count, sge)))
		part_finish(dv, LAYOUT_PENDING);
}

/* Ends a setter of a usual list. For a key without signature and encryption it is usually the last
 * setter, so that case is tested here and finished without a call. */
WQE_INLINE void usual_list_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	union mkey_progress now = progress_after(progress_now(dv), LAYOUT_PENDING);

	now.word += LIST_USUAL;
	if (now.word == (SIG_PENDING | CRYPTO_PENDING | LIST_USUAL) && !mkey_computes(mkey))
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

	if (likely(setter_is_awaited(qp, LAYOUT_PENDING) &&
		   list_is_usual(&qp->sq, block, bytes, request->mkey->usual_bytes) &&
		   put_usual_list(request, block, bytes, sge)))
		usual_list_finish(dv, request->mkey);
	else
		layout_list_slowly(dv, count, sge);
}

/* Sets a list on a QP that may lack room for a list together with BSF blocks. Only a key with
 * signature or encryption needs these blocks, so only such a key takes the slow path. */
static void layout_list_narrowly(struct mlx5dv_qp_ex *dv, uint16_t count, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = dv_mqp(dv);

	if (setter_is_awaited(qp, LAYOUT_PENDING) && !mkey_computes(qp->mkey_request.mkey))
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

	if (setter_begin(qp, LAYOUT_PENDING) &&
	    mlx5_mkey_layout_fits(qp, request->mkey, count, 1) &&
	    mlx5_mkey_pattern_fits(qp, count, part)) {
		put_pattern(&qp->sq, request, repeats, count, part);
		part_finish(dv, LAYOUT_PENDING);
	}
}

static void wr_set_mkey_layout_interleaved(struct mlx5dv_qp_ex *dv, uint32_t repeats,
					   uint16_t count, const struct mlx5dv_mr_interleaved *part)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mkey_request *request = &qp->mkey_request;
	uint8_t *const first = request->ctrl + HEAD_UNITS * WQE_SEG;

	if (likely(setter_is_awaited(qp, LAYOUT_PENDING) &&
		   entries_fit(qp, request->mkey, count, 1) &&
		   pattern_is_usual(&qp->sq, first, count) &&
		   put_usual_pattern(request, first, repeats, count, part)))
		part_finish(dv, LAYOUT_PENDING);
	else
		layout_pattern_slowly(dv, repeats, count, part);
}

WQE_INLINE void signature_finish(struct mlx5dv_qp_ex *dv, const struct mlx5_mkey *mkey,
				 const struct mkey_sig_format *format)
{
	dv_mqp(dv)->mkey_request.next.sig = mkey->spare_sig;
	computed_finish(dv, mkey,
			progress_told(progress_now(dv), SIG_PENDING, SIG_TOLD, format->told));
}

static void __attribute__((noinline))
signature_slowly(struct mlx5dv_qp_ex *dv, const struct mlx5dv_sig_block_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	const char *why = "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE";

	if (!setter_begin(qp, SIG_PENDING))
		return;
	if (mkey->sig)
		why = mlx5_mkey_take_sig(mkey->sig, attr, mkey_sig_at(mkey, mkey->spare_sig));
	if (why)
		mlx5_mkey_fail(qp, EINVAL, "a signature of key %#x: %s", mkey->dv.lkey, why);
	else
		signature_finish(dv, mkey, mkey_sig_at(mkey, mkey->spare_sig));
}

static void wr_set_mkey_sig_block(struct mlx5dv_qp_ex *dv, const struct mlx5dv_sig_block_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	struct mkey_sig_format *format;

	if (likely(setter_is_awaited(qp, SIG_PENDING))) {
		format = mkey_sig_at(mkey, mkey->spare_sig);
		/* keeps the address in a register, as the compiler would recompute it for each
		 * field */
		__asm__("" : "+r"(format));
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
	computed_finish(dv, mkey,
			progress_told(progress_now(dv), CRYPTO_PENDING, CRYPT_TOLD, format->told));
}

static void __attribute__((noinline))
crypto_slowly(struct mlx5dv_qp_ex *dv, const struct mlx5dv_crypto_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	const char *why = "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO";

	if (!setter_begin(qp, CRYPTO_PENDING))
		return;
	if (mkey->encrypts)
		why = mlx5_mkey_take_crypt(mkey->encrypts_units, attr,
					   mkey_crypt_at(mkey, mkey->spare_crypt));
	if (why)
		mlx5_mkey_fail(qp, EINVAL, "encryption by key %#x: %s", mkey->dv.lkey, why);
	else
		crypto_finish(dv, mkey, mkey_crypt_at(mkey, mkey->spare_crypt));
}

static void wr_set_mkey_crypto(struct mlx5dv_qp_ex *dv, const struct mlx5dv_crypto_attr *attr)
{
	struct mlx5_qp *qp = dv_mqp(dv);
	struct mlx5_mkey *mkey = qp->mkey_request.mkey;
	struct mkey_crypt_format *format;

	if (likely(setter_is_awaited(qp, CRYPTO_PENDING))) {
		format = mkey_crypt_at(mkey, mkey->spare_crypt);
		/* keeps the address in a register, as the compiler would recompute it for each
		 * field */
		__asm__("" : "+r"(format));
		if (likely(crypt_comes_again(mkey, attr, format))) {
			crypto_finish(dv, mkey, format);
			return;
		}
	}
	crypto_slowly(dv, attr);
}

void mlx5_send_wr_fill_mkeys(struct mlx5_qp *qp, uint64_t ops)
{
	struct mlx5dv_qp_ex *dv = &qp->dv_qp;
	bool has_room, has_all_room;

	mlx5_mkey_fill_ends(qp, ops);
	has_room = qp->mkey_entries >= BLOCK_UNITS;
	has_all_room = list_room(&qp->sq) >= 3 * WQE_BB; /* room for both BSF blocks after it */
	mlx5_mkey_fill_at_once(qp, ops);
	if (!(ops & MLX5DV_QP_EX_WITH_MKEY_CONFIGURE))
		return;
	dv->wr_mkey_configure = wr_mkey_configure;
	dv->wr_set_mkey_access_flags = wr_set_mkey_access_flags;
	dv->wr_set_mkey_layout_list = has_all_room ? wr_set_mkey_layout_list
				      : has_room   ? layout_list_narrowly
						   : layout_list_slowly;
	dv->wr_set_mkey_layout_interleaved = wr_set_mkey_layout_interleaved;
	dv->wr_set_mkey_sig_block = wr_set_mkey_sig_block;
	dv->wr_set_mkey_crypto = wr_set_mkey_crypto;
}
