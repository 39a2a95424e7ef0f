/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of the hardware that have moved since a device was opened. sysfs is a tree of the test.
 *
 * Covers: libibverbs/check/counters.c
 */
#include "tests/unit/libibverbs/temp_tree.h"
#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"
#include "tests/unit/log_text.h"

#define says_nothing() assert_string_equal(log_text(), "")

static void moved_counters_are_said(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };

	(void)state;
	snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%s", tree_make());
	tree_put("hw_counters/roce_adp_retrans", "5\n");
	tree_put("ports/1/hw_counters/out_of_sequence", "7\n");
	tree_put("ports/1/hw_counters/duplicate_request", "0\n");
	tree_put("ports/1/hw_counters/lifespan", "10\n");
	tree_put("ports/1/hw_counters/state", "4: ACTIVE\n");
	tree_put("ports/2/hw_counters/out_of_sequence", "1\n");
	verbs_check_counters_watch(&device);
	verbs_check_counters_say();
	assert_string_equal(log_text(), "");

	tree_put("hw_counters/roce_adp_retrans", "6\n");
	tree_put("ports/1/hw_counters/out_of_sequence", "10\n");
	tree_put("ports/1/hw_counters/lifespan", "20\n");
	verbs_check_counters_watch(&device); /* opened again: the start stays */
	verbs_check_counters_say();
	tree_remove();
	assert_string_equal(
		log_text(),
		"rdmakit warn: status: mlx5_0: counters of port 1 that have moved since "
		"the start, by this program or another: out_of_sequence +3\n"
		"rdmakit warn: status: mlx5_0: counters of the device that have moved "
		"since the start, by this program or another: roce_adp_retrans +1\n");
	verbs_check_counters_say();
	assert_string_equal(log_text(), "");
}

/* A child that opens a device counts from then on. */
static void a_child_counts_from_its_own_start(void **state)
{
	struct ibv_device device = { .name = "mlx5_1" };

	(void)state;
	snprintf(device.ibdev_path, sizeof(device.ibdev_path), "%s", tree_make());
	tree_put("hw_counters/out_of_buffer", "1\n");
	verbs_check_counters_watch(&device);
	tree_put("hw_counters/out_of_buffer", "5\n");
	verbs_check_forked();
	verbs_check_counters_say();
	says_nothing();
	verbs_check_counters_watch(&device);
	tree_put("hw_counters/out_of_buffer", "7\n");
	verbs_check_counters_say();
	tree_remove();
	check_logged("counters of the device that have moved since the start, by this program or "
		     "another: out_of_buffer +2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moved_counters_are_said),
		cmocka_unit_test(a_child_counts_from_its_own_start),
	};

	log_to_memory();
	verbs_log_on(VERBS_LOG_WARN); /* reads the environment */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
