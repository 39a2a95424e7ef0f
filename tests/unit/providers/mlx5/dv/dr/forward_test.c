/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forward_test.c - tables that forward frames to several destinations: their commands, what is left
 * when one fails, and their end. The adapter is the test's.
 *
 * Covers: providers/mlx5/dv/dr/forward.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/forward.h"
#include "providers/mlx5/qp/qp.h"

enum {
	TABLE = 0x123,
	GROUP = 0x45,
	TIRN = 0x777,
	TIRN_OF_QP = 0x888,
	COUNTER = 0x5555,
	BELOW = 0x99,
	LEVEL = 0x7d
};
enum { STEPS = 4 /* commands of a creation */ };

static const uint64_t address = UINT64_C(0x2300000080);

static struct {
	struct ibv_context context;
	struct mlx5dv_devx_obj objs[3], tir;
	struct mlx5_qp qp;
	struct dr_soft_table soft;
	struct mlx5dv_dr_table table;
	struct mlx5dv_dr_action actions[3], counter;
	struct mlx5dv_dr_action *list[3];
	unsigned int step, fail_at; /* fail_at: 0 fails none */
	unsigned int made;          /* bit I: objs[I] exists */
	int destroys;               /* of which the last fails; 0: none */
	uint8_t entry[2048];
	size_t entry_size;
	bool is_last;
} it;

uint32_t mlx5_dr_action_counter(const struct mlx5dv_dr_action *action)
{
	assert_ptr_equal(action, &it.counter);
	return COUNTER;
}

static bool step_fails(void)
{
	return ++it.step == it.fail_at;
}

static void obj_is(const void *in, unsigned int i)
{
	static const uint16_t opcodes[] = { PRM_OP_CREATE_FLOW_TABLE, PRM_OP_CREATE_FLOW_GROUP,
					    PRM_OP_SET_FLOW_TABLE_ENTRY };

	assert_int_equal(fld_get(in, CMD_IN_OPCODE), opcodes[i]);
	assert_int_equal(fld_get(in, FLOW_IN_TABLE_TYPE), PRM_FLOW_NIC_RX);
	if (i)
		assert_int_equal(fld_get(in, FLOW_IN_TABLE_ID), TABLE);
}

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t in_len, void *out, size_t out_len)
{
	unsigned int i = 0;

	assert_ptr_equal(context, &it.context);
	assert_true(out_len >= PRM_CMD_OUT_SIZE);
	while (it.made >> i & 1)
		i++;
	assert_true(i < 3);
	obj_is(in, i);
	if (step_fails()) {
		errno = EREMOTEIO;
		return NULL;
	}
	if (i == 0) {
		const void *table = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

		assert_int_equal(fld_get(table, FLOW_TABLE_CONTEXT_LEVEL), LEVEL);
		assert_int_equal(fld_get(table, FLOW_TABLE_CONTEXT_SW_OWNER), 0);
		it.is_last = fld_get(table, FLOW_TABLE_CONTEXT_TERMINATION_TABLE);
		fld_set(out, CREATE_FLOW_TABLE_OUT_TABLE_ID, TABLE);
	} else if (i == 2) {
		assert_true(in_len <= sizeof(it.entry));
		memcpy(it.entry, in, in_len);
		it.entry_size = in_len;
	}
	it.objs[i].id = i == 1 ? GROUP : 0;
	it.made |= 1u << i;
	return &it.objs[i];
}

int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t in_len, void *out,
			  size_t out_len)
{
	uint8_t *table = fld_at(out, QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT);

	(void)in_len;
	assert_ptr_equal(obj, &it.objs[0]);
	assert_int_equal(fld_get(in, CMD_IN_OPCODE), PRM_OP_QUERY_FLOW_TABLE);
	assert_int_equal(fld_get(in, QUERY_FLOW_TABLE_IN_TABLE_ID), TABLE);
	assert_true(out_len >= FLD_BYTE(QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT) +
				       PRM_FLOW_TABLE_CONTEXT_SIZE);
	if (step_fails())
		return EREMOTEIO;
	fld_set(table, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0, address);
	return 0;
}

/* The last one that was made goes first. */
int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	const unsigned int bit = 1u << (obj - it.objs);

	assert_true(it.made & bit && it.made < bit << 1);
	if (it.destroys && !--it.destroys)
		return EBUSY;
	it.made &= ~bit;
	return 0;
}

