/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each field of a command and of its response: the kernel's response has the bytes 1, 2, 3, ...,
 * so that no two fields can be confused.
 *
 * Covers: libibverbs/cmd/
 */
#include "fake_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* undefined, as the exported function is tested, not the inline call of new programs */
#undef ibv_query_port

#define SAME(a, b, field) assert_int_equal((a).field, (b).field)

static void assert_same_dest(const struct ibv_ah_attr *got, const struct ib_uverbs_qp_dest *dest)
{
	assert_memory_equal(got->grh.dgid.raw, dest->dgid, sizeof(dest->dgid));
	SAME(got->grh, *dest, flow_label);
	SAME(got->grh, *dest, sgid_index);
	SAME(got->grh, *dest, hop_limit);
	SAME(got->grh, *dest, traffic_class);
	SAME(*got, *dest, dlid);
	SAME(*got, *dest, sl);
	SAME(*got, *dest, src_path_bits);
	SAME(*got, *dest, static_rate);
	SAME(*got, *dest, is_global);
	SAME(*got, *dest, port_num);
}

static void assert_same_attr(const struct ibv_qp_attr *got,
			     const struct ib_uverbs_query_qp_resp *resp)
{
	SAME(*got, *resp, qp_state);
	SAME(*got, *resp, cur_qp_state);
	SAME(*got, *resp, path_mtu);
	SAME(*got, *resp, path_mig_state);
	SAME(*got, *resp, qkey);
	SAME(*got, *resp, rq_psn);
	SAME(*got, *resp, sq_psn);
	SAME(*got, *resp, dest_qp_num);
	SAME(*got, *resp, qp_access_flags);
	SAME(*got, *resp, pkey_index);
	SAME(*got, *resp, alt_pkey_index);
	SAME(*got, *resp, sq_draining);
	SAME(*got, *resp, max_rd_atomic);
	SAME(*got, *resp, max_dest_rd_atomic);
	SAME(*got, *resp, min_rnr_timer);
	SAME(*got, *resp, port_num);
	SAME(*got, *resp, timeout);
	SAME(*got, *resp, retry_cnt);
	SAME(*got, *resp, rnr_retry);
	SAME(*got, *resp, alt_port_num);
	SAME(*got, *resp, alt_timeout);
}

static void query_qp_takes_each_field(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .qp_type = IBV_QPT_UC };
	struct ib_uverbs_query_qp_resp resp;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	count_bytes(&resp, sizeof(resp));
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_query_qp(&qp, &attr, IBV_QP_STATE, &init), 0);
	assert_same_attr(&attr, &resp);
	assert_same_dest(&attr.ah_attr, &resp.dest);
	assert_same_dest(&attr.alt_ah_attr, &resp.alt_dest);
	SAME(init.cap, resp, max_send_wr);
	SAME(init.cap, resp, max_recv_wr);
	SAME(init.cap, resp, max_send_sge);
	SAME(init.cap, resp, max_recv_sge);
	SAME(init.cap, resp, max_inline_data);
	SAME(init, resp, sq_sig_all);
	SAME(init, qp, qp_type);
}

static void a_rate_limit_cannot_be_queried(void **state)
{
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_query_qp(&qp, &attr, IBV_QP_RATE_LIMIT, &init), EOPNOTSUPP);
	assert_int_equal(verbs_cmd_query_qp(&qp, &attr, IBV_QP_DEST_QPN, &init), 0);
}

static void query_port_takes_each_field(void **state)
{
	struct ib_uverbs_query_port_resp_ex resp;
	const struct ib_uverbs_query_port_resp *base = &resp.legacy_resp;
	struct ibv_port_attr attr;

	count_bytes(&resp, sizeof(resp));
	expect(IDS(UVERBS_ATTR_QUERY_PORT_RESP), NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_query_port(context_of(state), 2, &attr, sizeof(attr)), 0);
	SAME(attr, *base, state);
	SAME(attr, *base, max_mtu);
	SAME(attr, *base, active_mtu);
	SAME(attr, *base, gid_tbl_len);
	SAME(attr, *base, port_cap_flags);
	SAME(attr, *base, max_msg_sz);
	SAME(attr, *base, bad_pkey_cntr);
	SAME(attr, *base, qkey_viol_cntr);
	SAME(attr, *base, pkey_tbl_len);
	SAME(attr, *base, lid);
	SAME(attr, *base, sm_lid);
	SAME(attr, *base, lmc);
	SAME(attr, *base, max_vl_num);
	SAME(attr, *base, sm_sl);
	SAME(attr, *base, subnet_timeout);
	SAME(attr, *base, init_type_reply);
	SAME(attr, *base, active_width);
	SAME(attr, *base, active_speed);
	SAME(attr, *base, phys_state);
	SAME(attr, *base, link_layer);
	SAME(attr, *base, flags);
	SAME(attr, resp, port_cap_flags2);
	SAME(attr, resp, active_speed_ex);
}

