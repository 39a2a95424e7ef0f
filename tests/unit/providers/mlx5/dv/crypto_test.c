/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto_test.c - logins and data encryption keys: the commands byte by byte, what is refused
 * without a command, and failures of the device, which leave nothing behind.
 *
 * Covers: providers/mlx5/dv/crypto.c, providers/mlx5/devx_cmd.c
 */
#include "devx_double.h"

#include "prm/mlx5/crypto.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/pd.h"

static uint8_t credential[PRM_CREDENTIAL_SIZE + 1];

static struct mlx5dv_crypto_login_attr_ex login_attr(void)
{
	for (size_t i = 0; i < sizeof(credential); i++)
		credential[i] = (uint8_t)(0xc1 + i);
	return (struct mlx5dv_crypto_login_attr_ex){ .credential_id = 0x123456,
						     .import_kek_id = 0x654321,
						     .credential = credential,
						     .credential_len = 7 };
}

static void device_imports_wrapped(void)
{
	devx.caps.encrypts = devx.caps.imports_wrapped = true;
}

static struct mlx5dv_crypto_login_obj *login_create(void)
{
	struct mlx5dv_crypto_login_attr_ex attr = login_attr();

	return mlx5dv_crypto_login_create(devx_context(), &attr);
}

/* ---- logins ---- */

static void a_login_has_its_credential(void **state)
{
	struct mlx5dv_crypto_login_obj *login;

	(void)state;
	device_imports_wrapped();
	login = login_create();
	assert_non_null(login);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	assert_string_equal(
		devx.in, "0:0a000000 4:0000001f 20:00123456 24:00654321 50:c1c2c3c4 54:c5c6c700");
	assert_int_equal(mlx5dv_crypto_login_destroy(login), 0);
	assert_int_equal(devx.handle, DEVX_FIRST_HANDLE);
}

static void a_credential_has_48_bytes_at_most(void **state)
{
	struct mlx5dv_crypto_login_attr_ex attr = login_attr();
	struct mlx5dv_crypto_login_obj *login;

	(void)state;
	device_imports_wrapped();
	attr.credential_len = PRM_CREDENTIAL_SIZE + 1;
	assert_null(mlx5dv_crypto_login_create(devx_context(), &attr));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_crypto_login_create: credential_len is above 48");
	attr.credential_len--;
	login = mlx5dv_crypto_login_create(devx_context(), &attr);
	assert_non_null(login);
	assert_int_equal(mlx5dv_crypto_login_destroy(login), 0);
}

static void check_no_login(int err, const char *text)
{
	assert_null(login_create());
	assert_int_equal(errno, err);
	check_logged(text);
	assert_int_equal(devx.calls, 0);
}

static void a_login_needs_a_device_that_unwraps(void **state)
{
	struct mlx5dv_crypto_login_attr_ex attr = login_attr();

	(void)state;
	check_no_login(EOPNOTSUPP, "mlx5_0 does not encrypt, or the context is without DevX");
	devx.caps.encrypts = true;
	check_no_login(EOPNOTSUPP, "mlx5dv_crypto_login_create: mlx5_0 takes keys as they are");
	devx.caps.imports_wrapped = true;
	devx.caps_err = EOPNOTSUPP;
	check_no_login(EOPNOTSUPP, "mlx5_0 does not encrypt, or the context is without DevX");
	devx.caps_err = 0;
	attr.comp_mask = 1;
	assert_null(mlx5dv_crypto_login_create(devx_context(), &attr));
	assert_int_equal(errno, EINVAL);
	check_logged("comp_mask is not 0");
	devx.page_err = EIO;
	assert_null(login_create());
	assert_int_equal(errno, EIO);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	check_no_login(EOPNOTSUPP, "mlx5dv_crypto_login_create: other_0 is not an mlx5 device");
}

