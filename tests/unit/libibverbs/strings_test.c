/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Texts that scripts compare, and texts for unknown values.
 *
 * Covers: libibverbs/strings.c
 */
#include "unit.h"

#include <infiniband/verbs.h>

static void texts_are_those_programs_know(void **state)
{
	(void)state;
	assert_string_equal(ibv_wc_status_str(IBV_WC_SUCCESS), "success");
	assert_string_equal(ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error");
	assert_string_equal(ibv_wc_status_str(IBV_WC_RETRY_EXC_ERR),
			    "transport retry counter exceeded");
	assert_string_equal(ibv_wc_status_str(IBV_WC_TM_RNDV_INCOMPLETE), "TM software rendezvous");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_PORT_ACTIVE), "port active");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_QP_LAST_WQE_REACHED), "last WQE reached");
	assert_string_equal(ibv_node_type_str(IBV_NODE_CA), "InfiniBand channel adapter");
	assert_string_equal(ibv_port_state_str(IBV_PORT_NOP), "no state change (NOP)");
	assert_string_equal(ibv_port_state_str(IBV_PORT_ACTIVE_DEFER), "active defer");
}

static void values_without_a_text_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status) - 1), "unknown");
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)1000), "unknown");
	assert_string_equal(ibv_event_type_str((enum ibv_event_type)1000), "unknown");
	assert_string_equal(ibv_node_type_str((enum ibv_node_type)0), "unknown");
	assert_string_equal(ibv_node_type_str(IBV_NODE_UNKNOWN), "unknown");
	assert_string_equal(ibv_port_state_str((enum ibv_port_state)6), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_those_programs_know),
		cmocka_unit_test(values_without_a_text_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
