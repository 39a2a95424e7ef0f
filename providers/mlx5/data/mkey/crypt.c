/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt.c - encryption of a memory key: converts the program's attributes to the device's format.
 * PRM: Crypto BSF
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/common/seg.h"
#include "providers/mlx5/data/mkey/template_match.h"
#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/mkey.h"

const struct mkey_block mlx5_mkey_blocks[MKEY_BLOCKS] = {
	[MLX5DV_BLOCK_SIZE_512] = { BSF_BLOCK_512, 512 },
	[MLX5DV_BLOCK_SIZE_520] = { BSF_BLOCK_520, 520 },
	[MLX5DV_BLOCK_SIZE_4048] = { BSF_BLOCK_4048, 4048 },
	[MLX5DV_BLOCK_SIZE_4096] = { BSF_BLOCK_4096, 4096 },
	[MLX5DV_BLOCK_SIZE_4160] = { BSF_BLOCK_4160, 4160 },
};

/* Returns the order of encryption and signature: which side (memory or wire) is encrypted, and
 * whether the encrypted data contains the signature. The direction of encryption determines the
 * side. */
static uint8_t order_of(const struct mlx5dv_crypto_attr *attr)
{
	bool before = attr->signature_crypto_order ==
		      MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX;

	if (attr->encrypt_on_tx)
		return before ? BSF_ENCRYPTED_WIRE_SIGNATURE : BSF_ENCRYPTED_RAW_WIRE;
	return before ? BSF_ENCRYPTED_RAW_MEMORY : BSF_ENCRYPTED_MEMORY_SIGNATURE;
}

static bool order_is_raw(uint8_t order)
{
	return order == BSF_ENCRYPTED_RAW_WIRE || order == BSF_ENCRYPTED_RAW_MEMORY;
}

/* Writes the encryption format. The other words of the format have been 0 since the key's
 * creation. */
static void put_crypt(bool counts_units, const struct mlx5dv_crypto_attr *attr, uint8_t selector,
		      uint8_t *bsf)
{
	seg_put_pair(bsf,
		     (uint32_t)BSF_OF_CRYPTO << FLD_SHIFT(BSF_TYPE) |
			     (uint32_t)order_of(attr) << FLD_SHIFT(CRYPTO_BSF_ORDER) | BSF_AES_XTS,
		     UINT32_MAX); /* of any length */
	seg_put_pair(bsf + FLD_BYTE(CRYPTO_BSF_BLOCK),
		     (uint32_t)selector << FLD_SHIFT(CRYPTO_BSF_BLOCK), 0);
	crypt_put_tweak(fld_at(bsf, CRYPTO_BSF_TWEAK), counts_units, attr->initial_tweak);
	seg_put_pair(fld_at(bsf, FLD_PART(0x20)), attr->dek->object.id & FLD_MASK(CRYPTO_BSF_DEK),
		     0);
	memcpy(fld_at(bsf, CRYPTO_BSF_KEYTAG), attr->keytag, BSF_KEYTAG_SIZE);
}

static_assert(BSF_RAW_SIZE == FLD(0x4, 31, 0) && CRYPTO_BSF_STANDARD == FLD(0x0, 7, 0) &&
		      CRYPTO_BSF_BLOCK == FLD(0x8, 31, 24) && CRYPTO_BSF_DEK == FLD(0x20, 23, 0),
	      "PRM: Crypto BSF, word by word");

const char *mlx5_mkey_take_crypt(bool counts_units, const struct mlx5dv_crypto_attr *attr,
				 struct mkey_crypt_format *format)
{
	const struct mkey_block *block;

	format->given.dek = MKEY_NO_DEK;
	if (attr->comp_mask)
		return "comp_mask is not 0";
	if (attr->crypto_standard != MLX5DV_CRYPTO_STANDARD_AES_XTS)
		return "crypto_standard is none that there is";
	if ((unsigned int)attr->signature_crypto_order >
	    MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX)
		return "signature_crypto_order is none that there is";
	if ((unsigned int)attr->data_unit_size >= MKEY_BLOCKS)
		return "data_unit_size is none that there is";
	if (!attr->dek)
		return "there is no dek";
	block = &mlx5_mkey_blocks[attr->data_unit_size];
	format->unit = block->bytes;
	put_crypt(counts_units, attr, block->selector, format->bsf);
	format->told = (order_is_raw(order_of(attr)) ? MKEY_CRYPT_RAW : MKEY_CRYPT_SIGNED)
		       << CRYPT_TOLD_SHIFT;
	format->dek = attr->dek->object.id;
	format->given = *attr;
	return NULL;
}
