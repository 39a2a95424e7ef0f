/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_meter_test.c - meters and samplers: which frames get which color, which are sampled, and
 * the commands that make both.
 *
 * Covers: softhca/device/eth/flow/flow_meter.c, softhca/device/eth/flow/sampler.c,
 * softhca/device/format/mlx5/cmd/flow/flow_meter.c, softhca/device/format/mlx5/cmd/flow/sampler.c
 */
#include "eth_rig.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/steering/ste_end.h"
#include "util/bits.h"

enum { RX = PRM_FLOW_NIC_RX, TX = PRM_FLOW_NIC_TX };

/* One byte in 64 ns: 15.625 MB/s */
static const struct flow_meter_limit slow = { .mantissa = 1, .exponent = 6 };

static unsigned int greens(struct flow_meter *meter, uint64_t from, uint64_t step,
			   unsigned int count)
{
	unsigned int green = 0;

	for (unsigned int i = 0; i < count; i++)
		green += flow_meter_color(meter, from + i * step, 1000) == FLOW_METER_GREEN;
	return green;
}

static void a_rate_is_kept(void **state)
{
	struct flow_meter meter = { .active = true, .first = FLOW_METER_GREEN, .committed = slow };

	(void)state;
	assert_int_equal(greens(&meter, 1000, 64000, 100), 100);
	assert_int_equal(greens(&meter, 100000000, 32000, 100), 50);
	assert_int_equal(greens(&meter, 200000000, 0, 100), 1);
	assert_int_equal(greens(&meter, 300000000, 1000000, 10), 10); /* far below */
}

static void a_burst_may_pass_at_once(void **state)
{
	struct flow_meter meter = { .active = true, .first = FLOW_METER_GREEN, .committed = slow };

	(void)state;
	meter.committed.burst = 9000;
	assert_int_equal(greens(&meter, 1000, 0, 100), 10); /* the first, and 9 of the burst */
	assert_int_equal(greens(&meter, 1000 + 640000, 0, 100), 10);
}

static void what_exceeds_is_yellow_then_red(void **state)
{
	struct flow_meter meter = {
		.active = true, .first = FLOW_METER_GREEN, .committed = slow, .excess = slow
	};

	(void)state;
	assert_int_equal(flow_meter_color(&meter, 1, 1000), FLOW_METER_GREEN);
	assert_int_equal(flow_meter_color(&meter, 1, 1000), FLOW_METER_YELLOW);
	assert_int_equal(flow_meter_color(&meter, 1, 1000), FLOW_METER_RED);
	meter.first = FLOW_METER_YELLOW;
	assert_int_equal(flow_meter_color(&meter, 1000000, 1000), FLOW_METER_YELLOW);
	meter.active = false;
	assert_int_equal(flow_meter_color(&meter, 1000000, 1000), FLOW_METER_YELLOW);
}

static void extremes_do_not_overflow(void **state)
{
	struct flow_meter meter = { .active = true, .first = FLOW_METER_GREEN };

	(void)state;
	assert_int_equal(greens(&meter, 1, 1000, 10), 0); /* a rate of nothing */
	meter.committed = (struct flow_meter_limit){ .burst = UINT64_C(255) << 31,
						     .mantissa = 1,
						     .exponent = 31 };
	assert_int_equal(greens(&meter, 1, 0, 1000), 1000);
	meter.committed = (struct flow_meter_limit){ .mantissa = 255 };
	assert_int_equal(greens(&meter, 1, 4, 1000), 1000);
}

static void each_so_many_th_frame_is_sampled(void **state)
{
	for (unsigned int ratio = 1; ratio < 10; ratio++) {
		struct sampler sampler = { .ratio = ratio };
		unsigned int samples = 0;

		for (unsigned int i = 0; i < 10 * ratio; i++)
			samples += sampler_takes(&sampler);
		assert_int_equal(samples, 10);
	}
	(void)state;
}

static void object_head(uint8_t *in, uint32_t opcode, uint32_t type, uint32_t n)
{
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, type);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, n);
}

