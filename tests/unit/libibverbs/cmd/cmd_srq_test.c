/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SRQs of each type, by method and on an old kernel.
 *
 * Covers: libibverbs/cmd/cmd_srq.c
 */
#include "fake_kernel.h"

#include "tests/unit/log_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void create_srq_of_type_basic(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_srq_init_attr_ex attr = {
		.srq_context = &pd,
		.attr = { 10, 2, 3 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = &pd,
		.xrcd = &vxrcd.xrcd, /* ignored, as it means nothing for this type */
		.cq = &cq,
	};
	struct verbs_srq vsrq = { .ring_wr = 16, .ring_sge = 4 };
	char want[512];

	expect(IDS(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
		   UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM),
	       IDS(UVERBS_ATTR_CREATE_SRQ_HANDLE));
	kernel.fill = 0x11;
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), 0);
	snprintf(want, sizeof(want),
		 "5/0 000=new 001=21 004=8:%llx 005=4:10 006=4:4 007=4:3 009=8:0 00a=4e "
		 "00b>4 00c>4 00d>4",
		 ADDRESS_OF(&vsrq));
	assert_string_equal(kernel.text, want);
	assert_int_equal(vsrq.srq.handle, 0x51);
	assert_ptr_equal(vsrq.srq.srq_context, &pd);
	assert_int_equal(attr.attr.max_wr, 0x11111111);
	assert_int_equal(vsrq.srq_num, 0x11111111);

	expect(IDS(UVERBS_ATTR_DESTROY_SRQ_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_srq(&vsrq.srq), 0);
	assert_string_equal(kernel.text, "5/1 000=51 001>4");
}

static struct ibv_srq_init_attr_ex xrc_attr(struct ibv_pd *pd, struct verbs_xrcd *vxrcd,
					    struct ibv_cq *cq)
{
	return (struct ibv_srq_init_attr_ex){
		.attr = { 10, 2, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = vxrcd ? &vxrcd->xrcd : NULL,
		.cq = cq,
	};
}

static void create_srq_of_type_xrc_has_domain_and_cq(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_srq_init_attr_ex attr = xrc_attr(&pd, &vxrcd, &cq);
	struct verbs_srq vsrq = {};

	expect(IDS(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
		   UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM),
	       IDS(UVERBS_ATTR_CREATE_SRQ_HANDLE));
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), 0);
	assert_non_null(strstr(kernel.text, " 001=21 002=71 003=31 "));
	assert_non_null(strstr(kernel.text, " 009=8:1 "));
	assert_ptr_equal(vsrq.xrcd, &vxrcd.xrcd);
	expect(IDS(UVERBS_ATTR_DESTROY_SRQ_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_srq(&vsrq.srq), 0);
}

static void create_srq_of_type_tm_has_tags_and_cq(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_srq_init_attr_ex attr = xrc_attr(&pd, NULL, &cq);
	struct verbs_srq vsrq = {};

	attr.srq_type = IBV_SRQT_TM;
	attr.comp_mask &= ~(uint32_t)IBV_SRQ_INIT_ATTR_XRCD;
	attr.tm_cap.max_num_tags = 15;
	expect(IDS(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
		   UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM),
	       IDS(UVERBS_ATTR_CREATE_SRQ_HANDLE));
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), EINVAL);
	attr.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), 0);
	assert_non_null(strstr(kernel.text, " 001=21 003=31 "));
	assert_non_null(strstr(kernel.text, " 008=4:f 009=8:2 "));
	expect(IDS(UVERBS_ATTR_DESTROY_SRQ_RESP), NULL);
	assert_int_equal(verbs_cmd_destroy_srq(&vsrq.srq), 0);
}

/* Nothing is asked of the kernel: its fields would come from attributes that the program need not
 * have set. */
static void each_type_needs_the_attributes_of_its_mask(void **state)
{
	static const struct {
		enum ibv_srq_type type;
		uint32_t bit;
		const char *missing;
	} rows[] = {
		{ IBV_SRQT_XRC, IBV_SRQ_INIT_ATTR_PD, "lacks IBV_SRQ_INIT_ATTR_PD\n" },
		{ IBV_SRQT_XRC, IBV_SRQ_INIT_ATTR_CQ, "lacks IBV_SRQ_INIT_ATTR_CQ, which" },
		{ IBV_SRQT_XRC, IBV_SRQ_INIT_ATTR_XRCD, "lacks IBV_SRQ_INIT_ATTR_XRCD, which" },
		{ IBV_SRQT_TM, IBV_SRQ_INIT_ATTR_PD, "lacks IBV_SRQ_INIT_ATTR_PD\n" },
		{ IBV_SRQT_TM, IBV_SRQ_INIT_ATTR_CQ, "lacks IBV_SRQ_INIT_ATTR_CQ, which" },
		{ IBV_SRQT_TM, IBV_SRQ_INIT_ATTR_TM, "lacks IBV_SRQ_INIT_ATTR_TM, which" },
	};
	struct verbs_srq vsrq = {};

	expect(NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_srq_init_attr_ex attr = { .srq_type = rows[i].type };

		attr.comp_mask = (IBV_SRQ_INIT_ATTR_RESERVED - 1) & ~rows[i].bit;
		log_text();
		assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL),
				 EINVAL);
		check_logged(rows[i].missing);
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_RESERVED;
		assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL),
				 EOPNOTSUPP);
		check_logged("no bit above 0x1f has a meaning");
	}
	assert_int_equal(kernel.calls, 0);
}

