/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt_test.c - the encryption format that a key gets of a program's attributes, field by field,
 * and attributes that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/bsf.h"
#include "providers/mlx5/mkey.h"

#define BEFORE MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX
#define AFTER  MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_AFTER_CRYPTO_ON_TX

static struct mlx5dv_dek dek = { .object.id = 0xabcdef };

static struct mlx5dv_crypto_attr crypto_attr(void)
{
	struct mlx5dv_crypto_attr attr = { .crypto_standard = MLX5DV_CRYPTO_STANDARD_AES_XTS,
					   .signature_crypto_order = BEFORE,
					   .data_unit_size = MLX5DV_BLOCK_SIZE_4048,
					   .dek = &dek };

	for (size_t i = 0; i < sizeof(attr.initial_tweak); i++)
		attr.initial_tweak[i] = (char)(i + 1);
	memcpy(attr.keytag, "keytag12", sizeof(attr.keytag));
	return attr;
}

static void orders_tell_which_side_has_the_signature(void **state)
{
	static const struct {
		bool on_tx;
		enum mlx5dv_signature_crypto_order order;
		uint8_t encoded, told;
	} rows[] = {
		{ true, BEFORE, BSF_ENCRYPTED_WIRE_SIGNATURE, MKEY_CRYPT_SIGNED },
		{ true, AFTER, BSF_ENCRYPTED_RAW_WIRE, MKEY_CRYPT_RAW },
		{ false, BEFORE, BSF_ENCRYPTED_RAW_MEMORY, MKEY_CRYPT_RAW },
		{ false, AFTER, BSF_ENCRYPTED_MEMORY_SIGNATURE, MKEY_CRYPT_SIGNED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mlx5dv_crypto_attr attr = crypto_attr();
		struct mkey_crypt_format format = { 0 };

		attr.encrypt_on_tx = rows[i].on_tx;
		attr.signature_crypto_order = rows[i].order;
		assert_null(mlx5_mkey_take_crypt(false, &attr, &format));
		assert_int_equal(fld_get(format.bsf, CRYPTO_BSF_ORDER), rows[i].encoded);
		assert_int_equal(format.told, rows[i].told << CRYPT_TOLD_SHIFT);
		assert_int_equal(fld_get(format.bsf, BSF_TYPE), BSF_OF_CRYPTO);
		assert_int_equal(fld_get(format.bsf, CRYPTO_BSF_STANDARD), BSF_AES_XTS);
		assert_int_equal(fld_get(format.bsf, FLD(0x4, 31, 0)), UINT32_MAX);
	}
}

static void a_format_has_its_unit_key_and_tweak(void **state)
{
	static const struct {
		enum mlx5dv_block_size size;
		uint8_t selector;
		uint16_t bytes;
	} rows[] = { { MLX5DV_BLOCK_SIZE_512, BSF_BLOCK_512, 512 },
		     { MLX5DV_BLOCK_SIZE_520, BSF_BLOCK_520, 520 },
		     { MLX5DV_BLOCK_SIZE_4048, BSF_BLOCK_4048, 4048 },
		     { MLX5DV_BLOCK_SIZE_4096, BSF_BLOCK_4096, 4096 },
		     { MLX5DV_BLOCK_SIZE_4160, BSF_BLOCK_4160, 4160 } };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		struct mlx5dv_crypto_attr attr = crypto_attr();
		struct mkey_crypt_format format = { 0 };
		const uint8_t *tweak = fld_at(format.bsf, CRYPTO_BSF_TWEAK);

		attr.data_unit_size = rows[i / 2].size;
		assert_null(mlx5_mkey_take_crypt(i % 2, &attr, &format));
		assert_int_equal(fld_get(format.bsf, CRYPTO_BSF_BLOCK), rows[i / 2].selector);
		assert_int_equal(format.unit, rows[i / 2].bytes);
		assert_int_equal(fld_get(format.bsf, CRYPTO_BSF_DEK), 0xabcdef);
		assert_int_equal(format.dek, 0xabcdef);
		assert_memory_equal(fld_at(format.bsf, CRYPTO_BSF_KEYTAG), "keytag12", 8);
		for (unsigned int k = 0; k < BSF_TWEAK_SIZE; k++)
			assert_int_equal(tweak[k], i % 2 ? BSF_TWEAK_SIZE - k : k + 1);
		assert_memory_equal(&format.given, &attr, sizeof(attr));
	}
}

static void check_refused(const struct mlx5dv_crypto_attr *attr, const char *why)
{
	struct mkey_crypt_format format = { .given.dek = &dek };

	assert_string_equal(mlx5_mkey_take_crypt(false, attr, &format), why);
	assert_ptr_equal(format.given.dek, MKEY_NO_DEK); /* so that no cache finds it */
}

static void attributes_that_cannot_be_are_refused(void **state)
{
	struct mlx5dv_crypto_attr attr = crypto_attr();

	(void)state;
	attr.comp_mask = 1;
	check_refused(&attr, "comp_mask is not 0");
	attr = crypto_attr();
	attr.crypto_standard = MLX5DV_CRYPTO_STANDARD_AES_XTS + 1;
	check_refused(&attr, "crypto_standard is none that there is");
	attr = crypto_attr();
	attr.signature_crypto_order = BEFORE + 1;
	check_refused(&attr, "signature_crypto_order is none that there is");
	attr = crypto_attr();
	attr.data_unit_size = MKEY_BLOCKS;
	check_refused(&attr, "data_unit_size is none that there is");
	attr = crypto_attr();
	attr.dek = NULL;
	check_refused(&attr, "there is no dek");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_tell_which_side_has_the_signature),
		cmocka_unit_test(a_format_has_its_unit_key_and_tweak),
		cmocka_unit_test(attributes_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