static uint32_t object_create(uint8_t *in, size_t len, uint32_t type, enum prm_status expect)
{
	uint8_t out[16];

	object_head(in, PRM_OP_CREATE_GENERAL_OBJECT, type, 0);
	flat_cmd_expect(flat.hca[0], in, len, out, sizeof(out), expect);
	return (uint32_t)fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void object_destroy(uint32_t type, uint32_t n, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	object_head(in, PRM_OP_DESTROY_GENERAL_OBJECT, type, n);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), expect);
}

static void object_query(uint32_t type, uint32_t n, uint8_t *out, size_t len)
{
	uint8_t in[16] = { 0 };

	object_head(in, PRM_OP_QUERY_GENERAL_OBJECT, type, n);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, len, PRM_STAT_OK);
}

static void table_destroy(uint32_t type, uint32_t table, enum prm_status expect)
{
	uint8_t in[64] = { 0 };

	fld_set(in, FLOW_IN_TABLE_TYPE, type);
	fld_set(in, FLOW_IN_TABLE_ID, table);
	eth_cmd(0, PRM_OP_DESTROY_FLOW_TABLE, in, sizeof(in), expect);
}

static uint32_t sampler_of(uint32_t type, uint32_t ratio, uint32_t sample, uint32_t otherwise,
			   enum prm_status expect)
{
	uint8_t in[16 + PRM_SAMPLER_SIZE] = { 0 }, *object = in + 16;

	fld_set(object, SAMPLER_TABLE_TYPE, type);
	fld_set(object, SAMPLER_SAMPLE_RATIO, ratio);
	fld_set(object, SAMPLER_SAMPLE_TABLE_ID, sample);
	fld_set(object, SAMPLER_DEFAULT_TABLE_ID, otherwise);
	return object_create(in, sizeof(in), PRM_OBJ_TYPE_SAMPLER, expect);
}

static void samplers_use_their_tables(void **state)
{
	const uint32_t one = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	const uint32_t two = eth_table(0, RX, 4, 0, PRM_STAT_OK);
	const uint32_t sent = eth_table(0, TX, 4, 0, PRM_STAT_OK);
	uint8_t out[16 + PRM_SAMPLER_SIZE];
	uint32_t n;

	(void)state;
	sampler_of(RX, 4, one, 0x777, PRM_STAT_BAD_PARAM_ERR);
	sampler_of(RX, 4, sent, one, PRM_STAT_BAD_PARAM_ERR);
	sampler_of(RX, 4, one, sent, PRM_STAT_BAD_PARAM_ERR);
	sampler_of(RX, 0, one, two, PRM_STAT_BAD_PARAM_ERR);
	n = sampler_of(RX, 4, one, two, PRM_STAT_OK);
	object_query(PRM_OBJ_TYPE_SAMPLER, n, out, sizeof(out));
	assert_int_equal(fld_get(out + 16, SAMPLER_SAMPLE_RATIO), 4);
	assert_int_equal(fld_get(out + 16, SAMPLER_SAMPLE_TABLE_ID), one);
	assert_int_equal(fld_get(out + 16, SAMPLER_DEFAULT_TABLE_ID), two);
	assert_true(fld_get(out + 16, SAMPLER_ICM_ADDRESS_RX) ==
		    ste_end_address(STE_END_SAMPLER, n));
	table_destroy(RX, one, PRM_STAT_BAD_RES_STATE_ERR);
	table_destroy(RX, two, PRM_STAT_BAD_RES_STATE_ERR);
	object_destroy(PRM_OBJ_TYPE_SAMPLER, n, PRM_STAT_OK);
	object_destroy(PRM_OBJ_TYPE_SAMPLER, n, PRM_STAT_BAD_RES_ERR);
	table_destroy(RX, one, PRM_STAT_OK);
	table_destroy(RX, two, PRM_STAT_OK);
	table_destroy(TX, sent, PRM_STAT_OK);
}

static uint32_t sampler_on_level(uint32_t level, bool any_level, uint32_t sample,
				 uint32_t otherwise, enum prm_status expect)
{
	uint8_t in[16 + PRM_SAMPLER_SIZE] = { 0 }, *object = in + 16;

	fld_set(object, SAMPLER_TABLE_TYPE, RX);
	fld_set(object, SAMPLER_LEVEL, level);
	fld_set(object, SAMPLER_IGNORE_FLOW_LEVEL, any_level);
	fld_set(object, SAMPLER_SAMPLE_RATIO, 1);
	fld_set(object, SAMPLER_SAMPLE_TABLE_ID, sample);
	fld_set(object, SAMPLER_DEFAULT_TABLE_ID, otherwise);
	return object_create(in, sizeof(in), PRM_OBJ_TYPE_SAMPLER, expect);
}

