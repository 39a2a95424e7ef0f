/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd_test.c - protection domains: answers to the program, and the undoing of a create that fails
 * in a later step.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/pd.c"

enum { PDN = 0x33, REFUSED = EDOM };

static bool has_room; /* for the driver's answer */
static int allocate_error;

int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(opcode, PRM_OP_ALLOC_PD);
	*number = PDN;
	return allocate_error;
}

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	static struct ib_uverbs_attr attr;

	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(id, UVERBS_ATTR_UHW_OUT);
	return has_room ? &attr : NULL;
}

static int pd_begin(void **state)
{
	has_room = true;
	allocate_error = 0;
	return rig_begin(state);
}

static uint32_t allocated(void)
{
	const struct ib_uverbs_alloc_pd_resp *resp;

	assert_int_equal(pd_alloc(&rig.call), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	return resp->pd_handle;
}

static void the_program_is_told_handle_and_number(void **state)
{
	const uint32_t handle = allocated();
	const struct mlx5_ib_alloc_pd_resp *driver = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*driver));

	(void)state;
	assert_int_equal(driver->pdn, PDN);
	assert_int_equal(((struct uverbs_pd *)rig.objects[handle])->pdn, PDN);
	rig_in_object(MLX5_IB_ATTR_QUERY_PD_HANDLE, rig.objects[handle]);
	assert_int_equal(pd_query(&rig.call), 0);
	assert_int_equal(*(const uint32_t *)rig_out(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4), PDN);
	rig.out_refused = MLX5_IB_ATTR_QUERY_PD_RESP_PDN;
	assert_int_equal(pd_query(&rig.call), EFAULT);
}

static void a_failed_step_is_undone(void **state)
{
	(void)state;
	allocate_error = REFUSED;
	assert_int_equal(pd_alloc(&rig.call), REFUSED);
	assert_int_equal(rig.freed, 1);
	assert_int_equal(rig.released, 0);
	allocate_error = 0;
	has_room = false;
	assert_int_equal(pd_alloc(&rig.call), EFAULT);
	assert_int_equal(rig.freed, 2);
	has_room = true;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(pd_alloc(&rig.call), EFAULT);
	assert_int_equal(rig.freed, 3);
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(pd_alloc(&rig.call), EFAULT);
	assert_int_equal(rig.freed, 4);
	assert_int_equal(rig.released, 3);
	assert_int_equal(rig.last_released, PDN);
}

static void a_domain_is_destroyed_either_way(void **state)
{
	uint32_t handle = allocated();

	(void)state;
	rig.command_error = REFUSED;
	rig_in(UVERBS_ATTR_CORE_IN, &handle, sizeof(handle));
	assert_int_equal(pd_dealloc_write(&rig.call), REFUSED);
	assert_int_equal(rig.freed, 0);
	rig.command_error = 0;
	assert_int_equal(pd_dealloc_write(&rig.call), 0);
	assert_int_equal(rig.last_released, PDN);
	assert_int_equal(rig.freed, 1);
	handle = allocated();
	rig.objects[handle]->users = 1; /* a region, for instance */
	rig_in_object(UVERBS_ATTR_DESTROY_PD_HANDLE, rig.objects[handle]);
	assert_int_equal(pd_dealloc(&rig.call), EBUSY);
	rig.objects[handle]->users = 0;
	assert_int_equal(pd_dealloc(&rig.call), 0);
	assert_int_equal(rig.freed, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, pd_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(the_program_is_told_handle_and_number),
		CASE(a_failed_step_is_undone),
		CASE(a_domain_is_destroyed_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
