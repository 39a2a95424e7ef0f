/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands of completion counters, and the error without a provider that has them.
 *
 * Covers: libibverbs/verbs_comp_cntr.c, libibverbs/cmd/cmd_counters.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>

static struct ibv_comp_cntr *cntr_make(void **state)
{
	struct ibv_comp_cntr_init_attr attr = {};

	expect(NULL, IDS(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE));
	return ibv_create_comp_cntr(context_of(state), &attr);
}

static void counter_take(struct ibv_comp_cntr *cntr)
{
	expect(NULL, NULL);
	assert_int_equal(ibv_destroy_comp_cntr(cntr), 0);
	assert_string_equal(kernel.text, "13/1 000=51");
}

static void a_counter_is_made_and_destroyed(void **state)
{
	struct ibv_comp_cntr *cntr = cntr_make(state);

	assert_non_null(cntr);
	assert_string_equal(kernel.text, "13/0 000=new");
	assert_int_equal(cntr->handle, 0x51);
	assert_ptr_equal(cntr->context, context_of(state));
	counter_take(cntr);
}

static void both_values_can_be_set_increased_and_read(void **state)
{
	struct ibv_comp_cntr *cntr = cntr_make(state);
	uint64_t value = 0;

	expect(NULL, NULL);
	assert_int_equal(ibv_set_comp_cntr(cntr, 5), 0);
	assert_string_equal(kernel.text, "13/2 000=51 001=8:0 002=8:0 003=8:5");
	expect(NULL, NULL);
	assert_int_equal(ibv_inc_comp_cntr(cntr, 6), 0);
	assert_string_equal(kernel.text, "13/2 000=51 001=8:0 002=8:1 003=8:6");
	expect(NULL, NULL);
	assert_int_equal(ibv_set_err_comp_cntr(cntr, 7), 0);
	assert_string_equal(kernel.text, "13/2 000=51 001=8:1 002=8:0 003=8:7");
	expect(NULL, NULL);
	assert_int_equal(ibv_inc_err_comp_cntr(cntr, 8), 0);
	assert_string_equal(kernel.text, "13/2 000=51 001=8:1 002=8:1 003=8:8");
	expect(IDS(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE), NULL);
	kernel.fill = 1;
	assert_int_equal(ibv_read_comp_cntr(cntr, &value), 0);
	assert_string_equal(kernel.text, "13/3 000=51 001=8:0 002>8");
	assert_true(value == 0x0101010101010101);
	expect(IDS(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE), NULL);
	assert_int_equal(ibv_read_err_comp_cntr(cntr, &value), 0);
	assert_string_equal(kernel.text, "13/3 000=51 001=8:1 002>8");
	counter_take(cntr);
}

static void a_counter_is_attached_to_operations_of_a_qp(void **state)
{
	struct ibv_comp_cntr *cntr = cntr_make(state);
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	struct ibv_qp_attach_comp_cntr_attr attr = {
		.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE
	};

	expect(NULL, NULL);
	assert_int_equal(ibv_qp_attach_comp_cntr(&qp, cntr, &attr), 0);
	assert_string_equal(kernel.text, "4/2 000=61 001=51 002=4:10");
	attr.comp_mask = 1;
	assert_int_equal(ibv_qp_attach_comp_cntr(&qp, cntr, &attr), EINVAL);
	counter_take(cntr);
}

static void an_older_program_gets_the_capabilities_it_has_room_for(void **state)
{
	struct ibv_comp_cntr_caps caps;

	memset(&caps, 0xee, sizeof(caps));
	expect(IDS(0, 1, 2), NULL);
	kernel.fill = 1;
	assert_int_equal(
		_ibv_query_comp_cntr_caps(context_of(state), &caps,
					  offsetof(struct ibv_comp_cntr_caps, max_counters)),
		0);
	assert_string_equal(kernel.text, "0/8 000>4 001>8 002>4");
	assert_true(caps.max_value == 0x0101010101010101);
	assert_int_equal(caps.max_counters, 0xeeeeeeee);
}

static void a_kernel_without_counters_does_not_support_them(void **state)
{
	struct ibv_comp_cntr_init_attr attr = {};
	struct ibv_comp_cntr_caps caps;

	expect(NULL, NULL);
	kernel.old = true;
	assert_null(ibv_create_comp_cntr(context_of(state), &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_query_comp_cntr_caps(context_of(state), &caps), EOPNOTSUPP);
	attr.flags = 1;
	assert_null(ibv_create_comp_cntr(context_of(state), &attr));
	assert_int_equal(errno, EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(a_counter_is_made_and_destroyed),
		COMMAND_TEST(both_values_can_be_set_increased_and_read),
		COMMAND_TEST(a_counter_is_attached_to_operations_of_a_qp),
		COMMAND_TEST(an_older_program_gets_the_capabilities_it_has_room_for),
		COMMAND_TEST(a_kernel_without_counters_does_not_support_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
