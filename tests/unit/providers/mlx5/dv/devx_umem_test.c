/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_umem_test.c - DEVX umems: attributes of the kernel commands, and the time when memory is
 * excluded from fork(). Functions of the test replace the kernel and libibverbs' fork support.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dv.h"
#include "util/bits.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { HANDLE = 77, UMEM_ID = 0x1234, SIZE = 8192, ACCESS = 3, DMABUF = 9, REFUSED = EDOM };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct verbs_attr attrs[VERBS_SHORT_MAX_ATTRS];
	unsigned int nattrs, commands;
	uint16_t method;
	int refusal, fork_error, excluded; /* EXCLUDED: ranges excluded from fork */
} it;

static uint8_t memory[SIZE];

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs);
int __wrap_ibv_dontfork_range(void *base, size_t size);
int __wrap_ibv_dofork_range(void *base, size_t size);

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	assert_int_equal(object, MLX5_IB_OBJECT_DEVX_UMEM);
	it.commands++;
	it.method = method;
	it.nattrs = nattrs;
	memcpy(it.attrs, cmd->attrs, nattrs * sizeof(it.attrs[0]));
	if (method == MLX5_IB_METHOD_DEVX_UMEM_REG && !it.refusal) {
		cmd->attrs[0].value = HANDLE;
		*(uint32_t *)(uintptr_t)cmd->attrs[4].value = UMEM_ID;
	}
	return it.refusal;
}

int __wrap_ibv_dontfork_range(void *base, size_t size)
{
	assert_ptr_equal(base, memory);
	assert_int_equal(size, SIZE);
	it.excluded += !it.fork_error;
	errno = it.fork_error;
	return it.fork_error ? -1 : 0;
}

int __wrap_ibv_dofork_range(void *base, size_t size)
{
	assert_ptr_equal(base, memory);
	assert_int_equal(size, SIZE);
	it.excluded--;
	return 0;
}

static struct ibv_context *context(void)
{
	return &it.ctx->vctx.context;
}

static int umem_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	return 0;
}

static int umem_end(void **state)
{
	(void)state;
	assert_int_equal(it.excluded, 0);
	provider_cells_destroy(&it.ctx->common.cells);
	free(it.ctx);
	return 0;
}

