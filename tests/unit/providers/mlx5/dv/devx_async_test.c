/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_async_test.c - asynchronous DEVX queries: attributes of the kernel command, and responses
 * that are too short. A pipe replaces the kernel's descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dv.h"
#include "util/bits.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

enum { HANDLE = 77, IN_SIZE = 16, OUT_SIZE = 48, REFUSED = EDOM };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct verbs_attr attrs[5];
	unsigned int commands;
	int refusal, ends[2];
} it;

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs);

static void query_run(uint16_t method, const struct verbs_short *cmd, unsigned int nattrs)
{
	assert_int_equal(method, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY);
	assert_int_equal(nattrs, ARRAY_SIZE(it.attrs));
	memcpy(it.attrs, cmd->attrs, sizeof(it.attrs));
	it.commands++;
}

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	if (object == MLX5_IB_OBJECT_DEVX_OBJ) {
		query_run(method, cmd, nattrs);
		return it.refusal;
	}
	assert_int_equal(object, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD);
	assert_int_equal(method, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC);
	assert_int_equal(nattrs, 1);
	assert_int_equal(cmd->attrs[0].id, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);
	cmd->attrs[0].value = (uint64_t)it.ends[0];
	return it.refusal;
}

static int async_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	return pipe(it.ends);
}

static int async_end(void **state)
{
	(void)state;
	provider_cells_destroy(&it.ctx->common.cells);
	free(it.ctx);
	return close(it.ends[1]);
}

static void a_query_names_its_object_and_its_descriptor(void **state)
{
	struct ibv_context *context = &it.ctx->vctx.context;
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(context);
	struct mlx5dv_devx_obj obj = { .context = context, .handle = HANDLE };
	const uint8_t in[IN_SIZE] = { 0 };

	(void)state;
	assert_int_equal(comp->fd, it.ends[0]);
	for (int i = 0; i < 2; i++) {
		it.refusal = i ? REFUSED : 0;
		assert_int_equal(
			mlx5dv_devx_obj_query_async(&obj, in, IN_SIZE, OUT_SIZE, 1234, comp),
			it.refusal);
	}
	assert_int_equal(errno, REFUSED);
	assert_int_equal(it.commands, 2);
	assert_int_equal(it.attrs[0].id, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE);
	assert_int_equal(it.attrs[0].value, HANDLE);
	assert_int_equal(it.attrs[1].id, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
	assert_int_equal(it.attrs[1].value, (uintptr_t)in);
	assert_int_equal(it.attrs[1].len, IN_SIZE);
	assert_int_equal(it.attrs[2].id, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN);
	assert_int_equal(it.attrs[2].value, OUT_SIZE);
	assert_int_equal(it.attrs[3].id, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID);
	assert_int_equal(it.attrs[3].value, 1234);
	assert_int_equal(it.attrs[4].id, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
	assert_int_equal(it.attrs[4].value, it.ends[0]);
	mlx5dv_devx_destroy_cmd_comp(comp);
	assert_int_equal(fcntl(it.ends[0], F_GETFD), -1);
}

static void without_a_descriptor_there_are_no_queries(void **state)
{
	(void)state;
	it.refusal = REFUSED;
	assert_null(mlx5dv_devx_create_cmd_comp(&it.ctx->vctx.context));
	assert_int_equal(errno, REFUSED);
	close(it.ends[0]);
}

static void an_answer_has_at_least_a_head(void **state)
{
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(&it.ctx->vctx.context);
	const size_t head = sizeof(struct mlx5dv_devx_async_cmd_hdr);
	uint64_t sent[OUT_SIZE / 8], got[OUT_SIZE / 8];
	struct mlx5dv_devx_async_cmd_hdr *to = (void *)got;

	(void)state;
	memset(sent, 0x5a, sizeof(sent));
	for (size_t size = head - 1; size <= head + 1; size++) {
		memset(got, 0, sizeof(got));
		assert_int_equal(write(it.ends[1], sent, size), size);
		assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, to, sizeof(got)),
				 size < head ? EINVAL : 0);
		assert_memory_equal(got, sent, size);
	}
	assert_int_equal(fcntl(it.ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(comp, to, sizeof(got)), EAGAIN);
	assert_int_equal(errno, EAGAIN);
	mlx5dv_devx_destroy_cmd_comp(comp);
}

#define ASYNC_TEST(name) cmocka_unit_test_setup_teardown(name, async_begin, async_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC_TEST(a_query_names_its_object_and_its_descriptor),
		ASYNC_TEST(without_a_descriptor_there_are_no_queries),
		ASYNC_TEST(an_answer_has_at_least_a_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
