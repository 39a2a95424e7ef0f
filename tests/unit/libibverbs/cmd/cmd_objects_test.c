/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands on address handles, SRQs, XRC domains, windows, device memory, WQs, flows and counters,
 * and the less usual ones on MRs, CQs and QPs.
 *
 * Covers: libibverbs/cmd/cmd_ah.c, libibverbs/cmd/cmd_srq.c, libibverbs/cmd/cmd_xrcd.c,
 * libibverbs/cmd/cmd_mw.c, libibverbs/cmd/cmd_dm.c, libibverbs/cmd/cmd_wq.c,
 * libibverbs/cmd/cmd_flow.c, libibverbs/cmd/cmd_flow_action.c, libibverbs/cmd/cmd_counters.c,
 * libibverbs/cmd/cmd_mr.c, libibverbs/cmd/cmd_cq.c, libibverbs/cmd/cmd_qp.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_OF(object) ((unsigned long long)(uintptr_t)(object))

/* The bytes of a 64-bit value as they lie in memory on this host. */
static const char *bytes_of(uint64_t value)
{
	static char text[17];

	for (int i = 0; i < 8; i++)
		snprintf(text + 2 * i, 3, "%02x", ((unsigned char *)&value)[i]);
	return text;
}

/* ---- address handles, multicast ---- */

static void create_ah_hands_the_mac_address_to_the_provider(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_ah_attr attr = {
		.grh = { .flow_label = 0x12345,
			 .sgid_index = 6,
			 .hop_limit = 7,
			 .traffic_class = 8 },
		.dlid = 0x0a0b,
		.sl = 1,
		.src_path_bits = 2,
		.static_rate = 3,
		.is_global = 1,
		.port_num = 5,
	};
	struct ibv_ah ah = {};
	char mac[12], want[512];
	const struct verbs_udata udata = { .resp = mac, .resp_len = sizeof(mac) };

	attr.grh.dgid.raw[0] = 0xfe;
	expect(IDS(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_UHW_OUT), NULL);
	kernel.fill = 0x33;
	assert_int_equal(verbs_cmd_create_ah(&pd, &attr, &ah, &udata), 0);
	snprintf(want, sizeof(want),
		 "0/0 000<0000000000000000%s2100000000000000"
		 "fe000000000000000000000000000000"
		 "4523010006070800"
		 "0b0a010203010500 001>4 002=8:5 1001>12",
		 bytes_of(ADDRESS_OF(&ah)));
	assert_string_equal(kernel.text, want);
	assert_int_equal(ah.handle, 0x33333333);
	assert_ptr_equal(ah.pd, &pd);
	assert_int_equal(mac[11], 0x33);

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_destroy_ah(&ah), 0);
	assert_string_equal(kernel.text, "6/0 000=33333333");
}

static void a_multicast_group_is_gid_and_lid(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61, .qp_type = IBV_QPT_UD };
	union ibv_gid gid = { .raw = { 0xff, 0x12, [15] = 0x99 } };

	expect(NULL, NULL);
	assert_int_equal(ibv_attach_mcast(&qp, &gid, 0xc001), 0);
	assert_string_equal(kernel.text, "0/0 000<ff12000000000000000000000000009961000000"
					 "01c00000 002=8:1e");
	expect(NULL, NULL);
	assert_int_equal(ibv_detach_mcast(&qp, &gid, 0xc001), 0);
	assert_non_null(strstr(kernel.text, "002=8:1f"));
}

/* ---- shared receive queues, XRC ---- */

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
		.xrcd = &vxrcd.xrcd, /* means nothing for this type */
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
	attr.comp_mask &= ~(uint32_t)IBV_QP_OPEN_ATTR_TYPE;
	assert_int_equal(verbs_cmd_open_qp(context_of(state), &attr, &vqp, NULL), EINVAL);
}

/* ---- memory ---- */