static void sampler_has_level(uint32_t n, uint32_t level, bool any_level)
{
	uint8_t out[16 + PRM_SAMPLER_SIZE];

	object_query(PRM_OBJ_TYPE_SAMPLER, n, out, sizeof(out));
	assert_int_equal(fld_get(out + 16, SAMPLER_LEVEL), level);
	assert_int_equal(fld_get(out + 16, SAMPLER_IGNORE_FLOW_LEVEL), any_level);
	object_destroy(PRM_OBJ_TYPE_SAMPLER, n, PRM_STAT_OK);
}

static void samplers_lead_to_higher_levels(void **state)
{
	const uint32_t third = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	const uint32_t fourth = eth_table(0, RX, 4, 0, PRM_STAT_OK);

	(void)state;
	sampler_on_level(3, false, third, fourth, PRM_STAT_BAD_PARAM_ERR);
	sampler_on_level(3, false, fourth, third, PRM_STAT_BAD_PARAM_ERR);
	sampler_on_level(FLOW_LEVELS, true, third, fourth, PRM_STAT_BAD_PARAM_ERR);
	sampler_has_level(sampler_on_level(2, false, third, fourth, PRM_STAT_OK), 2, false);
	sampler_has_level(sampler_on_level(FLOW_LEVELS - 1, true, third, fourth, PRM_STAT_OK),
			  FLOW_LEVELS - 1, true);
	table_destroy(RX, third, PRM_STAT_OK);
	table_destroy(RX, fourth, PRM_STAT_OK);
}

static void meter_put(uint8_t *object, uint32_t type, uint32_t table, uint32_t reg)
{
	uint8_t *parameters = fld_at(object, METER_PARAMETERS);

	memset(object, 0, PRM_METER_SIZE);
	fld_set(object, METER_ACTIVE, 1);
	fld_set(object, METER_TABLE_TYPE, type);
	fld_set(object, METER_DESTINATION_TABLE_ID, table);
	fld_set(object, METER_RETURN_REG_ID, reg);
	fld_set(parameters, METER_PARAM_VALID, 1);
	fld_set(parameters, METER_PARAM_START_COLOR, PRM_METER_GREEN);
	fld_set(parameters, METER_PARAM_CIR_MANTISSA, 1);
	fld_set(parameters, METER_PARAM_CIR_EXPONENT, 6);
	fld_set(parameters, METER_PARAM_CBS_MANTISSA, 3);
	fld_set(parameters, METER_PARAM_CBS_EXPONENT, 4);
}

static void meters_use_their_table(void **state)
{
	const uint32_t table = eth_table(0, TX, 3, 0, PRM_STAT_OK);
	uint8_t in[16 + PRM_METER_SIZE] = { 0 }, out[16 + PRM_METER_SIZE], *object = in + 16;
	const struct flow_meter *meter;
	uint32_t n;

	(void)state;
	meter_put(object, RX, table, 1);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	meter_put(object, TX, table, FLOW_METER_REGISTERS);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	meter_put(object, TX, table, 1);
	fld_set(fld_at(object, METER_PARAMETERS), METER_PARAM_VALID, 0);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	meter_put(object, TX, table, 1);
	n = object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_OK);
	meter = res_get(&flat.hca[0]->eth->flow_meters, n);
	assert_int_equal(meter->committed.burst, 48);
	assert_int_equal(meter->committed.exponent, 6);
	object_query(PRM_OBJ_TYPE_FLOW_METER, n, out, sizeof(out));
	assert_int_equal(fld_get(out + 16, METER_RETURN_REG_ID), 1);
	assert_true(fld_get(out + 16, METER_ICM_ADDRESS_TX) == ste_end_address(STE_END_METER, n));
	table_destroy(TX, table, PRM_STAT_BAD_RES_STATE_ERR);
	memset(object, 0, PRM_METER_SIZE); /* one field changes, the others stay */
	fld_set(object, METER_MODIFY_FIELD_SELECT, PRM_METER_MODIFY_ACTIVE);
	object_head(in, PRM_OP_MODIFY_GENERAL_OBJECT, PRM_OBJ_TYPE_FLOW_METER, n);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, 16, PRM_STAT_OK);
	assert_false(meter->active);
	assert_int_equal(meter->committed.burst, 48);
	fld_set(object, METER_MODIFY_FIELD_SELECT, 1 << 5);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, 16, PRM_STAT_BAD_PARAM_ERR);
	object_destroy(PRM_OBJ_TYPE_FLOW_METER, n, PRM_STAT_OK);
	table_destroy(TX, table, PRM_STAT_OK);
}

