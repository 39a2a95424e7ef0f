/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match_test.c - each field that a flow can match, on literal frames: an entry with the
 * field's value takes the frame, and an entry that differs in any one bit does not. The table
 * names all supported fields, and no others.
 *
 * Covers: softhca/device/eth/flow/flow_match.c, softhca/device/eth/flow/flow_key.c,
 * softhca/device/eth/tunnel.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "softhca/device/eth/flow/flow_match.c"
#include "util/bits.h"

/* Where the entries of software's table N lead, whose root is N; tests/verbs/dr/software.c has real
 * entries. */
static struct way {
	enum ste_end end;
	uint32_t number;
	uint32_t tag; /* 0: the entries give none */
} ways[8];

void ste_walk(struct ste_walk *walk, uint64_t root)
{
	assert_in_range(root, 1, ARRAY_SIZE(ways) - 1);
	walk->end = ways[root].end;
	walk->number = ways[root].number;
	if (ways[root].tag)
		walk->tag = ways[root].tag;
}

enum {
	SQN = 0xabcdef,
	MISC = PRM_MATCH_SET_SIZE,
	INNER = 2 * PRM_MATCH_SET_SIZE,
	MISC2 = 3 * PRM_MATCH_SET_SIZE,
	MISC3 = 4 * PRM_MATCH_SET_SIZE,
	MISC5 = 6 * PRM_MATCH_SET_SIZE,
};

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
	/* Tunnels: VXLAN, VXLAN-GPE, GENEVE over IPv6, GTP-U */
	[7] = "02112233445502aabbccddee080045aa0062000100003f1100000a0102030b04" "0506111112b5004e000008000000a1b2c30002665544332202ddccbbaa998100" "b12388a874560800457600280001000021060000c0a80102c0a903049abc4def" "11223344556677885f9d040000000000",
	[8] = "02112233445502aabbccddee080045aa006e000100003f1100000a0102030b04" "0506111112b6005a00000c000003d1e2f30002665544332202ddccbbaa9988a8" "53218100e65486dd69d12345000c1137fd000001000200030004000500060007" "fe0100080009000a000b000c000d000e67892345000c000000112233",
	[9] = "02112233445502aabbccddee86dd6be543210046114020010db8000102030405" "060708090a0b20010db9101112131415161718191a1b111117c1004600000180" "6558919293000102830102665544332202ddccbbaa99080045aa002400012000" "3f1100000a0102030b04050645673456001000000000000000000000",
	[10] = "02112233445502aabbccddee080045aa0068000100003f1100000a0102030b04" "0506111108680054000036ff00aa1a2b3c4d1122338501aabb006be543210014" "064020010db8000102030405060708090a0b20010db910111213141516171819" "1a1b9abc4def11223344556677885f9d040000000000",
	/* MPLS behind Ethernet, GRE and UDP; ICMP; ESP; RoCE */
	[11] = "02112233445502aabbccddee8847abcde17f0000000000000000000000000000" "000000000000",
	[12] = "02112233445502aabbccddee080045aa002c000100003f2f00000a0102030b04" "0506a000884700000000deadbeefbcdef23f0000000000000000",
	[13] = "02112233445502aabbccddee080045aa0028000100003f1100000a0102030b04" "0506111119eb00140000cdef034f0000000000000000",
	[14] = "02112233445502aabbccddee080045aa001c000100003f0100000a0102030b04" "05060803000012345678",
	[15] = "02112233445502aabbccddee86dd6be5432100083a4020010db8000102030405" "060708090a0b20010db9101112131415161718191a1b870200009abcdef0",
	[16] = "02112233445502aabbccddee080045aa0024000100003f3200000a0102030b04" "0506a5b6c7d8000000010000000000000000",
	[17] = "02112233445502aabbccddee080045aa0030000100003f1100000a0102030b04" "0506111112b7001c0000644affff00a1b2c4000000010000000000000000",
	/* In tunnels: ESP and MPLS; IPv4 with options; IP in IP and in GRE */
	[18] = "02112233445502aabbccddee080045aa0056000100003f1100000a0102030b04" "0506111112b50042000008000000a1b2c30002665544332202ddccbbaa990800" "45aa0024000100003f3200000a0102030b040506b5c6d7e80000000100000000" "00000000",
	[19] = "02112233445502aabbccddee080045aa0046000100003f1100000a0102030b04" "0506111112b50032000008000000a1b2c30002665544332202ddccbbaa998848" "9bcde25f00000000000000000000000000000000",
	[20] = "02112233445502aabbccddee080046aa0028000100003f1100000a0102030b04" "05060102030411112222001000000000000000000000",
	[21] = "02112233445502aabbccddee080045aa0044000100003f0400000a0102030b04" "050647aa0030000100003f0600000a0102030b04050601020304010203049abc" "4def11223344556677885f9d040000000000",
	[22] = "02112233445502aabbccddee080045aa0038000100003f2f00000a0102030b04" "05060000080045aa0020000100003f1100000a0102030b04050611110035000c" "000000000000",
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
	/* A frame comes without registers; changes set them: below */
	{ 0, MISC2, MISC2_METADATA_REG_A, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_0, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_1, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_2, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_3, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_4, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_5, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_6, 0 },
	{ 0, MISC2, MISC2_METADATA_REG_C_7, 0 },
	{ 0, MISC3, MISC3_OUTER_TCP_SEQ_NUM, 0x1 },
	{ 4, MISC3, MISC3_OUTER_TCP_ACK_NUM, 0x2 },
	{ 6, MISC3, MISC3_OUTER_TCP_SEQ_NUM, 0x0 },
	{ 0, 0, LYR_2_4_IPV4_IHL, 0x5 },
	{ 20, 0, LYR_2_4_IPV4_IHL, 0x6 },
	{ 4, 0, LYR_2_4_IPV4_IHL, 0x0 },
	{ 20, 0, LYR_2_4_UDP_DPORT, 0x2222 },
	{ 7, INNER, LYR_2_4_SMAC_47_16, 0x2ddccbb },
	{ 7, INNER, LYR_2_4_SMAC_15_0, 0xaa99 },
	{ 7, INNER, LYR_2_4_DMAC_47_16, 0x2665544 },
	{ 7, INNER, LYR_2_4_DMAC_15_0, 0x3322 },
	{ 7, INNER, LYR_2_4_ETHERTYPE, 0x800 },
	{ 7, INNER, LYR_2_4_FIRST_PRIO, 0x5 },
	{ 7, INNER, LYR_2_4_FIRST_CFI, 0x1 },
	{ 7, INNER, LYR_2_4_FIRST_VID, 0x123 },
	{ 7, INNER, LYR_2_4_CVLAN_TAG, 0x1 },
	{ 7, INNER, LYR_2_4_SVLAN_TAG, 0x0 },
	{ 7, INNER, LYR_2_4_IP_VERSION, 0x4 },
	{ 7, INNER, LYR_2_4_IP_PROTOCOL, 0x6 },
	{ 7, INNER, LYR_2_4_IP_DSCP, 0x1d },
	{ 7, INNER, LYR_2_4_IP_ECN, 0x2 },
	{ 7, INNER, LYR_2_4_TTL_HOPLIMIT, 0x21 },
	{ 7, INNER, LYR_2_4_IPV4_IHL, 0x5 },
	{ 7, INNER, LYR_2_4_FRAG, 0x0 },
	{ 7, INNER, LYR_2_4_TCP_SPORT, 0x9abc },
	{ 7, INNER, LYR_2_4_TCP_DPORT, 0x4def },
	{ 7, INNER, LYR_2_4_TCP_FLAGS, 0x19d },
	{ 7, INNER, LYR_2_4_UDP_SPORT, 0x0 },
	{ 7, INNER, FLD(0x2c, 31, 0), 0xc0a80102 },
	{ 7, INNER, FLD(0x3c, 31, 0), 0xc0a90304 },
	{ 7, MISC, MISC_INNER_SECOND_PRIO, 0x3 },
	{ 7, MISC, MISC_INNER_SECOND_CFI, 0x1 },
	{ 7, MISC, MISC_INNER_SECOND_VID, 0x456 },
	{ 7, MISC, MISC_INNER_SECOND_CVLAN_TAG, 0x0 },
	{ 7, MISC, MISC_INNER_SECOND_SVLAN_TAG, 0x1 },
	{ 7, MISC3, MISC3_INNER_TCP_SEQ_NUM, 0x11223344 },
	{ 7, MISC3, MISC3_INNER_TCP_ACK_NUM, 0x55667788 },
	{ 7, MISC3, MISC3_OUTER_TCP_SEQ_NUM, 0x0 },
	{ 7, MISC5, FLD(0x10, 31, 0), 0x8000000 },
	{ 7, MISC5, FLD(0x14, 31, 0), 0xa1b2c300 },
	{ 7, MISC5, FLD(0x18, 31, 0), 0x0 },
	{ 7, 0, LYR_2_4_TCP_SPORT, 0x0 },
	{ 7, MISC, MISC_OUTER_SECOND_VID, 0x0 },
	{ 8, MISC3, MISC3_VXLAN_GPE_VNI, 0xd1e2f3 },
	{ 8, MISC3, MISC3_VXLAN_GPE_NEXT, 0x3 },
	{ 8, MISC3, MISC3_VXLAN_GPE_FLAGS, 0xc },
	{ 8, MISC, MISC_VXLAN_VNI, 0x0 },
	{ 7, MISC3, MISC3_VXLAN_GPE_VNI, 0x0 },
	{ 8, INNER, LYR_2_4_ETHERTYPE, 0x86dd },
	{ 8, INNER, LYR_2_4_CVLAN_TAG, 0x0 },
	{ 8, INNER, LYR_2_4_SVLAN_TAG, 0x1 },
	{ 8, INNER, LYR_2_4_FIRST_PRIO, 0x2 },
	{ 8, INNER, LYR_2_4_FIRST_CFI, 0x1 },
	{ 8, INNER, LYR_2_4_FIRST_VID, 0x321 },
	{ 8, INNER, LYR_2_4_IP_VERSION, 0x6 },
	{ 8, INNER, LYR_2_4_IP_PROTOCOL, 0x11 },
	{ 8, INNER, LYR_2_4_IP_DSCP, 0x27 },
	{ 8, INNER, LYR_2_4_IP_ECN, 0x1 },
	{ 8, INNER, LYR_2_4_TTL_HOPLIMIT, 0x37 },
	{ 8, INNER, LYR_2_4_UDP_SPORT, 0x6789 },
	{ 8, INNER, LYR_2_4_UDP_DPORT, 0x2345 },
	{ 8, INNER, LYR_2_4_TCP_DPORT, 0x0 },
	{ 8, MISC, MISC_INNER_SECOND_PRIO, 0x7 },
	{ 8, MISC, MISC_INNER_SECOND_CFI, 0x0 },
	{ 8, MISC, MISC_INNER_SECOND_VID, 0x654 },
	{ 8, MISC, MISC_INNER_SECOND_CVLAN_TAG, 0x1 },
	{ 8, MISC, MISC_INNER_SECOND_SVLAN_TAG, 0x0 },
	{ 8, MISC, MISC_INNER_IPV6_FLOW_LABEL, 0x12345 },
	{ 8, MISC, MISC_OUTER_IPV6_FLOW_LABEL, 0x0 },
	{ 8, INNER, FLD(0x20, 31, 0), 0xfd000001 },
	{ 8, INNER, FLD(0x24, 31, 0), 0x20003 },
	{ 8, INNER, FLD(0x28, 31, 0), 0x40005 },
	{ 8, INNER, FLD(0x2c, 31, 0), 0x60007 },
	{ 8, INNER, FLD(0x30, 31, 0), 0xfe010008 },
	{ 8, INNER, FLD(0x34, 31, 0), 0x9000a },
	{ 8, INNER, FLD(0x38, 31, 0), 0xb000c },
	{ 8, INNER, FLD(0x3c, 31, 0), 0xd000e },
	{ 9, MISC, MISC_GENEVE_VNI, 0x919293 },
	{ 9, MISC, MISC_GENEVE_OAM, 0x1 },
	{ 9, MISC, MISC_GENEVE_OPT_LEN, 0x1 },
	{ 9, MISC, MISC_GENEVE_PROTOCOL_TYPE, 0x6558 },
	{ 9, MISC, MISC_VXLAN_VNI, 0x0 },
	{ 7, MISC, MISC_GENEVE_VNI, 0x0 },
	{ 9, INNER, LYR_2_4_FRAG, 0x1 },
	{ 9, 0, LYR_2_4_FRAG, 0x0 },
	{ 9, INNER, LYR_2_4_UDP_DPORT, 0x3456 },
	{ 9, MISC5, FLD(0x18, 31, 0), 0x1028301 },
	{ 9, MISC5, FLD(0x1c, 31, 0), 0x2665544 },
	{ 10, MISC3, MISC3_GTPU_TEID, 0x1a2b3c4d },
	{ 8, MISC3, MISC3_GTPU_TEID, 0x0 },
	{ 10, MISC3, MISC3_GTPU_MSG_TYPE, 0xff },
	{ 8, MISC3, MISC3_GTPU_MSG_TYPE, 0x0 },
	{ 10, MISC3, MISC3_GTPU_MSG_FLAGS, 0x36 },
	{ 8, MISC3, MISC3_GTPU_MSG_FLAGS, 0x0 },
	{ 10, MISC3, MISC3_GTPU_DW_2, 0x11223385 },
	{ 8, MISC3, MISC3_GTPU_DW_2, 0x0 },
	{ 10, MISC3, MISC3_GTPU_FIRST_EXT_DW_0, 0x1aabb00 },
	{ 8, MISC3, MISC3_GTPU_FIRST_EXT_DW_0, 0x0 },
	{ 10, MISC3, MISC3_GTPU_DW_0, 0x36ff00aa },
	{ 8, MISC3, MISC3_GTPU_DW_0, 0x0 },
	{ 10, INNER, LYR_2_4_IP_VERSION, 0x6 },
	{ 10, INNER, LYR_2_4_TCP_DPORT, 0x4def },
	{ 10, INNER, LYR_2_4_DMAC_47_16, 0x0 },
	{ 10, INNER, LYR_2_4_ETHERTYPE, 0x0 },
	{ 11, MISC2, MISC2_OUTER_FIRST_MPLS, 0xabcde17f },
	{ 11, 0, LYR_2_4_ETHERTYPE, 0x8847 },
	{ 0, MISC2, MISC2_OUTER_FIRST_MPLS, 0x0 },
	{ 12, MISC2, MISC2_OUTER_MPLS_OVER_GRE, 0xbcdef23f },
	{ 12, MISC2, MISC2_OUTER_FIRST_MPLS, 0x0 },
	{ 2, MISC2, MISC2_OUTER_MPLS_OVER_GRE, 0x0 },
	{ 12, MISC, FLD(0x10, 31, 0), 0xdeadbeef },
	{ 13, MISC2, MISC2_OUTER_MPLS_OVER_UDP, 0xcdef034f },
	{ 6, MISC2, MISC2_OUTER_MPLS_OVER_UDP, 0x0 },
	{ 14, MISC3, MISC3_ICMP_TYPE, 0x8 },
	{ 14, MISC3, MISC3_ICMP_CODE, 0x3 },
	{ 14, MISC3, MISC3_ICMP_HEADER_DATA, 0x12345678 },
	{ 14, MISC3, MISC3_ICMPV6_TYPE, 0x0 },
	{ 15, MISC3, MISC3_ICMPV6_TYPE, 0x87 },
	{ 15, MISC3, MISC3_ICMPV6_CODE, 0x2 },
	{ 15, MISC3, MISC3_ICMPV6_HEADER_DATA, 0x9abcdef0 },
	{ 15, MISC3, MISC3_ICMP_TYPE, 0x0 },
	{ 16, MISC, MISC_OUTER_ESP_SPI, 0xa5b6c7d8 },
	{ 16, MISC, MISC_INNER_ESP_SPI, 0x0 },
	{ 17, MISC, MISC_BTH_OPCODE, 0x64 },
	{ 17, MISC, MISC_BTH_DST_QP, 0xa1b2c4 },
	{ 6, MISC, MISC_BTH_DST_QP, 0x0 },
	{ 18, MISC, MISC_INNER_ESP_SPI, 0xb5c6d7e8 },
	{ 18, MISC, MISC_OUTER_ESP_SPI, 0x0 },
	{ 19, MISC2, MISC2_INNER_FIRST_MPLS, 0x9bcde25f },
	{ 19, MISC2, MISC2_OUTER_FIRST_MPLS, 0x0 },
	{ 19, INNER, LYR_2_4_ETHERTYPE, 0x8848 },
	{ 21, INNER, LYR_2_4_TCP_SPORT, 0x9abc },
	{ 21, INNER, LYR_2_4_IPV4_IHL, 0x7 },
	{ 21, 0, LYR_2_4_IP_PROTOCOL, 0x4 },
	{ 22, INNER, LYR_2_4_UDP_DPORT, 0x35 },
	{ 22, 0, LYR_2_4_UDP_DPORT, 0x0 },
	{ 0, INNER, LYR_2_4_IP_VERSION, 0x0 },
	{ 0, INNER, LYR_2_4_TCP_DPORT, 0x0 },
};
/* clang-format on */