static void alloc_mw_carries_pd_and_type(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_mw mw = {};

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x15;
	assert_int_equal(verbs_cmd_alloc_mw(&pd, IBV_MW_TYPE_2, &mw, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000002100000002000000 001>8 002=8:e");
	assert_int_equal(mw.rkey, 0x15151515);
	assert_int_equal(mw.type, IBV_MW_TYPE_2);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_dealloc_mw(&mw), 0);
	assert_string_equal(kernel.text, "8/0 000=15151515");
	assert_int_equal(verbs_cmd_alloc_mw(&pd, 3, &mw, NULL), EINVAL);
}

static void rereg_mr_sends_only_what_changes(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = { .mr = { .context = context_of(state), .handle = 9 } };

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x16;
	assert_int_equal(verbs_cmd_rereg_mr(&vmr, IBV_REREG_MR_CHANGE_PD, &pd, (void *)0x1000,
					    0x2000, 0x3000, IBV_ACCESS_LOCAL_WRITE, NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000000900000002000000"
					 "000000000000000000000000000000000000000000000000"
					 "2100000000000000 001>8 002=8:b");
	assert_int_equal(vmr.mr.rkey, 0x16161616);
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	assert_int_equal(verbs_cmd_rereg_mr(
				 &vmr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS,
				 &pd, (void *)0x1000, 0x2000, 0x3000, IBV_ACCESS_LOCAL_WRITE, NULL),
			 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000000900000005000000"
					 "001000000000000000200000000000000030000000000000"
					 "0000000001000000 001>8 002=8:b");
}

static void reg_dmabuf_mr_has_the_descriptor_as_a_number(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_DMABUF_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_dmabuf_mr(&pd, 0x1000, 0x2000, 0x3000, 7,
						 IBV_ACCESS_LOCAL_WRITE, &vmr, NULL),
			 0);
	assert_string_equal(
		kernel.text,
		"7/4 000=new 001=21 002=8:1000 003=8:2000 004=8:3000 005=4:7 006=4:1 007>4 008>4");
	assert_int_equal(vmr.kind, VERBS_MR_DMABUF);
	assert_ptr_equal(vmr.mr.addr, (void *)0x1000);
	assert_int_equal(vmr.mr.length, 0x2000);
}

static void reg_mr_ex_has_an_address_or_a_descriptor(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_dmah vdmah = { .handle = 0x91 };
	struct ibv_mr_init_attr attr = {
		.length = 0x2000,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DMAH,
		.iova = 0x3000,
		.addr = (void *)0x1000,
		.fd = 7,
		.fd_offset = 0x4000,
		.dmah = &vdmah.dmah,
	};
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_MR_RESP_LKEY, UVERBS_ATTR_REG_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_mr_ex(&pd, &attr, &vmr, NULL), 0);
	assert_string_equal(
		kernel.text,
		"7/5 000=new 001=21 002=91 003=8:3000 004=8:1000 005=8:2000 006=4:1 009>4 00a>4");
	expect(IDS(UVERBS_ATTR_REG_MR_RESP_LKEY, UVERBS_ATTR_REG_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_MR_HANDLE));
	attr.comp_mask = IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_DMAH;
	assert_int_equal(verbs_cmd_reg_mr_ex(&pd, &attr, &vmr, NULL), 0);
	assert_string_equal(kernel.text,
			    "7/5 000=new 001=21 002=91 003=8:3000 005=8:2000 006=4:1 007=7 "
			    "008=8:4000 009>4 00a>4");
}

static void reg_dm_mr_names_memory_and_offset(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_dm dm = { .context = context_of(state), .handle = 0x81 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, UVERBS_ATTR_REG_DM_MR_RESP_RKEY),
	       IDS(UVERBS_ATTR_REG_DM_MR_HANDLE));
	assert_int_equal(verbs_cmd_reg_dm_mr(&pd, &dm, 16, 64, IBV_ACCESS_ZERO_BASED, &vmr, NULL),
			 0);
	assert_string_equal(kernel.text,
			    "7/0 000=new 001=8:10 002=8:40 003=21 004=4:20 005=81 006>4 007>4");
	assert_int_equal(vmr.kind, VERBS_MR_DM);
}