static void check_registered(uint64_t page_sizes, bool must_know_sizes, unsigned int nattrs)
{
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.method, MLX5_IB_METHOD_DEVX_UMEM_REG);
	assert_int_equal(it.nattrs, nattrs);
	assert_int_equal(it.attrs[1].id, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
	assert_true(it.attrs[1].value == (uintptr_t)memory);
	assert_int_equal(it.attrs[2].id, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
	assert_int_equal(it.attrs[2].value, SIZE);
	assert_int_equal(it.attrs[3].id, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
	assert_memory_equal(&it.attrs[3].value, (&(uint32_t){ ACCESS }), sizeof(uint32_t));
	assert_int_equal(it.attrs[4].id, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID);
	assert_int_equal(it.attrs[4].len, sizeof(uint32_t));
	assert_int_equal(it.attrs[5].id, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
	assert_true(it.attrs[5].value == page_sizes);
	assert_int_equal(!!(it.attrs[5].how & VERBS_ATTR_MUST), must_know_sizes);
	it.commands = 0;
}

static void memory_is_excluded_from_fork_while_it_is_registered(void **state)
{
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(context(), memory, SIZE, ACCESS);

	(void)state;
	assert_non_null(umem);
	check_registered(~(uint64_t)4095, false, 6);
	assert_int_equal(umem->umem_id, UMEM_ID);
	assert_int_equal(it.excluded, 1);
	it.refusal = EBUSY;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), EBUSY);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(it.excluded, 1);
	it.refusal = 0;
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	assert_int_equal(it.method, MLX5_IB_METHOD_DEVX_UMEM_DEREG);
	assert_int_equal(it.attrs[0].id, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
	assert_int_equal(it.attrs[0].value, HANDLE);
}

static struct mlx5dv_devx_umem *register_with(uint64_t comp_mask, int fd)
{
	struct mlx5dv_devx_umem_in in = { .addr = memory,
					  .size = SIZE,
					  .access = ACCESS,
					  .pgsz_bitmap = 1 << 12,
					  .comp_mask = comp_mask,
					  .dmabuf_fd = fd };

	return mlx5dv_devx_umem_reg_ex(context(), &in);
}

static void page_sizes_that_are_asked_for_must_be_known(void **state)
{
	struct mlx5dv_devx_umem *umem = register_with(0, -1);

	(void)state;
	assert_non_null(umem);
	check_registered(1 << 12, true, 6);
	assert_int_equal(it.excluded, 1);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
}

/* A dmabuf belongs to another driver, so it is not excluded from fork(). */
static void a_dmabuf_is_named_by_its_descriptor(void **state)
{
	struct mlx5dv_devx_umem *umem = register_with(MLX5DV_UMEM_MASK_DMABUF, DMABUF);

	(void)state;
	assert_non_null(umem);
	check_registered(1 << 12, true, 7);
	assert_int_equal(it.attrs[6].id, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
	assert_int_equal(it.attrs[6].value, DMABUF);
	assert_int_equal(it.excluded, 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
	it.refusal = REFUSED;
	assert_null(register_with(MLX5DV_UMEM_MASK_DMABUF, DMABUF));
	assert_int_equal(errno, REFUSED);
}

static void what_cannot_be_is_not_asked(void **state)
{
	(void)state;
	assert_null(register_with(MLX5DV_UMEM_MASK_DMABUF, -1));
	assert_int_equal(errno, EBADF);
	assert_null(register_with(MLX5DV_UMEM_MASK_DMABUF << 1, DMABUF));
	assert_int_equal(errno, EOPNOTSUPP);
	it.fork_error = EINVAL;
	assert_null(mlx5dv_devx_umem_reg(context(), memory, SIZE, ACCESS));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(it.commands, 0);
}

static void a_refused_registration_leaves_the_memory_to_fork(void **state)
{
	(void)state;
	it.refusal = REFUSED;
	assert_null(mlx5dv_devx_umem_reg(context(), memory, SIZE, ACCESS));
	assert_int_equal(errno, REFUSED);
	assert_int_equal(it.excluded, 0);
}

static void another_process_has_the_same_object(void **state)
{
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(context(), memory, SIZE, ACCESS);
	struct mlx5dv_devx_umem *imported;
	uint32_t attrs[3] = { 0, 0, 0x5a5a5a5a };

	(void)state;
	assert_int_equal(mlx5dv_devx_umem_export(umem, attrs), 0);
	assert_int_equal(attrs[0], HANDLE);
	assert_int_equal(attrs[1], UMEM_ID);
	assert_int_equal(attrs[2], 0x5a5a5a5a);
	assert_null(mlx5dv_devx_umem_import(context(), NULL));
	assert_int_equal(errno, EINVAL);
	imported = mlx5dv_devx_umem_import(context(), attrs);
	assert_int_equal(imported->umem_id, UMEM_ID);
	it.commands = 0;
	mlx5dv_devx_umem_unimport(imported);
	mlx5dv_devx_umem_unimport(NULL);
	assert_int_equal(it.commands, 0); /* none yet, as others still use the memory */
	imported = mlx5dv_devx_umem_import(context(), attrs);
	assert_int_equal(mlx5dv_devx_umem_dereg(imported), 0);
	assert_int_equal(it.attrs[0].value, HANDLE);
	assert_int_equal(it.excluded, 1); /* by the object registered here */
	assert_int_equal(mlx5dv_devx_umem_dereg(umem), 0);
}

#define UMEM_TEST(name) cmocka_unit_test_setup_teardown(name, umem_begin, umem_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UMEM_TEST(memory_is_excluded_from_fork_while_it_is_registered),
		UMEM_TEST(page_sizes_that_are_asked_for_must_be_known),
		UMEM_TEST(a_dmabuf_is_named_by_its_descriptor),
		UMEM_TEST(what_cannot_be_is_not_asked),
		UMEM_TEST(a_refused_registration_leaves_the_memory_to_fork),
		UMEM_TEST(another_process_has_the_same_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