static void meter_modify(uint32_t n, const uint8_t *wanted, uint64_t select, enum prm_status expect)
{
	uint8_t in[16 + PRM_METER_SIZE] = { 0 }, out[16];

	memcpy(in + 16, wanted, PRM_METER_SIZE);
	fld_set(in + 16, METER_MODIFY_FIELD_SELECT, select);
	object_head(in, PRM_OP_MODIFY_GENERAL_OBJECT, PRM_OBJ_TYPE_FLOW_METER, n);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), expect);
}

/* What frames have used of the old rate does not count against a new one. */
static void a_new_rate_begins_at_once(void **state)
{
	const uint32_t table = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	uint8_t in[16 + PRM_METER_SIZE] = { 0 }, *parameters = fld_at(in + 16, METER_PARAMETERS);
	struct flow_meter *meter;
	uint32_t n;

	(void)state;
	meter_put(in + 16, RX, table, 1);
	fld_set(parameters, METER_PARAM_CIR_EXPONENT, 31);
	fld_set(parameters, METER_PARAM_EIR_MANTISSA, 1);
	fld_set(parameters, METER_PARAM_EIR_EXPONENT, 31);
	n = object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_OK);
	meter = res_get(&flat.hca[0]->eth->flow_meters, n);
	assert_int_equal(flow_meter_color(meter, 1, 1000), FLOW_METER_GREEN);
	assert_int_equal(flow_meter_color(meter, 1, 1000), FLOW_METER_YELLOW);
	assert_int_equal(flow_meter_color(meter, 1, 1000), FLOW_METER_RED);
	fld_set(parameters, METER_PARAM_EIR_EXPONENT, 6);
	meter_modify(n, in + 16, PRM_METER_MODIFY_EIR, PRM_STAT_OK);
	assert_int_equal(flow_meter_color(meter, 100000, 1000), FLOW_METER_YELLOW);
	fld_set(parameters, METER_PARAM_CIR_EXPONENT, 6);
	meter_modify(n, in + 16, PRM_METER_MODIFY_CIR, PRM_STAT_OK);
	assert_int_equal(flow_meter_color(meter, 200000, 1000), FLOW_METER_GREEN);
	object_destroy(PRM_OBJ_TYPE_FLOW_METER, n, PRM_STAT_OK);
	table_destroy(RX, table, PRM_STAT_OK);
}

/* A query returns the parameters as they were written, bit by bit. */
static void a_query_has_the_parameters(void **state)
{
	const uint32_t table = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	uint8_t in[16 + PRM_METER_SIZE] = { 0 }, out[16 + PRM_METER_SIZE], *object = in + 16;
	uint8_t *parameters = fld_at(object, METER_PARAMETERS);
	uint32_t n;

	(void)state;
	meter_put(object, RX, table, 1);
	fld_set(parameters, METER_PARAM_CBS_MANTISSA, 0xc0);
	fld_set(parameters, METER_PARAM_CBS_EXPONENT, 31);
	fld_set(parameters, METER_PARAM_EBS_MANTISSA, 0x10);
	fld_set(parameters, METER_PARAM_EBS_EXPONENT, 2);
	fld_set(parameters, METER_PARAM_EIR_MANTISSA, 7);
	fld_set(parameters, METER_PARAM_EIR_EXPONENT, 9);
	n = object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_OK);
	object_query(PRM_OBJ_TYPE_FLOW_METER, n, out, sizeof(out));
	assert_memory_equal(fld_at(out + 16, METER_PARAMETERS), parameters, 0x20);
	object_destroy(PRM_OBJ_TYPE_FLOW_METER, n, PRM_STAT_OK);
	memset(parameters, 0, 0x20);
	fld_set(parameters, METER_PARAM_VALID, 1);
	fld_set(parameters, METER_PARAM_BUCKET_OVERFLOW, 1);
	n = object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_OK);
	object_query(PRM_OBJ_TYPE_FLOW_METER, n, out, sizeof(out));
	assert_memory_equal(fld_at(out + 16, METER_PARAMETERS), parameters, 0x20);
	object_destroy(PRM_OBJ_TYPE_FLOW_METER, n, PRM_STAT_OK);
	table_destroy(RX, table, PRM_STAT_OK);
}

