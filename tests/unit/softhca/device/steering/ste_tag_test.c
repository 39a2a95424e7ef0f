/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_tag_test.c - tags of literal frames, beside the tags that release 65.0's library has written
 * for rules of the same values: the frame's tag has the rule's bits, and a frame whose field has
 * none of these bits has none of them in its tag.
 *
 * Covers: softhca/device/steering/ste_tag.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/device/eth/flow/flow_key.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/steering/ste_tag.h"
#include "util/bits.h"

enum { SQN = 0x123456, ROOM = 256 };

#define NONE "000000000000"
#define MACS           \
	"028f6d4b2911" \
	"048f6d4b2922"

#define UDP_TO(port, length) "1111" port length "0000"
#define INNER          \
	"068f6d4b2933" \
	"088f6d4b2944"

/* clang-format off */
/* HAS: the values of the rule; LACKS: a frame of the same kind without any of their bits */
static const struct {
	const char *what;
	unsigned int lookup;
	const char *tag, *has, *lacks;
} rows[] = {
	{ "dmac", PRM_STE_L2_O, "00000000028f6d4b2911000000000000", MACS "9000" "0000", NONE NONE "9000" "0000" },
	{ "smac", PRM_STE_L2_SRC_O, "00000000048f6d4b2922000000000000", MACS "9000" "0000", NONE NONE "9000" "0000" },
	{ "ethertype", PRM_STE_L2_O, "0000000000000000000" "08f6d00000000", MACS "8f6d" "0000", MACS "7092" "0000" },
	{ "version 4", PRM_STE_L2_O, "00100000000000000000000000000000",
	  MACS "0800" "45000014" "00000000" "40320000" "0a000001" "0a000002", MACS "86dd" "60000000" "00003b40"
	  "00000000000000000000000000000001" "00000000000000000000000000000002" },
	{ "version 6", PRM_STE_L2_O, "00200000000000000000000000000000",
	  MACS "86dd" "60000000" "00003b40" "00000000000000000000000000000001" "00000000000000000000000000000002",
	  MACS "0800" "45000014" "00000000" "40320000" "0a000001" "0a000002" },
	{ "VLAN 8f6, priority 1", PRM_STE_L2_O, "000228f6000000000000000000000000", MACS "8100" "28f6" "9000", MACS "9000" "0000" },
	{ "service VLAN, drop eligible", PRM_STE_L2_O, "00011000000000000000000000000000", MACS "88a8" "1000" "9000", MACS "8100" "0000" "9000" },
	{ "second VLAN", PRM_STE_L2_O, "00000000000000000000000000022123", MACS "88a8" "0000" "8100" "2123" "9000", MACS "88a8" "0000" "9000" },
	{ "fragment", PRM_STE_L2_O, "10000000000000000000000000000000",
	  MACS "0800" "45000014" "00002000" "40320000" "0a000001" "0a000002", MACS "0800" "45000014" "00000000" "40320000" "0a000001" "0a000002" },
	{ "both MACs", PRM_STE_L2_SRC_DST_O, "028f6d4b048f6d4b2911000000002922", MACS "9000" "0000", NONE NONE "9000" "0000" },
	{ "5-tuple of UDP", PRM_STE_IPV4_5_TUPLE_O, "0a0000010a0000021111222200000011",
	  MACS "0800" "4500001c" "00000000" "40110000" "0a000001" "0a000002" "11112222" "00080000",
	  MACS "0800" "4500001c" "00000000" "40000000" "50000000" "50000000" "00000000" "00080000" },
	{ "5-tuple and flags of TCP", PRM_STE_IPV4_5_TUPLE_O, "0a0000010a0000021111222200120006",
	  MACS "0800" "45000028" "00000000" "40060000" "0a000001" "0a000002" "11112222" "00000000" "00000000" "50120000" "00000000",
	  MACS "0800" "45000014" "00000000" "40000000" "50000000" "50000000" },
	{ "flags 18f", PRM_STE_IPV4_5_TUPLE_O, "000000000000000000000000018f0000",
	  MACS "0800" "45000028" "00000000" "40060000" "0a000001" "0a000002" "11112222" "00000000" "00000000" "518f0000" "00000000",
	  MACS "0800" "45000028" "00000000" "40060000" "0a000001" "0a000002" "11112222" "00000000" "00000000" "50700000" "00000000" },
	{ "DSCP and ECN", PRM_STE_IPV4_5_TUPLE_O, "00000000000000000000000000000500",
	  MACS "0800" "45050014" "00000000" "40320000" "0a000001" "0a000002", MACS "0800" "45fa0014" "00000000" "40320000" "0a000001" "0a000002" },
	{ "time to live", PRM_STE_IPV4_MISC_O, "0000000000000000008f000000000000",
	  MACS "0800" "45000014" "00000000" "8f320000" "0a000001" "0a000002", MACS "0800" "45000014" "00000000" "70320000" "0a000001" "0a000002" },
	{ "hop limit", PRM_STE_L4_O, "00008f00000000000000000000000000",
	  MACS "86dd" "60000000" "00003b8f" "00000000000000000000000000000001" "00000000000000000000000000000002",
	  MACS "86dd" "60000000" "00003b70" "00000000000000000000000000000001" "00000000000000000000000000000002" },
	{ "DSCP of version 6", PRM_STE_L4_O, "00040000000000000000000000000000",
	  MACS "86dd" "60400000" "00003b00" "00000000000000000000000000000001" "00000000000000000000000000000002",
	  MACS "86dd" "6fb00000" "00003b00" "00000000000000000000000000000001" "00000000000000000000000000000002" },
	{ "flow label", PRM_STE_L4_O, "00000000000000000001234500000000",
	  MACS "86dd" "60012345" "00003b00" "00000000000000000000000000000001" "00000000000000000000000000000002",
	  MACS "86dd" "600edcba" "00003b00" "00000000000000000000000000000001" "00000000000000000000000000000002" },
	{ "ports of UDP over version 6", PRM_STE_L4_O, "00000011111122220000000000000000",
	  MACS "86dd" "60000000" "00081100" "00000000000000000000000000000001" "00000000000000000000000000000002" "11112222" "00080000",
	  MACS "86dd" "60000000" "00000000" "00000000000000000000000000000001" "00000000000000000000000000000002" },
	{ "source of version 6", PRM_STE_IPV6_SRC_O, "10000001200000023000000340000004",
	  MACS "86dd" "60000000" "00003b00" "10000001200000023000000340000004" "20000002200000032000000420000005",
	  MACS "86dd" "60000000" "00003b00" "00000000000000000000000000000000" "00000000000000000000000000000000" },
	{ "destination of version 6", PRM_STE_IPV6_DST_O, "20000002200000032000000420000005",
	  MACS "86dd" "60000000" "00003b00" "10000001200000023000000340000004" "20000002200000032000000420000005",
	  MACS "86dd" "60000000" "00003b00" "00000000000000000000000000000000" "00000000000000000000000000000000" },
	{ "ICMP echo", PRM_STE_L4_MISC_O, "00000000000000000800000000000000",
	  MACS "0800" "4500001c" "00000000" "40010000" "0a000001" "0a000002" "08000000" "00000000",
	  MACS "0800" "4500001c" "00000000" "40010000" "0a000001" "0a000002" "00000000" "00000000" },
	{ "ICMP of version 6 over version 4", PRM_STE_L4_MISC_O, "00000000000000000800000000000000",
	  MACS "0800" "4500001c" "00000000" "40010000" "0a000001" "0a000002" "08000000" "00000000",
	  MACS "0800" "4500001c" "00000000" "403a0000" "0a000001" "0a000002" "08000000" "00000000" },
	{ "ICMP in the padding", PRM_STE_L4_MISC_O, "00000000000000000800000000000000",
	  MACS "0800" "4500001c" "00000000" "40010000" "0a000001" "0a000002" "08000000" "00000000",
	  MACS "0800" "45000018" "00000000" "40010000" "0a000001" "0a000002" "08000000" "00000000" },
	{ "network of VXLAN", PRM_STE_L2_TUNNEL, "12345600000000000000000000000000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b5", "001e") "0800000012345600" INNER "9000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b6", "001e") "0800000012345600" INNER "9000" },
	{ "inner destination behind VXLAN", PRM_STE_L2_TUNNEL, "00000000068f6d4b2933900000000000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b5", "001e") "0800000012345600" INNER "9000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b4", "001e") "0800000012345600" INNER "9000" },
	{ "inner destination", PRM_STE_L2_I, "00000000068f6d4b2933900000000000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c1", "001e") "0000655812345600" INNER "9000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c0", "001e") "0000655812345600" INNER "9000" },
	{ "inner source", PRM_STE_L2_SRC_I, "00000000088f6d4b2944000000000000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c1", "001e") "0000655812345600" INNER "9000",
	  MACS "0800" "45000014" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c1", "001e") "0000655812345600" INNER "9000" },
	{ "GENEVE", PRM_STE_TUNNEL_START, "00006558123456000000000000000000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c1", "001e") "0000655812345600" INNER "9000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c2", "001e") "0000655812345600" INNER "9000" },
	{ "16 bytes of GENEVE", PRM_STE_TUNNEL_HEADER, "00006558123456" "00068f6d4b2933088f",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c1", "001e") "0000655812345600" INNER "9000",
	  MACS "0800" "45000032" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("17c2", "001e") "0000655812345600" INNER "9000" },
	{ "GRE with a key", PRM_STE_GRE, "20000800000000001234567800000000",
	  MACS "0800" "4500001c" "00000000" "402f0000" "0a000001" "0a000002" "20000800" "12345678",
	  MACS "0800" "45000018" "00000000" "402f0000" "0a000001" "0a000002" "000086dd" },
	{ "inner version 4 in GRE", PRM_STE_IPV4_5_TUPLE_I, "0b0000010b0000020000000000000001",
	  MACS "0800" "4500002c" "00000000" "402f0000" "0a000001" "0a000002" "00000800" "45000014" "00000000" "40010000" "0b000001" "0b000002",
	  MACS "0800" "4500002c" "00000000" "402f0000" "0a000001" "0a000002" "00009000" "45000014" "00000000" "40010000" "0b000001" "0b000002" },
	{ "inner time to live", PRM_STE_IPV4_MISC_I, "0000000000000000008f000000000000",
	  MACS "0800" "4500002c" "00000000" "402f0000" "0a000001" "0a000002" "00000800" "45000014" "00000000" "8f010000" "0b000001" "0b000002",
	  MACS "0800" "4500002c" "00000000" "8f2f0000" "0a000001" "0a000002" "00009000" "45000014" "00000000" "70010000" "0b000001" "0b000002" },
	{ "RoCE", PRM_STE_BTH, "0400012320000000" "0000000000000000",
	  MACS "0800" "45000028" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b7", "0014") "0400ffff" "00000123" "80000001",
	  MACS "0800" "45000028" "00000000" "40110000" "0a000001" "0a000002" UDP_TO("12b8", "0014") "0400ffff" "00000123" "80000001" },
	{ "MPLS, the only label", PRM_STE_MPLS_O, "00000003123451ff0000000000000000", MACS "8847" "123451ff", MACS "9000" "123451ff" },
	{ "MPLS, two labels", PRM_STE_MPLS_O, "0000000d123450ff543211ff00000000", MACS "8847" "123450ff" "543211ff", MACS "8847" "000001" },
};
/* clang-format on */

