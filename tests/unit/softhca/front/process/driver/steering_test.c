/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering_test.c - rules that share an entry: what the device has of it as rules come and go. The
 * device is a stand-in that refuses entries as softhca's does.
 *
 * Covers: softhca/front/process/driver/steering.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pacing.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/steering.h"

enum { TIR = 5, OTHER_TIR = 6, COUNTER = 7, REFORMAT = 8 };

static struct adapter adapter;

/* The device: it has at most one entry. */
static struct {
	uint32_t number; /* of the last object */
	unsigned int groups;
	bool has_entry;
	uint64_t action, reformat;
	uint32_t tir;
} device;

static int entry_set(const uint8_t *in)
{
	const uint8_t *context = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	const uint64_t action = fld_get(context, FLOW_CONTEXT_ACTION);

	if (!(action & (PRM_FLOW_ALLOW | PRM_FLOW_DROP | PRM_FLOW_FWD)) ||
	    fld_get(in, CMD_IN_OP_MOD) != device.has_entry)
		return EINVAL;
	device.has_entry = true;
	device.action = action;
	device.reformat = fld_get(context, FLOW_CONTEXT_PACKET_REFORMAT_ID);
	device.tir = (uint32_t)fld_get(fld_at(context, FLOW_CONTEXT_DESTINATION),
				       DEST_FORMAT_DESTINATION_ID);
	return 0;
}

int adapter_command(struct adapter *of, void *in, size_t in_len, void *out, size_t out_len)
{
	(void)in_len;
	assert_ptr_equal(of, &adapter);
	memset(out, 0, out_len);
	fld_set(out, CREATE_FLOW_TABLE_OUT_TABLE_ID, ++device.number);
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_CREATE_FLOW_GROUP:
		device.groups++;
		return 0;
	case PRM_OP_DESTROY_FLOW_GROUP:
		assert_false(device.has_entry);
		device.groups--;
		return 0;
	case PRM_OP_SET_FLOW_TABLE_ENTRY:
		return entry_set(in);
	case PRM_OP_DELETE_FLOW_TABLE_ENTRY:
		assert_true(device.has_entry);
		device.has_entry = false;
		return 0;
	default:
		return 0;
	}
}

static int begin_steering(void **state)
{
	(void)state;
	memset(&adapter, 0, sizeof(adapter));
	memset(&device, 0, sizeof(device));
	return 0;
}

static int end_steering(void **state)
{
	(void)state;
	assert_false(device.has_entry);
	assert_int_equal(device.groups, 0);
	steering_free(&adapter);
	return 0;
}

static int add_rule(struct steering_target target, struct steering_rule **rule)
{
	const struct steering_request request = { .level = 1, .target = target };

	return steering_add(&adapter, &request, rule);
}

static const struct steering_target counts = { .action = PRM_FLOW_COUNT, .counter = COUNTER };
static const struct steering_target leaves_tunnel = {
	.action = PRM_FLOW_FWD | PRM_FLOW_PACKET_REFORMAT,
	.to = STEERING_TO_TIR,
	.number = TIR,
	.reformat = REFORMAT,
};
static const struct steering_target goes = {
	.action = PRM_FLOW_FWD,
	.to = STEERING_TO_TIR,
	.number = OTHER_TIR,
};

/* Leaves a rule that only counts behind the one that it has joined. */
static struct steering_rule *count_alone(void)
{
	struct steering_rule *first, *count;

	assert_int_equal(add_rule(leaves_tunnel, &first), 0);
	assert_int_equal(add_rule(counts, &count), 0);
	assert_int_equal(device.action, leaves_tunnel.action | PRM_FLOW_COUNT);
	assert_int_equal(device.tir, TIR);
	assert_int_equal(device.reformat, REFORMAT);
	steering_remove(&adapter, first);
	return count;
}

static void an_entry_that_only_counts_leaves_the_device(void **state)
{
	struct steering_rule *count = count_alone();

	(void)state;
	assert_false(device.has_entry);
	assert_int_equal(device.groups, 1);
	steering_remove(&adapter, count);
}

static void the_next_rule_brings_the_entry_back(void **state)
{
	struct steering_rule *count = count_alone(), *next;

	(void)state;
	assert_int_equal(add_rule(goes, &next), 0);
	assert_true(device.has_entry);
	assert_int_equal(device.action, PRM_FLOW_FWD | PRM_FLOW_COUNT);
	assert_int_equal(device.tir, OTHER_TIR);
	assert_int_equal(device.reformat, 0);
	steering_remove(&adapter, count);
	assert_true(device.has_entry);
	assert_int_equal(device.action, PRM_FLOW_FWD);
	steering_remove(&adapter, next);
}

static void a_refused_rule_leaves_the_others(void **state)
{
	struct steering_rule *count, *next;

	(void)state;
	assert_int_equal(add_rule(counts, &count), EINVAL);
	assert_int_equal(device.groups, 0);
	count = count_alone();
	assert_int_equal(add_rule(counts, &next), EINVAL);
	assert_false(device.has_entry);
	assert_int_equal(add_rule(goes, &next), 0);
	steering_remove(&adapter, next);
	assert_false(device.has_entry);
	steering_remove(&adapter, count);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_steering, end_steering)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_that_only_counts_leaves_the_device),
		TEST(the_next_rule_brings_the_entry_back),
		TEST(a_refused_rule_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
