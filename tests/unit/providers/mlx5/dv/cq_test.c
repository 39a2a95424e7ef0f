/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_test.c - mlx5dv_create_cq(): which sizes, formats and flags reach the creation of a CQ, and
 * which are refused. Functions of the test stand for the device's abilities and for the creation.
 *
 * Covers: providers/mlx5/dv/cq.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/dv.h"

enum { REFUSED = EDOM, FORMATS = 6, OF_ENVIRONMENT = 64 };

#define COMPRESSED MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE
#define SIZE       MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE
#define FLAGS      MLX5DV_CQ_INIT_ATTR_MASK_FLAGS
#define PAD        MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5_ib_query_device_resp resp;
	struct cq_options options; /* of the last creation */
	struct ibv_cq_init_attr_ex attr;
	struct mlx5_cq cq;
	int resp_error, create_error;
	unsigned int created;
} it;

int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp);
int __wrap_mlx5_cq_create_with(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			       const struct cq_options *options, struct verbs_cq **vcq);

int __wrap_mlx5_device_resp_get(struct mlx5_context *ctx,
				const struct mlx5_ib_query_device_resp **resp)
{
	assert_ptr_equal(ctx, it.ctx);
	*resp = it.resp_error ? NULL : &it.resp;
	return it.resp_error;
}

int __wrap_mlx5_cq_create_with(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			       const struct cq_options *options, struct verbs_cq **vcq)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_ptr_equal(attr, &it.attr);
	it.options = *options;
	it.created++;
	*vcq = &it.cq.vcq;
	return it.create_error;
}

static int cq_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.ctx->env.cqe_size = OF_ENVIRONMENT;
	it.resp.cqe_comp_caps.max_num = 1;
	it.resp.cqe_comp_caps.supported_format = FORMATS;
	return 0;
}

static int cq_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

/* Returns the errno of the call, and checks whether it creates a CQ. */
static int cq_made(struct mlx5dv_cq_init_attr attr)
{
	const unsigned int before = it.created;
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = mlx5dv_create_cq(&it.ctx->vctx.context, &it.attr, &attr);
	assert_ptr_equal(cq, errno ? NULL : &it.cq.vcq.cq_ex);
	assert_int_equal(it.created - before, !errno);
	return errno;
}

static void without_attributes_the_environment_holds(void **state)
{
	(void)state;
	assert_non_null(mlx5dv_create_cq(&it.ctx->vctx.context, &it.attr, NULL));
	assert_int_equal(it.options.cqe_size, OF_ENVIRONMENT);
	assert_int_equal(cq_made((struct mlx5dv_cq_init_attr){
				 .cqe_size = 128, .cqe_comp_res_format = 2, .flags = PAD }),
			 0);
	assert_int_equal(it.options.cqe_size, OF_ENVIRONMENT);
	assert_true(!it.options.compressed && !it.options.kernel_flags);
	it.create_error = REFUSED;
	errno = 0;
	assert_null(mlx5dv_create_cq(&it.ctx->vctx.context, &it.attr, NULL));
	assert_int_equal(errno, REFUSED);
}

static void a_format_is_one_of_the_devices(void **state)
{
	struct mlx5dv_cq_init_attr attr = { .comp_mask = COMPRESSED };

	(void)state;
	for (uint8_t format = 1; format <= 8; format *= 2) {
		attr.cqe_comp_res_format = format;
		assert_int_equal(cq_made(attr), format & FORMATS ? 0 : EINVAL);
		if (!(format & FORMATS))
			continue;
		assert_true(it.options.compressed);
		assert_int_equal(it.options.mini_cqe_format, format);
	}
	attr.cqe_comp_res_format = 2;
	it.resp.cqe_comp_caps.max_num = 0;
	assert_int_equal(cq_made(attr), EINVAL);
	it.resp_error = REFUSED;
	assert_int_equal(cq_made(attr), REFUSED);
}

static void cqes_of_128_bytes_may_be_padded(void **state)
{
	struct mlx5dv_cq_init_attr attr = { .comp_mask = SIZE, .cqe_size = 128, .flags = PAD };

	(void)state;
	assert_int_equal(cq_made(attr), 0);
	assert_true(it.options.cqe_size == 128 && !it.options.kernel_flags);
	attr.comp_mask |= FLAGS;
	assert_int_equal(cq_made(attr), 0);
	assert_int_equal(it.options.kernel_flags, MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD);
	attr.flags = PAD << 1;
	assert_int_equal(cq_made(attr), EINVAL);
	attr.flags = 0;
	assert_int_equal(cq_made(attr), 0);
	assert_int_equal(it.options.kernel_flags, 0);
	attr.flags = PAD;
	attr.cqe_size = 64;
	assert_int_equal(cq_made(attr), EINVAL);
	attr.comp_mask = FLAGS;
	it.ctx->env.cqe_size = 128;
	assert_int_equal(cq_made(attr), 0);
}

static void what_is_not_known_is_refused(void **state)
{
	(void)state;
	assert_int_equal(cq_made((struct mlx5dv_cq_init_attr){ .comp_mask = 8 }), EINVAL);
	it.device.driver = NULL;
	assert_int_equal(cq_made((struct mlx5dv_cq_init_attr){ 0 }), EOPNOTSUPP);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, cq_begin, cq_end)
	const struct CMUnitTest tests[] = {
		CASE(without_attributes_the_environment_holds),
		CASE(a_format_is_one_of_the_devices),
		CASE(cqes_of_128_bytes_may_be_padded),
		CASE(what_is_not_known_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
