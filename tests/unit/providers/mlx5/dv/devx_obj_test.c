/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_obj_test.c - exported DEVX objects: 32 bytes with the type and number that release 65.0
 * writes for the same commands. Also the object that each query and change names to the kernel,
 * which a function of the test replaces.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, providers/mlx5/dv/export.h
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

enum { HANDLE = 77, EXPORTED = 32, IN_SIZE = 64, OUT_SIZE = 24 };

/* Output of the device: the number is at 8; a TIR also has address bits at 1, 8 and 12. */
static const uint8_t answer[OUT_SIZE] = { 0,    0x11, 0x22, 0x33, 0,    0,    0,    0,
					  0x81, 0x91, 0xa1, 0xb1, 0xc1, 0xd1, 0xe1, 0xf1 };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	uint16_t object, method;
	struct verbs_attr attrs[3];
	unsigned int commands;
	int refusal;
} it;

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs);

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs)
{
	assert_ptr_equal(context, &it.ctx->vctx.context);
	it.commands++;
	it.object = object;
	it.method = method;
	memcpy(it.attrs, cmd->attrs, nattrs * sizeof(it.attrs[0]));
	if (nattrs != 3 || it.refusal)
		return it.refusal; /* single attribute: the destroy command */
	cmd->attrs[0].value = HANDLE;
	memcpy((void *)(uintptr_t)cmd->attrs[2].value, answer, cmd->attrs[2].len);
	return 0;
}

static struct ibv_context *context(void)
{
	return &it.ctx->vctx.context;
}

static int open_context(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	return 0;
}

static int close_context(void **state)
{
	(void)state;
	provider_cells_destroy(&it.ctx->common.cells);
	free(it.ctx);
	return 0;
}

/* Fields of an export */
struct told {
	uint32_t handle, type, id, zero;
	uint64_t address;
	uint8_t log_range, zeros[7];
};

static void check_told(struct mlx5dv_devx_obj *obj, const struct told *want)
{
	uint8_t got[EXPORTED + 1];

	memset(got, 0x5a, sizeof(got));
	assert_int_equal(mlx5dv_devx_obj_export(obj, got), 0);
	assert_memory_equal(got, want, EXPORTED);
	assert_int_equal(got[EXPORTED], 0x5a);
}

/* Checks an export, and that importing and exporting again keeps type and number. */
static void check_object(const uint8_t in[IN_SIZE], size_t in_len, const struct told *want)
{
	struct mlx5dv_devx_obj *obj, *its;
	uint8_t out[OUT_SIZE] = { 0 };
	struct told attrs = *want;

	obj = mlx5dv_devx_obj_create(context(), in, in_len, out, sizeof(out));
	assert_non_null(obj);
	check_told(obj, want);
	its = mlx5dv_devx_obj_import(context(), &attrs);
	assert_non_null(its);
	check_told(its, want);
	mlx5dv_devx_obj_unimport(its);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
}

static void kinds_have_a_number(void **state)
{
	static const struct {
		uint16_t opcode;
		uint32_t type, id;
		uint64_t address;
	} kinds[] = {
		{ 0x500, 4, 0x91a1b1, 0 },                  /* CREATE_QP */
		{ 0x900, 6, 0x91a1b1, 0x11223381c1d1e1f1 }, /* CREATE_TIR */
		{ 0x930, 1, 0x91a1b1, 0 },                  /* CREATE_FLOW_TABLE */
		{ 0x933, 7, 0x91a1b1, 0 },                  /* CREATE_FLOW_GROUP */
		{ 0x936, 8, 0x01020304, 0 },                /* SET_FLOW_TABLE_ENTRY */
		{ 0x939, 2, 0x8191a1b1, 0 },                /* ALLOC_FLOW_COUNTER */
		{ 0x93d, 5, 0x8191a1b1, 0 },                /* ALLOC_PACKET_REFORMAT_CONTEXT */
		{ 0x940, 0, 0, 0 },                         /* ALLOC_MODIFY_HEADER_CONTEXT */
		{ 0x816, 0, 0, 0 },                         /* ALLOC_TRANSPORT_DOMAIN */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const uint8_t in[IN_SIZE] = { [0] = kinds[i].opcode >> 8,
					      [1] = (uint8_t)kinds[i].opcode,
					      [12] = 0x1f,
					      [32] = 1,
					      [33] = 2,
					      [34] = 3,
					      [35] = 4 };
		const struct told want = { .handle = HANDLE,
					   .type = kinds[i].type,
					   .id = kinds[i].id,
					   .address = kinds[i].address };

		check_object(in, sizeof(in), &want);
	}
}

