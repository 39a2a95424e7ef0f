/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var_test.c - doorbell pages of emulated devices, and packet pacing: the commands, what is refused
 * without one, and failures, which leave nothing behind.
 *
 * Covers: providers/mlx5/dv/var.c, providers/mlx5/dv/pp.c
 */
#include "devx_double.h"

#include "providers/mlx5/dv/dv.h"

/* ---- doorbell pages ---- */

static void kernel_answers_var(void)
{
	devx.outs = 1u << 1 | 1u << 2 | 1u << 3;
	devx.out_values[1] = 0x120000;
	devx.out_values[2] = 0x1000;
	devx.out_values[3] = 0x77;
}

static void check_var(const struct mlx5dv_var *var)
{
	assert_non_null(var);
	assert_int_equal(var->page_id, 0x77);
	assert_int_equal(var->length, 0x1000);
	assert_int_equal(var->mmap_off, 0x120000);
	assert_int_equal(var->comp_mask, 0);
}

static void a_page_is_one_command(void **state)
{
	struct mlx5dv_var *var;

	(void)state;
	kernel_answers_var();
	var = mlx5dv_alloc_var(devx_context(), 0);
	check_var(var);
	assert_int_equal(devx.object, MLX5_IB_OBJECT_VAR);
	assert_int_equal(devx.method, MLX5_IB_METHOD_VAR_OBJ_ALLOC);
	assert_string_equal(devx.in, "1000=0:0 1001>8 1002>4 1003>4");
	mlx5dv_free_var(var);
	assert_int_equal(devx.method, MLX5_IB_METHOD_VAR_OBJ_DESTROY);
	devx.outs = 0;
	assert_string_equal(devx.in, "1000=0:51");
	kernel_answers_var();
	var = mlx5dv_alloc_var(devx_context(), MLX5DV_VAR_ALLOC_FLAG_TLP);
	check_var(var);
	assert_string_equal(devx.in, "1000=0:0 1001>8 1002>4 1003>4 1004=8:1");
	mlx5dv_free_var(var);
}

static void a_page_that_cannot_be_is_refused(void **state)
{
	(void)state;
	assert_null(mlx5dv_alloc_var(devx_context(), MLX5DV_VAR_ALLOC_FLAG_TLP << 1));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_alloc_var: flags is 0x2, known are 0x1");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_null(mlx5dv_alloc_var(devx_context(), 0));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_alloc_var: other_0 is not an mlx5 device");
	assert_int_equal(devx.calls, 0);
}

static void a_page_that_fails_leaves_nothing(void **state)
{
	(void)state;
	heap_fail_at(1);
	assert_null(mlx5dv_alloc_var(devx_context(), 0));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(devx.calls, 0);
	kernel_answers_var();
	devx_fail_at(1, ENOSPC, 0);
	assert_null(mlx5dv_alloc_var(devx_context(), 0));
	assert_int_equal(errno, ENOSPC);
	check_logged("mlx5dv_alloc_var: the kernel gives no doorbell page: errno 28");
}

/* A page's description goes to another process, which may have another off_t. */
static void a_page_is_shared_by_its_description(void **state)
{
	struct mlx5dv_var *var, *other;
	uint64_t attrs[8];

	(void)state;
	kernel_answers_var();
	devx.out_values[1] = 0x123456789000;
	var = mlx5dv_alloc_var(devx_context(), 0);
	memset(attrs, 0xee, sizeof(attrs));
	assert_int_equal(mlx5dv_var_export(var, attrs), 0);
	devx_fail_at(0, 0, 0);
	other = mlx5dv_var_import(devx_context(), attrs);
	assert_non_null(other);
	assert_int_equal(other->page_id, 0x77);
	assert_int_equal(other->length, 0x1000);
	assert_int_equal(other->mmap_off, (off_t)0x123456789000);
	assert_int_equal(devx.calls, 0);
	memset(attrs + 4, 0, 16);
	assert_int_equal(mlx5dv_var_export(other, attrs + 4), 0);
	mlx5dv_var_unimport(other);
	assert_int_equal(devx.calls, 0);
	mlx5dv_var_unimport(NULL);
	assert_memory_equal(attrs, attrs + 4, 24);
	mlx5dv_free_var(var);
}

static void an_import_without_arguments_is_refused(void **state)
{
	uint64_t attrs[8] = { 0 };

	(void)state;
	assert_null(mlx5dv_var_import(NULL, attrs));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_var_import: context is NULL");
	assert_null(mlx5dv_var_import(devx_context(), NULL));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_var_import: attrs is NULL");
	heap_fail_at(1);
	assert_null(mlx5dv_var_import(devx_context(), attrs));
	assert_int_equal(errno, ENOMEM);
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_null(mlx5dv_var_import(devx_context(), attrs));
	assert_int_equal(errno, EOPNOTSUPP);
}

/* ---- packet pacing ---- */

static const uint8_t rate[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

static void a_rate_is_one_command(void **state)
{
	struct mlx5dv_pp *pp;

	(void)state;
	devx.outs = 1u << 3;
	devx.out_values[3] = 0x42;
	pp = mlx5dv_pp_alloc(devx_context(), sizeof(rate), rate,
			     MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX);
	assert_non_null(pp);
	assert_int_equal(devx.object, MLX5_IB_OBJECT_PP);
	assert_int_equal(devx.method, MLX5_IB_METHOD_PP_OBJ_ALLOC);
	assert_string_equal(devx.in, "1000=0:0 1001<0102030405060708090a0b0c 1002=8:1 1003>2");
	assert_int_equal(pp->index, 0x42);
	devx.outs = 0;
	mlx5dv_pp_free(pp);
	assert_int_equal(devx.method, MLX5_IB_METHOD_PP_OBJ_DESTROY);
	assert_string_equal(devx.in, "1000=0:51");
}

static void a_rate_that_cannot_be_is_refused(void **state)
{
	(void)state;
	assert_null(mlx5dv_pp_alloc(devx_context(), UINT16_MAX + 1, rate, 0));
	assert_int_equal(errno, EINVAL);
	check_logged("mlx5dv_pp_alloc: pp_context_sz is 65536, limit 65535");
	assert_null(mlx5dv_pp_alloc(devx_context(), sizeof(rate), rate,
				    MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX << 1));
	assert_int_equal(errno, EOPNOTSUPP);
	check_logged("mlx5dv_pp_alloc: flags is 0x2, known are 0x1");
	heap_fail_at(1);
	assert_null(mlx5dv_pp_alloc(devx_context(), sizeof(rate), rate, 0));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(devx.calls, 0);
	devx_fail_at(1, EPERM, 0);
	assert_null(mlx5dv_pp_alloc(devx_context(), sizeof(rate), rate, 0));
	assert_int_equal(errno, EPERM);
	check_logged("the kernel refuses a rate of 12 bytes with flags 0: errno 1; the context is "
		     "without DevX");
	devx.ctx->vctx.context.device = &devx.foreign.device;
	assert_null(mlx5dv_pp_alloc(devx_context(), sizeof(rate), rate, 0));
	assert_int_equal(errno, EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVX_TEST(a_page_is_one_command),
		DEVX_TEST(a_page_that_cannot_be_is_refused),
		DEVX_TEST(a_page_that_fails_leaves_nothing),
		DEVX_TEST(a_page_is_shared_by_its_description),
		DEVX_TEST(an_import_without_arguments_is_refused),
		DEVX_TEST(a_rate_is_one_command),
		DEVX_TEST(a_rate_that_cannot_be_is_refused),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
