/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_double.h - stands for the kernel and the device below the provider's DevX commands: writes
 * down the last command, counts objects and blocks of memory, and fails where the test says.
 *
 * The test is linked with --wrap for devx_double of tests/unit/providers/CMakeLists.txt.
 */
#ifndef TESTS_UNIT_MLX5_DEVX_DOUBLE_H
#define TESTS_UNIT_MLX5_DEVX_DOUBLE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/hca_caps.h"
#include "tests/unit/log_text.h"
#include "tests/unit/heap.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

#define WRAPPED __attribute__((visibility("default")))

enum { DEVX_FIRST_HANDLE = 0x51, DEVX_FIRST_ID = 0x120 };

static struct {
	struct verbs_device device, foreign;
	struct mlx5_context *ctx;
	struct mlx5_hca_caps caps;
	int caps_err, page_err;
	/* the command that fails, counted from 1, with the errno or with the device's status */
	unsigned int calls, fail_at;
	int err;
	uint8_t status;
	int objects;
	uint16_t object, method;
	uint32_t handle; /* of the last command, or of the newest object */
	char in[2048];   /* words of the last input that are not 0, as " byte:word" */
	uint8_t answer[256];
	/* outputs of commands on other objects, by the attribute's place: a bit, and its value */
	unsigned int outs;
	uint64_t out_values[VERBS_SHORT_MAX_ATTRS];
} devx;

WRAPPED int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
WRAPPED int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
					  const struct mlx5_hca_caps **caps);
WRAPPED int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object,
				       uint16_t method, struct verbs_short *cmd,
				       unsigned int nattrs);
int __wrap_mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	assert_ptr_equal(ctx, devx.ctx);
	*caps = &devx.caps;
	return devx.caps_err;
}

int __wrap_mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
				  const struct mlx5_hca_caps **caps)
{
	(void)page;
	assert_ptr_equal(ctx, devx.ctx);
	*caps = &devx.caps;
	return devx.caps_err ? devx.caps_err : devx.page_err;
}

static void devx_write_down(const struct verbs_attr *attr)
{
	const uint8_t *in = attr->len > 8 ? (const uint8_t *)(uintptr_t)attr->value
					  : (const uint8_t *)&attr->value;
	size_t len = 0;

	devx.in[0] = '\0';
	for (size_t at = 0; at + 4 <= attr->len; at += 4) {
		uint32_t word;

		memcpy(&word, in + at, sizeof(word));
		if (word && len + 16 < sizeof(devx.in))
			len += (size_t)snprintf(devx.in + len, sizeof(devx.in) - len, "%s%zx:%08x",
						len ? " " : "", at, be32toh(word));
	}
}

/* Answers with devx.answer; a new object has its number in the answer, too. */
static void devx_reply(const struct verbs_attr *attr, uint32_t id)
{
	uint8_t *out = (uint8_t *)(uintptr_t)attr->value;

	memcpy(out, devx.answer, attr->len < sizeof(devx.answer) ? attr->len : sizeof(devx.answer));
	if (id)
		fld_set(out, GENERAL_OBJ_OUT_OBJ_ID, id);
}

static int devx_fail(const struct verbs_attr *out)
{
	if (devx.err)
		return devx.err;
	fld_set((uint8_t *)(uintptr_t)out->value, CMD_OUT_STATUS, devx.status);
	return EREMOTEIO;
}

static int devx_run_object(uint16_t method, struct verbs_attr *attrs, bool fails)
{
	static uint32_t made;

	if (method == MLX5_IB_METHOD_DEVX_OBJ_DESTROY) {
		devx.handle = (uint32_t)attrs[0].value;
		devx.objects -= !fails;
		return fails ? devx.err : 0;
	}
	devx_write_down(&attrs[1]);
	if (fails)
		return devx_fail(&attrs[2]);
	if (method != MLX5_IB_METHOD_DEVX_OBJ_CREATE) {
		devx.handle = (uint32_t)attrs[0].value;
		devx_reply(&attrs[2], 0);
		return 0;
	}
	made = devx.objects++ ? made + 1 : 0;
	attrs[0].value = devx.handle = DEVX_FIRST_HANDLE + made;
	devx_reply(&attrs[2], DEVX_FIRST_ID + made);
	return 0;
}

