/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_test.c - memory keys: the commands that create them byte by byte, what is refused, failures
 * of each command, which leave nothing behind, and signature errors as a program reads them.
 *
 * Covers: providers/mlx5/dv/mkey.c
 */
#include "devx_double.h"

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/pd.h"

static struct provider_pd pd = { .pdn = 0xabcdef };

enum {
	INDIRECT = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
	SIGNED = INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
	ENCRYPTED = INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
	BOTH = SIGNED | ENCRYPTED,
};

static int mkey_begin(void **state)
{
	devx_begin(state);
	pd.pd.context = devx_context();
	devx.caps.signs_blocks = devx.caps.encrypts = true;
	return 0;
}

static int mkey_end(void **state)
{
	if (devx.ctx->sig_keys) {
		provider_id_lookup_destroy(devx.ctx->sig_keys);
		free(devx.ctx->sig_keys);
	}
	return devx_end(state);
}

static struct mlx5dv_mkey *mkey_create(uint32_t flags, uint16_t entries)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = &pd.pd,
					      .create_flags = flags,
					      .max_entries = entries };
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);

	if (mkey)
		assert_int_equal(attr.max_entries, (entries + 3) / 4 * 4);
	return mkey;
}

static void mkey_destroy(struct mlx5dv_mkey *mkey)
{
	assert_non_null(mkey);
	assert_int_equal(mlx5dv_destroy_mkey(mkey), 0);
}

/* ---- creation ---- */

static void a_plain_key_is_one_command(void **state)
{
	struct mlx5dv_mkey *mkey = mkey_create(INDIRECT, 5);

	(void)state;
	assert_non_null(mkey);
	assert_int_equal(devx.calls, 1);
	assert_string_equal(devx.in, "0:02000000 10:40008600 14:ffffff00 1c:00abcdef "
				     "44:00000008");
	assert_int_equal(mkey->lkey, DEVX_FIRST_ID << 8);
	assert_int_equal(mkey->rkey, mkey->lkey);
	assert_false(mkey_computes(to_mkey(mkey)));
	mkey_destroy(mkey);
	mkey = mkey_create(INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE, 4);
	assert_string_equal(devx.in, "0:02000000 10:40008600 14:ffffff00 1c:01abcdef "
				     "44:00000004");
	mkey_destroy(mkey);
}

static void an_encrypting_key_has_one_format(void **state)
{
	for (unsigned int units = 0; units < 2; units++) {
		struct mlx5dv_mkey *mkey;

		devx.caps.encrypts_units = units;
		mkey = mkey_create(ENCRYPTED, 1);
		assert_non_null(mkey);
		assert_int_equal(devx.calls, 1 + units * 2);
		assert_true(to_mkey(mkey)->encrypts && mkey_computes(to_mkey(mkey)));
		assert_int_equal(to_mkey(mkey)->encrypts_units, units);
		assert_null(to_mkey(mkey)->sig);
		if (!units)
			assert_string_equal(devx.in,
					    "0:02000000 10:40008600 14:ffffff00 1c:40abcdef "
					    "30:00000004 44:00000004 4c:08000000");
		mkey_destroy(mkey);
	}
	(void)state;
}

static void a_signing_key_has_two_psvs(void **state)
{
	struct mlx5dv_mkey *mkey;

	(void)state;
	fld_set(devx.answer, CREATE_PSV_OUT_PSV(0), 0x1234);
	devx_fail_at(3, EPERM, 0); /* shows the second PSV's command, as the key's comes next */
	assert_null(mkey_create(SIGNED, 1));
	assert_int_equal(devx.objects, 0);
	devx_fail_at(0, 0, 0);
	mkey = mkey_create(SIGNED, 1);
	assert_int_equal(devx.calls, 3);
	assert_string_equal(devx.in, "0:02000000 10:40008600 14:ffffff00 1c:40abcdef "
				     "30:00000004 44:00000004");
	assert_int_equal(to_mkey(mkey)->sig->mem.n, 0x1234);
	assert_true(to_mkey(mkey)->sig->mem.exists && to_mkey(mkey)->sig->wire.exists);
	assert_true(mkey_computes(to_mkey(mkey)));
	assert_false(to_mkey(mkey)->encrypts);
	assert_ptr_equal(id_find(devx.ctx->sig_keys->root, to_mkey(mkey)->object.id),
			 to_mkey(mkey));
	mkey_destroy(mkey);
	assert_null(id_find(devx.ctx->sig_keys->root, DEVX_FIRST_ID + 2));
	mkey = mkey_create(BOTH, 1);
	assert_string_equal(devx.in, "0:02000000 10:40008600 14:ffffff00 1c:40abcdef "
				     "30:00000008 44:00000004 4c:08000000");
	mkey_destroy(mkey);
}

static void a_psv_is_of_the_pd(void **state)
{
	(void)state;
	devx_fail_at(1, EPERM, 0);
	assert_null(mkey_create(SIGNED, 1));
	assert_string_equal(devx.in, "0:06000000 8:10abcdef");
}