static unsigned int lines; /* of the trace */

void trace_line(struct trace *trace, const char *format, ...)
{
	(void)trace;
	(void)format;
	lines++;
}

static const struct flow_state nothing;
static struct tir *arrived_at;
static unsigned int arrivals;
static uint32_t tags[4]; /* of the first arrivals */

void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival)
{
	(void)hca;
	arrived_at = tir;
	if (arrivals < ARRAY_SIZE(tags))
		tags[arrivals++] = arrival->tag;
}

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
	return len;
}

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
	group.sets = flow_key_sets(mask);
	memcpy(entry.key, value, FLOW_KEY_SIZE);
	TAILQ_INSERT_TAIL(&table.groups, &group, in_table);
	LIST_INSERT_HEAD(&group.bucket[flow_hash(value, group.sets) % FLOW_BUCKETS], &entry,
			 in_bucket);
	arrived_at = NULL;
	is_allowed = flow_steer(&hca, &table, &arrival, SQN);
	assert_int_equal(is_allowed, !arrived_at);
	return arrived_at == &tir;
}

/* Returns whether the entry takes frame 0 behind a table that changes all by LIST. */
static bool is_taken_behind(struct modify_header *list, const uint8_t *mask, const uint8_t *value)
{
	static struct eth eth;
	static struct hca hca = { .eth = &eth };
	static struct tir tir;
	struct flow_destination to_tir = { .tir = &tir }, to_table = { .table = NULL };
	struct flow_group first = { .entries = 1 }, last = { .entries = 1 };
	struct flow_table root = { .groups = TAILQ_HEAD_INITIALIZER(root.groups) };
	struct flow_table behind = { .groups = TAILQ_HEAD_INITIALIZER(behind.groups) };
	struct flow_entry changes = { .action = PRM_FLOW_FWD | PRM_FLOW_MODIFY_HEADER,
				      .count = 1,
				      .destination = &to_table,
				      .change = list };
	struct flow_entry entry = { .action = PRM_FLOW_FWD, .count = 1, .destination = &to_tir };
	struct eth_arrival arrival;
	uint8_t bytes[256];

	memset(&arrival, 0, sizeof(arrival));
	frame_parse(&arrival.frame, bytes, bytes_of(frames[0], bytes));
	to_table.table = &behind;
	TAILQ_INSERT_TAIL(&root.groups, &first, in_table);
	LIST_INSERT_HEAD(&first.bucket[flow_hash(changes.key, 0) % FLOW_BUCKETS], &changes,
			 in_bucket);
	memcpy(last.mask, mask, FLOW_KEY_SIZE);
	memcpy(entry.key, value, FLOW_KEY_SIZE);
	last.sets = flow_key_sets(mask);
	TAILQ_INSERT_TAIL(&behind.groups, &last, in_table);
	LIST_INSERT_HEAD(&last.bucket[flow_hash(value, last.sets) % FLOW_BUCKETS], &entry,
			 in_bucket);
	arrived_at = NULL;
	flow_steer(&hca, &root, &arrival, SQN);
	frame_copies_free(&arrival.copies);
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

/* Register N (0: A, then C 0 to 7) as fields of changes, and of masks */
static const struct {
	uint32_t change, mask;
} in_register[] = {
	{ 0x49, MISC2_METADATA_REG_A },   { 0x51, MISC2_METADATA_REG_C_0 },
	{ 0x52, MISC2_METADATA_REG_C_1 }, { 0x53, MISC2_METADATA_REG_C_2 },
	{ 0x54, MISC2_METADATA_REG_C_3 }, { 0x55, MISC2_METADATA_REG_C_4 },
	{ 0x56, MISC2_METADATA_REG_C_5 }, { 0x57, MISC2_METADATA_REG_C_6 },
	{ 0x58, MISC2_METADATA_REG_C_7 },
};

/* Returns a list that copies the last part of the destination's address to a register, behind
 * other bits that it sets. */
static struct modify_header register_list(uint32_t field)
{
	struct modify_header list = { .count = 2 };

	fld_set(list.action[0], HEADER_ACTION_TYPE, PRM_HEADER_SET);
	fld_set(list.action[0], HEADER_ACTION_FIELD, field);
	fld_set(list.action[0], HEADER_ACTION_DATA, 0xabcd1234);
	fld_set(list.action[1], HEADER_ACTION_TYPE, PRM_HEADER_COPY);
	fld_set(list.action[1], HEADER_ACTION_FIELD, PRM_HEADER_DMAC_15_0);
	fld_set(list.action[1], HEADER_ACTION_LENGTH, 16);
	fld_set(list.action[1], HEADER_COPY_TO_FIELD, field);
	return list;
}

/* A frame keeps the registers on its way from one table to the next, and not beyond that. */
static void registers_lead_through_tables(void **state)
{
	(void)state;
	for (unsigned int set = 0; set < ARRAY_SIZE(in_register); set++)
		for (unsigned int seen = 0; seen < ARRAY_SIZE(in_register); seen++) {
			uint8_t mask[FLOW_KEY_SIZE] = { 0 }, value[FLOW_KEY_SIZE] = { 0 };
			struct modify_header list = register_list(in_register[set].change);

			fld_set(mask + MISC2, in_register[seen].mask, UINT32_MAX);
			fld_set(value + MISC2, in_register[seen].mask, 0xabcd4455);
			assert_int_equal(is_taken_behind(&list, mask, value), set == seen);
			assert_false(is_taken(0, mask, value));
		}
}

static void the_fields_here_are_all_that_are_supported(void **state)
{
	uint8_t here[FLOW_KEY_SIZE] = { 0 }, supported[FLOW_KEY_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		fld_set(here + fields[i].set, fields[i].field, UINT32_MAX);
	flow_supported_mask(false, supported);
	assert_memory_equal(here, supported, FLOW_KEY_SIZE);
}

/* The device announces only outer headers, VXLAN and GRE to a kernel driver: guests match those. */
static void a_guest_matches_what_is_announced(void **state)
{
	static const uint32_t misc[] = {
		MISC_SOURCE_SQN,
		MISC_OUTER_SECOND_PRIO,
		MISC_OUTER_SECOND_CFI,
		MISC_OUTER_SECOND_VID,
		MISC_OUTER_SECOND_CVLAN_TAG,
		MISC_OUTER_SECOND_SVLAN_TAG,
		MISC_GRE_C_PRESENT,
		MISC_GRE_K_PRESENT,
		MISC_GRE_S_PRESENT,
		MISC_GRE_PROTOCOL,
		FLD(0x10, 31, 0) /* key */,
		MISC_VXLAN_VNI,
		MISC_OUTER_IPV6_FLOW_LABEL,
	};
	uint8_t here[FLOW_KEY_SIZE] = { 0 }, supported[FLOW_KEY_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].set == 0 && fields[i].field != LYR_2_4_IPV4_IHL)
			fld_set(here, fields[i].field, UINT32_MAX);
	for (unsigned int i = 0; i < ARRAY_SIZE(misc); i++)
		fld_set(here + MISC, misc[i], UINT32_MAX);
	flow_supported_mask(true, supported);
	assert_memory_equal(here, supported, FLOW_KEY_SIZE);
}

/* If a frame ends inside a matched header, the field counts as 0, and the device reads no byte
 * behind the end, as it may belong to another frame. */
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
	flow_key_write(&frame, &nothing, key);
	assert_int_equal(fld_get(key + MISC, MISC_VXLAN_VNI), 0);
	frame_parse(&frame, bytes, bytes_of(cut[1], bytes));
	flow_key_write(&frame, &nothing, key);
	assert_int_equal(fld_get(key + MISC, FLD(0x10, 31, 0)), 0);
}

