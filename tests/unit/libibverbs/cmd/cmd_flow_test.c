/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands for flows, flow specs and actions, and counters.
 *
 * Covers: libibverbs/cmd/cmd_flow.c, libibverbs/cmd/cmd_flow_action.c,
 * libibverbs/cmd/cmd_counters.c
 */
#include "fake_kernel.h"

#include <errno.h>
#include <string.h>

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
	rule.eth.size = 7; /* type and size alone take 8, so no spec is shorter */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(specs_are_converted_to_the_kernels_layout),
		COMMAND_TEST(actions_carry_tags_and_handles),
		COMMAND_TEST(an_unknown_spec_is_refused_before_the_kernel),
		COMMAND_TEST(an_esp_action_names_its_variants),
		COMMAND_TEST(counters_are_read_into_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
