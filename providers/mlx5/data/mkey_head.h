/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_head.h - what a memory key keeps ready for its next request, from its creation on: words of
 * the blocks that stand in front, and room for what it computes. dv/mkey.c creates keys,
 * send_wr_mkey.c has the requests.
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_HEAD_H
#define PROVIDERS_MLX5_DATA_MKEY_HEAD_H

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

/* The function makes the head of requests that end so. */
static inline void mkey_make_head(struct mlx5_mkey *mkey, const struct mkey_end *end)
{
	const uint64_t inlines = (uint64_t)MLX5_WQE_UMR_CTRL_FLAG_INLINE << FLD_SHIFT(UMR_FLAGS);
	const uint64_t kind =
		end->sig && end->crypt ? BSF_SIZE_SIG_AND_CRYPTO : BSF_SIZE_WITH_INLINE;

	mkey->head = (struct mkey_head){
		.key = side_by_side(0, htobe32(mkey->dv.lkey)),
		.control = htobe64(inlines << 32 | end->bsf_units << FLD_SHIFT(UMR_BSF_OCTOWORDS)),
		.mask = htobe64(end->mask),
		.access = htobe64(FLD_BITS(MKC_QPN) | (mkey->dv.lkey & FLD_MASK(MKC_MKEY_7_0))),
		.flags_pd = htobe64(end->flags_pd),
		.kind = htobe64(kind << (32 + FLD_SHIFT(BSF_KIND))),
		.psv_mem = mkey->sig ? side_by_side(htobe32(mkey->sig->mem.n), 0) : 0,
		.psv_wire = mkey->sig ? side_by_side(htobe32(mkey->sig->wire.n), 0) : 0,
	};
}

static inline void mkey_forget_formats(struct mlx5_mkey *mkey)
{
	mkey->again.parts = 0;
	for (int i = 0; i < MKEY_FORMATS; i++) {
		mkey->sigs[i].given = MKEY_GIVEN_NOTHING;
		mkey->crypts[i].given.dek = MKEY_NO_DEK;
	}
}

/* The usual request on a key that computes nothing sets its access and its layout. A key with
 * signatures has not been told which error is the next. */
static inline void mkey_prepare(struct mlx5_mkey *mkey)
{
	mkey_make_head(mkey, &(struct mkey_end){ .mask = MKEY_MASK_ALWAYS | MKEY_MASK_ACCESS |
							 MKEY_MASK_LAYOUT });
	mkey_forget_formats(mkey);
	mkey->usual_entries = (uint8_t)min_of((uint32_t)mkey->max_entries, UMR_KLM_BLOCK / 16u);
	mkey->plain_entries = mkey->computes ? 0 : mkey->usual_entries;
	mkey->sig_count = mkey->sig != NULL;
	mkey->spare_sig = mkey->spare_crypt = 1;
}

#endif