/* Cuts the frame behind CUT bytes, with lengths that fit, and writes FILL behind them. */
static void key_of_cut(unsigned int number, size_t cut, int fill, uint8_t key[FLOW_KEY_SIZE])
{
	uint8_t bytes[256];
	struct frame frame;

	frame_parse(&frame, bytes, bytes_of(frames[number], bytes));
	memset(bytes + cut, fill, sizeof(bytes) - cut);
	if (frame.l3 && frame.ip_version == 4)
		fld_set(bytes + frame.l3, IP4_LENGTH, cut - frame.l3);
	else if (frame.l3)
		fld_set(bytes + frame.l3, IP6_PAYLOAD, cut - frame.l3 - IP6_SIZE);
	if (frame_is_udp(&frame))
		fld_set(bytes + frame.l4, UDP_LENGTH, cut - frame.l4);
	frame_parse(&frame, bytes, cut);
	flow_key_write(&frame, &nothing, key);
}

/* No field depends on bytes behind the end, wherever that is: they may be of another frame. */
static void no_field_is_read_behind_the_end(void **state)
{
	uint8_t one[FLOW_KEY_SIZE], other[FLOW_KEY_SIZE];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++)
		for (size_t cut = 70; cut <= strlen(frames[i]) / 2; cut++) {
			key_of_cut(i, cut, 0, one);
			key_of_cut(i, cut, 0xff, other);
			assert_memory_equal(one, other, FLOW_KEY_SIZE);
		}
}