static void query_gid_takes_each_field(void **state)
{
	struct ib_uverbs_gid_entry resp;
	struct ibv_gid_entry entry;

	count_bytes(&resp, sizeof(resp));
	expect(IDS(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY), NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_query_gid(context_of(state), 1, 3, &entry), 0);
	assert_memory_equal(entry.gid.raw, &resp.gid, sizeof(entry.gid));
	SAME(entry, resp, gid_index);
	SAME(entry, resp, port_num);
	SAME(entry, resp, gid_type);
	assert_int_equal(entry.ndev_ifindex, resp.netdev_ifindex);
}

static void query_device_writes_no_more_than_the_caller_has(void **state)
{
	struct ibv_device_attr_ex attr, whole;
	const size_t size = offsetof(struct ibv_device_attr_ex, odp_caps);
	uint64_t fw_ver;

	memset(&attr, 0xee, sizeof(attr));
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.counts = true;
	assert_int_equal(
		verbs_cmd_query_device(context_of(state), &whole, sizeof(whole), &fw_ver, NULL), 0);
	assert_int_equal(verbs_cmd_query_device(context_of(state), &attr, size, &fw_ver, NULL), 0);
	assert_memory_equal(&attr, &whole, size);
	for (size_t i = size; i < sizeof(attr); i++)
		assert_int_equal(((unsigned char *)&attr)[i], 0xee);
}

static void a_context_says_what_the_core_supports(void **state)
{
	struct fake_context *fake = *state;
	uint64_t support;

	count_bytes(&support, sizeof(support));
	expect(IDS(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT),
	       NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_get_context(&fake->vctx, NULL), 0);
	assert_true(fake->vctx.priv->core_support == support);
	fake->vctx.priv->core_support = 0;
	expect(IDS(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		   UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT),
	       NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_query_context(&fake->vctx, NULL), 0);
	assert_true(fake->vctx.priv->core_support == support);
}

static void the_two_keys_of_a_region_are_told_apart(void **state)
{
	struct ibv_pd pd = { .context = context_of(state) };
	struct ib_uverbs_reg_mr_resp reg;
	struct ib_uverbs_rereg_mr_resp rereg;
	struct verbs_mr vmr = {};

	count_bytes(&reg, sizeof(reg));
	count_bytes(&rereg, sizeof(rereg));
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.counts = true;
	assert_int_equal(verbs_cmd_reg_mr(&pd, NULL, 1, 0, 0, &vmr, NULL), 0);
	assert_int_equal(vmr.mr.handle, reg.mr_handle);
	SAME(vmr.mr, reg, lkey);
	SAME(vmr.mr, reg, rkey);
	assert_int_equal(verbs_cmd_rereg_mr(&vmr, IBV_REREG_MR_CHANGE_PD, &pd, NULL, 0, 0, 0, NULL),
			 0);
	SAME(vmr.mr, rereg, lkey);
	SAME(vmr.mr, rereg, rkey);
}

static struct ibv_ah_attr some_address(uint8_t first)
{
	struct ibv_ah_attr ah;

	count_bytes(&ah, sizeof(ah));
	ah.sl = first;
	return ah;
}

/* Returns attributes of which no two fields are equal, and none is zero. */
static struct ibv_qp_attr some_attr(void)
{
	return (struct ibv_qp_attr){
		.qp_state = 1,
		.cur_qp_state = 2,
		.path_mtu = 3,
		.path_mig_state = 4,
		.qkey = 0x505,
		.rq_psn = 0x606,
		.sq_psn = 0x707,
		.dest_qp_num = 0x808,
		.qp_access_flags = 0x909,
		.ah_attr = some_address(0x61),
		.alt_ah_attr = some_address(0x62),
		.pkey_index = 0x1010,
		.alt_pkey_index = 0x1111,
		.en_sqd_async_notify = 12,
		.max_rd_atomic = 13,
		.max_dest_rd_atomic = 14,
		.min_rnr_timer = 15,
		.port_num = 16,
		.timeout = 17,
		.retry_cnt = 18,
		.rnr_retry = 19,
		.alt_port_num = 20,
		.alt_timeout = 21,
	};
}

/* Takes the last SIZE bytes of the last recorded request, whose text begins with the address of the
 * response. */