/* Register A holds a0a1a2a3, register C n holds c<n>. */
static const struct flow_state flow = {
	.sqn = SQN,
	.registers = { 0xa0, 0xa1, 0xa2, 0xa3, 0, 0, 0, 0, [11] = 0xc0, [15] = 0xc1, [19] = 0xc2,
		       [23] = 0xc3, [27] = 0xc4, [31] = 0xc5, [35] = 0xc6, [39] = 0xc7 },
};

static size_t hex_to_bytes(const char *text, uint8_t *bytes)
{
	const size_t len = strlen(text) / 2;

	assert_true(len <= ROOM);
	for (size_t i = 0; i < len; i++) {
		unsigned int byte;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return len;
}

static bool tag_of(const char *text, unsigned int lookup, uint8_t tag[PRM_STE_TAG_SIZE])
{
	uint8_t bytes[ROOM];
	struct frame frame;

	frame_parse(&frame, bytes, hex_to_bytes(text, bytes));
	return ste_tag(&frame, &flow, lookup, tag);
}

static void a_frames_tag_has_the_rules_bits(void **state)
{
	uint8_t rule[PRM_STE_TAG_SIZE], tag[PRM_STE_TAG_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		print_message("%s\n", rows[i].what);
		assert_int_equal(hex_to_bytes(rows[i].tag, rule), PRM_STE_TAG_SIZE);
		assert_true(tag_of(rows[i].has, rows[i].lookup, tag));
		for (unsigned int at = 0; at < PRM_STE_TAG_SIZE; at++)
			assert_int_equal(tag[at] & rule[at], rule[at]);
		assert_true(tag_of(rows[i].lacks, rows[i].lookup, tag));
		for (unsigned int at = 0; at < PRM_STE_TAG_SIZE; at++)
			assert_int_equal(tag[at] & rule[at], 0);
	}
}

/* A frame of IEEE 802.3 may have any length there, even 0. */
static void a_type_of_zero_is_behind_macs(void **state)
{
	static const char frame[] = MACS "0000"
					 "4242";
	uint8_t tag[PRM_STE_TAG_SIZE], mac[6];

	(void)state;
	assert_true(tag_of(frame, PRM_STE_L2_O, tag));
	hex_to_bytes("028f6d4b2911", mac);
	assert_memory_equal(fld_at(tag, STE_L2_MAC), mac, sizeof(mac));
	assert_int_equal(fld_get(tag, STE_L2_L2_OK), 1);
	assert_true(tag_of(frame, PRM_STE_L2_SRC_DST_O, tag));
	assert_int_equal(fld_get(tag, STE_L2_BOTH_SMAC_47_16), 0x048f6d4b);
	assert_true(tag_of(MACS "0800"
				"45000032"
				"00000000"
				"40110000"
				"0a000001"
				"0a000002"
				"111112b5001e0000"
				"0800000012345600" INNER "0000",
			   PRM_STE_L2_TUNNEL, tag));
	hex_to_bytes("068f6d4b2933", mac);
	assert_memory_equal(fld_at(tag, STE_TUNNEL_DMAC), mac, sizeof(mac));
	/* A packet inside a tunnel of IP has no MACs. */
	assert_true(tag_of(MACS "0800"
				"45000028"
				"00000000"
				"40040000"
				"0a000001"
				"0a000002"
				"45000014"
				"00000000"
				"40320000"
				"0b000001"
				"0b000002",
			   PRM_STE_L2_I, tag));
	assert_int_equal(fld_get(tag, STE_L2_L2_OK), 0);
	memset(mac, 0, sizeof(mac));
	assert_memory_equal(fld_at(tag, STE_L2_MAC), mac, sizeof(mac));
}

/* Returns the bit that says whether TCP's or UDP's checksum is right. */
static uint64_t l4_ok(struct frame *frame, unsigned int lookup)
{
	uint8_t tag[PRM_STE_TAG_SIZE];

	assert_true(ste_tag(frame, &flow, lookup, tag));
	return fld_get(tag, STE_L4_OK);
}

/* Entries in a circle may ask for the checksum of a long frame many times, so it is computed when
 * first asked for, and again only for a frame that has changed. */
static void a_frame_is_summed_once(void **state)
{
	static const char *const texts[] = {
		MACS "0800"
		     "4500001e"
		     "00000000"
		     "40110000"
		     "0a000001"
		     "0a000002"
		     "11112222"
		     "000a86a4"
		     "3200",
		MACS "0800"
		     "45000032"
		     "00000000"
		     "40040000"
		     "0a000001"
		     "0a000002"
		     "4500001e"
		     "00000000"
		     "40110000"
		     "0a000001"
		     "0a000002"
		     "11112222"
		     "000a86a4"
		     "3200",
	};
	static const unsigned int lookups[] = { PRM_STE_IPV4_5_TUPLE_O, PRM_STE_IPV4_5_TUPLE_I };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(texts); i++) {
		uint8_t bytes[ROOM];
		const size_t len = hex_to_bytes(texts[i], bytes);
		struct frame frame;

		frame_parse(&frame, bytes, len);
		assert_int_equal(l4_ok(&frame, lookups[i]), 1);
		bytes[len - 1] ^= 1; /* a byte that no checksum covers */
		assert_int_equal(l4_ok(&frame, lookups[i]), 1);
		frame_parse(&frame, bytes, len);
		assert_int_equal(l4_ok(&frame, lookups[i]), 0);
		bytes[len - 1] ^= 1;
		assert_int_equal(l4_ok(&frame, lookups[i]), 0);
	}
}

