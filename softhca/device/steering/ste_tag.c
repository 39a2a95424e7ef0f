/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_tag.c - the tag of a frame, in format 1. A field that the frame lacks is 0. PRM: STE
 */
#include <string.h>

#include "ib/ethernet.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/steering/ste_tag.h"

/* ---- fields of several types ---- */

static uint32_t l3_type(const struct frame *frame)
{
	if (!frame->l3)
		return 0;
	return frame->ip_version == 4 ? PRM_STE_L3_IPV4 : PRM_STE_L3_IPV6;
}

static uint32_t l4_type(const struct frame *frame)
{
	if (frame_is_tcp(frame))
		return PRM_STE_L4_TCP;
	return frame_is_udp(frame) ? PRM_STE_L4_UDP : 0;
}

static uint32_t vlan_qualifier(const struct frame *frame, unsigned int tag)
{
	if (frame->vlans <= tag)
		return 0;
	return frame->tpid[tag] == ETHERTYPE_QINQ ? PRM_STE_VLAN_S : PRM_STE_VLAN_C;
}

/* Returns a field of a VLAN tag, or 0 without that tag. */
static uint32_t vlan_get(const struct frame *frame, unsigned int tag, uint32_t field)
{
	if (frame->vlans <= tag)
		return 0;
	return frame->tci[tag] >> FLD_SHIFT(field) & FLD_MASK(field);
}

static uint32_t ip_dscp(const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	return (uint32_t)(frame->ip_version == 4 ? fld_get(ip, IP4_DSCP) : fld_get(ip, IP6_DSCP));
}

static uint32_t ip_ecn(const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	return (uint32_t)(frame->ip_version == 4 ? fld_get(ip, IP4_ECN) : fld_get(ip, IP6_ECN));
}

static bool has_ports(const struct frame *frame)
{
	return frame_is_tcp(frame) || frame_is_udp(frame);
}

static void put_state(uint8_t *tag, const struct frame *frame)
{
	fld_set(tag, STE_L4_OK, l4_type(frame) && frame_l4_ok(frame));
	fld_set(tag, STE_L3_OK, frame->l3 && frame_l3_ok(frame));
	fld_set(tag, STE_FRAGMENTED, frame->fragment);
	if (frame_is_tcp(frame))
		fld_set(tag, STE_TCP_FLAGS, get_be16(frame->bytes + frame->l4 + 12) & 0x1ff);
}

/* ---- types ---- */

static void put_l2(const struct frame *frame, const uint8_t *mac, uint8_t *tag)
{
	fld_set(tag, STE_L2_IP_FRAGMENTED, frame->fragment);
	fld_set(tag, STE_L2_L3_TYPE, l3_type(frame));
	fld_set(tag, STE_L2_L4_TYPE, l4_type(frame));
	fld_set(tag, STE_L2_FIRST_VLAN_QUALIFIER, vlan_qualifier(frame, 0));
	fld_set(tag, STE_L2_FIRST_PRIORITY, vlan_get(frame, 0, VLAN_PRIORITY));
	fld_set(tag, STE_L2_FIRST_CFI, vlan_get(frame, 0, VLAN_DEI));
	fld_set(tag, STE_L2_FIRST_VLAN_ID, vlan_get(frame, 0, VLAN_ID));
	memcpy(fld_at(tag, STE_L2_MAC), mac, 6);
	fld_set(tag, STE_L2_L3_ETHERTYPE, frame->ethertype);
	fld_set(tag, STE_L2_L2_OK, 1);
	fld_set(tag, STE_L2_L3_OK, frame->l3 && frame_l3_ok(frame));
	fld_set(tag, STE_L2_L4_OK, l4_type(frame) && frame_l4_ok(frame));
	fld_set(tag, STE_L2_SECOND_VLAN_QUALIFIER, vlan_qualifier(frame, 1));
	fld_set(tag, STE_L2_SECOND_PRIORITY, vlan_get(frame, 1, VLAN_PRIORITY));
	fld_set(tag, STE_L2_SECOND_CFI, vlan_get(frame, 1, VLAN_DEI));
	fld_set(tag, STE_L2_SECOND_VLAN_ID, vlan_get(frame, 1, VLAN_ID));
	if (frame_is_tcp(frame))
		fld_set(tag, STE_L2_TCP_SYN, frame->bytes[frame->l4 + 13] >> 1 & 1);
}

static void put_l2_both(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *to = fld_at(frame->bytes, ETHERNET_DESTINATION);
	const uint8_t *from = fld_at(frame->bytes, ETHERNET_SOURCE);

	fld_set(tag, STE_L2_BOTH_DMAC_47_16, get_be32(to));
	fld_set(tag, STE_L2_BOTH_DMAC_15_0, get_be16(to + 4));
	fld_set(tag, STE_L2_BOTH_SMAC_47_16, get_be32(from));
	fld_set(tag, STE_L2_BOTH_SMAC_15_0, get_be16(from + 4));
	fld_set(tag, STE_L2_BOTH_L3_TYPE, l3_type(frame));
	fld_set(tag, STE_L2_BOTH_FIRST_VLAN_QUALIFIER, vlan_qualifier(frame, 0));
	fld_set(tag, STE_L2_BOTH_FIRST_PRIORITY, vlan_get(frame, 0, VLAN_PRIORITY));
	fld_set(tag, STE_L2_BOTH_FIRST_CFI, vlan_get(frame, 0, VLAN_DEI));
	fld_set(tag, STE_L2_BOTH_FIRST_VLAN_ID, vlan_get(frame, 0, VLAN_ID));
}