static void query_mr_fills_an_imported_region(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct verbs_mr vmr = {};

	expect(IDS(UVERBS_ATTR_QUERY_MR_RESP_LKEY, UVERBS_ATTR_QUERY_MR_RESP_RKEY,
		   UVERBS_ATTR_QUERY_MR_RESP_LENGTH, UVERBS_ATTR_QUERY_MR_RESP_IOVA),
	       NULL);
	kernel.fill = 0x17;
	assert_int_equal(verbs_cmd_query_mr(&pd, 0x99, &vmr), 0);
	assert_string_equal(kernel.text, "7/3 000=99 001>4 002>4 003>8 ?004>8");
	assert_int_equal(vmr.mr.handle, 0x99);
	assert_int_equal(vmr.mr.lkey, 0x17171717);
	assert_true(vmr.mr.length == (size_t)0x1717171717171717);
	assert_int_equal(vmr.kind, VERBS_MR_IMPORTED);
}

static void advise_mr_passes_the_list_on(void **state)
{
	struct ibv_pd pd = { .context = context_of(state), .handle = 0x21 };
	struct ibv_sge sge = { .addr = 0x1000, .length = 5, .lkey = 6 };

	expect(NULL, NULL);
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				       IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
			 0);
	assert_string_equal(kernel.text,
			    "7/2 000=21 001=8:1 002=4:1 003<00100000000000000500000006000000");
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 4096), EINVAL);
}

static void alloc_dm_sets_context_and_handle(void **state)
{
	const struct ibv_alloc_dm_attr attr = { .length = 0x100, .log_align_req = 6 };
	struct ibv_dm dm = {};
	int fd = -1;

	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DM_HANDLE));
	assert_int_equal(verbs_cmd_alloc_dm(context_of(state), &attr, &dm, NULL, 0), 0);
	assert_string_equal(kernel.text, "e/0 000=new 001=8:100 002=4:6");
	assert_int_equal(dm.handle, 0x51);
	assert_int_equal(dm.comp_mask, IBV_DM_MASK_HANDLE);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_free_dm(&dm), 0);
	assert_string_equal(kernel.text, "e/1 000=51");
	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMABUF_HANDLE));
	assert_int_equal(verbs_cmd_alloc_dmabuf(context_of(state), 0x1234, &fd), 0);
	assert_string_equal(kernel.text, "12/0 000=new 001=8:1234");
	assert_int_equal(fd, 0x51);
}

static void a_dma_handle_has_the_hints_that_its_mask_names(void **state)
{
	struct ibv_dmah_init_attr attr = {
		.comp_mask = IBV_DMAH_INIT_ATTR_MASK_CPU_ID | IBV_DMAH_INIT_ATTR_MASK_PH,
		.cpu_id = 3,
		.ph = 2,
		.tph_mem_type = IBV_TPH_MEM_TYPE_PM,
	};
	struct ibv_dmah *dmah;

	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMAH_HANDLE));
	dmah = ibv_alloc_dmah(context_of(state), &attr);
	assert_non_null(dmah);
	assert_string_equal(kernel.text, "11/0 000=new 001=4:3 003=1:2");
	expect(NULL, NULL);
	assert_int_equal(ibv_dealloc_dmah(dmah), 0);
	assert_string_equal(kernel.text, "11/1 000=51");
	expect(NULL, IDS(UVERBS_ATTR_ALLOC_DMAH_HANDLE));
	attr.comp_mask = IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
	dmah = ibv_alloc_dmah(context_of(state), &attr);
	assert_non_null(dmah);
	assert_string_equal(kernel.text, "11/0 000=new 002/1=0");
	assert_int_equal(ibv_dealloc_dmah(dmah), 0);
	attr.comp_mask = 8;
	assert_null(ibv_alloc_dmah(context_of(state), &attr));
	assert_int_equal(errno, EINVAL);
}

/* ---- completion queues ---- */

