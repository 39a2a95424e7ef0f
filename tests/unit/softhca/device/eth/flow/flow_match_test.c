/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match_test.c - each field that a flow can match, on literal frames: an entry with the
 * field's value takes the frame, and an entry that differs in any one bit does not. The table
 * names all supported fields, and no others.
 *
 * Covers: softhca/device/eth/flow/flow_match.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "softhca/device/eth/flow/flow_match.c"

enum { SQN = 0xabcdef, MISC = PRM_MATCH_SET_SIZE };

#define ADDRESSES      \
	"021122334455" \
	"02aabbccddee"
#define IP4(proto)        \
	"45aa0028"        \
	"0001"            \
	"0000"            \
	"3f" proto "0000" \
	"0a010203"        \
	"0b040506"
#define TCP        \
	"1234"     \
	"5678"     \
	"00000001" \
	"00000002" \
	"5153"     \
	"0400"     \
	"0000"     \
	"0000"

/* clang-format off */
static const char *const frames[] = {
	[0] = ADDRESSES "8100" "b123" "88a8" "7456" "0800" IP4("06") TCP,
	[1] = ADDRESSES "88a8" "b123" "8100" "7456" "0800" IP4("11") "1111" "12b5" "0014" "0000" "08000000" "a1b2c300" "01020304",
	[2] = ADDRESSES "0800" IP4("2f") "b000" "6558" "00000000" "deadbeef" "0000000700000000",
	[3] = ADDRESSES "0800" IP4("2f") "2000" "6558" "cafef00d" "000000000000000000000000",
	[4] = ADDRESSES "86dd" "6be54321" "0014" "06" "40" "20010db8000102030405060708090a0b" "20010db9101112131415161718191a1b" TCP,
	[5] = ADDRESSES "0800" "45aa0028" "0001" "2000" "3f" "11" "0000" "0a010203" "0b040506" "1111" "2222" "0014" "0000" "000000000000000000000000",
	[6] = ADDRESSES "0800" IP4("11") "1111" "2222" "0014" "0000" "000000000000000000000000",
};

