/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps_test.c - which adapters let software write entries: the tables of the side, and a QP that is
 * connected to itself, with RoCE or without. The adapter is the test's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dr/caps.h"

enum { GVMI = 0x123, REFUSED = EDOM };
#define LISTS 0x123456789abcULL

static struct {
	struct mlx5_context ctx;
	bool has_roce, loops_with, loops_without, rx, tx;
	unsigned int log_patterns;
	int refused_page; /* enum prm_cap, or -1 */
} it;

int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len)
{
	const int page = (int)(fld_get(in, CMD_IN_OP_MOD) >> 1);
	uint8_t *cap = fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY);

	assert_ptr_equal(ctx, &it.ctx);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_HCA_CAP);
	assert_int_equal(in_len, PRM_CMD_IN_SIZE);
	memset(out, 0, out_len);
	if (page == it.refused_page)
		return REFUSED;
	if (page == PRM_CAP_GENERAL) {
		fld_set(cap, HCA_CAP_VHCA_ID, GVMI);
		fld_set(cap, HCA_CAP_STEERING_FORMAT_VERSION, PRM_STEERING_V1);
		fld_set(cap, HCA_CAP_ROCE, it.has_roce);
		fld_set(cap, HCA_CAP_FL_RC_QP_WHEN_ROCE_DISABLED, it.loops_without);
	} else if (page == PRM_CAP_ROCE) {
		fld_set(cap, ROCE_CAP_FL_RC_QP_WHEN_ROCE_ENABLED, it.loops_with);
	} else if (page == PRM_CAP_DEV_MEM) {
		fld_set(cap, MEM_CAP_CHANGE_ICM_START, LISTS);
		fld_set(cap, MEM_CAP_LOG_PATTERN_ICM_SIZE, it.log_patterns);
	} else {
		assert_int_equal(page, PRM_CAP_FLOW_TABLE);
		fld_set(fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
			FT_PROP_SW_OWNER_V2, it.rx);
		fld_set(fld_at(cap, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT),
			FT_PROP_SW_OWNER_V2, it.tx);
	}
	return 0;
}

static int caps_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.refused_page = -1;
	return 0;
}

static struct dr_caps caps_of(void)
{
	struct dr_caps caps = { 0 };

	assert_int_equal(mlx5_dr_caps_query(&it.ctx.vctx.context, &caps), 0);
	assert_int_equal(caps.gvmi, GVMI);
	assert_int_equal(caps.format, PRM_STEERING_V1);
	return caps;
}

static void a_side_needs_its_tables_and_a_loop(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits < 32; bits++) {
		struct dr_caps caps;
		bool loops;

		it.has_roce = bits & 1;
		it.loops_with = bits & 2;
		it.loops_without = bits & 4;
		it.rx = bits & 8;
		it.tx = bits & 16;
		loops = it.has_roce ? it.loops_with : it.loops_without;
		caps = caps_of();
		assert_int_equal(caps.writes_rx, loops && it.rx);
		assert_int_equal(caps.writes_tx, loops && it.tx);
	}
}

static void a_refused_page_fails(void **state)
{
	static const int pages[] = { PRM_CAP_GENERAL, PRM_CAP_ROCE, PRM_CAP_FLOW_TABLE };
	struct dr_caps caps;

	(void)state;
	it.has_roce = true;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		it.refused_page = pages[i];
		assert_int_equal(mlx5_dr_caps_query(&it.ctx.vctx.context, &caps), REFUSED);
	}
}

static void memory_for_patterns_may_be_absent(void **state)
{
	static const unsigned int logs[] = { 0, 1, 15, 0x3f };
	uint64_t start;
	bool patterns;

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		it.log_patterns = logs[i];
		start = 0;
		patterns = !logs[i];
		assert_int_equal(mlx5_dr_caps_query_lists(&it.ctx.vctx.context, &start, &patterns),
				 0);
		assert_true(start == LISTS);
		assert_int_equal(patterns, logs[i] != 0);
	}
	it.refused_page = PRM_CAP_DEV_MEM;
	assert_int_equal(mlx5_dr_caps_query_lists(&it.ctx.vctx.context, &start, &patterns),
			 REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_side_needs_its_tables_and_a_loop, caps_begin),
		cmocka_unit_test_setup(a_refused_page_fails, caps_begin),
		cmocka_unit_test_setup(memory_for_patterns_may_be_absent, caps_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
