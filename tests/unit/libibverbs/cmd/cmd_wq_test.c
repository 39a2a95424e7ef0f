/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * WQs and indirection tables, by method and on an old kernel.
 *
 * Covers: libibverbs/cmd/cmd_wq.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>

static void wq_commands(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_wq_init_attr attr = {
		.max_wr = 4,
		.max_sge = 1,
		.pd = &pd,
		.cq = &cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	struct ibv_wq_attr change = { IBV_WQ_ATTR_STATE, IBV_WQS_RDY, IBV_WQS_RESET, 0, 0 };
	struct ibv_wq wq = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	char want[512];

	expect(IDS(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE,
		   UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM),
	       IDS(UVERBS_ATTR_CREATE_WQ_HANDLE));
	kernel.fill = 0x19;
	assert_int_equal(verbs_cmd_create_wq(context_of(state), &attr, &wq, NULL), 0);
	snprintf(want, sizeof(want),
		 "c/0 000=new 001=21 002=31 003=8:%llx 004=8:0 005=4e 006=4:4 007=4:1 "
		 "008=4:1 009>4 00a>4 00b>4",
		 ADDRESS_OF(&wq));
	assert_string_equal(kernel.text, want);
	assert_int_equal(wq.wq_num, 0x19191919);
	assert_int_equal(attr.max_wr, 0x19191919);

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_wq(&wq, &change, NULL), 0);
	assert_string_equal(
		kernel.text,
		"0/0 000<010000005100000001000000000000000000000000000000 002=8:80000035");
	assert_int_equal(wq.state, IBV_WQS_RDY);
	change.attr_mask = IBV_WQ_ATTR_FLAGS;
	change.wq_state = IBV_WQS_ERR;
	assert_int_equal(verbs_cmd_modify_wq(&wq, &change, NULL), 0);
	assert_int_equal(wq.state, IBV_WQS_RDY);

	/* The library refuses an invalid state: Linux would leak a reference to the WQ. */
	expect(NULL, NULL);
	change =
		(struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_UNKNOWN };
	assert_int_equal(verbs_cmd_modify_wq(&wq, &change, NULL), EINVAL);
	change = (struct ibv_wq_attr){ .attr_mask = IBV_WQ_ATTR_CURR_STATE,
				       .curr_wq_state = IBV_WQS_UNKNOWN };
	assert_int_equal(verbs_cmd_modify_wq(&wq, &change, NULL), EINVAL);
	assert_int_equal(kernel.calls, 0);

	expect(IDS(UVERBS_ATTR_DESTROY_WQ_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_wq(&wq), 0);
	assert_string_equal(kernel.text, "c/1 000=51 001>4");
}

static void an_old_kernel_creates_wqs_by_invoked_write(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_wq_init_attr attr = {
		.max_wr = 4,
		.max_sge = 1,
		.pd = &pd,
		.cq = &cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = IBV_WQ_FLAGS_SCATTER_FCS,
	};
	struct ibv_wq wq = { .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	char want[512];

	NEEDS_LITTLE_ENDIAN();
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	kernel.fill = 0x44;
	assert_int_equal(verbs_cmd_create_wq(context_of(state), &attr, &wq, NULL), 0);
	snprintf(
		want, sizeof(want),
		"c/0 no; 0/0 000<0000000000000000%s210000003100000004000000010000000200000000000000"
		" 001>24 002=8:80000034",
		bytes_of(ADDRESS_OF(&wq)));
	assert_string_equal(kernel.text, want);
	assert_int_equal(wq.handle, 0x44444444);

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_destroy_wq(&wq), 0);
	assert_string_equal(kernel.text,
			    "c/1 no; 0/0 000=8:4444444400000000 001>16 002=8:80000036");
}

static void an_indirection_table_is_a_padded_list_of_wqs(void **state)
{
	struct ibv_wq wqs[2] = { { .handle = 0xa1 }, { .handle = 0xa2 } };
	struct ibv_wq *list[] = { &wqs[0], &wqs[1] };
	struct ibv_rwq_ind_table_init_attr attr = { .log_ind_tbl_size = 1, .ind_tbl = list };
	struct ibv_rwq_ind_table table = {};

	NEEDS_LITTLE_ENDIAN();
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x1a;
	assert_int_equal(verbs_cmd_create_rwq_ind_table(context_of(state), &attr, &table, NULL), 0);
	assert_string_equal(kernel.text,
			    "0/0 000<0000000001000000a1000000a2000000 001>16 002=8:80000037");
	assert_int_equal(table.ind_tbl_handle, 0x1a1a1a1a);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_destroy_rwq_ind_table(&table), 0);
	assert_string_equal(kernel.text, "b/0 000=1a1a1a1a");
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	attr.log_ind_tbl_size = 0;
	assert_int_equal(verbs_cmd_create_rwq_ind_table(context_of(state), &attr, &table, NULL), 0);
	assert_memory_equal(kernel.text, "0/0 000<0000000000000000a100000000000000 ", 41);
	attr.log_ind_tbl_size = 14;
	assert_int_equal(verbs_cmd_create_rwq_ind_table(context_of(state), &attr, &table, NULL),
			 EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(wq_commands),
		COMMAND_TEST(an_old_kernel_creates_wqs_by_invoked_write),
		COMMAND_TEST(an_indirection_table_is_a_padded_list_of_wqs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