/* Fields of a tunnel end where UDP does, even if the packet goes on, as UDP's length says what it
 * carries. */
static void no_field_is_read_behind_udp(void **state)
{
	uint8_t bytes[256], key[FLOW_KEY_SIZE];
	struct frame frame;

	(void)state;
	frame_parse(&frame, bytes, bytes_of(frames[1], bytes));
	fld_set(bytes + frame.l4, UDP_LENGTH, UDP_SIZE + VXLAN_SIZE);
	flow_key_write(&frame, &nothing, key);
	assert_int_equal(fld_get(key + MISC, MISC_VXLAN_VNI), 0xa1b2c3);
	fld_set(bytes + frame.l4, UDP_LENGTH, UDP_SIZE + VXLAN_SIZE - 1);
	flow_key_write(&frame, &nothing, key);
	assert_int_equal(fld_get(key + MISC, MISC_VXLAN_VNI), 0);
}

/* ---- where entries of software end ---- */

static uint16_t rig_user;
static struct eth rig_eth;
static struct hca rig_hca = { .eth = &rig_eth };

static void rig_start(void)
{
	memset(&rig_eth, 0, sizeof(rig_eth));
	memset(ways, 0, sizeof(ways));
	res_init(&rig_eth.flow_tables, &rig_user, 1, 8);
	res_init(&rig_eth.samplers, &rig_user, 1, 8);
	res_init(&rig_eth.flow_meters, &rig_user, 1, 8);
	res_init(&rig_eth.tirs, &rig_user, 1, 8);
	lines = 0;
}