static void a_login_that_fails_leaves_nothing(void **state)
{
	struct mlx5dv_crypto_login_obj *login;

	(void)state;
	device_imports_wrapped();
	heap_fail_at(1);
	assert_null(login_create());
	assert_int_equal(errno, ENOMEM);
	devx_fail_at(1, ENOSPC, 0);
	assert_null(login_create());
	assert_int_equal(errno, ENOSPC);
	check_logged("the device's command 0xa00 fails: errno 28, status 0x0");
	assert_int_equal(heap.blocks, 0);
	devx_fail_at(2, EBUSY, 0);
	login = login_create();
	assert_non_null(login);
	assert_int_equal(mlx5dv_crypto_login_destroy(login), EBUSY);
	check_logged("the device's object 0x120 is not destroyed: errno 16");
	assert_int_equal(mlx5dv_crypto_login_destroy(login), 0);
}

static void a_logins_state_is_the_devices(void **state)
{
	struct mlx5dv_crypto_login_query_attr attr = { .comp_mask = 1 };
	struct mlx5dv_crypto_login_obj *login;
	uint8_t *obj = fld_at(devx.answer, GENERAL_OBJ_OBJECT);

	(void)state;
	device_imports_wrapped();
	login = login_create();
	assert_int_equal(mlx5dv_crypto_login_query(login, &attr), EINVAL);
	check_logged("mlx5dv_crypto_login_query: comp_mask is not 0");
	attr.comp_mask = 0;
	fld_set(obj, CRYPTO_LOGIN_STATE, PRM_CRYPTO_LOGIN_VALID);
	assert_int_equal(mlx5dv_crypto_login_query(login, &attr), 0);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	assert_int_equal(devx.handle, DEVX_FIRST_HANDLE);
	assert_string_equal(devx.in, "0:0a020000 4:0000001f 8:00000120");
	assert_int_equal(attr.state, MLX5DV_CRYPTO_LOGIN_STATE_VALID);
	fld_set(obj, CRYPTO_LOGIN_STATE, PRM_CRYPTO_LOGIN_VALID + 1);
	assert_int_equal(mlx5dv_crypto_login_query(login, &attr), 0);
	assert_int_equal(attr.state, MLX5DV_CRYPTO_LOGIN_STATE_INVALID);
	devx_fail_at(1, 0, PRM_STAT_LIM_ERR);
	assert_int_equal(mlx5dv_crypto_login_query(login, &attr), ENOMEM);
	assert_int_equal(mlx5dv_crypto_login_destroy(login), 0);
}

static struct mlx5dv_crypto_login_attr whole_attr(void)
{
	struct mlx5dv_crypto_login_attr attr = { .credential_id = 1, .import_kek_id = 2 };

	for (size_t i = 0; i < sizeof(attr.credential); i++)
		attr.credential[i] = (char)(i + 1);
	return attr;
}

static void a_context_is_logged_in_once(void **state)
{
	struct mlx5dv_crypto_login_attr attr = whole_attr();
	enum mlx5dv_crypto_login_state login_state;

	(void)state;
	device_imports_wrapped();
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), ENOENT);
	check_logged("mlx5dv_crypto_logout: the context is not logged in");
	assert_int_equal(mlx5dv_crypto_login_query_state(devx_context(), &login_state), 0);
	assert_int_equal(login_state, MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN);
	assert_int_equal(mlx5dv_crypto_login(devx_context(), &attr), 0);
	assert_string_equal(devx.in, "0:0a000000 4:0000001f 20:00000001 24:00000002 "
				     "50:01020304 54:05060708 58:090a0b0c 5c:0d0e0f10 "
				     "60:11121314 64:15161718 68:191a1b1c 6c:1d1e1f20 "
				     "70:21222324 74:25262728 78:292a2b2c 7c:2d2e2f30");
	assert_int_equal(mlx5dv_crypto_login(devx_context(), &attr), EEXIST);
	check_logged("mlx5dv_crypto_login: the context is logged in already");
	assert_int_equal(mlx5dv_crypto_login_query_state(devx_context(), &login_state), 0);
	assert_int_equal(login_state, PRM_CRYPTO_LOGIN_VALID ? MLX5DV_CRYPTO_LOGIN_STATE_INVALID
							     : MLX5DV_CRYPTO_LOGIN_STATE_VALID);
	devx_fail_at(1, EBUSY, 0);
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), EBUSY);
	assert_string_equal(strstr(log_text(), "not logged in") ? "logged" : "", "");
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), 0);
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), ENOENT);
	attr.comp_mask = 1;
	assert_int_equal(mlx5dv_crypto_login(devx_context(), &attr), EINVAL);
	devx.page_err = EIO;
	assert_int_equal(mlx5dv_crypto_login_query_state(devx_context(), &login_state), EIO);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_int_equal(mlx5dv_crypto_login(devx_context(), &attr), EOPNOTSUPP);
	check_logged("mlx5dv_crypto_login: other_0 is not an mlx5 device");
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), EOPNOTSUPP);
	check_logged("mlx5dv_crypto_logout: other_0 is not an mlx5 device");
}

