/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering_test.c - rules that share an entry: what the device has of it as rules come and go;
 * where entries stand among those of other masks. The device is a stand-in that refuses entries as
 * softhca's does.
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

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pacing.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/steering.h"
#include "util/bits.h"

enum { TIR = 5, OTHER_TIR = 6, COUNTER = 7, REFORMAT = 8, INDICES = 1024 };

static struct adapter adapter;

static struct {
	uint32_t number; /* of the last object */
	unsigned int groups, entries;
	bool has[INDICES];
	uint8_t tables_reformat[128], tables_decap[128]; /* by table number: what it allows */
	/* Of the entry that was set last: */
	uint32_t index;
	uint64_t action, reformat;
	uint32_t tir;
	/* Of the table that was made last: */
	uint32_t miss_action, miss_table, uid;
} device;

static int entry_set(const uint8_t *in)
{
	const uint8_t *context = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	const uint64_t action = fld_get(context, FLOW_CONTEXT_ACTION);
	const uint32_t index = (uint32_t)fld_get(in, SET_FTE_IN_FLOW_INDEX);

	assert_in_range(index, 0, INDICES - 1);
	if (!(action & (PRM_FLOW_ALLOW | PRM_FLOW_DROP | PRM_FLOW_FWD)) ||
	    fld_get(in, CMD_IN_OP_MOD) != device.has[index])
		return EINVAL;
	device.entries += !device.has[index];
	device.has[index] = true;
	device.index = index;
	device.action = action;
	device.reformat = fld_get(context, FLOW_CONTEXT_PACKET_REFORMAT_ID);
	device.tir = (uint32_t)fld_get(fld_at(context, FLOW_CONTEXT_DESTINATION),
				       DEST_FORMAT_DESTINATION_ID);
	return 0;
}

static int entry_delete(const uint8_t *in)
{
	bool *has = &device.has[fld_get(in, DELETE_FTE_IN_FLOW_INDEX)];

	assert_true(*has);
	*has = false;
	device.entries--;
	return 0;
}

static int table_create(const uint8_t *in)
{
	const uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	assert_in_range(device.number, 1, ARRAY_SIZE(device.tables_decap) - 1);
	device.tables_reformat[device.number] = fld_get(context, FLOW_TABLE_CONTEXT_REFORMAT_EN);
	device.tables_decap[device.number] = fld_get(context, FLOW_TABLE_CONTEXT_DECAP_EN);
	device.miss_action = (uint32_t)fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION);
	device.miss_table = (uint32_t)fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID);
	device.uid = (uint32_t)fld_get(in, CMD_IN_UID);
	return 0;
}

int adapter_command(struct adapter *of, void *in, size_t in_len, void *out, size_t out_len)
{
	(void)in_len;
	assert_ptr_equal(of, &adapter);
	memset(out, 0, out_len);
	fld_set(out, CREATE_FLOW_TABLE_OUT_TABLE_ID, ++device.number);
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_CREATE_FLOW_TABLE:
		return table_create(in);
	case PRM_OP_CREATE_FLOW_GROUP:
		device.groups++;
		return 0;
	case PRM_OP_DESTROY_FLOW_GROUP:
		device.groups--;
		assert_in_range(device.entries, 0, device.groups);
		return 0;
	case PRM_OP_SET_FLOW_TABLE_ENTRY:
		return entry_set(in);
	case PRM_OP_DELETE_FLOW_TABLE_ENTRY:
		return entry_delete(in);
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
	assert_int_equal(device.entries, 0);
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
	assert_int_equal(device.entries, 0);
	assert_int_equal(device.groups, 1);
	steering_remove(&adapter, count);
}

static void the_next_rule_brings_the_entry_back(void **state)
{
	struct steering_rule *count = count_alone(), *next;

	(void)state;
	assert_int_equal(add_rule(goes, &next), 0);
	assert_int_equal(device.entries, 1);
	assert_int_equal(device.action, PRM_FLOW_FWD | PRM_FLOW_COUNT);
	assert_int_equal(device.tir, OTHER_TIR);
	assert_int_equal(device.reformat, 0);
	steering_remove(&adapter, count);
	assert_int_equal(device.entries, 1);
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
	assert_int_equal(device.entries, 0);
	assert_int_equal(add_rule(goes, &next), 0);
	steering_remove(&adapter, next);
	assert_int_equal(device.entries, 0);
	steering_remove(&adapter, count);
}

enum { RANGE = INDICES / 7 };

/* Adds a rule with mask number MASK, and checks the index of its entry. */
static struct steering_rule *add_at(uint8_t mask, uint8_t value, uint32_t index)
{
	struct steering_request request = { .level = 1, .target = goes };
	struct steering_rule *rule;

	request.match.mask[0] = mask;
	request.match.value[0] = value;
	steering_enable(&request.match);
	assert_int_equal(steering_add(&adapter, &request, &rule), 0);
	assert_int_equal(device.index, index);
	return rule;
}

/* The entries of a mask stand where its first one was put, also those that come later, as Linux
 * matches in that order. */