static void rig_end(void)
{
	res_free(&rig_eth.flow_tables);
	res_free(&rig_eth.samplers);
	res_free(&rig_eth.flow_meters);
	res_free(&rig_eth.tirs);
}

static void rig_table(struct flow_table *table, enum prm_flow_table_type type, uint64_t root)
{
	memset(table, 0, sizeof(*table));
	table->type = type;
	table->software_root = root;
	TAILQ_INIT(&table->groups);
	assert_int_equal(res_add(&rig_eth.flow_tables, table, &table->n), 0);
}

/* Steers frame 0. Returns whether it is allowed; ARRIVAL has it then. */
static bool rig_steer(struct flow_table *root, struct eth_arrival *arrival)
{
	static uint8_t bytes[256];
	bool is_allowed;

	memset(arrival, 0, sizeof(*arrival));
	memset(tags, 0, sizeof(tags));
	arrivals = 0;
	frame_parse(&arrival->frame, bytes, bytes_of(frames[0], bytes));
	is_allowed = flow_steer(&rig_hca, root, arrival, SQN);
	frame_copies_free(&arrival->copies);
	return is_allowed;
}

/* A frame whose way does not end is dropped, as it has met no entry that allows it. */
static void a_circle_of_tables_drops(void **state)
{
	struct eth_arrival arrival;
	struct flow_table table;

	(void)state;
	rig_start();
	rig_table(&table, PRM_FLOW_NIC_TX, 1);
	ways[1] = (struct way){ STE_END_TABLE, table.n, 0 };
	assert_false(rig_steer(&table, &arrival));
	assert_int_equal(lines, 0);
	ways[1].number = table.n + 1; /* no such table */
	assert_false(rig_steer(&table, &arrival));
	assert_int_equal(lines, 1);
	rig_end();
}