/* ---- keys ---- */

static struct provider_pd pd = { .pdn = 0xabcdef };

static struct mlx5dv_dek_init_attr dek_attr(void)
{
	struct mlx5dv_dek_init_attr attr = { .key_size = MLX5DV_CRYPTO_KEY_SIZE_256,
					     .key_purpose = MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS,
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN,
					     .pd = &pd.pd };

	memcpy(attr.opaque, "\1\2\3\4\5\6\7\10", sizeof(attr.opaque));
	for (size_t i = 0; i < sizeof(attr.key); i++)
		attr.key[i] = (char)(0x81 + i);
	return attr;
}

static void a_key_is_in_its_command(void **state)
{
	struct mlx5dv_dek_init_attr attr = dek_attr();
	struct mlx5dv_dek *dek;

	(void)state;
	devx.caps.encrypts = true;
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_non_null(dek);
	assert_string_equal(devx.in, "0:0a000000 4:0000000c 18:00000103 1c:00abcdef "
				     "40:01020304 44:05060708 50:81828384 54:85868788 "
				     "58:898a8b8c 5c:8d8e8f90 60:91929394 64:95969798 "
				     "68:999a9b9c 6c:9d9e9fa0 70:a1a2a3a4 74:a5a6a7a8 "
				     "78:a9aaabac 7c:adaeafb0 80:b1b2b3b4 84:b5b6b7b8 "
				     "88:b9babbbc 8c:bdbebfc0 90:c1c2c3c4 94:c5c6c7c8 "
				     "98:c9cacbcc 9c:cdcecfd0 a0:d1d2d3d4 a4:d5d6d7d8 "
				     "a8:d9dadbdc ac:dddedfe0 b0:e1e2e3e4 b4:e5e6e7e8 "
				     "b8:e9eaebec bc:edeeeff0 c0:f1f2f3f4 c4:f5f6f7f8 "
				     "c8:f9fafbfc cc:fdfeff00");
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
	attr.key_size = MLX5DV_CRYPTO_KEY_SIZE_128;
	attr.has_keytag = 1;
	memset(attr.key, 0, sizeof(attr.key));
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_string_equal(
		devx.in, "0:0a000000 4:0000000c 18:00000083 1c:00abcdef 40:01020304 44:05060708");
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
}

static void check_no_dek(const struct mlx5dv_dek_init_attr *attr, const char *text)
{
	struct mlx5dv_dek_init_attr copy = *attr;

	assert_null(mlx5dv_dek_create(devx_context(), &copy));
	assert_int_equal(errno, EINVAL);
	check_logged(text);
	assert_int_equal(devx.objects, 0);
}

