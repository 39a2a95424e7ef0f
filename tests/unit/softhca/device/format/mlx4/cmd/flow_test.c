/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - flow steering rules of an mlx4 adapter, by a driver's commands.
 *
 * Covers: softhca/device/format/mlx4/cmd/flow.c, softhca/device/format/mlx4/rules.c
 */
#include <string.h>

#include "softhca/device/core.h"
#include "vfio_mlx4_rig.h"

enum { REGULAR = 0, DEFAULT = 1, MIRROR_TX = 5, SPECS = 0x10 };
enum { IB_SPEC = 0xe005, IB_SPEC_WORDS = 12 };

static void set_up_with_rules(void)
{
	run_firmware();
	give_memory();
	init_fill();
	memset(in(0xd0), 0, 12); /* the adapter has no MCG table */
	in(0x17)[0] = 1 << 6;
	assert_int_equal(mailbox(INIT_HCA, 0, 0), OK);
	write_translations();
}

static void fill_rule(uint8_t type, uint16_t priority, uint32_t qpn)
{
	put32(in(0), (uint32_t)priority << 16 | (uint32_t)type << 8);
	in(7)[0] = 1;
	put32(in(8), qpn);
}

static void fill_eth_spec(const char *mac)
{
	put32(in(SPECS), 12 << 24 | 0xe001);
	memcpy(in(SPECS + 0xa), mac, 6);
	memset(in(SPECS + 0x12), 0xff, 6);
}

static unsigned int attach_rule(uint32_t bytes)
{
	return mailbox(FLOW_ATTACH, bytes / 4, 0);
}

static void wrong_rules_are_refused(void **state)
{
	static const struct wrong rules[] = {
		{ 0x0, 4 << 8, BAD_PARAM },
		{ 0x0, 2 << 8, BAD_PARAM },
		{ 0x0, 5 << 8, BAD_PARAM },
		{ 0x0, 8 << 8, BAD_PARAM },
		{ 0x4, 2, BAD_PARAM },
		{ 0x4, 0, BAD_PARAM },
		{ 0x8, 1 << LOG_QPS, BAD_PARAM },
		{ SPECS, 11 << 24 | 0xe001, BAD_PARAM },
		{ SPECS, 12 << 24 | 0xe003, BAD_PARAM }, /* IPv6 */
		{ SPECS, 12 << 24 | 0xe002, BAD_PARAM },
	};

	(void)state;
	set_up_with_rules();
	for (unsigned int i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		fill_rule(REGULAR, 1, QPN);
		fill_eth_spec(own_mac);
		put32(in(rules[i].at), rules[i].value);
		assert_int_equal(attach_rule(0x40), rules[i].status);
	}
	fill_rule(REGULAR, 1, QPN);
	assert_int_equal(attach_rule(0x10), BAD_PARAM);
	fill_rule(REGULAR, 1, QPN);
	fill_eth_spec(own_mac);
	assert_int_equal(attach_rule(0x3c), BAD_PARAM);
	assert_int_equal(attach_rule(0x204), BAD_PARAM);
	assert_int_equal(command(FLOW_DETACH, 1, 0, 0), BAD_RESOURCE);
	fill_rule(MIRROR_TX, 0, QPN);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(command(READ_MCG, 0, 0, 0), BAD_INDEX);
}

static void rules_have_to_be_asked_for(void **state)
{
	(void)state;
	set_up();
	fill_rule(REGULAR, 1, QPN);
	fill_eth_spec(own_mac);
	assert_int_equal(attach_rule(0x40), BAD_OP);
}

static uint32_t send_and_see(unsigned int index, const char *mac)
{
	memset(guest(CQ), 0, 0x1000);
	post_frame(RINGS + index % 4 * 128, mac, 'a');
	put32(guest(RINGS + index % 4 * 128), 0xa | (index / 4 % 2) << 31);
	doorbell32(UAR * 0x1000 + 0x14, QPN << 8);
	vfio_run();
	for (unsigned int i = 0; i < 16; i++)
		if ((get32(cqe(i)) & 0xffffff) > QPN)
			return get32(cqe(i)) & 0xffffff;
	return 0;
}