static void devx_put_out(const struct verbs_attr *attr, uint64_t value)
{
	void *out = (void *)(uintptr_t)attr->value;

	if (attr->len == sizeof(uint64_t))
		memcpy(out, &value, sizeof(value));
	else if (attr->len == sizeof(uint32_t))
		memcpy(out, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
	else
		memcpy(out, &(uint16_t){ (uint16_t)value }, sizeof(uint16_t));
}

/* Returns the value that an attribute has inside. */
static uint64_t devx_value(const struct verbs_attr *attr)
{
	uint32_t word;
	uint16_t half;

	memcpy(&word, &attr->value, sizeof(word));
	memcpy(&half, &attr->value, sizeof(half));
	return attr->len == sizeof(word) ? word : attr->len == sizeof(half) ? half : attr->value;
}

/* Writes down each attribute: "ID>LENGTH" an output, "ID=LENGTH:VALUE" what has its value inside,
 * "ID<BYTES" what is in memory. */
static int devx_run_other(struct verbs_attr *attrs, unsigned int nattrs, bool fails)
{
	size_t size = sizeof(devx.in), len = 0;

	for (unsigned int i = 0; i < nattrs; i++) {
		const struct verbs_attr *attr = &attrs[i];
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)attr->value;

		len += (size_t)snprintf(devx.in + len, size - len, "%s%x", i ? " " : "", attr->id);
		if (devx.outs >> i & 1)
			len += (size_t)snprintf(devx.in + len, size - len, ">%u", attr->len);
		else if (attr->len <= sizeof(attr->value))
			len += (size_t)snprintf(devx.in + len, size - len, "=%u:%llx", attr->len,
						(unsigned long long)devx_value(attr));
		else
			len += (size_t)snprintf(devx.in + len, size - len, "<");
		for (unsigned int k = 0; attr->len > 8 && k < attr->len; k++)
			len += (size_t)snprintf(devx.in + len, size - len, "%02x", bytes[k]);
		if (!fails && devx.outs >> i & 1)
			devx_put_out(attr, devx.out_values[i]);
	}
	if (fails)
		return devx.err;
	if (nattrs == 1 && attrs[0].value)
		devx.objects--;
	else if (!attrs[0].len && !attrs[0].value)
		attrs[0].value = devx.handle = DEVX_FIRST_HANDLE + (uint32_t)devx.objects++;
	return 0;
}

int __wrap_verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			       struct verbs_short *cmd, unsigned int nattrs)
{
	const bool fails = ++devx.calls == devx.fail_at;

	assert_ptr_equal(context, &devx.ctx->vctx.context);
	devx.object = object;
	devx.method = method;
	if (object == MLX5_IB_OBJECT_DEVX_OBJ)
		return devx_run_object(method, cmd->attrs, fails);
	if (object != MLX5_IB_OBJECT_DEVX || method != MLX5_IB_METHOD_DEVX_OTHER)
		return devx_run_other(cmd->attrs, nattrs, fails);
	devx_write_down(&cmd->attrs[0]);
	if (fails)
		return devx_fail(&cmd->attrs[1]);
	devx_reply(&cmd->attrs[1], 0);
	return 0;
}

/* Lets the command of this number fail from now on, or none if it is 0. */
static inline void devx_fail_at(unsigned int number, int err, uint8_t status)
{
	devx.calls = 0;
	devx.fail_at = number;
	devx.err = err;
	devx.status = status;
}

static inline int devx_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&devx, 0, sizeof(devx));
	devx.ctx = __real_calloc(1, sizeof(*devx.ctx));
	assert_non_null(devx.ctx);
	devx.device.driver = &verbs_provider_mlx5;
	devx.ctx->vctx.context.device = &devx.device.device;
	strcpy(devx.device.device.name, "mlx5_0");
	strcpy(devx.foreign.device.name, "other_0");
	pthread_mutex_init(&devx.ctx->login_lock, NULL);
	log_text();
	return 0;
}

/* Fails if the test has left an object or a block of memory. */
static inline int devx_end(void **state)
{
	(void)state;
	assert_int_equal(devx.objects, 0);
	provider_cells_destroy(&devx.ctx->common.cells);
	assert_int_equal(heap.blocks, 0);
	pthread_mutex_destroy(&devx.ctx->login_lock);
	__real_free(devx.ctx);
	return 0;
}

static inline struct ibv_context *devx_context(void)
{
	return &devx.ctx->vctx.context;
}

#define DEVX_TEST(test) cmocka_unit_test_setup_teardown(test, devx_begin, devx_end)

#endif
