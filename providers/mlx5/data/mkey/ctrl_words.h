/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctrl_words.h - prepares what a memory key keeps for its next request, from its creation on: the
 * words of the control blocks, and room for formats. dv/mkey.c creates keys, configure.c builds the
 * requests.
 * PRM: UMR control segment
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_CTRL_WORDS_H
#define PROVIDERS_MLX5_DATA_MKEY_CTRL_WORDS_H

#include <endian.h>

#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/mkey.h"
#include "util/bits.h"

#define MKEY_MASK_ALWAYS (MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY)
#define MKEY_MASK_ACCESS                                   \
	(MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE |  \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ |  \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE | \
	 MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC)
#define MKEY_MASK_LAYOUT MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN

static inline void mkey_make_head(struct mlx5_mkey *mkey, const struct mkey_end *end)
{
	const uint64_t inlines = (uint64_t)MLX5_WQE_UMR_CTRL_FLAG_INLINE << FLD_SHIFT(UMR_FLAGS);
	const uint64_t kind =
		end->sig && end->crypt ? BSF_SIZE_SIG_AND_CRYPTO : BSF_SIZE_WITH_INLINE;
	const uint64_t control = inlines << 32 | end->bsf_units << FLD_SHIFT(UMR_BSF_OCTOWORDS);
	const uint64_t block = (uint64_t)UMR_KLM_BLOCK / 16 << FLD_SHIFT(UMR_XLT_OCTOWORDS);

	mkey->head = (struct mkey_head){
		.key = side_by_side(0, htobe32(mkey->dv.lkey)),
		.control = htobe64(control),
		.usual_control = htobe64(control | block),
		.mask = htobe64(end->mask),
		.context = { htobe64(FLD_BITS(MKC_QPN) | (mkey->dv.lkey & FLD_MASK(MKC_MKEY_7_0))),
			     htobe64(end->flags_pd) },
		.kind = htobe64(kind << (32 + FLD_SHIFT(BSF_KIND))),
	};
}

static inline void mkey_forget_formats(struct mlx5_mkey *mkey)
{
	mkey->again.found.word = 0;
	/* A key that computes nothing has only this one end, so it is known before the first
	 * request. */
	mkey->again.usual.word = mkey->computes ? 0 : SIG_PENDING | CRYPTO_PENDING | LIST_USUAL;
	for (int i = 0; i < MKEY_FORMATS; i++) {
		mkey->sigs[i].given = MKEY_GIVEN_NOTHING;
		mkey->crypts[i].given.dek = MKEY_NO_DEK;
	}
}

/* Prepares a new key. The usual request on a key that computes nothing sets access and layout. A
 * key with signatures starts with an unknown error count in the device. */
static inline void mkey_prepare(struct mlx5_mkey *mkey)
{
	mkey_make_head(mkey, &(struct mkey_end){ .mask = MKEY_MASK_ALWAYS | MKEY_MASK_ACCESS |
							 MKEY_MASK_LAYOUT });
	mkey_forget_formats(mkey);
	mkey->usual_bytes = (uint8_t)min_of(mkey->max_entries * 16u, (uint32_t)UMR_KLM_BLOCK);
	mkey->plain_bytes = mkey->computes ? 0 : mkey->usual_bytes;
	mkey->sig_count = mkey->sig != NULL;
	mkey->config.sig = MKEY_SIG(0);
	mkey->spare_sig = MKEY_SIG(1);
	mkey->config.crypt = MKEY_CRYPT(0);
	mkey->spare_crypt = MKEY_CRYPT(1);
	for (uint8_t i = 0; i < sizeof(mkey->tweak_order); i++)
		mkey->tweak_order[i] = mkey->encrypts_units ? 15 - i : i;
}

#endif