static void resize_cq_returns_what_was_granted(void **state)
{
	struct ibv_cq cq = { .context = context_of(state), .handle = 0x31, .cqe = 1 };

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x18;
	assert_int_equal(verbs_cmd_resize_cq(&cq, 100, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000003100000064000000 001>8 002=8:13");
	assert_int_equal(cq.cqe, 0x18181818);
}

static void modify_cq_sets_moderation(void **state)
{
	struct ibv_cq cq = { .context = context_of(state), .handle = 0x31 };
	struct ibv_modify_cq_attr attr = { IBV_CQ_ATTR_MODERATE, { 0x102, 0x304 } };

	expect(NULL, NULL);
	assert_int_equal(ibv_modify_cq(&cq, &attr), 0);
	assert_string_equal(kernel.text, "0/0 000<31000000010000000201040300000000 002=8:80000039");
	attr.attr_mask = IBV_CQ_ATTR_RESERVED;
	assert_int_equal(ibv_modify_cq(&cq, &attr), EINVAL);
}

/* ---- receive work queues ---- */

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

	/* A state that there is not is no command: Linux would hold on to the WQ. */
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

/* ---- flows ---- */

struct flow_of_three {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ipv4;
	struct ibv_flow_spec_tcp_udp udp;
} __attribute__((packed, aligned(8)));

static void specs_are_converted_to_the_kernels_layout(void **state)
{
	struct flow_of_three rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .priority = 3,
			  .num_of_specs = 3,
			  .port = 1,
			  .flags = 2 },
		.eth = { .type = IBV_FLOW_SPEC_ETH,
			 .size = sizeof(rule.eth),
			 .val = { .dst_mac = { 1, 2, 3, 4, 5, 6 }, .vlan_tag = 0x0807 },
			 .mask = { .dst_mac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } } },
		.ipv4 = { .type = IBV_FLOW_SPEC_IPV4 | IBV_FLOW_SPEC_INNER,
			  .size = sizeof(rule.ipv4),
			  .val = { .src_ip = 0x04030201 },
			  .mask = { .dst_ip = 0x08070605 } },
		.udp = { .type = IBV_FLOW_SPEC_UDP,
			 .size = sizeof(rule.udp),
			 .val = { .dst_port = 0x0201 },
			 .mask = { .src_port = 0x0403 } },
	};
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	struct ibv_flow flow = {};

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x1b;
	assert_int_equal(verbs_cmd_create_flow(&qp, (void *)&rule, &flow, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<0000000061000000"
					 "0000000050000300"
					 "0300000102000000" /* specs, 2 reserved, port, flags */
					 "2000000028000000"
					 "01020304050600000000000000000708"
					 "ffffffffffff00000000000000000000"
					 "3001000018000000"
					 "0102030400000000"
					 "0000000005060708"
					 "4100000010000000"
					 "01020000"
					 "00000304 001>8 002=8:80000032");
	assert_int_equal(flow.handle, 0x1b1b1b1b);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_destroy_flow(&flow), 0);
	assert_string_equal(kernel.text, "9/0 000=1b1b1b1b");
}

struct flow_of_actions {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_ipv4_ext ipv4;
	struct ibv_flow_spec_action_tag tag;
	struct ibv_flow_spec_action_drop drop;
	struct ibv_flow_spec_action_handle handle;
	struct ibv_flow_spec_counter_action count;
} __attribute__((packed, aligned(8)));

static void actions_carry_tags_and_handles(void **state)
{
	struct verbs_flow_action vaction = { .handle = 0x91 };
	struct verbs_counters vcounters = { .handle = 0x92 };
	struct flow_of_actions rule = {
		.attr = { .num_of_specs = 5, .port = 1 },
		.ipv4 = { .type = IBV_FLOW_SPEC_IPV4_EXT,
			  .size = sizeof(rule.ipv4),
			  .val = { .proto = 17 },
			  .mask = { .flags = 0xff } },
		.tag = { .type = IBV_FLOW_SPEC_ACTION_TAG,
			 .size = sizeof(rule.tag),
			 .tag_id = 0x77 },
		.drop = { .type = IBV_FLOW_SPEC_ACTION_DROP, .size = sizeof(rule.drop) },
		.handle = { .type = IBV_FLOW_SPEC_ACTION_HANDLE,
			    .size = sizeof(rule.handle),
			    .action = &vaction.action },
		.count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
			   .size = sizeof(rule.count),
			   .counters = &vcounters.counters },
	};
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	struct ibv_flow flow = {};

	NEEDS_LITTLE_ENDIAN();
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	assert_int_equal(verbs_cmd_create_flow(&qp, (void *)&rule, &flow, NULL), 0);
	assert_non_null(strstr(kernel.text, "3000000020000000"
					    "000000000000000011000000"
					    "0000000000000000000000ff"
					    "00100000100000007700000000000000"
					    "0110000008000000"
					    "02100000100000009100000000000000"
					    "03100000100000009200000000000000 001>8"));
}

