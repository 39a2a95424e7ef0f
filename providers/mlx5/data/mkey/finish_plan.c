/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * finish_plan.c - decides what follows the list in a request on a key that computes, and whether
 * the device supports it: BSF blocks for signatures and encryption, and a WQE for each signed
 * domain.
 * PRM: BSF, SET_PSV
 */
#include "providers/mlx5/data/mkey/finish_plan.h"

#include <errno.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "providers/mlx5/data/mkey/checks.h"

/* Returns whether the request must write the BSF blocks, because a format changes or the key drops
 * its signature. Sets in END which blocks the key needs: all are written, even if only one
 * changes. */
static bool formats_change(const struct mlx5_mkey *mkey, const struct mkey_request *request,
			   struct mkey_end *end)
{
	const union mkey_progress progress = request->progress;
	const unsigned int state = mkey->sig ? progress.sig_told : MKEY_SIG_NONE;

	if (progress.sig_pending && progress.crypto_pending && state != MKEY_SIG_DROPPED)
		return false;
	end->crypt = progress.crypt_told != MKEY_CRYPT_NONE;
	end->sig = state >= MKEY_SIG_SET || (mkey->sig && end->crypt);
	return true;
}

/* Checks the length of an encrypted key. A device that does not count data units encrypts the whole
 * key as one unit, so the key may not be longer than one unit. */
static bool crypt_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const struct mkey_config *next = &qp->mkey_request.next;
	const uint16_t unit = mkey_crypt_at(mkey, next->crypt)->unit;

	if (!qp->mkey_request.progress.crypt_told || mkey->encrypts_units || next->length <= unit)
		return true;
	mlx5_mkey_fail(
		qp, EINVAL,
		"key %#x has %llu bytes: the device encrypts one data unit for each key, of %u",
		mkey->dv.lkey, (unsigned long long)next->length, unit);
	return false;
}

/* Refuses encryption between the signatures of memory and wire: the device cannot encrypt after it
 * checks one signature and before it computes the other. */
static bool crypt_has_order(struct mlx5_qp *qp, const struct mlx5_mkey *mkey)
{
	const union mkey_progress progress = qp->mkey_request.progress;

	if (!mkey->sig || progress.sig_told != MKEY_SIG_SET_TWICE ||
	    progress.crypt_told != MKEY_CRYPT_RAW)
		return true;
	mlx5_mkey_fail(
		qp, EINVAL,
		"key %#x has signatures of memory and wire: what is encrypted has to have one "
		"of them inside (signature_crypto_order)",
		mkey->dv.lkey);
	return false;
}

static bool formats_fit(struct mlx5_qp *qp, const struct mkey_end *end)
{
	const uint32_t units = qp->mkey_request.list_units + end->bsf_units;

	if (units * WQE_SEG > list_room(&qp->sq)) {
		mlx5_mkey_fail(qp, ENOMEM,
			       "list, signature and encryption have %u bytes: max_inline_data %u "
			       "of the QP has room for %u",
			       units * WQE_SEG, qp->sq.max_inline, list_room(&qp->sq));
		return false;
	}
	if (units > LIST_MAX) {
		mlx5_mkey_fail(qp, ENOMEM,
			       "list, signature and encryption have %u bytes, a request %u",
			       units * WQE_SEG, LIST_MAX * WQE_SEG);
		return false;
	}
	return true;
}

static bool request_look(struct mlx5_qp *qp, const struct mlx5_mkey *mkey, struct mkey_end *end)
{
	const struct mkey_request *request = &qp->mkey_request;

	*end = (struct mkey_end){
		.mask = mask_of(request),
		.has_states = !request->progress.sig_pending,
		.push = PUSH_INLINE,
		.flags_kept = UINT32_MAX,
	};
	if (end->has_states) {
		end->push = PUSH_NEVER;
		/* The last of the WQEs has the completion, since all of them together are one
		 * request of the program. */
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

/* Returns the progress word of a usual request whose end is END, for the cache, or 0 if REQUEST is
 * not usual. A request is usual if it sets access and layout, its list is one block, and it sets
 * the signature of a key that has one. */
static uint32_t request_usual(const struct mkey_request *request, const struct mkey_end *end)
{
	const union mkey_progress progress = request->progress;

	if (progress.access_pending || progress.layout_pending ||
	    request->list_units != BLOCK_UNITS || (end->sig && progress.sig_told < MKEY_SIG_SET))
		return 0;
	return progress.word | LIST_USUAL;
}

/* Computes the end of the request, and caches it for the next request, which usually ends alike.
 * Does not cache the end of a request that drops a signature, sends an error count, or depends on
 * the key's length. */
bool __attribute__((noinline)) mlx5_mkey_look_anew(struct mlx5_qp *qp, struct mlx5_mkey *mkey)
{
	struct mkey_request *request = &qp->mkey_request;
	struct mkey_again *again = &mkey->again;

	again->found.word = again->usual.word = 0;
	if (!request_look(qp, mkey, &again->end))
		return false;
	again->end.usual_wqebbs = blocks_of(HEAD_UNITS + BLOCK_UNITS + again->end.bsf_units);
	again->list_units = request->list_units;
	again->max_inline = qp->sq.max_inline;
	if (request->progress.sig_told != MKEY_SIG_DROPPED &&
	    !(again->end.mask & MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR) &&
	    (!request->progress.crypt_told || mkey->encrypts_units)) {
		again->found.word = request_found(request);
		again->usual.word = request_usual(request, &again->end);
	}
	mkey_make_head(mkey, &again->end);
	request->next.count_told = mkey->sig_count;
	if (request->progress.sig_told == MKEY_SIG_DROPPED)
		request->progress.sig_told = MKEY_SIG_NONE;
	return true;
}