static const struct {
	unsigned int frame, set;
	uint32_t field, value;
} fields[] = {
	{ 0, 0, LYR_2_4_SMAC_47_16, 0x02aabbcc }, { 0, 0, LYR_2_4_SMAC_15_0, 0xddee },
	{ 0, 0, LYR_2_4_DMAC_47_16, 0x02112233 }, { 0, 0, LYR_2_4_DMAC_15_0, 0x4455 },
	{ 0, 0, LYR_2_4_ETHERTYPE, 0x0800 },      { 4, 0, LYR_2_4_ETHERTYPE, 0x86dd },
	{ 0, 0, LYR_2_4_FIRST_PRIO, 5 },          { 0, 0, LYR_2_4_FIRST_CFI, 1 },
	{ 0, 0, LYR_2_4_FIRST_VID, 0x123 },       { 2, 0, LYR_2_4_FIRST_VID, 0 },
	{ 0, 0, LYR_2_4_CVLAN_TAG, 1 },           { 0, 0, LYR_2_4_SVLAN_TAG, 0 },
	{ 1, 0, LYR_2_4_CVLAN_TAG, 0 },           { 1, 0, LYR_2_4_SVLAN_TAG, 1 },
	{ 2, 0, LYR_2_4_CVLAN_TAG, 0 },           { 2, 0, LYR_2_4_SVLAN_TAG, 0 },
	{ 0, MISC, MISC_OUTER_SECOND_PRIO, 3 },   { 0, MISC, MISC_OUTER_SECOND_CFI, 1 },
	{ 0, MISC, MISC_OUTER_SECOND_VID, 0x456 },
	{ 0, MISC, MISC_OUTER_SECOND_CVLAN_TAG, 0 }, { 0, MISC, MISC_OUTER_SECOND_SVLAN_TAG, 1 },
	{ 1, MISC, MISC_OUTER_SECOND_CVLAN_TAG, 1 }, { 1, MISC, MISC_OUTER_SECOND_SVLAN_TAG, 0 },
	{ 0, 0, LYR_2_4_IP_VERSION, 4 },          { 4, 0, LYR_2_4_IP_VERSION, 6 },
	{ 0, 0, LYR_2_4_IP_PROTOCOL, 6 },         { 4, 0, LYR_2_4_IP_PROTOCOL, 6 },
	{ 2, 0, LYR_2_4_IP_PROTOCOL, 47 },
	{ 0, 0, LYR_2_4_IP_DSCP, 0x2a },          { 0, 0, LYR_2_4_IP_ECN, 2 },
	{ 4, 0, LYR_2_4_IP_DSCP, 0x2f },          { 4, 0, LYR_2_4_IP_ECN, 2 },
	{ 0, 0, LYR_2_4_TTL_HOPLIMIT, 0x3f },     { 4, 0, LYR_2_4_TTL_HOPLIMIT, 0x40 },
	{ 5, 0, LYR_2_4_FRAG, 1 },                { 6, 0, LYR_2_4_FRAG, 0 },
	{ 0, 0, FLD(0x2c, 31, 0), 0x0a010203 },   { 0, 0, FLD(0x3c, 31, 0), 0x0b040506 },
	{ 4, 0, FLD(0x20, 31, 0), 0x20010db8 },   { 4, 0, FLD(0x24, 31, 0), 0x00010203 },
	{ 4, 0, FLD(0x28, 31, 0), 0x04050607 },   { 4, 0, FLD(0x2c, 31, 0), 0x08090a0b },
	{ 4, 0, FLD(0x30, 31, 0), 0x20010db9 },   { 4, 0, FLD(0x34, 31, 0), 0x10111213 },
	{ 4, 0, FLD(0x38, 31, 0), 0x14151617 },   { 4, 0, FLD(0x3c, 31, 0), 0x18191a1b },
	{ 4, MISC, MISC_OUTER_IPV6_FLOW_LABEL, 0x54321 },
	{ 0, 0, LYR_2_4_TCP_SPORT, 0x1234 },      { 0, 0, LYR_2_4_TCP_DPORT, 0x5678 },
	{ 0, 0, LYR_2_4_TCP_FLAGS, 0x153 },       { 4, 0, LYR_2_4_TCP_DPORT, 0x5678 },
	{ 0, 0, LYR_2_4_UDP_SPORT, 0 },           { 6, 0, LYR_2_4_TCP_SPORT, 0 },
	{ 6, 0, LYR_2_4_UDP_SPORT, 0x1111 },      { 6, 0, LYR_2_4_UDP_DPORT, 0x2222 },
	{ 1, MISC, MISC_VXLAN_VNI, 0xa1b2c3 },    { 6, MISC, MISC_VXLAN_VNI, 0 },
	{ 2, MISC, MISC_GRE_C_PRESENT, 1 },       { 3, MISC, MISC_GRE_C_PRESENT, 0 },
	{ 2, MISC, MISC_GRE_K_PRESENT, 1 },       { 0, MISC, MISC_GRE_K_PRESENT, 0 },
	{ 2, MISC, MISC_GRE_S_PRESENT, 1 },       { 3, MISC, MISC_GRE_S_PRESENT, 0 },
	{ 2, MISC, MISC_GRE_PROTOCOL, 0x6558 },
	{ 2, MISC, FLD(0x10, 31, 0), 0xdeadbeef }, { 3, MISC, FLD(0x10, 31, 0), 0xcafef00d },
	{ 0, MISC, MISC_SOURCE_SQN, SQN },        { 4, MISC, MISC_SOURCE_SQN, SQN },
};
/* clang-format on */

static struct tir *arrived_at;

void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival)
{
	(void)hca;
	(void)arrival;
	arrived_at = tir;
}

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
	return len;
}