static void an_unknown_spec_is_refused_before_the_kernel(void **state)
{
	struct flow_of_three rule = {
		.attr = { .num_of_specs = 1 },
		.eth = { .type = 0x99, .size = sizeof(rule.eth) },
	};
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_flow flow = {};

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_create_flow(&qp, (void *)&rule, &flow, NULL), EINVAL);
	rule.eth.type = IBV_FLOW_SPEC_ETH;
	rule.eth.size = 7; /* of 8 that type and size take */
	assert_int_equal(verbs_cmd_create_flow(&qp, (void *)&rule, &flow, NULL), EINVAL);
	assert_int_equal(kernel.calls, 0);
}

static void an_esp_action_names_its_variants(void **state)
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	uint64_t keymat[2] = { 5, 6 }, replay[2] = { 7, 8 };
	struct ibv_flow_action_esp_encap encap = {};
	struct ibv_flow_action_esp_attr attr = {
		.esp_attr = &esp,
		.keymat_proto = IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.keymat_len = sizeof(keymat),
		.keymat_ptr = keymat,
		.replay_proto = IBV_FLOW_ACTION_ESP_REPLAY_BMP,
		.replay_len = sizeof(replay),
		.replay_ptr = replay,
		.comp_mask = IBV_FLOW_ACTION_ESP_MASK_ESN,
		.esn = 9,
	};
	struct verbs_flow_action vaction = {};

	expect(NULL, IDS(UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE));
	assert_int_equal(verbs_cmd_create_flow_action_esp(context_of(state), &attr, &vaction, NULL),
			 0);
	assert_string_equal(
		kernel.text,
		"d/0 000=new 001<010000000000000000000000000000000000000000000000 002=4:9 "
		"003<05000000000000000600000000000000 004/1<07000000000000000800000000000000");
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_flow_action_esp(&vaction, &attr, NULL), 0);
	assert_memory_equal(kernel.text, "d/2 000=51 001<", 15);
	expect(NULL, NULL);
	attr.esp_encap = &encap;
	assert_int_equal(verbs_cmd_modify_flow_action_esp(&vaction, &attr, NULL), 0);
	assert_non_null(strstr(kernel.text, " 005<"));
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_destroy_flow_action(&vaction), 0);
	assert_string_equal(kernel.text, "d/1 000=51");
}

static void counters_are_read_into_an_array(void **state)
{
	const struct ibv_counters_init_attr attr = {};
	struct verbs_counters vcounters = {};
	uint64_t values[3] = {};

	expect(NULL, IDS(UVERBS_ATTR_CREATE_COUNTERS_HANDLE));
	assert_int_equal(verbs_cmd_create_counters(context_of(state), &attr, &vcounters, NULL), 0);
	assert_string_equal(kernel.text, "f/0 000=new");
	expect(IDS(UVERBS_ATTR_READ_COUNTERS_BUFF), NULL);
	kernel.fill = 0x1c;
	assert_int_equal(verbs_cmd_read_counters(&vcounters, values, 3,
						 IBV_READ_COUNTERS_ATTR_PREFER_CACHED, NULL),
			 0);
	assert_string_equal(kernel.text, "f/2 000=51 001>24 002=4:1");
	assert_true(values[2] == 0x1c1c1c1c1c1c1c1c);
	assert_int_equal(verbs_cmd_read_counters(&vcounters, values, 8192, 0, NULL), EINVAL);
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_destroy_counters(&vcounters), 0);
	assert_string_equal(kernel.text, "f/1 000=51");
}

/* ---- old kernels ---- */