static void take_request(void *req, size_t size)
{
	const char *text = strchr(kernel.text, '<') + 1;
	unsigned int byte;

	text += 2 * (strcspn(text, " ") / 2 - size);
	for (size_t i = 0; i < size; i++) {
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		((unsigned char *)req)[i] = (unsigned char)byte;
	}
}

static struct ib_uverbs_modify_qp request_sent(void)
{
	struct ib_uverbs_modify_qp req;

	take_request(&req, sizeof(req));
	return req;
}

#define FIELD(bit, field)                                                \
	{                                                                \
		bit, offsetof(struct ib_uverbs_modify_qp, field),        \
			sizeof(((struct ib_uverbs_modify_qp *)0)->field) \
	}

static const struct {
	int bit;
	size_t at, size;
} fields[] = {
	FIELD(IBV_QP_STATE, qp_state),
	FIELD(IBV_QP_CUR_STATE, cur_qp_state),
	FIELD(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify),
	FIELD(IBV_QP_ACCESS_FLAGS, qp_access_flags),
	FIELD(IBV_QP_PKEY_INDEX, pkey_index),
	FIELD(IBV_QP_PORT, port_num),
	FIELD(IBV_QP_QKEY, qkey),
	FIELD(IBV_QP_AV, dest),
	FIELD(IBV_QP_PATH_MTU, path_mtu),
	FIELD(IBV_QP_TIMEOUT, timeout),
	FIELD(IBV_QP_RETRY_CNT, retry_cnt),
	FIELD(IBV_QP_RNR_RETRY, rnr_retry),
	FIELD(IBV_QP_RQ_PSN, rq_psn),
	FIELD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	FIELD(IBV_QP_ALT_PATH, alt_dest),
	FIELD(IBV_QP_ALT_PATH, alt_pkey_index),
	FIELD(IBV_QP_ALT_PATH, alt_port_num),
	FIELD(IBV_QP_ALT_PATH, alt_timeout),
	FIELD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	FIELD(IBV_QP_SQ_PSN, sq_psn),
	FIELD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	FIELD(IBV_QP_PATH_MIG_STATE, path_mig_state),
	FIELD(IBV_QP_DEST_QPN, dest_qp_num),
};

static struct ib_uverbs_modify_qp request_of(int bit, const struct ib_uverbs_modify_qp *all)
{
	struct ib_uverbs_modify_qp want = { .qp_handle = 0x61, .attr_mask = (uint32_t)bit };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].bit == bit)
			memcpy((char *)&want + fields[i].at, (const char *)all + fields[i].at,
			       fields[i].size);
	return want;
}

static void assert_all_were_sent(const struct ibv_qp_attr *attr,
				 const struct ib_uverbs_modify_qp *req)
{
	assert_same_dest(&attr->ah_attr, &req->dest);
	assert_same_dest(&attr->alt_ah_attr, &req->alt_dest);
	SAME(*attr, *req, qp_state);
	SAME(*attr, *req, cur_qp_state);
	SAME(*attr, *req, en_sqd_async_notify);
	SAME(*attr, *req, qp_access_flags);
	SAME(*attr, *req, pkey_index);
	SAME(*attr, *req, port_num);
	SAME(*attr, *req, qkey);
	SAME(*attr, *req, path_mtu);
	SAME(*attr, *req, timeout);
	SAME(*attr, *req, retry_cnt);
	SAME(*attr, *req, rnr_retry);
	SAME(*attr, *req, rq_psn);
	SAME(*attr, *req, max_rd_atomic);
	SAME(*attr, *req, alt_pkey_index);
	SAME(*attr, *req, alt_port_num);
	SAME(*attr, *req, alt_timeout);
	SAME(*attr, *req, min_rnr_timer);
	SAME(*attr, *req, sq_psn);
	SAME(*attr, *req, max_dest_rd_atomic);
	SAME(*attr, *req, path_mig_state);
	SAME(*attr, *req, dest_qp_num);
}

static void modify_qp_sends_each_field_by_its_bit(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	const struct ibv_qp_attr attr = some_attr();
	struct ib_uverbs_modify_qp all, want, sent;
	int mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		mask |= fields[i].bit;
	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, mask, NULL), 0);
	all = request_sent();
	assert_all_were_sent(&attr, &all);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		expect(NULL, NULL);
		assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, fields[i].bit, NULL), 0);
		want = request_of(fields[i].bit, &all);
		sent = request_sent();
		assert_memory_equal(&sent, &want, sizeof(want));
	}
}