static void a_queue_has_its_number(void **state)
{
	uint8_t tag[PRM_STE_TAG_SIZE];

	(void)state;
	assert_true(tag_of(rows[0].has, PRM_STE_SRC_QP_GVMI, tag));
	assert_int_equal(fld_get(tag, STE_SOURCE_QP), SQN);
}

static void registers_have_their_values(void **state)
{
	static const struct {
		unsigned int lookup;
		const char *tag;
	} expected[] = {
		{ PRM_STE_REGISTER_A, "a0a1a2a3000000000000000000000000" },
		{ PRM_STE_REGISTERS_0, "000000c0000000c1000000c2000000c3" },
		{ PRM_STE_REGISTERS_1, "000000c4000000c5000000c6000000c7" },
	};
	uint8_t want[PRM_STE_TAG_SIZE], tag[PRM_STE_TAG_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		hex_to_bytes(expected[i].tag, want);
		assert_true(tag_of(rows[0].has, expected[i].lookup, tag));
		assert_memory_equal(tag, want, sizeof(tag));
	}
}

static void other_types_are_unknown(void **state)
{
	uint8_t tag[PRM_STE_TAG_SIZE];
	unsigned int known = 0;

	(void)state;
	for (unsigned int lookup = 0; lookup < 0x500; lookup++)
		known += tag_of(rows[0].has, lookup, tag);
	assert_int_equal(known, 29);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frames_tag_has_the_rules_bits),
		cmocka_unit_test(a_type_of_zero_is_behind_macs),
		cmocka_unit_test(a_frame_is_summed_once),
		cmocka_unit_test(a_queue_has_its_number),
		cmocka_unit_test(registers_have_their_values),
		cmocka_unit_test(other_types_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