static void an_old_kernel_destroys_by_invoked_write(void **state)
{
	struct ibv_context *context = context_of(state);
	struct ibv_ah ah = { .context = context, .handle = 1 };
	struct ibv_mw mw = { .context = context, .handle = 2 };
	struct verbs_xrcd vxrcd = { .xrcd.context = context, .handle = 3 };
	struct ibv_flow flow = { .context = context, .handle = 4 };
	struct ibv_rwq_ind_table table = { .context = context, .ind_tbl_handle = 5 };

	NEEDS_LITTLE_ENDIAN();
	expect(NULL, NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_destroy_ah(&ah), 0);
	assert_string_equal(kernel.text, "6/0 no; 0/0 000=4:1 002=8:8");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_dealloc_mw(&mw), 0);
	assert_string_equal(kernel.text, "8/0 no; 0/0 000=4:2 002=8:10");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_close_xrcd(&vxrcd), 0);
	assert_string_equal(kernel.text, "a/0 no; 0/0 000=4:3 002=8:26");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_destroy_flow(&flow), 0);
	assert_string_equal(kernel.text, "9/0 no; 0/0 000=8:400000000 002=8:80000033");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_destroy_rwq_ind_table(&table), 0);
	assert_string_equal(kernel.text, "b/0 no; 0/0 000=8:500000000 002=8:80000038");
}

static void a_kernel_without_an_object_says_so(void **state)
{
	const struct ibv_alloc_dm_attr attr = { .length = 8 };
	struct ibv_dm dm = {};

	expect(NULL, NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_alloc_dm(context_of(state), &attr, &dm, NULL, 0),
			 EPROTONOSUPPORT);
}

static void query_context_asks_for_what_exists(void **state)
{
	struct fake_context *fake = *state;

	expect(IDS(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		   UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT),
	       NULL);
	kernel.fill = 0x01;
	assert_int_equal(verbs_cmd_query_context(&fake->vctx, NULL), 0);
	assert_string_equal(kernel.text, "0/4 000>4 001>8");
	assert_int_equal(fake->vctx.context.num_comp_vectors, 0x01010101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(create_ah_hands_the_mac_address_to_the_provider),
		COMMAND_TEST(a_multicast_group_is_gid_and_lid),
		COMMAND_TEST(create_srq_of_type_basic),
		COMMAND_TEST(create_srq_of_type_xrc_has_domain_and_cq),
		COMMAND_TEST(create_srq_of_type_tm_has_tags_and_cq),
		COMMAND_TEST(an_old_kernel_creates_srqs_by_invoked_write),
		COMMAND_TEST(modify_and_query_srq_are_invoked_writes),
		COMMAND_TEST(an_xrc_domain_is_a_descriptor_and_flags),
		COMMAND_TEST(an_xrc_receive_qp_has_a_domain_and_nothing_else),
		COMMAND_TEST(an_xrc_send_qp_has_no_receive_cq),
		COMMAND_TEST(open_qp_names_domain_number_and_type),
		COMMAND_TEST(alloc_mw_carries_pd_and_type),
		COMMAND_TEST(rereg_mr_sends_only_what_changes),
		COMMAND_TEST(reg_dmabuf_mr_has_the_descriptor_as_a_number),
		COMMAND_TEST(reg_mr_ex_has_an_address_or_a_descriptor),
		COMMAND_TEST(reg_dm_mr_names_memory_and_offset),
		COMMAND_TEST(query_mr_fills_an_imported_region),
		COMMAND_TEST(advise_mr_passes_the_list_on),
		COMMAND_TEST(alloc_dm_sets_context_and_handle),
		COMMAND_TEST(a_dma_handle_has_the_hints_that_its_mask_names),
		COMMAND_TEST(resize_cq_returns_what_was_granted),
		COMMAND_TEST(modify_cq_sets_moderation),
		COMMAND_TEST(wq_commands),
		COMMAND_TEST(an_old_kernel_creates_wqs_by_invoked_write),
		COMMAND_TEST(an_indirection_table_is_a_padded_list_of_wqs),
		COMMAND_TEST(specs_are_converted_to_the_kernels_layout),
		COMMAND_TEST(actions_carry_tags_and_handles),
		COMMAND_TEST(an_unknown_spec_is_refused_before_the_kernel),
		COMMAND_TEST(an_esp_action_names_its_variants),
		COMMAND_TEST(counters_are_read_into_an_array),
		COMMAND_TEST(an_old_kernel_destroys_by_invoked_write),
		COMMAND_TEST(a_kernel_without_an_object_says_so),
		COMMAND_TEST(query_context_asks_for_what_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