static void a_key_that_cannot_be_is_refused(void **state)
{
	struct mlx5dv_dek_init_attr attr = dek_attr();

	(void)state;
	devx.caps.encrypts = true;
	attr.comp_mask |= 2;
	check_no_dek(&attr, "mlx5dv_dek_create: comp_mask has unknown ones");
	attr = dek_attr();
	attr.key_size = MLX5DV_CRYPTO_KEY_SIZE_256 + 1;
	check_no_dek(&attr, "key_size is none that there is");
	attr = dek_attr();
	attr.key_purpose = MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS + 1;
	check_no_dek(&attr, "key_purpose is none that there is");
	attr = dek_attr();
	attr.comp_mask = 0;
	check_no_dek(&attr, "the context is not logged in");
	devx.caps.imports_wrapped = true;
	attr = dek_attr();
	check_no_dek(&attr, "the device takes keys wrapped, and there is no crypto_login");
	devx.caps.encrypts = false;
	assert_null(mlx5dv_dek_create(devx_context(), &attr));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void a_wrapped_key_needs_a_login(void **state)
{
	struct mlx5dv_crypto_login_attr whole = whole_attr();
	struct mlx5dv_dek_init_attr attr = dek_attr();
	struct mlx5dv_crypto_login_obj *login;
	struct mlx5dv_dek *dek;

	(void)state;
	device_imports_wrapped();
	login = login_create();
	attr.crypto_login = login;
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_non_null(dek);
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
	assert_int_equal(mlx5dv_crypto_login_destroy(login), 0);
	assert_int_equal(mlx5dv_crypto_login(devx_context(), &whole), 0);
	attr.crypto_login = NULL;
	attr.comp_mask = 0;
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_non_null(dek);
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
	assert_int_equal(mlx5dv_crypto_logout(devx_context()), 0);
}

static void a_key_that_fails_leaves_nothing(void **state)
{
	struct mlx5dv_dek_init_attr attr = dek_attr();
	struct mlx5dv_dek *dek;

	(void)state;
	devx.caps.encrypts = true;
	heap_fail_at(1);
	assert_null(mlx5dv_dek_create(devx_context(), &attr));
	assert_int_equal(errno, ENOMEM);
	devx_fail_at(1, 0, PRM_STAT_NO_RES_ERR);
	assert_null(mlx5dv_dek_create(devx_context(), &attr));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(heap.blocks, 0);
	devx_fail_at(2, EBUSY, 0);
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_int_equal(mlx5dv_dek_destroy(dek), EBUSY);
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
}

static void a_keys_state_is_the_devices(void **state)
{
	struct mlx5dv_dek_init_attr attr = dek_attr();
	struct mlx5dv_dek_attr answer = { .comp_mask = 1 };
	uint8_t *obj = fld_at(devx.answer, GENERAL_OBJ_OBJECT);
	struct mlx5dv_dek *dek;

	(void)state;
	devx.caps.encrypts = true;
	dek = mlx5dv_dek_create(devx_context(), &attr);
	assert_int_equal(mlx5dv_dek_query(dek, &answer), EINVAL);
	check_logged("mlx5dv_dek_query: comp_mask is not 0");
	answer.comp_mask = 0;
	memcpy(fld_at(obj, DEK_OPAQUE), "OPAQUE..", PRM_DEK_OPAQUE_SIZE);
	fld_set(obj, DEK_STATE, PRM_DEK_READY);
	assert_int_equal(mlx5dv_dek_query(dek, &answer), 0);
	assert_string_equal(devx.in, "0:0a020000 4:0000000c 8:00000120");
	assert_int_equal(answer.state, MLX5DV_DEK_STATE_READY);
	assert_memory_equal(answer.opaque, "OPAQUE..", PRM_DEK_OPAQUE_SIZE);
	fld_set(obj, DEK_STATE, PRM_DEK_READY + 1);
	assert_int_equal(mlx5dv_dek_query(dek, &answer), 0);
	assert_int_equal(answer.state, MLX5DV_DEK_STATE_ERROR);
	devx_fail_at(1, ENODEV, 0);
	assert_int_equal(mlx5dv_dek_query(dek, &answer), ENODEV);
	assert_int_equal(mlx5dv_dek_destroy(dek), 0);
}

/* ---- the device's status ---- */

static void each_status_has_an_errno(void **state)
{
	static const struct {
		uint32_t status;
		int err;
	} rows[] = {
		{ PRM_STAT_OK, 0 },
		{ PRM_STAT_RES_BUSY, EBUSY },
		{ PRM_STAT_LIM_ERR, ENOMEM },
		{ PRM_STAT_NO_RES_ERR, EAGAIN },
		{ PRM_STAT_BAD_OP_ERR, EINVAL },
		{ PRM_STAT_BAD_PARAM_ERR, EINVAL },
		{ PRM_STAT_BAD_RES_ERR, EINVAL },
		{ PRM_STAT_BAD_RES_STATE_ERR, EINVAL },
		{ PRM_STAT_IX_ERR, EINVAL },
		{ PRM_STAT_BAD_QP_STATE_ERR, EINVAL },
		{ PRM_STAT_INT_ERR, EIO },
		{ 0xfe, EIO },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t in[PRM_CMD_IN_SIZE] = { 0x01, 0x23 }, out[PRM_CMD_OUT_SIZE] = { 0 };

		devx_fail_at(1, 0, (uint8_t)rows[i].status);
		assert_int_equal(mlx5_devx_status_errno(rows[i].status), rows[i].err);
		assert_int_equal(mlx5_devx_run(devx.ctx, in, sizeof(in), out, sizeof(out)),
				 rows[i].err);
		check_logged("the device's command 0x123 fails: errno 121, status 0x");
	}
}

static void commands_on_objects_name_them(void **state)
{
	const struct devx_object object = { .handle = 0x77, .id = 0x88 };
	uint8_t in[PRM_CMD_IN_SIZE] = { 0x0a, 0x0b }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct ibv_qp qp = { .context = devx_context(), .handle = 0x99 };

	(void)state;
	fld_set(devx.answer, FLD(0xc, 31, 0), 0x1234);
	assert_int_equal(mlx5_devx_object_modify(devx.ctx, &object, in, sizeof(in)), 0);
	assert_int_equal(devx.handle, 0x77);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	assert_string_equal(devx.in, "0:0a0b0000");
	assert_int_equal(
		mlx5_devx_object_query(devx.ctx, &object, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_OBJ_QUERY);
	assert_int_equal(fld_get(out, FLD(0xc, 31, 0)), 0x1234);
	assert_int_equal(mlx5_devx_qp_query(&qp, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(devx.handle, 0x99);
	assert_int_equal(mlx5_devx_qp_modify(&qp, in, sizeof(in)), 0);
	assert_int_equal(devx.method, MLX5_IB_METHOD_DEVX_OBJ_MODIFY);
	devx_fail_at(1, ENODEV, 0);
	assert_int_equal(mlx5_devx_qp_modify(&qp, in, sizeof(in)), ENODEV);
	devx_fail_at(1, 0, PRM_STAT_RES_BUSY);
	assert_int_equal(
		mlx5_devx_object_query(devx.ctx, &object, in, sizeof(in), out, sizeof(out)), EBUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVX_TEST(a_login_has_its_credential),
		DEVX_TEST(a_credential_has_48_bytes_at_most),
		DEVX_TEST(a_login_needs_a_device_that_unwraps),
		DEVX_TEST(a_login_that_fails_leaves_nothing),
		DEVX_TEST(a_logins_state_is_the_devices),
		DEVX_TEST(a_context_is_logged_in_once),
		DEVX_TEST(a_key_is_in_its_command),
		DEVX_TEST(a_key_that_cannot_be_is_refused),
		DEVX_TEST(a_wrapped_key_needs_a_login),
		DEVX_TEST(a_key_that_fails_leaves_nothing),
		DEVX_TEST(a_keys_state_is_the_devices),
		DEVX_TEST(each_status_has_an_errno),
		DEVX_TEST(commands_on_objects_name_them),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