/* Returns whether an entry of VALUE under MASK takes the frame. */
static bool is_taken(unsigned int number, const uint8_t *mask, const uint8_t *value)
{
	static struct eth eth;
	static struct hca hca = { .eth = &eth };
	static struct tir tir;
	struct flow_destination destination = { .tir = &tir };
	struct flow_group group = { .entries = 1 };
	struct flow_table table = { .groups = TAILQ_HEAD_INITIALIZER(table.groups) };
	struct flow_entry entry = { .action = PRM_FLOW_FWD,
				    .count = 1,
				    .destination = &destination };
	struct eth_arrival arrival;
	uint8_t bytes[256];
	bool is_allowed;

	memset(&arrival, 0, sizeof(arrival));
	frame_parse(&arrival.frame, bytes, bytes_of(frames[number], bytes));
	memcpy(group.mask, mask, FLOW_KEY_SIZE);
	memcpy(entry.key, value, FLOW_KEY_SIZE);
	TAILQ_INSERT_TAIL(&table.groups, &group, in_table);
	LIST_INSERT_HEAD(&group.bucket[flow_hash(value) % FLOW_BUCKETS], &entry, in_bucket);
	arrived_at = NULL;
	is_allowed = flow_steer(&hca, &table, &arrival, SQN);
	assert_int_equal(is_allowed, !arrived_at);
	return arrived_at == &tir;
}

static void each_field_is_matched_bit_by_bit(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		uint8_t mask[FLOW_KEY_SIZE] = { 0 }, value[FLOW_KEY_SIZE] = { 0 };

		fld_set(mask + fields[i].set, fields[i].field, UINT32_MAX);
		fld_set(value + fields[i].set, fields[i].field, fields[i].value);
		if (!is_taken(fields[i].frame, mask, value))
			fail_msg("field %u: frame %u is not taken", i, fields[i].frame);
		for (unsigned int bit = 0; bit < 8 * FLOW_KEY_SIZE; bit++) {
			if (!(mask[bit / 8] & 1 << bit % 8))
				continue;
			value[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (is_taken(fields[i].frame, mask, value))
				fail_msg("field %u: frame %u is taken by another value", i,
					 fields[i].frame);
			value[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void the_fields_here_are_all_that_are_supported(void **state)
{
	uint8_t here[FLOW_KEY_SIZE] = { 0 }, supported[FLOW_KEY_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		fld_set(here + fields[i].set, fields[i].field, UINT32_MAX);
	flow_supported_mask(supported);
	assert_memory_equal(here, supported, FLOW_KEY_SIZE);
}

/* If a frame ends inside a matched header, the field counts as 0, and the device reads no byte
 * behind the end. */
static void headers_that_are_not_whole_have_no_fields(void **state)
{
	static const char *const cut[] = {
		ADDRESSES "0800"
			  "45aa0024"
			  "0001"
			  "0000"
			  "3f"
			  "11"
			  "0000"
			  "0a010203"
			  "0b040506"
			  "1111"
			  "12b5"
			  "0010"
			  "0000"
			  "08000000"
			  "a1b2c3",
		ADDRESSES "0800"
			  "45aa001e"
			  "0001"
			  "0000"
			  "3f"
			  "2f"
			  "0000"
			  "0a010203"
			  "0b040506"
			  "2000"
			  "6558"
			  "cafef00d",
	};
	uint8_t key[FLOW_KEY_SIZE], bytes[256];
	struct frame frame;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	frame_parse(&frame, bytes, bytes_of(cut[0], bytes));
	frame_describe(&frame, 0, key);
	assert_int_equal(fld_get(key + MISC, MISC_VXLAN_VNI), 0);
	frame_parse(&frame, bytes, bytes_of(cut[1], bytes));
	frame_describe(&frame, 0, key);
	assert_int_equal(fld_get(key + MISC, FLD(0x10, 31, 0)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_matched_bit_by_bit),
		cmocka_unit_test(the_fields_here_are_all_that_are_supported),
		cmocka_unit_test(headers_that_are_not_whole_have_no_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
