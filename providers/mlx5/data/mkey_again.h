/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_again.h - signatures and encryption of a memory key that are like the ones which a format of
 * it was made for: only what changes from one transfer to the next (tags, tweak) is written then.
 * mkey_sig.c and mkey_crypt.c make formats from anything, and say which may come again.
 */
#ifndef PROVIDERS_MLX5_DATA_MKEY_AGAIN_H
#define PROVIDERS_MLX5_DATA_MKEY_AGAIN_H

#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/common/seg.h"
#include "providers/mlx5/mkey.h"

/* ---- signatures */

static inline uint64_t dif_start(const struct mlx5dv_sig_t10dif *dif)
{
	return (uint64_t)dif->bg << 48 | (uint64_t)dif->app_tag << 32 | dif->ref_tag;
}

static inline void dif_put_tags(uint8_t *part, const struct mlx5dv_sig_t10dif *dif)
{
	seg_put_pair(part,
		     FLD_BITS(BSF_INL_VALID) | FLD_BITS(BSF_INL_REFRESH) |
			     (uint32_t)dif->app_tag << FLD_SHIFT(BSF_INL_APP),
		     dif->ref_tag);
}

/* Differences are collected, since all is as before mostly. */
static inline bool dif_is_like(const struct mlx5dv_sig_t10dif *a, const struct mlx5dv_sig_t10dif *b)
{
	return !(((uint32_t)a->bg_type ^ (uint32_t)b->bg_type) | (uint32_t)(a->bg ^ b->bg) |
		 (uint32_t)(a->flags ^ b->flags));
}

static inline bool side_is_like(const struct mlx5dv_sig_block_domain *side,
				const struct mkey_sig_given *given)
{
	if (!side || !given->is_there)
		return !side && !given->is_there;
	if (((uint32_t)side->sig_type ^ (uint32_t)given->type) |
	    ((uint32_t)side->block_size ^ (uint32_t)given->block_size) | side->comp_mask)
		return false;
	if (given->type == MLX5DV_SIG_TYPE_T10DIF)
		return dif_is_like(side->sig.dif, &given->sig.dif);
	return side->sig.crc->type == given->sig.crc.type &&
	       side->sig.crc->seed == given->sig.crc.seed;
}

/* The function puts other tags into PART of a format, and returns the state to start from. */
static inline uint64_t dif_take_tags(uint8_t *part, const struct mlx5dv_sig_t10dif *from)
{
	const struct mlx5dv_sig_t10dif dif = *from;

	dif_put_tags(part, &dif);
	return dif_start(&dif);
}

/* The function returns false when FORMAT has to be made anew; nothing has been changed then. */
static inline bool sig_comes_again(const struct mlx5dv_sig_block_attr *attr,
				   struct mkey_sig_format *format)
{
	const struct mlx5dv_sig_block_domain *mem = attr->mem, *wire = attr->wire;

	__asm__("" : "+r"(format)); /* found once, not anew for each field */
	if (!format->may_come_again || attr->comp_mask ||
	    (attr->flags ^ format->flags) | (uint32_t)(attr->check_mask ^ format->check_mask) |
		    (uint32_t)(attr->copy_mask ^ format->copy_mask) ||
	    !side_is_like(mem, &format->given_mem) || !side_is_like(wire, &format->given_wire))
		return false;
	if (format->mem == MKEY_SIG_KIND_DIF)
		format->mem_start =
			dif_take_tags(fld_at(format->bsf, BSF_MEM_INLINE), mem->sig.dif);
	if (format->wire == MKEY_SIG_KIND_DIF)
		format->wire_start =
			dif_take_tags(fld_at(format->bsf, BSF_WIRE_INLINE), wire->sig.dif);
	return true;
}

/* ---- encryption */

/* Programs give the number with its lowest byte first. A device that counts units has it with its
 * highest first. */
static inline void crypt_put_tweak(uint8_t *to, bool counts_units, const char *tweak)
{
	uint64_t half[2];

	static_assert(sizeof(half) == BSF_TWEAK_SIZE, "PRM: Crypto BSF");
	memcpy(half, tweak, sizeof(half));
	if (counts_units) {
		const uint64_t low = half[0];

		half[0] = __builtin_bswap64(half[1]);
		half[1] = __builtin_bswap64(low);
	}
	memcpy(to, half, sizeof(half));
}

/* Another key of data may be where one was that is gone. */
static inline bool crypt_comes_again(bool counts_units, const struct mlx5dv_crypto_attr *attr,
				     struct mkey_crypt_format *format)
{
	const struct mlx5dv_crypto_attr *given = &format->given;

	if (!format->may_come_again || attr->dek != given->dek ||
	    ((uint32_t)attr->crypto_standard ^ (uint32_t)given->crypto_standard) |
		    (uint32_t)(attr->encrypt_on_tx ^ given->encrypt_on_tx) |
		    ((uint32_t)attr->signature_crypto_order ^
		     (uint32_t)given->signature_crypto_order) |
		    ((uint32_t)attr->data_unit_size ^ (uint32_t)given->data_unit_size) |
		    attr->comp_mask | (attr->dek->object.id ^ format->dek))
		return false;
	crypt_put_tweak(fld_at(format->bsf, CRYPTO_BSF_TWEAK), counts_units, attr->initial_tweak);
	memcpy(fld_at(format->bsf, CRYPTO_BSF_KEYTAG), attr->keytag, BSF_KEYTAG_SIZE);
	return true;
}

#endif