/* Only the extended command has room for a rate limit, so the mask chooses the command. */
static void modify_qp_sends_a_rate_limit(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	struct ibv_qp_attr attr = some_attr();
	struct ib_uverbs_ex_modify_qp req;

	attr.rate_limit = 0x12345678;
	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_QKEY | IBV_QP_RATE_LIMIT, NULL), 0);
	take_request(&req, sizeof(req));
	assert_int_equal(req.rate_limit, attr.rate_limit);
	assert_int_equal(req.base.qp_handle, 0x61);
	assert_int_equal(req.base.attr_mask, IBV_QP_QKEY | IBV_QP_RATE_LIMIT);
	assert_int_equal(req.base.qkey, attr.qkey);
}

/* A driver's response needs the extended command, too. Its rate limit must then be 0, as the mask
 * does not have it. */
static void modify_qp_sends_no_rate_limit_that_its_mask_lacks(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .handle = 0x61 };
	struct ibv_qp_attr attr = some_attr();
	struct ib_uverbs_ex_modify_qp req;
	uint32_t resp;
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };

	attr.rate_limit = 0x12345678;
	expect(IDS(UVERBS_ATTR_CORE_OUT, UVERBS_ATTR_UHW_OUT), NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_QKEY, &udata), 0);
	take_request(&req, sizeof(req));
	assert_int_equal(req.rate_limit, 0);
	assert_int_equal(req.base.qkey, attr.qkey);
}

static void a_state_of_256_is_not_reset(void **state)
{
	struct ibv_qp qp = { .context = context_of(state) };
	struct ibv_qp_attr attr = { .qp_state = 0x100 };

	expect(NULL, NULL);
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_STATE, NULL), EINVAL);
	attr.qp_state = 0xff;
	assert_int_equal(verbs_cmd_modify_qp(&qp, &attr, IBV_QP_STATE, NULL), 0);
}

static void create_qp_of(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, bool old)
{
	struct verbs_qp vqp = {};

	expect(old ? IDS(UVERBS_ATTR_CORE_OUT)
		   : IDS(UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
	       old ? NULL : IDS(UVERBS_ATTR_CREATE_QP_HANDLE));
	kernel.old = old;
	assert_int_equal(verbs_cmd_create_qp(context, attr, &vqp, NULL), 0);
	pthread_cond_destroy(&vqp.qp.cond);
	pthread_mutex_destroy(&vqp.qp.mutex);
}

static void create_qp_reads_what_its_mask_names(void **state)
{
	struct ibv_pd pd = { .handle = 0x21 };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UD,
		.pd = &pd,
		.create_flags = IBV_QP_CREATE_SOURCE_QPN | IBV_QP_CREATE_BLOCK_SELF_MCAST_LB,
		.source_qpn = 0x123,
	};

	create_qp_of(context_of(state), &attr, false);
	assert_null(strstr(kernel.text, " 002="));
	assert_null(strstr(kernel.text, " 00a="));
	assert_null(strstr(kernel.text, " 00b="));
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	create_qp_of(context_of(state), &attr, false);
	assert_non_null(strstr(kernel.text, " 002=21 "));
	assert_non_null(strstr(kernel.text, " 00a=4:2 00b=4:123 "));
}

static void an_old_kernel_finds_the_source_qpn_by_a_flag(void **state)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = IBV_QP_CREATE_SOURCE_QPN,
		.source_qpn = 0x123,
	};

	NEEDS_LITTLE_ENDIAN();
	create_qp_of(context_of(state), &attr, true);
	/* create_flags, no indirection table, source_qpn */
	assert_non_null(strstr(kernel.text, "000400000000000023010000 001>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(query_qp_takes_each_field),
		COMMAND_TEST(a_rate_limit_cannot_be_queried),
		COMMAND_TEST(query_port_takes_each_field),
		COMMAND_TEST(query_gid_takes_each_field),
		COMMAND_TEST(query_device_writes_no_more_than_the_caller_has),
		COMMAND_TEST(a_context_says_what_the_core_supports),
		COMMAND_TEST(the_two_keys_of_a_region_are_told_apart),
		COMMAND_TEST(modify_qp_sends_each_field_by_its_bit),
		COMMAND_TEST(modify_qp_sends_a_rate_limit),
		COMMAND_TEST(modify_qp_sends_no_rate_limit_that_its_mask_lacks),
		COMMAND_TEST(a_state_of_256_is_not_reset),
		COMMAND_TEST(create_qp_reads_what_its_mask_names),
		COMMAND_TEST(an_old_kernel_finds_the_source_qpn_by_a_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
