/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action_test.c - destruction of flow actions: the program loses one even if the device refuses to
 * free what it stands for, as in Linux, whose mlx5_core ignores that answer.
 *
 * Covers: softhca/front/process/uverbs/flow/action.c
 */
#include <errno.h>

#include "rig.h"

#include "softhca/front/process/uverbs/flow/action.c"

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	(void)uc;
	(void)id;
	return NULL;
}

static void goes_though_the_device_refuses(unsigned int what)
{
	const uint16_t handle = MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE;
	const unsigned int freed = rig.freed;

	assert_int_equal(action_return(&rig.call, handle, what, 9), 0);
	rig_in_object(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE,
		      rig.objects[*(const uint32_t *)rig_out(handle, sizeof(uint32_t))]);
	rig.command_error = EINVAL;
	assert_int_equal(action_remove(&rig.call), 0);
	assert_int_equal(rig.freed, freed + 1);
	rig.command_error = 0;
}

static void reformats_go_though_an_entry_uses_them(void **state)
{
	(void)state;
	goes_though_the_device_refuses(PRM_FLOW_PACKET_REFORMAT);
}

static void changes_go_though_an_entry_uses_them(void **state)
{
	(void)state;
	goes_though_the_device_refuses(PRM_FLOW_MODIFY_HEADER);
}

static void decap_needs_no_device(void **state)
{
	const uint16_t handle = MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE;

	(void)state;
	rig.command_error = EINVAL;
	assert_int_equal(action_return(&rig.call, handle, PRM_FLOW_DECAP, 0), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, rig_begin, rig_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reformats_go_though_an_entry_uses_them),
		TEST(changes_go_though_an_entry_uses_them),
		TEST(decap_needs_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