/* A tag that entries give goes on through tables, meters and samplers to the TIR. */
static void a_tag_is_kept_to_the_tir(void **state)
{
	struct flow_table first, next, last;
	struct flow_meter meter = { .type = PRM_FLOW_NIC_RX, .next = &next };
	struct sampler sampler = { .type = PRM_FLOW_NIC_RX, .ratio = 1 };
	struct eth_arrival arrival;
	struct tir tir;

	(void)state;
	rig_start();
	rig_table(&first, PRM_FLOW_NIC_RX, 1);
	rig_table(&next, PRM_FLOW_NIC_RX, 2);
	rig_table(&last, PRM_FLOW_NIC_RX, 3);
	assert_int_equal(res_add(&rig_eth.tirs, &tir, &tir.n), 0);
	assert_int_equal(res_add(&rig_eth.flow_meters, &meter, &meter.n), 0);
	assert_int_equal(res_add(&rig_eth.samplers, &sampler, &sampler.n), 0);
	sampler.sample = &last;
	sampler.otherwise = &next;
	ways[2] = ways[3] = (struct way){ STE_END_TIR, tir.n, 0 };
	ways[1] = (struct way){ STE_END_TABLE, next.n, 0x123456 };
	rig_steer(&first, &arrival);
	assert_int_equal(tags[0], 0x123456);
	ways[1] = (struct way){ STE_END_METER, meter.n, 0x123457 };
	rig_steer(&first, &arrival);
	assert_int_equal(tags[0], 0x123457);
	ways[1] = (struct way){ STE_END_SAMPLER, sampler.n, 0x123458 };
	rig_steer(&first, &arrival);
	assert_int_equal(arrivals, 2);
	assert_int_equal(tags[0], 0x123458);
	assert_int_equal(tags[1], 0x123458);
	rig_end();
}

