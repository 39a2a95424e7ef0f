/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of QP transitions, checked with masks of real programs and with their typical
 * mistakes.
 *
 * Covers: libibverbs/explain/qp_states.c
 */
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/explain/qp_states.h"

#define RC_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RC_RTR                                                                          \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RC_RTS                                                                                 \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static int fits(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	int required, allowed;

	if (!verbs_qp_transition(type, from, to, &required, &allowed))
		return 0;
	return !(required & ~mask) && !(mask & ~allowed);
}

static void rc_goes_up(void **state)
{
	(void)state;
	assert_true(fits(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, RC_INIT));
	assert_int_equal(RC_RTR, 0x129181);
	assert_true(fits(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, RC_RTR));
	assert_int_equal(RC_RTS, 0x12e01);
	assert_true(fits(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, RC_RTS));
}

/* Without any one of its bits, a required mask does not fit. */
static void rc_needs_every_attribute(void **state)
{
	const struct {
		enum ibv_qp_state from, to;
		int mask;
	} steps[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT, RC_INIT },
		{ IBV_QPS_INIT, IBV_QPS_RTR, RC_RTR },
		{ IBV_QPS_RTR, IBV_QPS_RTS, RC_RTS },
	};

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int bit = 1; bit < 26; bit++)
			if (steps[i].mask & 1 << bit)
				assert_false(fits(IBV_QPT_RC, steps[i].from, steps[i].to,
						  steps[i].mask & ~(1 << bit)));
}

static void rc_skips_no_state(void **state)
{
	(void)state;
	assert_false(fits(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, RC_RTR));
	assert_false(fits(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTS, RC_RTS));
	assert_false(fits(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTS, RC_RTS));
	assert_false(fits(IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTR, RC_RTR));
	assert_false(fits(IBV_QPT_RC, IBV_QPS_ERR, IBV_QPS_RTS, IBV_QP_STATE));
}

static void rc_takes_no_qkey(void **state)
{
	(void)state;
	assert_false(fits(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, RC_INIT | IBV_QP_QKEY));
	assert_true(fits(IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
}

static void every_state_falls_to_reset_and_all_but_reset_to_error(void **state)
{
	(void)state;
	for (int from = IBV_QPS_RESET; from <= IBV_QPS_ERR; from++) {
		assert_true(fits(IBV_QPT_RC, from, IBV_QPS_RESET, IBV_QP_STATE));
		assert_int_equal(fits(IBV_QPT_RC, from, IBV_QPS_ERR, IBV_QP_STATE),
				 from != IBV_QPS_RESET);
		assert_false(fits(IBV_QPT_RC, from, IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_PORT));
	}
}

static void ud_needs_little(void **state)
{
	(void)state;
	assert_true(fits(IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE));
	assert_true(fits(IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN));
	assert_false(fits(IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_STATE));
	assert_true(fits(IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_STATE));
	assert_false(fits(IBV_QPT_RC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_STATE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc_goes_up),
		cmocka_unit_test(rc_needs_every_attribute),
		cmocka_unit_test(rc_skips_no_state),
		cmocka_unit_test(rc_takes_no_qkey),
		cmocka_unit_test(every_state_falls_to_reset_and_all_but_reset_to_error),
		cmocka_unit_test(ud_needs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