/* Modes of two buckets are not done, so they are refused. */
static void unknown_modes_are_refused(void **state)
{
	static const uint32_t modes[] = { METER_PARAM_BOTH_BUCKETS_ON_GREEN,
					  METER_PARAM_METER_MODE };
	const uint32_t table = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	uint8_t in[16 + PRM_METER_SIZE] = { 0 }, *object = in + 16;
	uint8_t *parameters = fld_at(object, METER_PARAMETERS);
	uint32_t n;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		meter_put(object, RX, table, 1);
		fld_set(parameters, modes[i], 1);
		object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	}
	meter_put(object, RX, table, 1);
	fld_set(parameters, METER_PARAM_BUCKET_OVERFLOW, 1);
	fld_set(parameters, METER_PARAM_EBS_MANTISSA, 1);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	fld_set(parameters, METER_PARAM_EBS_MANTISSA, 0);
	fld_set(parameters, METER_PARAM_EIR_MANTISSA, 1);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_PARAM_ERR);
	fld_set(parameters, METER_PARAM_EIR_MANTISSA, 0);
	n = object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_OK);
	fld_set(parameters, METER_PARAM_EIR_MANTISSA, 1);
	meter_modify(n, object, PRM_METER_MODIFY_CIR, PRM_STAT_OK);
	meter_modify(n, object, PRM_METER_MODIFY_EIR, PRM_STAT_BAD_PARAM_ERR);
	fld_set(parameters, METER_PARAM_EBS_MANTISSA, 1);
	meter_modify(n, object, PRM_METER_MODIFY_EBS, PRM_STAT_BAD_PARAM_ERR);
	object_destroy(PRM_OBJ_TYPE_FLOW_METER, n, PRM_STAT_OK);
	table_destroy(RX, table, PRM_STAT_OK);
}

static void other_adapters_have_neither(void **state)
{
	const uint32_t table = eth_table(0, RX, 3, 0, PRM_STAT_OK);
	uint8_t in[16 + PRM_METER_SIZE] = { 0 };

	(void)state;
	flat.hca[0]->config.steering = HCA_STEERING_NONE;
	sampler_of(RX, 1, table, table, PRM_STAT_BAD_OP_ERR);
	meter_put(in + 16, RX, table, 1);
	object_create(in, sizeof(in), PRM_OBJ_TYPE_FLOW_METER, PRM_STAT_BAD_OP_ERR);
	flat.hca[0]->config.steering = HCA_STEERING_V1;
	table_destroy(RX, table, PRM_STAT_OK);
}

static int steering_setup(void **state)
{
	const int ret = flat_setup_roce(state);

	if (!ret)
		flat.hca[0]->config.steering = HCA_STEERING_V1;
	return ret;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rate_is_kept),
		cmocka_unit_test(a_burst_may_pass_at_once),
		cmocka_unit_test(what_exceeds_is_yellow_then_red),
		cmocka_unit_test(extremes_do_not_overflow),
		cmocka_unit_test(each_so_many_th_frame_is_sampled),
		cmocka_unit_test(samplers_use_their_tables),
		cmocka_unit_test(samplers_lead_to_higher_levels),
		cmocka_unit_test(meters_use_their_table),
		cmocka_unit_test(a_new_rate_begins_at_once),
		cmocka_unit_test(a_query_has_the_parameters),
		cmocka_unit_test(unknown_modes_are_refused),
		cmocka_unit_test(other_adapters_have_neither),
	};

	return cmocka_run_group_tests(tests, steering_setup, flat_teardown);
}
