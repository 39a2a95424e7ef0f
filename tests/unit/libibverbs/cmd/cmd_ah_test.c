/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands for address handles and multicast groups.
 *
 * Covers: libibverbs/cmd/cmd_ah.c
 */
#include "fake_kernel.h"

#include "tests/unit/log_text.h"

#include <stdio.h>
#include <string.h>

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

static void a_refused_attachment_is_explained(void **state)
{
	struct ibv_qp qp = { .context = context_of(state), .qp_num = 0x61, .qp_type = IBV_QPT_UD };
	union ibv_gid gid = { .raw = { 0xff } };

	expect(NULL, NULL);
	kernel.err = EINVAL;
	assert_int_equal(verbs_cmd_attach_mcast(&qp, &gid, 0xc001), EINVAL);
	check_logged("ibv_attach_mcast: QP 0x61 lid 0xc001: Invalid argument\n");
	assert_int_equal(verbs_cmd_detach_mcast(&qp, &gid, 0xc001), EINVAL);
	check_logged("Invalid argument: it is not attached to that group");
	gid.raw[0] = 0xfe;
	assert_int_equal(verbs_cmd_attach_mcast(&qp, &gid, 0xc001), EINVAL);
	check_logged("Invalid argument: gid must be a multicast address");
	qp.qp_type = IBV_QPT_UC;
	assert_int_equal(verbs_cmd_attach_mcast(&qp, &gid, 0xc001), EINVAL);
	check_logged("Invalid argument: the QP must be of type UD");
	expect(NULL, NULL);
	kernel.err = EPERM;
	assert_int_equal(verbs_cmd_detach_mcast(&qp, &gid, 0xc001), EPERM);
	check_logged("ibv_detach_mcast: QP 0x61 lid 0xc001: Operation not permitted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(create_ah_hands_the_mac_address_to_the_provider),
		COMMAND_TEST(a_multicast_group_is_gid_and_lid),
		COMMAND_TEST(a_refused_attachment_is_explained),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