/* ib_uverbs_create_xsrq: user handle, type, PD, max_wr, max_sge, limit, tags, domain, CQ. */
static void an_old_kernel_creates_srqs_by_invoked_write(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct verbs_xrcd vxrcd = { .handle = 0x71 };
	struct ibv_cq cq = { .handle = 0x31 };
	struct ibv_srq_init_attr_ex attr = xrc_attr(&pd, &vxrcd, &cq);
	struct verbs_srq vsrq = {};
	char want[512];

	attr.attr.srq_limit = 7;
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	kernel.fill = 0x44;
	assert_int_equal(verbs_cmd_create_srq(context_of(state), &attr, &vsrq, NULL), 0);
	snprintf(want, sizeof(want),
		 "5/0 no; 0/0 000<0000000000000000%s01000000210000000a00000002000000"
		 "07000000000000007100000031000000 001>16 002=8:27",
		 bytes_of(ADDRESS_OF(&vsrq)));
	assert_string_equal(kernel.text, want);
	assert_int_equal(vsrq.srq.handle, 0x44444444);
	assert_int_equal(vsrq.srq_num, 0x44444444);
	assert_int_equal(attr.attr.max_sge, 0x44444444);

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_destroy_srq(&vsrq.srq), 0);
	assert_string_equal(kernel.text,
			    "5/1 no; 0/0 000<00000000000000004444444400000000 001>4 002=8:23");
}

static void modify_and_query_srq_are_invoked_writes(void **state)
{
	struct ibv_srq srq = { .context = context_of(state), .handle = 0x41 };
	struct ibv_srq_attr attr = { .max_wr = 5, .srq_limit = 6 };

	expect(NULL, NULL);
	assert_int_equal(ibv_modify_srq(&srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_string_equal(kernel.text, "0/0 000<41000000020000000500000006000000 002=8:21");
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x12;
	assert_int_equal(ibv_query_srq(&srq, &attr), 0);
	assert_string_equal(kernel.text,
			    "0/0 000<00000000000000004100000000000000 001>16 002=8:22");
	assert_int_equal(attr.srq_limit, 0x12121212);
}

static bool has_limits;

static int query_device(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	memset(attr, 0, attr_size);
	attr->orig_attr.max_srq_wr = 100;
	attr->orig_attr.max_srq_sge = 5;
	return has_limits ? 0 : EIO;
}

static void refused_srq_check(struct ibv_context *context, int err, struct ibv_srq_attr size,
			      const char *text)
{
	struct ibv_pd pd = { .context = context };
	struct ibv_srq_init_attr_ex attr = { .attr = size,
					     .comp_mask = IBV_SRQ_INIT_ATTR_PD,
					     .pd = &pd };
	struct verbs_srq vsrq = {};

	expect(NULL, IDS(UVERBS_ATTR_CREATE_SRQ_HANDLE));
	kernel.err = err;
	log_text();
	assert_int_equal(verbs_cmd_create_srq(context, &attr, &vsrq, NULL), err);
	check_logged(text);
}

/* An attribute that equals its limit is within it, so the log must not name it. */
static void a_refusal_names_the_limit_that_was_passed(void **state)
{
	static const struct {
		bool has_limits;
		int err;
		struct ibv_srq_attr size;
		const char *text;
	} rows[] = {
		{ false, EINVAL, { 101, 6, 7 }, "max_wr 101 max_sge 6 srq_limit 7: Invalid arg" },
		{ true, EINVAL, { 101, 5, 0 }, "most the device's max_srq_wr, 100" },
		{ true, EINVAL, { 101, 6, 0 }, "most the device's max_srq_wr, 100" },
		{ true, EINVAL, { 100, 6, 0 }, "most the device's max_srq_sge, 5" },
		{ true, EINVAL, { 100, 5, 7 }, "max_wr 100 max_sge 5 srq_limit 7: Invalid arg" },
		{ true, ENOMEM, { 100, 5, 7 }, "the device has no SRQ left (max_srq), the host" },
	};
	const struct verbs_ops ops = { .query_device_ex = query_device };

	verbs_set_ops(to_vctx(context_of(state)), &ops);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		has_limits = rows[i].has_limits;
		refused_srq_check(context_of(state), rows[i].err, rows[i].size, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(create_srq_of_type_basic),
		COMMAND_TEST(create_srq_of_type_xrc_has_domain_and_cq),
		COMMAND_TEST(create_srq_of_type_tm_has_tags_and_cq),
		COMMAND_TEST(each_type_needs_the_attributes_of_its_mask),
		COMMAND_TEST(an_old_kernel_creates_srqs_by_invoked_write),
		COMMAND_TEST(modify_and_query_srq_are_invoked_writes),
		COMMAND_TEST(a_refusal_names_the_limit_that_was_passed),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
