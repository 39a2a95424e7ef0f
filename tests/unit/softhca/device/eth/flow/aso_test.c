/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso_test.c - objects with the state of flows: their numbers, bits of first hits, and the commands
 * that make them.
 *
 * Covers: softhca/device/eth/flow/aso.c, softhca/device/format/mlx5/cmd/flow/aso.c
 */
#include "eth_rig.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/eth/eth.h"
#include "util/bits.h"

static void object_command(uint32_t opcode, uint32_t n, uint32_t log_range, uint8_t *out,
			   size_t out_len, enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_ASO_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_ASO_FIRST_HIT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, n);
	fld_set(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE, log_range);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, out_len, expect);
}

static uint32_t hits_create(uint32_t log_range, enum prm_status expect)
{
	uint8_t out[16];

	object_command(PRM_OP_CREATE_GENERAL_OBJECT, 0, log_range, out, sizeof(out), expect);
	return (uint32_t)fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void hits_destroy(uint32_t n, enum prm_status expect)
{
	uint8_t out[16];

	object_command(PRM_OP_DESTROY_GENERAL_OBJECT, n, 0, out, sizeof(out), expect);
}

static struct aso *hits_of(uint32_t n)
{
	return res_get(&flat.hca[0]->eth->asos, n);
}

static void numbers_of_a_range_are_in_a_row(void **state)
{
	const uint32_t one = hits_create(0, PRM_STAT_OK), four = hits_create(2, PRM_STAT_OK);
	const uint32_t other = hits_create(2, PRM_STAT_OK);

	(void)state;
	assert_int_equal(four % 4, 0);
	assert_int_equal(other, four + 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(hits_of(four + i)->n, four + i);
	hits_destroy(four + 1, PRM_STAT_BAD_RES_ERR);
	hits_destroy(four, PRM_STAT_OK);
	hits_destroy(four, PRM_STAT_BAD_RES_ERR);
	assert_null(hits_of(four + 3));
	hits_destroy(one, PRM_STAT_OK);
	hits_destroy(other, PRM_STAT_OK);
}

static void ranges_end(void **state)
{
	enum { RANGE = 1 << ASO_LOG_RANGE_MAX, RANGES = (1 << ASO_LOG_MAX) / RANGE };
	uint32_t n[RANGES];

	(void)state;
	hits_create(ASO_LOG_RANGE_MAX + 1, PRM_STAT_BAD_PARAM_ERR);
	for (int i = 0; i < RANGES - 1; i++)
		n[i] = hits_create(ASO_LOG_RANGE_MAX, PRM_STAT_OK);
	hits_create(ASO_LOG_RANGE_MAX, PRM_STAT_LIM_ERR);
	for (int i = 0; i < RANGES - 1; i++)
		hits_destroy(n[i], PRM_STAT_OK);
}

/* A query returns the bit of line 0 as the last one. */
static void a_line_is_hit_once(void **state)
{
	static const unsigned int lines[] = { 0, 1, 7, 8, 255, 511 };
	uint8_t out[PRM_GENERAL_OBJ_HDR_SIZE + PRM_ASO_SIZE];
	const uint8_t *bits = fld_at(fld_at(out, GENERAL_OBJ_OBJECT), ASO_HITS);
	const uint32_t n = hits_create(0, PRM_STAT_OK);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_false(aso_hit(hits_of(n), lines[i], false));
		assert_false(aso_hit(hits_of(n), lines[i], true));
		assert_true(aso_hit(hits_of(n), lines[i], false));
	}
	object_command(PRM_OP_QUERY_GENERAL_OBJECT, n, 0, out, sizeof(out), PRM_STAT_OK);
	assert_int_equal(bits[63], 0x83);
	assert_int_equal(bits[62], 0x01);
	assert_int_equal(bits[32], 0x80);
	assert_int_equal(bits[0], 0x80);
	hits_destroy(n, PRM_STAT_OK);
	object_command(PRM_OP_QUERY_GENERAL_OBJECT, n, 0, out, sizeof(out), PRM_STAT_BAD_RES_ERR);
}

static void other_adapters_have_none(void **state)
{
	(void)state;
	flat.hca[0]->config.steering = HCA_STEERING_NONE;
	hits_create(0, PRM_STAT_BAD_OP_ERR);
	flat.hca[0]->config.steering = HCA_STEERING_V1;
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
		cmocka_unit_test(numbers_of_a_range_are_in_a_row),
		cmocka_unit_test(ranges_end),
		cmocka_unit_test(a_line_is_hit_once),
		cmocka_unit_test(other_adapters_have_none),
	};

	return cmocka_run_group_tests(tests, steering_setup, flat_teardown);
}