/* Entries of the sending side tag no frame: if the frame looped back, its receiver would report a
 * tag that no entry of the receiving side gave. */
static void a_sent_frame_has_no_tag(void **state)
{
	struct flow_table first, next;
	struct eth_arrival arrival;

	(void)state;
	rig_start();
	rig_table(&first, PRM_FLOW_NIC_TX, 1);
	rig_table(&next, PRM_FLOW_NIC_TX, 2);
	ways[1] = (struct way){ STE_END_TABLE, next.n, 0x123456 };
	ways[2] = (struct way){ STE_END_ALLOW, 0, 0 };
	assert_true(rig_steer(&first, &arrival));
	assert_int_equal(arrival.tag, 0);
	rig_end();
}

/* The tables behind a sampler decide about the sample alone, as the frame itself goes on as
 * before. */
static void a_sample_does_not_change_the_frame(void **state)
{
	struct flow_table first, sample, otherwise;
	struct sampler sampler = { .ratio = 1, .sample = &sample, .otherwise = &otherwise };
	struct eth_arrival arrival;
	struct tir tir;

	(void)state;
	rig_start();
	rig_table(&first, PRM_FLOW_NIC_RX, 1);
	rig_table(&sample, PRM_FLOW_NIC_RX, 2);
	rig_table(&otherwise, PRM_FLOW_NIC_RX, 3);
	assert_int_equal(res_add(&rig_eth.tirs, &tir, &tir.n), 0);
	assert_int_equal(res_add(&rig_eth.samplers, &sampler, &sampler.n), 0);
	sampler.type = PRM_FLOW_NIC_RX;
	ways[1] = (struct way){ STE_END_SAMPLER, sampler.n, 0 };
	ways[2] = (struct way){ STE_END_TIR, tir.n, 0x123456 };
	ways[3] = (struct way){ STE_END_TIR, tir.n, 0 };
	rig_steer(&first, &arrival);
	assert_int_equal(arrivals, 2);
	assert_int_equal(tags[0], 0x123456);
	assert_int_equal(tags[1], 0);

	sampler.type = first.type = sample.type = otherwise.type = PRM_FLOW_NIC_TX;
	ways[2] = (struct way){ STE_END_DROP, 0, 0 };
	ways[3] = (struct way){ STE_END_ALLOW, 0, 0 };
	assert_true(rig_steer(&first, &arrival));
	ways[2] = (struct way){ STE_END_ALLOW, 0, 0 };
	ways[3] = (struct way){ STE_END_DROP, 0, 0 };
	assert_false(rig_steer(&first, &arrival));
	rig_end();
}

