/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - flows of mlx4: specs that its driver knows, flows that only copy frames, fields
 * that it ignores, and the levels of its priorities.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/uverbs/mlx4/flow.c"

enum { LEFTOVERS = 1, IPV6 = 0x31, VXLAN = 0x50 };

static int check_one(uint32_t flags, const void *spec)
{
	const struct ib_uverbs_flow_attr attr = { .flags = flags, .num_of_specs = spec != NULL };

	return mlx4_flow_check(&attr, spec);
}

static void the_drivers_specs_are_known(void **state)
{
	static const struct {
		uint16_t type;
		int error;
	} rows[] = { { SPEC_ETH, 0 },  { SPEC_IPV4, 0 },  { SPEC_TCP, 0 },  { SPEC_UDP, 0 },
		     { IPV6, EINVAL }, { VXLAN, EINVAL }, { 0x21, EINVAL }, { 0x42, EINVAL } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_flow_spec_ipv4 spec = { .type = rows[i].type,
							 .size = sizeof(spec) };

		assert_int_equal(check_one(0, &spec), rows[i].error);
	}
}

static void each_spec_is_looked_at(void **state)
{
	struct ib_uverbs_flow_spec_eth specs[3] = { 0 };
	struct ib_uverbs_flow_attr attr = { .num_of_specs = 3 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		specs[i].type = SPEC_ETH;
		specs[i].size = sizeof(specs[i]);
	}
	assert_int_equal(mlx4_flow_check(&attr, (uint8_t *)specs), 0);
	specs[2].type = IPV6;
	assert_int_equal(mlx4_flow_check(&attr, (uint8_t *)specs), EINVAL);
	attr.num_of_specs = 2;
	assert_int_equal(mlx4_flow_check(&attr, (uint8_t *)specs), 0);
	specs[0].type = IPV6;
	assert_int_equal(mlx4_flow_check(&attr, (uint8_t *)specs), EINVAL);
}

/* Only addresses can be matched: each byte of the mask behind them refuses the flow. */
static void ipv4_is_matched_by_addresses_only(void **state)
{
	struct ib_uverbs_flow_spec_ipv4 spec = { .type = SPEC_IPV4, .size = sizeof(spec) };
	uint8_t *mask = (uint8_t *)&spec.mask, *value = (uint8_t *)&spec.val;

	(void)state;
	memset(value, 0xff, sizeof(spec.val));
	for (size_t i = 0; i < sizeof(spec.mask); i++) {
		mask[i] = 1;
		assert_int_equal(check_one(0, &spec), i < 8 ? 0 : EINVAL);
		mask[i] = 0;
	}
}

static void priorities_have_twelve_bits(void **state)
{
	struct ib_uverbs_flow_attr attr = { .priority = 0xfff };

	(void)state;
	assert_int_equal(mlx4_flow_check(&attr, NULL), 0);
	attr.priority = 0x1000;
	assert_int_equal(mlx4_flow_check(&attr, NULL), EINVAL);
}

static void a_copy_matches_all_frames_or_all_groups(void **state)
{
	struct ib_uverbs_flow_spec_eth spec = { .type = SPEC_ETH, .size = sizeof(spec) };

	(void)state;
	memset(&spec.val, 0xff, sizeof(spec.val));
	assert_int_equal(check_one(FLAG_DONT_TRAP, NULL), 0);
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), 0);
	spec.mask.dst_mac[0] = 1;
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), 0);
	spec.mask.dst_mac[0] = 2;
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), EINVAL);
	spec.mask.dst_mac[0] = 0x80;
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), EINVAL);
	for (unsigned int i = 1; i < 6; i++) {
		memset(&spec.mask, 0, sizeof(spec.mask));
		spec.mask.dst_mac[i] = 1;
		assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), EINVAL);
		assert_int_equal(check_one(0, &spec), 0);
	}
	memset(&spec.mask, 0, sizeof(spec.mask));
	spec.size = sizeof(spec) - 1;
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), EINVAL);
	spec.size = sizeof(spec);
	spec.type = SPEC_UDP;
	assert_int_equal(check_one(FLAG_DONT_TRAP, &spec), EINVAL);
}