static void general_objects_have_kinds_of_their_own(void **state)
{
	static const uint32_t kinds[][2] = { { 0xa, 3 },   { 0x20, 9 }, { 0x24, 11 }, { 0x25, 10 },
					     { 0x31, 12 }, { 0x26, 0 }, { 0x124, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const uint8_t in[IN_SIZE] = {
			[0] = 0x0a, [6] = kinds[i][0] >> 8, [7] = (uint8_t)kinds[i][0], [12] = 0xe5
		};
		const struct told want = {
			.handle = HANDLE, .type = kinds[i][1], .id = 0x8191a1b1, .log_range = 5
		};

		check_object(in, sizeof(in), &want);
	}
}

/* A number of objects is at most 2^31, as in a command; others would be shifted too far. */
static void a_range_that_cannot_be_is_not_imported(void **state)
{
	struct told attrs = { .handle = HANDLE, .type = 10, .log_range = 31 };
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_import(context(), &attrs);

	(void)state;
	assert_non_null(obj);
	mlx5dv_devx_obj_unimport(obj);
	attrs.log_range = 32;
	errno = 0;
	assert_null(mlx5dv_devx_obj_import(context(), &attrs));
	assert_int_equal(errno, EINVAL);
}

/* The bytes behind a short command belong to the program, so they must not be read. */
static void a_short_command_names_nothing(void **state)
{
	const uint8_t rule[IN_SIZE] = { [0] = 0x09, [1] = 0x36, [32] = 1 };
	const struct told want = { .handle = HANDLE, .type = 8 };
	const struct told nothing = { .handle = HANDLE };

	(void)state;
	check_object(rule, 32, &want);
	check_object(rule, 8, &nothing);
}

static void check_command(uint16_t method, const void *in, void *out, int ret)
{
	const bool is_query = method == MLX5_IB_METHOD_DEVX_OBJ_QUERY;

	assert_int_equal(ret, it.refusal);
	if (ret)
		assert_int_equal(errno, ret);
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.object, MLX5_IB_OBJECT_DEVX_OBJ);
	assert_int_equal(it.method, method);
	assert_int_equal(it.attrs[0].id, is_query ? MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE
						  : MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
	assert_int_equal(it.attrs[0].value, HANDLE);
	assert_int_equal(it.attrs[1].id, is_query ? MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN
						  : MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
	assert_int_equal(it.attrs[1].value, (uintptr_t)in);
	assert_int_equal(it.attrs[1].len, IN_SIZE);
	assert_int_equal(it.attrs[2].id, is_query ? MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT
						  : MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
	assert_int_equal(it.attrs[2].value, (uintptr_t)out);
	assert_int_equal(it.attrs[2].len, OUT_SIZE);
	it.commands = 0;
}

/* Verbs objects are named by their handle, as the kernel knows them by that. */
static void each_call_names_its_object(void **state)
{
	struct mlx5dv_devx_obj obj = { .context = context(), .handle = HANDLE };
	struct ibv_cq cq = { .context = context(), .handle = HANDLE };
	struct ibv_qp qp = { .context = context(), .handle = HANDLE };
	struct ibv_srq srq = { .context = context(), .handle = HANDLE };
	struct ibv_wq wq = { .context = context(), .handle = HANDLE };
	struct ibv_rwq_ind_table table = { .context = context(), .ind_tbl_handle = HANDLE };
	const uint8_t in[IN_SIZE] = { 0 };
	uint8_t out[OUT_SIZE];

	(void)state;
#define CHECK_CALLS(name, of)                                                      \
	check_command(MLX5_IB_METHOD_DEVX_OBJ_QUERY, in, out,                      \
		      mlx5dv_devx_##name##_query(of, in, IN_SIZE, out, OUT_SIZE)); \
	check_command(MLX5_IB_METHOD_DEVX_OBJ_MODIFY, in, out,                     \
		      mlx5dv_devx_##name##_modify(of, in, IN_SIZE, out, OUT_SIZE))
	for (int i = 0; i < 2; i++) {
		CHECK_CALLS(obj, &obj);
		CHECK_CALLS(cq, &cq);
		CHECK_CALLS(qp, &qp);
		CHECK_CALLS(srq, &srq);
		CHECK_CALLS(wq, &wq);
		CHECK_CALLS(ind_tbl, &table);
		it.refusal = EDOM;
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, open_context, close_context)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kinds_have_a_number),
		TEST(general_objects_have_kinds_of_their_own),
		TEST(a_range_that_cannot_be_is_not_imported),
		TEST(a_short_command_names_nothing),
		TEST(each_call_names_its_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
