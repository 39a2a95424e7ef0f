/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_state_test.c - the process front's QP state machine: required attributes of each QP type, and
 * valid transitions.
 *
 * Covers: softhca/front/process/driver/qp_state.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/kind.h"
#include "softhca/front/process/driver/qp_state.h"
#include "util/bits.h"

enum {
	S = QP_ATTR_STATE,
	TO_INIT = S | QP_ATTR_PKEY | QP_ATTR_PORT,
	CONNECT = S | QP_ATTR_AV | QP_ATTR_MTU | QP_ATTR_DEST_QPN | QP_ATTR_RQ_PSN,
	RESPOND = QP_ATTR_MAX_DEST_READS | QP_ATTR_RNR_TIMER,
	REQUEST = QP_ATTR_TIMEOUT | QP_ATTR_RETRY | QP_ATTR_RNR_RETRY | QP_ATTR_MAX_READS,
};

/* Attributes on the way to RTS, by QP type */
static const struct {
	unsigned int type;
	uint32_t init, rtr, rts;
} usual[] = {
	{ IB_UVERBS_QPT_RC, TO_INIT | QP_ATTR_ACCESS, CONNECT | RESPOND,
	  S | QP_ATTR_SQ_PSN | REQUEST },
	{ IB_UVERBS_QPT_UC, TO_INIT | QP_ATTR_ACCESS, CONNECT, S | QP_ATTR_SQ_PSN },
	{ IB_UVERBS_QPT_UD, TO_INIT | QP_ATTR_QKEY, S, S | QP_ATTR_SQ_PSN },
	{ IB_UVERBS_QPT_XRC_INI, TO_INIT | QP_ATTR_ACCESS, CONNECT, S | QP_ATTR_SQ_PSN | REQUEST },
	{ IB_UVERBS_QPT_XRC_TGT, TO_INIT | QP_ATTR_ACCESS, CONNECT | RESPOND,
	  S | QP_ATTR_SQ_PSN | QP_ATTR_TIMEOUT },
	{ IB_UVERBS_QPT_RAW_PACKET, S | QP_ATTR_PORT, S, S },
};

enum { TYPES = ARRAY_SIZE(usual) };

/* Checks that a transition needs each bit of MASK, and refuses the bit FOREIGN. */
static void check_mask(unsigned int type, unsigned int from, unsigned int to, uint32_t mask,
		       uint16_t opcode, uint32_t foreign)
{
	struct qp_transition way;

	assert_null(qp_state_change(type, from, to, mask, &way));
	assert_int_equal(way.opcode, opcode);
	for (uint32_t bit = 1; bit < QP_ATTR_STANDARD; bit <<= 1)
		if (mask & bit && bit != S)
			assert_non_null(qp_state_change(type, from, to, mask & ~bit, &way));
	assert_non_null(qp_state_change(type, from, to, mask | foreign, &way));
}

static void each_type_needs_its_attributes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < TYPES; i++) {
		unsigned int type = usual[i].type;

		check_mask(type, QP_RESET, QP_INIT, usual[i].init, PRM_OP_RST2INIT_QP, QP_ATTR_MTU);
		check_mask(type, QP_INIT, QP_RTR, usual[i].rtr, PRM_OP_INIT2RTR_QP, QP_ATTR_SQ_PSN);
		check_mask(type, QP_RTR, QP_RTS, usual[i].rts, PRM_OP_RTR2RTS_QP, QP_ATTR_PORT);
	}
}

static void error_and_reset_take_no_attributes(void **state)
{
	struct qp_transition way;

	(void)state;
	for (unsigned int i = 0; i < TYPES; i++) {
		for (unsigned int from = QP_INIT; from < QP_STATES; from++) {
			check_mask(usual[i].type, from, QP_ERR, S, PRM_OP_2ERR_QP, QP_ATTR_QKEY);
			check_mask(usual[i].type, from, QP_RESET, S, PRM_OP_2RST_QP, QP_ATTR_PKEY);
		}
		assert_non_null(qp_state_change(usual[i].type, QP_RESET, QP_ERR, S, &way));
	}
}

static void there_is_no_way_past_a_state(void **state)
{
	struct qp_transition way;

	(void)state;
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_RESET, QP_RTR, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_INIT, QP_RTS, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_RTS, QP_INIT, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_ERR, QP_RTS, S, &way));
	/* mlx5 has no state SQD */
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_RTS, QP_SQD, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_SQD, QP_SQD, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_STATES, QP_RTS, S, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RC, QP_RTS, 255, S, &way));
}

static void a_change_within_reset_is_no_command(void **state)
{
	struct qp_transition way;

	(void)state;
	assert_null(qp_state_change(IB_UVERBS_QPT_UD, QP_RESET, QP_RESET, S, &way));
	assert_int_equal(way.opcode, 0);
}