static void a_copy_is_normal_first_and_has_one_spec(void **state)
{
	const struct ib_uverbs_flow_spec_eth specs[2] = {
		{ .type = SPEC_ETH, .size = sizeof(specs[0]) },
		{ .type = SPEC_ETH, .size = sizeof(specs[0]) }
	};
	struct ib_uverbs_flow_attr attr = { .flags = FLAG_DONT_TRAP, .num_of_specs = 2 };

	(void)state;
	assert_int_equal(mlx4_flow_check(&attr, (const uint8_t *)specs), EOPNOTSUPP);
	attr.num_of_specs = 1;
	assert_int_equal(mlx4_flow_check(&attr, (const uint8_t *)specs), 0);
	attr.priority = 1;
	assert_int_equal(mlx4_flow_check(&attr, (const uint8_t *)specs), EOPNOTSUPP);
	attr.priority = 0;
	attr.type = TYPE_SNIFFER;
	assert_int_equal(mlx4_flow_check(&attr, (const uint8_t *)specs), EOPNOTSUPP);
	attr.type = LEFTOVERS;
	assert_int_equal(mlx4_flow_check(&attr, (const uint8_t *)specs), EOPNOTSUPP);
}

static void source_and_ethertype_are_ignored(void **state)
{
	static const uint32_t ignored[] = { LYR_2_4_SMAC_47_16, LYR_2_4_SMAC_15_0,
					    LYR_2_4_ETHERTYPE };
	struct steering_match match;
	uint8_t expected[STEERING_MATCH_SIZE];

	(void)state;
	memset(&match, 0xff, sizeof(match));
	memset(expected, 0xff, sizeof(expected));
	for (unsigned int i = 0; i < 3; i++)
		fld_set(expected, ignored[i], 0);
	mlx4_flow_match(&match);
	assert_memory_equal(match.mask, expected, sizeof(expected));
	assert_memory_equal(match.value, expected, sizeof(expected));
}

static struct steering_request placed(uint16_t type, uint16_t priority, bool goes_on)
{
	const struct ib_uverbs_flow_attr attr = { .type = type, .priority = priority };
	struct steering_request request = { .target.goes_on = goes_on };

	mlx4_flow_place(&attr, &request);
	return request;
}

static void copies_come_before_flows_of_a_priority(void **state)
{
	(void)state;
	assert_int_equal(placed(TYPE_NORMAL, 0, true).level, 0);
	assert_int_equal(placed(TYPE_NORMAL, 0, false).level, 1);
	assert_int_equal(placed(TYPE_NORMAL, 3, false).level, 7);
	assert_int_equal(placed(TYPE_NORMAL, STEERING_PRIORITIES - 1, true).level, 30);
	assert_int_equal(placed(TYPE_NORMAL, STEERING_PRIORITIES, true).level, 30);
	assert_int_equal(placed(TYPE_NORMAL, 0xfff, false).level, 31);
	assert_false(placed(TYPE_NORMAL, 3, false).target.goes_on);
	assert_false(placed(TYPE_NORMAL, 3, false).sees_sent);
}

static void a_sniffer_is_first_and_sees_all(void **state)
{
	const struct steering_request request = placed(TYPE_SNIFFER, 5, false);

	(void)state;
	assert_int_equal(request.level, 0);
	assert_true(request.target.goes_on);
	assert_true(request.sees_sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_drivers_specs_are_known),
		cmocka_unit_test(each_spec_is_looked_at),
		cmocka_unit_test(ipv4_is_matched_by_addresses_only),
		cmocka_unit_test(priorities_have_twelve_bits),
		cmocka_unit_test(a_copy_matches_all_frames_or_all_groups),
		cmocka_unit_test(a_copy_is_normal_first_and_has_one_spec),
		cmocka_unit_test(source_and_ethertype_are_ignored),
		cmocka_unit_test(copies_come_before_flows_of_a_priority),
		cmocka_unit_test(a_sniffer_is_first_and_sees_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
