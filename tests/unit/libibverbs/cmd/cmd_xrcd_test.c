/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains, and the QPs that are in one.
 *
 * Covers: libibverbs/cmd/cmd_xrcd.c, libibverbs/cmd/cmd_qp.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void an_xrc_domain_is_a_descriptor_and_flags(void **state)
{
	struct ibv_xrcd_init_attr attr = { .fd = -1, .oflags = 0100 };
	struct verbs_xrcd vxrcd = {};

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	assert_int_equal(verbs_cmd_open_xrcd(context_of(state), &attr, &vxrcd, NULL), EINVAL);
	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	kernel.fill = 0x13;
	assert_int_equal(verbs_cmd_open_xrcd(context_of(state), &attr, &vxrcd, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<0000000000000000ffffffff40000000 001>4 002=8:25");
	assert_int_equal(vxrcd.handle, 0x13131313);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_close_xrcd(&vxrcd), 0);
	assert_string_equal(kernel.text, "a/0 000=13131313");
	attr.comp_mask = IBV_XRCD_INIT_ATTR_RESERVED;
	assert_int_equal(verbs_cmd_open_xrcd(context_of(state), &attr, &vxrcd, NULL), EOPNOTSUPP);
}

static void an_xrc_receive_qp_has_a_domain_and_nothing_else(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = &cq,
		.recv_cq = &cq,
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD,
		.pd = &pd,
		.xrcd = &vxrcd.xrcd,
	};
	struct verbs_qp vqp = {};
	char want[512];

	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, &vqp, NULL), 0);
	snprintf(want, sizeof(want), "4/0 000=new 001=71 007=8:%llx 008<", ADDRESS_OF(&vqp));
	assert_memory_equal(kernel.text, want, strlen(want));
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp.qp), 0);
}

static void an_xrc_send_qp_has_no_receive_cq(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = &cq,
		.recv_cq = &cq,
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = &pd,
	};
	struct verbs_qp vqp = {};

	expect(IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	assert_int_equal(verbs_cmd_create_qp(context_of(state), &attr, &vqp, NULL), 0);
	assert_non_null(strstr(kernel.text, " 002=21 004=31 007="));
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp.qp), 0);
}

static void open_qp_names_domain_number_and_type(void **state)
{
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 0x123,
		.xrcd = &vxrcd.xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct verbs_qp vqp = {};
	char want[512];

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x14;
	assert_int_equal(verbs_cmd_open_qp(context_of(state), &attr, &vqp, NULL), 0);
	snprintf(want, sizeof(want),
		 "0/0 000<0000000000000000%s71000000230100000a00000000000000 001>32 002=8:28",
		 bytes_of(ADDRESS_OF(&vqp)));
	assert_string_equal(kernel.text, want);
	assert_int_equal(vqp.qp.qp_num, 0x14141414);
	expect(IDS(UVERBS_ATTR_DESTROY_QP_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_qp(&vqp.qp), 0);
}

static void open_qp_refuses_other_masks_before_the_kernel(void **state)
{
	const uint32_t needed =
		IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	const struct {
		uint32_t comp_mask;
		int err;
	} rows[] = {
		{ needed & ~(uint32_t)IBV_QP_OPEN_ATTR_NUM, EINVAL },
		{ needed & ~(uint32_t)IBV_QP_OPEN_ATTR_XRCD, EINVAL },
		{ needed & ~(uint32_t)IBV_QP_OPEN_ATTR_TYPE, EINVAL },
		{ needed | IBV_QP_OPEN_ATTR_RESERVED, EOPNOTSUPP },
	};
	struct ibv_qp_open_attr attr = { .qp_type = IBV_QPT_XRC_RECV };
	struct verbs_qp vqp = {};

	expect(NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		attr.comp_mask = rows[i].comp_mask;
		assert_int_equal(verbs_cmd_open_qp(context_of(state), &attr, &vqp, NULL),
				 rows[i].err);
	}
	assert_int_equal(kernel.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(an_xrc_domain_is_a_descriptor_and_flags),
		COMMAND_TEST(an_xrc_receive_qp_has_a_domain_and_nothing_else),
		COMMAND_TEST(an_xrc_send_qp_has_no_receive_cq),
		COMMAND_TEST(open_qp_names_domain_number_and_type),
		COMMAND_TEST(open_qp_refuses_other_masks_before_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