/* ---- refusals ---- */

static void check_refused(uint32_t flags, int err, const char *text)
{
	assert_null(mkey_create(flags, 1));
	assert_int_equal(errno, err);
	check_logged(text);
	assert_int_equal(devx.calls, 0);
}

static void keys_that_cannot_be_are_refused(void **state)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = &pd.pd,
					      .create_flags = INDIRECT,
					      .max_entries = UINT16_MAX - 2 };

	(void)state;
	check_refused(0, EOPNOTSUPP, "create_flags is 0: there are no other keys than");
	check_refused(INDIRECT | 1u << 30, EOPNOTSUPP, "there are no other keys than");
	check_refused(INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG, EOPNOTSUPP,
		      "the device's keys have no tag that requests change");
	devx.caps.signs_blocks = false;
	check_refused(SIGNED, EOPNOTSUPP, "the device has no signatures");
	devx.caps.signs_blocks = true;
	devx.caps.encrypts = false;
	check_refused(ENCRYPTED, EOPNOTSUPP, "the device does not encrypt");
	check_refused(BOTH, EOPNOTSUPP, "the device does not encrypt");
	devx.caps_err = EIO;
	check_refused(SIGNED, EIO, "");
	check_refused(ENCRYPTED, EIO, "");
	assert_null(mlx5dv_create_mkey(&attr));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_create_mkey: max_entries is 65533, limit 65532");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	check_refused(INDIRECT, EOPNOTSUPP, "mlx5dv_create_mkey: other_0 is not an mlx5 device");
}

static void a_key_may_have_65532_entries(void **state)
{
	struct mlx5dv_mkey *mkey = mkey_create(INDIRECT, 65532);

	(void)state;
	assert_string_equal(devx.in, "0:02000000 10:40008600 14:ffffff00 1c:00abcdef "
				     "44:0000fffc");
	mkey_destroy(mkey);
}

/* ---- failures ---- */

/* Keys with the most commands: two PSVs and the key. */
static void a_command_that_fails_leaves_nothing(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 3; n++) {
		devx_fail_at(n, ENOSPC, 0);
		assert_null(mkey_create(BOTH, 1));
		assert_int_equal(errno, ENOSPC);
		assert_int_equal(devx.objects, 0);
		assert_int_equal(heap.blocks, 0);
	}
}

static void memory_that_lacks_leaves_nothing(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 3; n++) {
		heap_fail_at(n);
		assert_null(mkey_create(SIGNED, 1));
		assert_int_equal(errno, ENOMEM);
		assert_int_equal(devx.objects, 0);
		assert_int_equal(heap.blocks, 0);
	}
}

/* A signature that fails must not become a key that encrypts. */
static void encryption_does_not_hide_that_a_signature_failed(void **state)
{
	(void)state;
	devx_fail_at(2, ENOSPC, 0);
	assert_null(mkey_create(BOTH, 1));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(devx.calls, 3); /* two PSVs, and the first destroyed */
}

/* A destruction that fails may be tried again, and goes on where it stopped. */
static void a_destruction_that_fails_goes_on_later(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 3; n++) {
		struct mlx5dv_mkey *mkey = mkey_create(SIGNED, 1);
		uint32_t id = to_mkey(mkey)->object.id;

		devx_fail_at(n, EBUSY, 0);
		assert_int_equal(mlx5dv_destroy_mkey(mkey), EBUSY);
		assert_int_equal(devx.objects, 4 - (int)n);
		assert_ptr_equal(id_find(devx.ctx->sig_keys->root, id),
				 n == 1 ? to_mkey(mkey) : NULL);
		devx_fail_at(0, 0, 0);
		mkey_destroy(mkey);
		assert_int_equal(devx.calls, 4 - n);
		assert_int_equal(devx.objects, 0);
	}
}

/* ---- errors of signatures ---- */

static struct mlx5dv_mkey_err check_key(struct mlx5dv_mkey *mkey, int want)
{
	struct mlx5dv_mkey_err err;

	memset(&err, 0xee, sizeof(err));
	assert_int_equal(mlx5dv_mkey_check(mkey, &err), want);
	return err;
}

static void set_error(struct mlx5dv_mkey *mkey, uint16_t syndrome, uint8_t domain)
{
	struct mkey_sig *sig = to_mkey(mkey)->sig;

	sig->error = (struct mkey_sig_error){ .syndrome = syndrome,
					      .domain = domain,
					      .expected = 0x1122334455667788,
					      .actual = 0x99aabbccddeeff00,
					      .offset = 0x4200000042 };
	sig->has_error = true;
}