static int forward_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.qp.parts.tirn = TIRN_OF_QP;
	it.tir.id = TIRN;
	it.soft.number = BELOW;
	it.table.soft = &it.soft;
	it.actions[0].kind = DR_ACTION_QP;
	it.actions[0].qp = &it.qp.vqp.qp;
	it.actions[1].kind = DR_ACTION_TIR;
	it.actions[1].tir = &it.tir;
	it.actions[2].kind = DR_ACTION_TABLE;
	it.actions[2].table = &it.table;
	for (int i = 0; i < 3; i++)
		it.list[i] = &it.actions[i];
	return 0;
}

static int forward_make(struct dr_forward *forward)
{
	const struct dr_forward_attr attr = {
		.type = PRM_FLOW_NIC_RX, .level = LEVEL, .count = 3, .destinations = it.list
	};

	return mlx5_dr_forward_create(&it.context, &attr, forward);
}

static void an_entry_leads_to_all_destinations(void **state)
{
	static const uint32_t expected[] = { PRM_DEST_TIR << 24 | TIRN_OF_QP,
					     PRM_DEST_TIR << 24 | TIRN,
					     PRM_DEST_TABLE << 24 | BELOW };
	const uint8_t *flow = fld_at(it.entry, SET_FTE_IN_FLOW_CONTEXT);
	const uint8_t *list = fld_at(flow, FLOW_CONTEXT_DESTINATION);
	struct dr_forward forward;

	(void)state;
	assert_int_equal(forward_make(&forward), 0);
	assert_int_equal(forward.number, TABLE);
	assert_true(forward.address == address);
	assert_int_equal(it.entry_size, 0x40 + 0x300 + 3 * 8);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_GROUP_ID), GROUP);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_ACTION), PRM_FLOW_FWD);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_DESTINATION_LIST_SIZE), 3);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE), 0);
	assert_false(it.is_last);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(fld_get(list + 8 * i, FLD(0x0, 31, 0)), expected[i]);
	assert_int_equal(mlx5_dr_forward_destroy(&forward), 0);
	assert_int_equal(it.made, 0);
}

static void a_last_table_counts(void **state)
{
	const struct dr_forward_attr attr = {
		.type = PRM_FLOW_NIC_RX,
		.level = LEVEL,
		.count = 1,
		.destinations = it.list,
		.counter = &it.counter,
		.is_last = true,
	};
	const uint8_t *flow = fld_at(it.entry, SET_FTE_IN_FLOW_CONTEXT);
	const uint8_t *list = fld_at(flow, FLOW_CONTEXT_DESTINATION);
	struct dr_forward forward;

	(void)state;
	assert_int_equal(mlx5_dr_forward_create(&it.context, &attr, &forward), 0);
	assert_true(it.is_last);
	assert_int_equal(it.entry_size, 0x40 + 0x300 + 2 * 8);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_ACTION), PRM_FLOW_FWD | PRM_FLOW_COUNT);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_DESTINATION_LIST_SIZE), 1);
	assert_int_equal(fld_get(flow, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE), 1);
	assert_int_equal(fld_get(list, FLD(0x0, 31, 0)), PRM_DEST_TIR << 24 | TIRN_OF_QP);
	assert_int_equal(fld_get(list + 8, FLD(0x0, 31, 0)), COUNTER);
}

static void a_failed_command_leaves_nothing(void **state)
{
	struct dr_forward forward;

	(void)state;
	for (it.fail_at = 1; it.fail_at <= STEPS; it.fail_at++) {
		it.step = 0;
		assert_int_equal(forward_make(&forward), EREMOTEIO);
		assert_int_equal(it.step, it.fail_at);
		assert_int_equal(it.made, 0);
	}
	it.step = 0;
	assert_int_equal(forward_make(&forward), 0);
}

static void an_end_that_fails_goes_on_later(void **state)
{
	struct dr_forward forward;

	(void)state;
	for (int last = 1; last <= 3; last++) {
		assert_int_equal(forward_make(&forward), 0);
		it.destroys = last;
		assert_int_equal(mlx5_dr_forward_destroy(&forward), EBUSY);
		assert_int_equal(mlx5_dr_forward_destroy(&forward), 0);
		assert_int_equal(it.made, 0);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, forward_begin)
	const struct CMUnitTest tests[] = {
		CASE(an_entry_leads_to_all_destinations),
		CASE(a_last_table_counts),
		CASE(a_failed_command_leaves_nothing),
		CASE(an_end_that_fails_goes_on_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
