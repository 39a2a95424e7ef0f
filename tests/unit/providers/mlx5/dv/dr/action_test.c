/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action_test.c - new headers of tunnels below the root: their sizes, and the words of entries that
 * insert them. The adapter is the test's.
 *
 * Covers: providers/mlx5/dv/dr/action.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/packet_reformat.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"

enum { OBJECT = 0x77, HEADERS_MAX = 126 /* 63 words */ };

static struct {
	struct verbs_device device;
	struct mlx5_context *ctx;
	struct mlx5dv_dr_domain domain;
	struct mlx5dv_devx_obj obj;
	uint64_t size; /* of the headers in the last ALLOC_PACKET_REFORMAT_CONTEXT */
} it;

/* Stands for an adapter whose entries of format 1 software writes. */
int __wrap_mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
			 size_t out_len)
{
	uint8_t *page = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);

	(void)ctx, (void)in_len;
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_HCA_CAP);
	memset(out, 0, out_len);
	if (fld_get(in, CMD_IN_OP_MOD) >> 1 == PRM_CAP_FLOW_TABLE) {
		fld_set(fld_at(page, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT),
			FT_PROP_SW_OWNER_V2, 1);
	} else {
		fld_set(page, HCA_CAP_STEERING_FORMAT_VERSION, PRM_STEERING_V1);
		fld_set(page, HCA_CAP_FL_RC_QP_WHEN_ROCE_DISABLED, 1);
	}
	return 0;
}

struct mlx5dv_devx_obj *__wrap_mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
						      size_t in_len, void *out, size_t out_len)
{
	(void)context, (void)out_len;
	it.size = fld_get(in, ALLOC_REFORMAT_IN_DATA_SIZE);
	assert_true(FLD_BYTE(ALLOC_REFORMAT_IN_DATA) + it.size <= in_len);
	fld_set(out, ALLOC_REFORMAT_OUT_ID, OBJECT);
	return &it.obj;
}

int __wrap_mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	assert_ptr_equal(obj, &it.obj);
	return 0;
}

static int action_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.device.driver = &verbs_provider_mlx5;
	it.ctx = calloc(1, sizeof(*it.ctx));
	assert_non_null(it.ctx);
	it.ctx->vctx.context.device = &it.device.device;
	it.domain.context = &it.ctx->vctx.context;
	it.domain.type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	return 0;
}

static int action_end(void **state)
{
	(void)state;
	free(it.ctx);
	return 0;
}

static struct mlx5dv_dr_action *encap_of(size_t size)
{
	static uint8_t headers[256];

	errno = 0;
	return mlx5dv_dr_action_create_packet_reformat(
		&it.domain, 0, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL, size,
		headers);
}

static void entries_insert_what_the_adapter_has(void **state)
{
	(void)state;
	for (size_t size = 2; size <= HEADERS_MAX; size += 2) {
		struct mlx5dv_dr_action *action = encap_of(size);
		uint8_t word[4] = { 0 };

		assert_non_null(action);
		fld_set(word, FLD(0x0, 31, 0), action->change.words[0]);
		assert_int_equal(it.size, size);
		assert_int_equal(fld_get(word, STE_ACTION_ID), PRM_STE_ACTION_INSERT_POINTER);
		assert_int_equal(fld_get(word, STE_INSERT_SIZE) * PRM_STE_WORD, size);
		assert_int_equal(action->change.words[1], OBJECT);
		assert_int_equal(mlx5dv_dr_action_destroy(action), 0);
	}
}

static void more_headers_than_an_entry_inserts_are_refused(void **state)
{
	static const size_t sizes[] = { 0, 1, 125, HEADERS_MAX + 1, HEADERS_MAX + 2, 130, 254 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_null(encap_of(sizes[i]));
		assert_int_equal(errno, EINVAL);
	}
	assert_int_equal(it.domain.users, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, action_begin, action_end)
	const struct CMUnitTest tests[] = {
		CASE(entries_insert_what_the_adapter_has),
		CASE(more_headers_than_an_entry_inserts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