/* A rule of a lower priority value matches first, and default rules match last. */
static void the_first_rule_gets_the_frame(void **state)
{
	uint64_t first, second;

	(void)state;
	set_up_with_rules();
	make_frame_queues();
	frames_to_rts(QPN + 2, false);
	for (unsigned int i = 1; i <= 4; i++)
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + (i - 1) * 16, DATA, i);
	assert_int_equal(send_and_see(0, own_mac), 0);
	fill_rule(DEFAULT, 0, QPN + 2);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(send_and_see(1, own_mac), QPN + 2);
	fill_rule(REGULAR, 7, QPN + 1);
	fill_eth_spec(own_mac);
	assert_int_equal(attach_rule(0x40), OK);
	first = bar_get(HCR + 0x10);
	assert_int_equal(send_and_see(2, own_mac), QPN + 1);
	fill_rule(REGULAR, 6, QPN + 2);
	fill_eth_spec(own_mac);
	assert_int_equal(attach_rule(0x40), OK);
	second = bar_get(HCR + 0x10);
	assert_int_not_equal(first, second);
	assert_int_equal(send_and_see(3, own_mac), QPN + 2);
	assert_int_equal(command(FLOW_DETACH, second, 0, 0), OK);
	assert_int_equal(command(FLOW_DETACH, second, 0, 0), BAD_RESOURCE);
	assert_int_equal(command(CLOSE_HCA, 0, 0, 0), OK);
}

/* An egress sniffer sees frames that leave the port, an ingress sniffer those that loop back; each
 * sees a frame once. */
static void a_sniffer_sees_what_is_sent(void **state)
{
	enum { MIRROR_RX = 4 };
	static const char other[7] = "\x00\x02\xc9\x77\x77\x77",
			  group[7] = "\x01\x00\x5e\x01\x02\x03";

	(void)state;
	set_up_with_rules();
	make_frame_queues();
	for (unsigned int i = 1; i <= 4; i++)
		post_receive(RECORDS + 0xc0, RINGS + 0x1000 + 64 + (i - 1) * 16, DATA, i);
	fill_rule(MIRROR_RX, 0, QPN + 2);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(send_and_see(0, other), 0);
	fill_rule(MIRROR_TX, 0, QPN + 1);
	assert_int_equal(attach_rule(0x10), OK);
	assert_int_equal(send_and_see(1, other), QPN + 1);
	assert_memory_equal(guest(DATA), other, 6);
	assert_int_equal(send_and_see(2, group), QPN + 1);
	assert_int_equal(send_and_see(3, own_mac), 0);
}

static bool group_has_member(uint32_t qpn)
{
	struct hca *hca = rig.device.hca;
	const struct mcg_member *member;

	LIST_FOREACH(member, &hca->mcg_members, entry)
		if (member->qp == res_get(&hca->qps, qpn))
			return true;
	return false;
}

static uint64_t attach_group(uint32_t qpn)
{
	fill_rule(REGULAR, 1, qpn);
	put32(in(SPECS), IB_SPEC_WORDS << 24 | IB_SPEC);
	memset(in(SPECS + 0x10), 0xff, 32);
	assert_int_equal(attach_rule(SPECS + IB_SPEC_WORDS * 4), OK);
	return bar_get(HCR + 0x10);
}

static void a_group_is_left_by_the_last_rule(void **state)
{
	enum { UD = 3 };
	uint64_t first, second;

	(void)state;
	set_up_with_rules();
	make_eq_and_cq();
	fill_qp(QPN, false, UD);
	assert_int_equal(mailbox(RST2INIT, QPN, 0), OK);
	first = attach_group(QPN);
	second = attach_group(QPN);
	assert_true(group_has_member(QPN));
	assert_int_equal(command(FLOW_DETACH, first, 0, 0), OK);
	assert_true(group_has_member(QPN));
	assert_int_equal(command(FLOW_DETACH, second, 0, 0), OK);
	assert_false(group_has_member(QPN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ROCE(wrong_rules_are_refused),          TEST_ROCE(rules_have_to_be_asked_for),
		TEST_ROCE(the_first_rule_gets_the_frame),    TEST_ROCE(a_sniffer_sees_what_is_sent),
		TEST_ROCE(a_group_is_left_by_the_last_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