static void the_current_state_may_be_given_where_it_can_change_by_itself(void **state)
{
	uint32_t mask = S | QP_ATTR_CUR_STATE;
	struct qp_transition way;

	(void)state;
	assert_null(qp_state_change(IB_UVERBS_QPT_UD, QP_RTS, QP_RTS, mask, &way));
	assert_null(qp_state_change(IB_UVERBS_QPT_UD, QP_SQE, QP_RTS, mask, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_UD, QP_INIT, QP_INIT, mask, &way));
	assert_non_null(qp_state_change(IB_UVERBS_QPT_UD, QP_ERR, QP_RESET, mask, &way));
}

static void optional_parameters_are_those_of_the_type(void **state)
{
	struct qp_transition way;

	(void)state;
	assert_null(qp_state_change(IB_UVERBS_QPT_UD, QP_RTS, QP_RTS, S | QP_ATTR_QKEY, &way));
	assert_int_equal(way.optional, PRM_OPTPAR_Q_KEY);
	assert_null(qp_state_change(IB_UVERBS_QPT_UC, QP_RTS, QP_RTS, S | QP_ATTR_ACCESS, &way));
	assert_int_equal(way.optional, PRM_OPTPAR_RWE | PRM_OPTPAR_PM_STATE);
	assert_null(qp_state_change(IB_UVERBS_QPT_RC, QP_RTS, QP_RTS, S | QP_ATTR_ACCESS, &way));
	assert_int_equal(way.optional, PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE |
					       PRM_OPTPAR_RNR_TIMEOUT | PRM_OPTPAR_PM_STATE);
}

enum { PATH = QP_ATTR_AV | QP_ATTR_ALT_PATH | QP_ATTR_MIG_STATE | QP_ATTR_ACCESS | QP_ATTR_PKEY };

/* Attributes that may change in SQD, by QP type; all others are refused. */
static const struct {
	unsigned int type;
	uint32_t in_sqd;
} drained[] = {
	{ IB_UVERBS_QPT_RC, PATH | QP_ATTR_PORT | REQUEST | RESPOND },
	{ IB_UVERBS_QPT_UC, PATH },
	{ IB_UVERBS_QPT_UD, QP_ATTR_PKEY | QP_ATTR_QKEY },
	{ IB_UVERBS_QPT_XRC_INI, PATH | QP_ATTR_PORT | REQUEST },
	{ IB_UVERBS_QPT_XRC_TGT, PATH | QP_ATTR_PORT | QP_ATTR_TIMEOUT | RESPOND },
	{ IB_UVERBS_QPT_RAW_PACKET, 0 },
};

static void check_each_bit(unsigned int type, unsigned int from, unsigned int to, uint32_t allowed)
{
	struct qp_transition way;

	for (uint32_t bit = 1; bit < QP_ATTR_STANDARD; bit <<= 1)
		if (bit != S && bit != QP_ATTR_CUR_STATE)
			assert_int_equal(!qp_state_change_mlx4(type, from, to, S | bit, &way),
					 !!(allowed & bit));
}

static void mlx4_drains(void **state)
{
	struct qp_transition way;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(drained); i++) {
		unsigned int type = drained[i].type;

		assert_null(qp_state_change_mlx4(type, QP_RTS, QP_SQD, S, &way));
		assert_int_equal(way.opcode, M4_AS_RTS2SQD_QP);
		check_each_bit(type, QP_RTS, QP_SQD,
			       type == IB_UVERBS_QPT_RAW_PACKET ? 0 : QP_ATTR_SQD_NOTIFY);
		assert_null(qp_state_change_mlx4(type, QP_SQD, QP_SQD, 0, &way));
		assert_int_equal(way.opcode, M4_AS_SQD2SQD_QP);
		check_each_bit(type, QP_SQD, QP_SQD, drained[i].in_sqd);
		assert_null(qp_state_change_mlx4(type, QP_SQD, QP_RTS, S, &way));
		assert_int_equal(way.opcode, PRM_OP_SQD_RTS_QP);
	}
	assert_non_null(qp_state_change(IB_UVERBS_QPT_RAW_PACKET, QP_RTS, QP_SQD, S, &way));
	assert_non_null(qp_state_change_mlx4(IB_UVERBS_QPT_RC, QP_RTR, QP_SQD, S, &way));
	assert_null(qp_state_change_mlx4(IB_UVERBS_QPT_RC, QP_RTS, QP_RTS, S, &way));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_needs_its_attributes),
		cmocka_unit_test(error_and_reset_take_no_attributes),
		cmocka_unit_test(there_is_no_way_past_a_state),
		cmocka_unit_test(a_change_within_reset_is_no_command),
		cmocka_unit_test(the_current_state_may_be_given_where_it_can_change_by_itself),
		cmocka_unit_test(optional_parameters_are_those_of_the_type),
		cmocka_unit_test(mlx4_drains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