static void put_5_tuple(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	if (!frame->l3 || frame->ip_version != 4)
		return;
	memcpy(fld_at(tag, STE_IPV4_SOURCE), fld_at(ip, IP4_SOURCE), 4);
	memcpy(fld_at(tag, STE_IPV4_DESTINATION), fld_at(ip, IP4_DESTINATION), 4);
	fld_set(tag, STE_IPV4_DSCP, ip_dscp(frame));
	fld_set(tag, STE_IPV4_ECN, ip_ecn(frame));
	fld_set(tag, STE_IPV4_PROTOCOL, frame->protocol);
	put_state(tag, frame);
	if (has_ports(frame)) {
		fld_set(tag, STE_IPV4_SOURCE_PORT, get_be16(frame->bytes + frame->l4));
		fld_set(tag, STE_IPV4_DESTINATION_PORT, get_be16(frame->bytes + frame->l4 + 2));
	}
}

static void put_ipv4_misc(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	if (!frame->l3 || frame->ip_version != 4)
		return;
	fld_set(tag, STE_MISC_IDENTIFICATION, get_be16(ip + 4));
	fld_set(tag, STE_MISC_FLAGS_AND_OFFSET, get_be16(ip + 6));
	fld_set(tag, STE_MISC_TOTAL_LENGTH, get_be16(ip + 2));
	fld_set(tag, STE_MISC_CHECKSUM, get_be16(ip + 10));
	fld_set(tag, STE_MISC_VERSION, ip[0] >> 4);
	fld_set(tag, STE_MISC_IHL, ip[0] & 15);
	fld_set(tag, STE_MISC_TIME_TO_LIVE, fld_get(ip, IP4_TTL));
}

static void put_l4(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	if (!frame->l3)
		return;
	fld_set(tag, STE_L4_DSCP, ip_dscp(frame));
	fld_set(tag, STE_L4_ECN, ip_ecn(frame));
	fld_set(tag, STE_L4_PROTOCOL, frame->protocol);
	put_state(tag, frame);
	if (frame->ip_version == 6) {
		fld_set(tag, STE_L4_IPV6_HOP_LIMIT, fld_get(ip, IP6_HOP_LIMIT));
		fld_set(tag, STE_L4_FLOW_LABEL, get_be32(ip) & 0xfffff);
		fld_set(tag, STE_L4_IPV6_PAYLEN, get_be16(ip + 4));
	}
	if (has_ports(frame)) {
		fld_set(tag, STE_L4_SRC_PORT, get_be16(frame->bytes + frame->l4));
		fld_set(tag, STE_L4_DST_PORT, get_be16(frame->bytes + frame->l4 + 2));
	}
	if (frame_is_tcp(frame))
		fld_set(tag, STE_L4_TCP_DATA_OFFSET, frame->bytes[frame->l4 + 12] >> 4);
}

static void put_ipv6(const struct frame *frame, uint32_t address, uint8_t *tag)
{
	if (frame->l3 && frame->ip_version == 6)
		memcpy(tag, fld_at(frame->bytes + frame->l3, address), PRM_STE_TAG_SIZE);
}

static void put_l4_misc(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *l4 = frame->bytes + frame->l4;
	const uint8_t icmp = frame->ip_version == 4 ? PROTO_ICMP : PROTO_ICMP6;

	if (frame_is_tcp(frame)) {
		fld_set(tag, STE_L4_MISC_SEQ_NUM, get_be32(l4 + 4));
		fld_set(tag, STE_L4_MISC_ACK_NUM, get_be32(l4 + 8));
	} else if (frame->l4 && frame->protocol == icmp && frame->l4 + ICMP_SIZE <= frame->l3_end) {
		fld_set(tag, STE_ICMP_TYPE, l4[0]);
		fld_set(tag, STE_ICMP_CODE, l4[1]);
		fld_set(tag, STE_ICMP_HEADER_DATA, get_be32(l4 + 4));
	}
}

bool ste_tag(const struct frame *frame, uint32_t sqn, unsigned int lookup,
	     uint8_t tag[PRM_STE_TAG_SIZE])
{
	memset(tag, 0, PRM_STE_TAG_SIZE);
	switch (lookup) {
	case PRM_STE_NOTHING:
	case PRM_STE_REGISTERS_0: /* always 0 here, whatever root tables have set */
	case PRM_STE_REGISTERS_1:
		return true;
	case PRM_STE_L2_O:
		put_l2(frame, fld_at(frame->bytes, ETHERNET_DESTINATION), tag);
		return true;
	case PRM_STE_L2_SRC_O:
		put_l2(frame, fld_at(frame->bytes, ETHERNET_SOURCE), tag);
		return true;
	case PRM_STE_L2_SRC_DST_O:
		put_l2_both(frame, tag);
		return true;
	case PRM_STE_IPV4_5_TUPLE_O:
		put_5_tuple(frame, tag);
		return true;
	case PRM_STE_IPV4_MISC_O:
		put_ipv4_misc(frame, tag);
		return true;
	case PRM_STE_L4_O:
		put_l4(frame, tag);
		return true;
	case PRM_STE_IPV6_DST_O:
		put_ipv6(frame, IP6_DESTINATION, tag);
		return true;
	case PRM_STE_IPV6_SRC_O:
		put_ipv6(frame, IP6_SOURCE, tag);
		return true;
	case PRM_STE_L4_MISC_O:
		put_l4_misc(frame, tag);
		return true;
	case PRM_STE_SRC_QP_GVMI:
		fld_set(tag, STE_SOURCE_QP, sqn);
		return true;
	default:
		return false;
	}
}
