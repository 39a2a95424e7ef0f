/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bsf_test.c - byte stream formats (BSF): the ones that the adapter takes, and how it decodes
 * them. It refuses each bit without a meaning.
 *
 * Covers: softhca/device/format/mlx5/bsf.c
 */
#include "flat.h"
#include "prm/mlx5/bsf.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "util/bits.h"

static struct sig sig;
static struct crypt crypt;

static bool bsf_is_valid(const uint8_t *bsf, size_t len)
{
	return mlx5_decode_bsf(bsf, len, &sig, &crypt);
}

static void put_dif(uint8_t *inl)
{
	fld_set(inl, BSF_INL_VALID, 1);
	fld_set(inl, BSF_INL_REFRESH, 1);
	fld_set(inl, BSF_INL_APP, 0x1234);
	fld_set(inl, BSF_INL_REF, 7);
	fld_set(inl, BSF_INL_TYPE, BSF_DIF_CRC);
	fld_set(inl, BSF_INL_REPEAT, 1);
	fld_set(inl, BSF_INL_SEED, 1);
	fld_set(inl, BSF_INL_INC_REF, 1);
	fld_set(inl, BSF_INL_APP_MASK, 0xff00);
}

static void put_signature(uint8_t *bsf)
{
	fld_set(bsf, BSF_KIND, BSF_SIZE_WITH_INLINE);
	fld_set(bsf, BSF_CHECK, 0xff);
	fld_set(bsf, BSF_MEM_BS, BSF_BLOCK_512);
	fld_set(bsf, BSF_RAW_SIZE, UINT32_MAX);
	put_dif(fld_at(bsf, BSF_MEM_INLINE));
}

static void put_crypto(uint8_t *bsf, unsigned int kind)
{
	fld_set(bsf, BSF_KIND, kind);
	fld_set(bsf, BSF_TYPE, BSF_OF_CRYPTO);
	fld_set(bsf, CRYPTO_BSF_BLOCK, BSF_BLOCK_520);
	fld_set(bsf, BSF_RAW_SIZE, UINT32_MAX);
}

static void formats_are_taken(void **state)
{
	uint8_t bsf[2 * BSF_SIZE] = { 0 };

	(void)state;
	put_signature(bsf);
	assert_true(bsf_is_valid(bsf, BSF_SIZE));
	assert_true(sig.on && !crypt.on);
	assert_int_equal(sig.mem.guard, GUARD_DIF_CRC);
	assert_int_equal(sig.mem.block, 512);
	assert_int_equal(sig.mem.app_mask, 0xff00);
	assert_true(sig.mem.start == 0xffff123400000007);
	assert_int_equal(sig.wire.guard, GUARD_NONE);
	fld_set(bsf, BSF_KIND, BSF_SIZE_SIG_AND_CRYPTO);
	put_crypto(bsf + BSF_SIZE, BSF_SIZE_SIG_AND_CRYPTO);
	assert_true(bsf_is_valid(bsf, sizeof(bsf)));
	assert_true(sig.on && crypt.on);
	assert_int_equal(crypt.unit, 520);
}

static void checksums_start_from_what_the_format_says(void **state)
{
	static const struct {
		uint8_t format;
		uint64_t start;
	} formats[] = {
		{ BSF_CRC32 | BSF_CRC_REPEAT, 0xffffffff00000000 },
		{ BSF_CRC32C | BSF_CRC_REPEAT | BSF_CRC_SEED_0, 0 },
		{ BSF_CRC64_XP10 | BSF_CRC_REPEAT, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		uint8_t bsf[BSF_SIZE] = { 0 };

		fld_set(bsf, BSF_KIND, BSF_SIZE_WITH_INLINE);
		fld_set(bsf, BSF_WIRE_BS, BSF_BLOCK_4096);
		fld_set(bsf, BSF_WIRE_FORMAT, formats[i].format);
		assert_true(bsf_is_valid(bsf, sizeof(bsf)));
		assert_true(sig.wire.start == formats[i].start);
	}
}

/* Flips each bit of LEN bytes at AT in a valid BSF, one at a time, and returns how many results are
 * valid. */
static unsigned int bits_taken(const uint8_t *given, size_t total, size_t at, size_t len)
{
	uint8_t bsf[2 * BSF_SIZE];
	unsigned int count = 0;

	for (size_t bit = 8 * at; bit < 8 * (at + len); bit++) {
		memcpy(bsf, given, total);
		bsf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		count += bsf_is_valid(bsf, total);
	}
	return count;
}

static void bits_without_a_meaning_are_refused(void **state)
{
	enum {
		APP = 16,
		REF = 32,
		PSV = 24,
		SIZE = 32,
		CHECK = 8,
		TWEAK = 128,
		DEK = 24,
		TAG = 64
	};
	uint8_t bsf[2 * BSF_SIZE] = { 0 };

	(void)state;
	put_signature(bsf);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x4, 4), SIZE);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x10, 16), 0);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x20, 16), 0);
	/* refresh and application tag */
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x32, 2), APP);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x34, 4), REF);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x39, 3), 1); /* seed */
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x3c, 2), 3); /* escapes, increment */
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x3e, 2), APP);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x1, 1), CHECK);

	memset(bsf, 0, sizeof(bsf));
	put_crypto(bsf, BSF_SIZE_WITH_INLINE);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x2, 1), 0);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x9, 7), 0);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x10, 16), TWEAK);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x20, 8), DEK);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x28, 8), TAG);
	assert_int_equal(bits_taken(bsf, BSF_SIZE, 0x30, 16), 0);
}

static void types_of_t10_that_are_none_are_refused(void **state)
{
	uint8_t bsf[BSF_SIZE] = { 0 };

	(void)state;
	put_signature(bsf);
	for (unsigned int type = 0; type < 256; type++) {
		fld_set(fld_at(bsf, BSF_MEM_INLINE), BSF_INL_TYPE, type);
		assert_int_equal(bsf_is_valid(bsf, sizeof(bsf)),
				 type == BSF_DIF_CRC || type == BSF_DIF_CSUM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_taken),
		cmocka_unit_test(checksums_start_from_what_the_format_says),
		cmocka_unit_test(bits_without_a_meaning_are_refused),
		cmocka_unit_test(types_of_t10_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
