/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_crypt.c - encryption of a memory key: what programs say of it, as the device wants it. PRM:
 * Crypto BSF
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "providers/mlx5/mkey.h"

static_assert(sizeof(((struct mkey_crypt_config *)0)->tweak) == BSF_TWEAK_SIZE, "PRM: Crypto BSF");
static_assert(sizeof(((struct mkey_crypt_config *)0)->keytag) == BSF_KEYTAG_SIZE,
	      "PRM: Crypto BSF");

unsigned int mlx5_mkey_block_selector(unsigned int block)
{
	static const uint8_t selectors[] = {
		[MLX5DV_BLOCK_SIZE_512] = BSF_BLOCK_512,
		[MLX5DV_BLOCK_SIZE_520] = BSF_BLOCK_520,
		[MLX5DV_BLOCK_SIZE_4048] = BSF_BLOCK_4048,
		[MLX5DV_BLOCK_SIZE_4096] = BSF_BLOCK_4096,
		[MLX5DV_BLOCK_SIZE_4160] = BSF_BLOCK_4160,
	};

	return selectors[block];
}

/* Which side is encrypted follows from the direction, and whether that covers its signatures from
 * the order: on the way out, what is encrypted behind the signature has it inside. */
static uint8_t order_of(const struct mlx5dv_crypto_attr *attr)
{
	bool before = attr->signature_crypto_order ==
		      MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX;

	if (attr->encrypt_on_tx)
		return before ? BSF_ENCRYPTED_WIRE_SIGNATURE : BSF_ENCRYPTED_RAW_WIRE;
	return before ? BSF_ENCRYPTED_RAW_MEMORY : BSF_ENCRYPTED_MEMORY_SIGNATURE;
}

/* Programs give the number with its lowest byte first. A device that counts units has it with its
 * highest first. */
static void take_tweak(struct mkey_crypt_config *crypt, bool counts_units, const char *tweak)
{
	uint64_t half[2];

	static_assert(sizeof(half) == BSF_TWEAK_SIZE, "PRM: Crypto BSF");
	memcpy(half, tweak, sizeof(half));
	if (counts_units) {
		const uint64_t low = half[0];

		half[0] = __builtin_bswap64(half[1]);
		half[1] = __builtin_bswap64(low);
	}
	memcpy(crypt->tweak, half, sizeof(half));
}

const char *mlx5_mkey_take_crypt(struct mkey_crypt_config *crypt, bool counts_units,
				 const struct mlx5dv_crypto_attr *attr)
{
	if (attr->comp_mask)
		return "comp_mask is not 0";
	if (attr->crypto_standard != MLX5DV_CRYPTO_STANDARD_AES_XTS)
		return "crypto_standard is none that there is";
	if ((unsigned int)attr->signature_crypto_order >
	    MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX)
		return "signature_crypto_order is none that there is";
	if ((unsigned int)attr->data_unit_size > MLX5DV_BLOCK_SIZE_4160)
		return "data_unit_size is none that there is";
	if (!attr->dek)
		return "there is no dek";
	crypt->order = order_of(attr);
	crypt->block = (uint8_t)attr->data_unit_size;
	crypt->dek = attr->dek->object.id;
	memcpy(crypt->keytag, attr->keytag, sizeof(crypt->keytag));
	take_tweak(crypt, counts_units, attr->initial_tweak);
	crypt->on = crypt->changed = true;
	return NULL;
}

void mlx5_mkey_put_crypt(const struct mkey_crypt_config *crypt, bool is_signed, uint8_t *bsf)
{
	fld_set(bsf, BSF_KIND, is_signed ? BSF_SIZE_SIG_AND_CRYPTO : BSF_SIZE_WITH_INLINE);
	fld_set(bsf, BSF_TYPE, BSF_OF_CRYPTO);
	fld_set(bsf, CRYPTO_BSF_ORDER, crypt->order);
	fld_set(bsf, CRYPTO_BSF_STANDARD, BSF_AES_XTS);
	fld_set(bsf, BSF_RAW_SIZE, UINT32_MAX);
	fld_set(bsf, CRYPTO_BSF_BLOCK, mlx5_mkey_block_selector(crypt->block));
	fld_set(bsf, CRYPTO_BSF_DEK, crypt->dek);
	memcpy(fld_at(bsf, CRYPTO_BSF_TWEAK), crypt->tweak, BSF_TWEAK_SIZE);
	memcpy(fld_at(bsf, CRYPTO_BSF_KEYTAG), crypt->keytag, BSF_KEYTAG_SIZE);
}