static void masks_keep_their_order(void **state)
{
	struct steering_rule *rules[5];

	(void)state;
	rules[0] = add_at(1, 0, 0);
	rules[1] = add_at(2, 0, RANGE);
	rules[2] = add_at(1, 1, 1);
	steering_remove(&adapter, rules[0]);
	rules[0] = add_at(1, 0, 0);
	rules[3] = add_at(3, 0, 2 * RANGE);
	rules[4] = add_at(2, 2, RANGE + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		steering_remove(&adapter, rules[i]);
}

/* A mask without entries loses its place to the next new mask. */
static void a_new_mask_takes_a_free_place(void **state)
{
	struct steering_rule *first, *second, *third;

	(void)state;
	first = add_at(1, 0, 0);
	second = add_at(2, 0, RANGE);
	steering_remove(&adapter, first);
	third = add_at(3, 0, 0);
	first = add_at(1, 0, 2 * RANGE);
	steering_remove(&adapter, first);
	steering_remove(&adapter, second);
	steering_remove(&adapter, third);
}

/* Behind six masks, entries stand one by one. A full mask goes on in another range. */
static void further_masks_stand_behind(void **state)
{
	static struct steering_rule *rules[INDICES];
	unsigned int count = 0;

	(void)state;
	for (unsigned int i = 0; i < RANGE; i++)
		rules[count++] = add_at(0xff, (uint8_t)i, i);
	rules[count++] = add_at(1, 0, RANGE);
	rules[count++] = add_at(0xff, RANGE, 2 * RANGE);
	for (unsigned int i = 3; i < 6; i++)
		rules[count++] = add_at((uint8_t)i, 0, i * RANGE);
	rules[count++] = add_at(7, 0, 6 * RANGE);
	rules[count++] = add_at(8, 0, 6 * RANGE + 1);
	rules[count++] = add_at(7, 1, 6 * RANGE + 2);
	rules[count++] = add_at(1, 1, RANGE + 1);
	while (count)
		steering_remove(&adapter, rules[--count]);
}

static void a_full_level_has_no_space(void **state)
{
	static struct steering_rule *rules[INDICES];
	struct steering_request request = { .level = 1, .target = goes };
	struct steering_rule *more;

	(void)state;
	memset(request.match.mask, 0xff, 2);
	for (unsigned int i = 0; i < INDICES; i++) {
		request.match.value[0] = (uint8_t)i;
		request.match.value[1] = (uint8_t)(i >> 8);
		assert_int_equal(steering_add(&adapter, &request, &rules[i]), 0);
		assert_int_equal(device.index, i);
	}
	request.match.value[1] = 0xff;
	assert_int_equal(steering_add(&adapter, &request, &more), ENOSPC);
	for (unsigned int i = 0; i < INDICES; i++)
		steering_remove(&adapter, rules[i]);
}

/* What a table allows for tunnels follows the capabilities that Linux asks for. */
static void tunnels_follow_capabilities(void **state)
{
	uint8_t *receive =
		fld_at(adapter.flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	uint8_t *transmit =
		fld_at(adapter.flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);
	struct steering_request request = { .level = 1, .target = goes };
	struct steering_rule *rule;

	(void)state;
	fld_set(receive, FT_PROP_DECAP, 1);
	fld_set(receive, FT_PROP_REFORMAT, 1);
	fld_set(transmit, FT_PROP_REFORMAT, 1);
	assert_int_equal(steering_add(&adapter, &request, &rule), 0);
	steering_remove(&adapter, rule);
	request.level += STEERING_TRANSMIT;
	assert_int_equal(steering_add(&adapter, &request, &rule), 0);
	steering_remove(&adapter, rule);
	for (unsigned int i = 1; i <= STEERING_SENT; i++)
		assert_int_equal(device.tables_decap[i], 1);
	for (unsigned int i = 1; i < ARRAY_SIZE(device.tables_reformat); i++)
		assert_int_equal(device.tables_reformat[i], 0);
	steering_free(&adapter);
	begin_steering(NULL);
	fld_set(receive, FT_PROP_REFORMAT_L3_TUNNEL_TO_L2, 1);
	fld_set(transmit, FT_PROP_REFORMAT_L2_TO_L3_TUNNEL, 1);
	assert_int_equal(steering_add(&adapter, &request, &rule), 0);
	assert_int_equal(device.tables_reformat[1], 1);
	assert_int_equal(device.tables_decap[1], 0);
	steering_remove(&adapter, rule);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_steering, end_steering)

/* An anchor is made once, and anybody may name it. What it does not match goes to the level's
 * table, which is made before it. */
static void an_anchor_leads_to_its_level(void **state)
{
	uint32_t table = 0, again = 0, made;

	(void)state;
	assert_int_equal(steering_anchor(&adapter, 1, &table), 0);
	made = device.number;
	assert_int_equal(table, made);
	assert_int_equal(device.miss_action, PRM_MISS_FORWARD);
	assert_in_range(device.miss_table, 1, table - 1);
	assert_int_equal(device.uid, PRM_SHARED_UID);
	assert_int_equal(steering_anchor(&adapter, 1, &again), 0);
	assert_int_equal(again, table);
	assert_int_equal(device.number, made);
	assert_int_equal(steering_anchor(&adapter, 2, &again), 0);
	assert_int_not_equal(again, table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_entry_that_only_counts_leaves_the_device),
		TEST(the_next_rule_brings_the_entry_back),
		TEST(a_refused_rule_leaves_the_others),
		TEST(masks_keep_their_order),
		TEST(a_new_mask_takes_a_free_place),
		TEST(further_masks_stand_behind),
		TEST(a_full_level_has_no_space),
		TEST(tunnels_follow_capabilities),
		TEST(an_anchor_leads_to_its_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