/* Of several destinations, each gets the frame without the tag of another, as each has a copy. */
static void destinations_have_their_own_tags(void **state)
{
	struct flow_table root = { .groups = TAILQ_HEAD_INITIALIZER(root.groups) };
	struct flow_table tagging, plain;
	struct flow_group group = { .entries = 1 };
	struct flow_destination to[] = { { .table = &tagging }, { .table = &plain } };
	struct flow_entry entry = { .action = PRM_FLOW_FWD, .count = 2, .destination = to };
	struct eth_arrival arrival;
	struct tir tir;

	(void)state;
	rig_start();
	rig_table(&tagging, PRM_FLOW_NIC_RX, 1);
	rig_table(&plain, PRM_FLOW_NIC_RX, 2);
	assert_int_equal(res_add(&rig_eth.tirs, &tir, &tir.n), 0);
	TAILQ_INSERT_TAIL(&root.groups, &group, in_table);
	LIST_INSERT_HEAD(&group.bucket[flow_hash(entry.key, 0) % FLOW_BUCKETS], &entry, in_bucket);
	ways[1] = (struct way){ STE_END_TIR, tir.n, 0x123456 };
	ways[2] = (struct way){ STE_END_TIR, tir.n, 0 };
	rig_steer(&root, &arrival);
	assert_int_equal(arrivals, 2);
	assert_int_equal(tags[0], 0x123456);
	assert_int_equal(tags[1], 0);
	rig_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_is_matched_bit_by_bit),
		cmocka_unit_test(registers_lead_through_tables),
		cmocka_unit_test(the_fields_here_are_all_that_are_supported),
		cmocka_unit_test(a_guest_matches_what_is_announced),
		cmocka_unit_test(headers_that_are_not_whole_have_no_fields),
		cmocka_unit_test(no_field_is_read_behind_the_end),
		cmocka_unit_test(no_field_is_read_behind_udp),
		cmocka_unit_test(a_circle_of_tables_drops),
		cmocka_unit_test(a_tag_is_kept_to_the_tir),
		cmocka_unit_test(a_sent_frame_has_no_tag),
		cmocka_unit_test(a_sample_does_not_change_the_frame),
		cmocka_unit_test(destinations_have_their_own_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
