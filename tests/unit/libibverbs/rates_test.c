/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of static rates in both directions.
 *
 * Covers: libibverbs/rates.c
 */
#include "unit.h"

#include <infiniband/verbs.h>

static void known_rates_have_known_numbers(void **state)
{
	(void)state;
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_2_5_GBPS), 1);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_40_GBPS), 16);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_28_GBPS), 11);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_1200_GBPS), 480);
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_14_GBPS), 14062);
}

static void what_has_a_number_comes_back(void **state)
{
	(void)state;
	for (int rate = IBV_RATE_2_5_GBPS; rate <= IBV_RATE_1200_GBPS; rate++) {
		int mult = ibv_rate_to_mult(rate);

		assert_int_equal(mbps_to_ibv_rate(ibv_rate_to_mbps(rate)), rate);
		if (mult != -1)
			assert_int_equal(mult_to_ibv_rate(mult), rate);
	}
}

static void what_is_no_rate_has_none(void **state)
{
	(void)state;
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_MAX), -1);
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_MAX), -1);
	assert_int_equal(ibv_rate_to_mbps(1), -1); /* a gap in the list */
	assert_int_equal(ibv_rate_to_mult(1), -1);
	assert_int_equal(ibv_rate_to_mbps(1000), -1);
	assert_int_equal(ibv_rate_to_mult((enum ibv_rate) - 1), -1);
	assert_int_equal(mult_to_ibv_rate(0), IBV_RATE_MAX);
	assert_int_equal(mult_to_ibv_rate(-1), IBV_RATE_MAX);
	assert_int_equal(mult_to_ibv_rate(3), IBV_RATE_MAX);
	assert_int_equal(mbps_to_ibv_rate(2501), IBV_RATE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_rates_have_known_numbers),
		cmocka_unit_test(what_has_a_number_comes_back),
		cmocka_unit_test(what_is_no_rate_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
