/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_test.c - mlx5dv_reg_dmabuf_mr() and the path of the data-direct function: what reaches the
 * kernel, and what is refused before. Functions of the test replace the kernel's commands.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/mr.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { OFFSET = 0x1000, LENGTH = 0x2000, IOVA = 0x5000, FD = 9, ACCESS = 3, REFUSED = EDOM };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct ibv_pd pd;
	unsigned int commands;
	bool has_flags;
	uint32_t flags;
	int refusal;
	size_t room; /* of the path */
} it;

int __wrap_verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, unsigned int access, struct verbs_mr *vmr,
				   const struct verbs_udata *udata);
int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs);

int __wrap_verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, unsigned int access, struct verbs_mr *vmr,
				   const struct verbs_udata *udata)
{
	assert_ptr_equal(pd, &it.pd);
	assert_int_equal(offset, OFFSET);
	assert_int_equal(length, LENGTH);
	assert_int_equal(iova, IOVA);
	assert_int_equal(fd, FD);
	assert_int_equal(access, ACCESS);
	assert_non_null(vmr);
	it.commands++;
	it.has_flags = udata;
	if (udata) {
		assert_int_equal(udata->nattrs, 1);
		assert_int_equal(udata->attrs[0].id, MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS);
		it.flags = (uint32_t)udata->attrs[0].value;
	}
	return it.refusal;
}

int __wrap_verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
			 const struct verbs_attr *attrs, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(object, UVERBS_OBJECT_DEVICE);
	assert_int_equal(method, MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH);
	assert_int_equal(nattrs, 1);
	assert_int_equal(attrs[0].id, MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH);
	it.commands++;
	it.room = attrs[0].len;
	return it.refusal;
}

static int mr_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.pd.context = &it.ctx->vctx.context;
	return 0;
}

static int mr_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

static struct ibv_mr *mr_reg(int mlx5_access)
{
	errno = 0;
	return mlx5dv_reg_dmabuf_mr(&it.pd, OFFSET, LENGTH, IOVA, FD, ACCESS, mlx5_access);
}

static void a_region_is_registered_as_it_is_asked_for(void **state)
{
	struct ibv_mr *mr = mr_reg(0);

	(void)state;
	assert_non_null(mr);
	assert_int_equal(it.commands, 1);
	assert_false(it.has_flags);
	free(container_of(mr, struct verbs_mr, mr));
	mr = mr_reg(MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT);
	assert_non_null(mr);
	assert_true(it.has_flags);
	assert_int_equal(it.flags, MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT);
	free(container_of(mr, struct verbs_mr, mr));
}

static void access_that_nobody_knows_reaches_no_kernel(void **state)
{
	(void)state;
	for (int bit = 0; bit < 31; bit++) {
		const int access = 1 << bit;

		if (access == MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT)
			continue;
		assert_null(mr_reg(access));
		assert_int_equal(errno, EINVAL);
		assert_null(mr_reg(access | MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT));
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(it.commands, 0);
}

static void the_kernels_errno_is_the_calls(void **state)
{
	(void)state;
	it.refusal = REFUSED;
	assert_null(mr_reg(0));
	assert_int_equal(errno, REFUSED);
	assert_int_equal(it.commands, 1);
}

static void another_providers_context_is_refused(void **state)
{
	static const struct verbs_driver other;
	char path[8];

	(void)state;
	it.device.driver = &other;
	assert_null(mr_reg(0));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(mr_reg(1 << 20));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(mlx5dv_get_data_direct_sysfs_path(it.pd.context, path, sizeof(path)),
			 EOPNOTSUPP);
	assert_int_equal(it.commands, 0);
}

static void a_path_gets_the_programs_room(void **state)
{
	char path[8];

	(void)state;
	assert_int_equal(mlx5dv_get_data_direct_sysfs_path(it.pd.context, path, sizeof(path)), 0);
	assert_int_equal(it.room, sizeof(path));
	assert_int_equal(mlx5dv_get_data_direct_sysfs_path(it.pd.context, path, 1 << 20), 0);
	assert_int_equal(it.room, UINT16_MAX);
	it.refusal = ENODEV;
	assert_int_equal(mlx5dv_get_data_direct_sysfs_path(it.pd.context, path, sizeof(path)),
			 ENODEV);
	assert_int_equal(errno, ENODEV);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mr_begin, mr_end)
	const struct CMUnitTest tests[] = {
		CASE(a_region_is_registered_as_it_is_asked_for),
		CASE(access_that_nobody_knows_reaches_no_kernel),
		CASE(the_kernels_errno_is_the_calls),
		CASE(another_providers_context_is_refused),
		CASE(a_path_gets_the_programs_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