static void check_error(struct mlx5dv_mkey *mkey, enum mlx5dv_mkey_err_type type, uint64_t expected,
			uint64_t actual)
{
	uint16_t count = to_mkey(mkey)->sig_count;
	struct mlx5dv_mkey_err err = check_key(mkey, 0);

	assert_int_equal(err.err_type, type);
	assert_int_equal(err.err.sig.expected_value, expected);
	assert_int_equal(err.err.sig.actual_value, actual);
	assert_int_equal(err.err.sig.offset, 0x4200000042);
	assert_int_equal(to_mkey(mkey)->sig_count, (uint16_t)(count + 1));
	assert_int_equal(check_key(mkey, 0).err_type, MLX5DV_MKEY_NO_ERR);
}

static void an_error_is_read_once(void **state)
{
	struct mlx5dv_mkey *mkey = mkey_create(SIGNED, 1);
	struct mkey_sig_format *format = mkey_sig_at(to_mkey(mkey), to_mkey(mkey)->config.sig);

	(void)state;
	assert_int_equal(check_key(mkey, 0).err_type, MLX5DV_MKEY_NO_ERR);
	format->wire = MKEY_SIG_KIND_DIF;
	format->mem = MKEY_SIG_KIND_CRC32;
	set_error(mkey, SIG_ERR_REF | SIG_ERR_APP | SIG_ERR_GUARD, SIG_ERR_ON_WIRE);
	check_error(mkey, MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG, 0x55667788, 0xddeeff00);
	set_error(mkey, SIG_ERR_APP | SIG_ERR_GUARD, SIG_ERR_ON_WIRE);
	check_error(mkey, MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG, 0x3344, 0xbbcc);
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_ON_WIRE);
	check_error(mkey, MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, 0x1122, 0x99aa);
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_IN_MEMORY);
	check_error(mkey, MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, 0x11223344, 0x99aabbcc);
	format->mem = MKEY_SIG_KIND_CRC64;
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_IN_MEMORY);
	check_error(mkey, MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, 0x1122334455667788, 0x99aabbccddeeff00);
	mkey_destroy(mkey);
}

static void check_unreadable(struct mlx5dv_mkey *mkey, const char *text)
{
	check_key(mkey, EINVAL);
	check_logged(text);
}

static void an_error_that_makes_no_sense_is_refused(void **state)
{
	struct mlx5dv_mkey *mkey = mkey_create(SIGNED, 1), *plain;
	struct mkey_sig_format *format = mkey_sig_at(to_mkey(mkey), to_mkey(mkey)->config.sig);

	(void)state;
	format->mem = MKEY_SIG_KIND_CRC32;
	format->wire = 0;
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_IN_MEMORY);
	to_mkey(mkey)->sig->error.type = 1;
	check_unreadable(mkey, "the device tells of an error that is not of a block");
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_ON_WIRE);
	check_unreadable(mkey, "the device tells of an error in a domain without one");
	set_error(mkey, SIG_ERR_GUARD, SIG_ERR_IN_MEMORY + 1);
	check_unreadable(mkey, "the device tells of an error in a domain without one");
	set_error(mkey, 0, SIG_ERR_IN_MEMORY);
	check_unreadable(mkey, "the device does not tell what was wrong");
	mkey_destroy(mkey);
	plain = mkey_create(INDIRECT, 1);
	check_unreadable(plain, "it was created without MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIG");
	mkey_destroy(plain);
}

static void an_error_fits_the_programs_struct(void **state)
{
	struct mlx5dv_mkey *mkey = mkey_create(SIGNED, 1);
	struct {
		struct mlx5dv_mkey_err err;
		uint8_t more[16];
	} info;
	uint8_t *bytes = (uint8_t *)&info;

	(void)state;
	mkey_sig_at(to_mkey(mkey), to_mkey(mkey)->config.sig)->wire = MKEY_SIG_KIND_DIF;
	for (size_t size = sizeof(info.err.err_type); size <= sizeof(info); size += 4) {
		set_error(mkey, SIG_ERR_REF, SIG_ERR_ON_WIRE);
		memset(&info, 0xee, sizeof(info));
		assert_int_equal(_mlx5dv_mkey_check(mkey, &info.err, size), 0);
		assert_int_equal(info.err.err_type, MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG);
		for (size_t i = sizeof(info.err); i < sizeof(info); i++)
			assert_int_equal(bytes[i], i < size ? 0 : 0xee);
		for (size_t i = size; i < sizeof(info.err); i++)
			assert_int_equal(bytes[i], 0xee);
	}
	mkey_destroy(mkey);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, mkey_begin, mkey_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_plain_key_is_one_command),
		TEST(an_encrypting_key_has_one_format),
		TEST(a_signing_key_has_two_psvs),
		TEST(a_psv_is_of_the_pd),
		TEST(keys_that_cannot_be_are_refused),
		TEST(a_key_may_have_65532_entries),
		TEST(a_command_that_fails_leaves_nothing),
		TEST(memory_that_lacks_leaves_nothing),
		TEST(encryption_does_not_hide_that_a_signature_failed),
		TEST(a_destruction_that_fails_goes_on_later),
		TEST(an_error_is_read_once),
		TEST(an_error_that_makes_no_sense_is_refused),
		TEST(an_error_fits_the_programs_struct),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
