/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_tag.c - the tag of a frame, in format 1. A field that the frame lacks is 0. PRM: STE
 */
#include <string.h>

#include "ib/ethernet.h"
#include "ib/packet.h"
#include "softhca/device/eth/flow/flow_key.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/tunnel.h"
#include "softhca/device/steering/ste_tag.h"
#include "util/bits.h"

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

static void put_state(uint8_t *tag, struct frame *frame)
{
	fld_set(tag, STE_L4_OK, l4_type(frame) && frame_l4_ok_once(frame));
	fld_set(tag, STE_L3_OK, frame->l3 && frame_l3_ok(frame));
	fld_set(tag, STE_FRAGMENTED, frame->fragment);
	if (frame_is_tcp(frame))
		fld_set(tag, STE_TCP_FLAGS, get_be16(frame->bytes + frame->l4 + 12) & 0x1ff);
}

static void put_l2(struct frame *frame, uint32_t mac, uint8_t *tag)
{
	fld_set(tag, STE_L2_IP_FRAGMENTED, frame->fragment);
	fld_set(tag, STE_L2_L3_TYPE, l3_type(frame));
	fld_set(tag, STE_L2_L4_TYPE, l4_type(frame));
	fld_set(tag, STE_L2_FIRST_VLAN_QUALIFIER, vlan_qualifier(frame, 0));
	fld_set(tag, STE_L2_FIRST_PRIORITY, vlan_get(frame, 0, VLAN_PRIORITY));
	fld_set(tag, STE_L2_FIRST_CFI, vlan_get(frame, 0, VLAN_DEI));
	fld_set(tag, STE_L2_FIRST_VLAN_ID, vlan_get(frame, 0, VLAN_ID));
	if (frame->l2)
		memcpy(fld_at(tag, STE_L2_MAC), fld_at(frame->bytes, mac), MAC_SIZE);
	fld_set(tag, STE_L2_L3_ETHERTYPE, frame->ethertype);
	fld_set(tag, STE_L2_L2_OK, frame->l2);
	fld_set(tag, STE_L2_L3_OK, frame->l3 && frame_l3_ok(frame));
	fld_set(tag, STE_L2_L4_OK, l4_type(frame) && frame_l4_ok_once(frame));
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

	if (frame->l2) {
		fld_set(tag, STE_L2_BOTH_DMAC_47_16, get_be32(to));
		fld_set(tag, STE_L2_BOTH_DMAC_15_0, get_be16(to + 4));
		fld_set(tag, STE_L2_BOTH_SMAC_47_16, get_be32(from));
		fld_set(tag, STE_L2_BOTH_SMAC_15_0, get_be16(from + 4));
	}
	fld_set(tag, STE_L2_BOTH_L3_TYPE, l3_type(frame));
	fld_set(tag, STE_L2_BOTH_FIRST_VLAN_QUALIFIER, vlan_qualifier(frame, 0));
	fld_set(tag, STE_L2_BOTH_FIRST_PRIORITY, vlan_get(frame, 0, VLAN_PRIORITY));
	fld_set(tag, STE_L2_BOTH_FIRST_CFI, vlan_get(frame, 0, VLAN_DEI));
	fld_set(tag, STE_L2_BOTH_FIRST_VLAN_ID, vlan_get(frame, 0, VLAN_ID));
}

static void put_5_tuple(struct frame *frame, uint8_t *tag)
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

static void put_l4(struct frame *frame, uint8_t *tag)
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

/* Puts the first MPLS labels behind the Ethernet header. */
static void put_mpls(const struct frame *frame, uint8_t *tag)
{
	enum { LABELS = 3, END_OF_STACK = 0x100 };
	size_t at = frame_type_at(frame) + sizeof(frame->ethertype);
	bool more =
		frame->ethertype == ETHERTYPE_MPLS || frame->ethertype == ETHERTYPE_MPLS_MULTICAST;

	for (unsigned int i = 0; more && i < LABELS && at + MPLS_SIZE <= frame->len; i++) {
		const uint32_t label = get_be32(frame->bytes + at);

		more = !(label & END_OF_STACK);
		tag[3] |= (uint8_t)((more ? 1 : 3) << 2 * i); /* bit 0: present; bit 1: last */
		memcpy(fld_at(tag, STE_MPLS_LABEL_0) + (size_t)MPLS_SIZE * i, frame->bytes + at,
		       MPLS_SIZE);
		at += MPLS_SIZE;
	}
}

/* Returns the offset of the UDP payload. Returns 0 if the packet is not for PORT, or the payload
 * has less than SIZE bytes. */
static unsigned int in_udp(const struct frame *frame, unsigned int port, unsigned int size)
{
	const unsigned int at = frame->l4 + UDP_SIZE;

	if (!frame_is_udp(frame) ||
	    fld_get(frame->bytes + frame->l4, L4_DESTINATION_PORT) != port ||
	    at + size > frame->l3_end)
		return 0;
	return at;
}

/* Puts the first SIZE bytes of a tunnel's header inside UDP, or fewer if the packet ends before. */
static void put_tunnel_header(const struct frame *frame, unsigned int size, uint8_t *tag)
{
	static const uint16_t ports[] = { VXLAN_PORT, VXLAN_GPE_PORT, GENEVE_PORT, GTPU_PORT };

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		const unsigned int at = in_udp(frame, ports[i], STE_TUNNEL_START_SIZE);

		if (at)
			memcpy(tag, frame->bytes + at,
			       size < frame->l3_end - at ? size : frame->l3_end - at);
	}
}

static void put_gre(const struct frame *frame, uint8_t *tag)
{
	const uint8_t *gre = frame->bytes + frame->l4;
	unsigned int key = frame->l4 + GRE_SIZE;

	if (!frame->l4 || frame->protocol != PROTO_GRE || key > frame->l3_end)
		return;
	memcpy(fld_at(tag, STE_GRE_START), gre, GRE_SIZE);
	key += fld_get(gre, GRE_C) ? GRE_FIELD_SIZE : 0;
	if (fld_get(gre, GRE_K) && key + GRE_FIELD_SIZE <= frame->l3_end)
		memcpy(fld_at(tag, STE_GRE_KEY), frame->bytes + key, GRE_FIELD_SIZE);
}

static void put_bth(const struct frame *frame, uint8_t *tag)
{
	const unsigned int at = in_udp(frame, ROCE_UDP_PORT, BTH_SIZE);
	const uint8_t *bth = frame->bytes + at;

	if (!at)
		return;
	fld_set(tag, STE_BTH_OPCODE, bth[0]);
	fld_set(tag, STE_BTH_QP, fld_get(bth, BTH_DEST_QPN));
	fld_set(tag, STE_BTH_SOLICITED, fld_get(bth, BTH_SOLICITED));
	fld_set(tag, STE_BTH_MIGRATED, fld_get(bth, BTH_MIGRATED));
	fld_set(tag, STE_BTH_ACK_REQUEST, fld_get(bth, BTH_ACK_REQUEST));
	fld_set(tag, STE_BTH_PKEY, fld_get(bth, BTH_PKEY));
}

/* Puts VXLAN's network identifier and fields of INNER, the frame in the tunnel; NULL: there is
 * none. */
static void put_l2_tunnel(const struct frame *frame, const struct frame *inner, uint8_t *tag)
{
	const unsigned int at = in_udp(frame, VXLAN_PORT, VXLAN_SIZE);

	if (at)
		fld_set(tag, STE_TUNNEL_NETWORK, fld_get(frame->bytes + at, VXLAN_VNI) << 8);
	if (!inner)
		return;
	if (inner->l2)
		memcpy(fld_at(tag, STE_TUNNEL_DMAC), fld_at(inner->bytes, ETHERNET_DESTINATION),
		       MAC_SIZE);
	fld_set(tag, STE_TUNNEL_L3_ETHERTYPE, inner->ethertype);
	fld_set(tag, STE_TUNNEL_IP_FRAGMENTED, inner->fragment);
	fld_set(tag, STE_TUNNEL_L3_TYPE, l3_type(inner));
	fld_set(tag, STE_TUNNEL_L4_TYPE, l4_type(inner));
	fld_set(tag, STE_TUNNEL_FIRST_VLAN_QUALIFIER, vlan_qualifier(inner, 0));
	fld_set(tag, STE_TUNNEL_FIRST_PRIORITY, vlan_get(inner, 0, VLAN_PRIORITY));
	fld_set(tag, STE_TUNNEL_FIRST_CFI, vlan_get(inner, 0, VLAN_DEI));
	fld_set(tag, STE_TUNNEL_FIRST_VLAN_ID, vlan_get(inner, 0, VLAN_ID));
}

/* Writes the tag of a lookup type of outer headers, or, if FRAME is an inner frame, of inner
 * headers. Returns false for other types. */
static bool put_headers(struct frame *frame, unsigned int lookup, uint8_t *tag)
{
	switch (lookup) {
	case PRM_STE_L2_O:
		put_l2(frame, ETHERNET_DESTINATION, tag);
		return true;
	case PRM_STE_L2_SRC_O:
		put_l2(frame, ETHERNET_SOURCE, tag);
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
	case PRM_STE_MPLS_O:
		put_mpls(frame, tag);
		return true;
	default:
		return false;
	}
}

/* Returns the lookup type of outer headers with the same fields as LOOKUP, a type of inner headers.
 * Returns -1 if LOOKUP is another type. */
static int outer_type(unsigned int lookup)
{
	switch (lookup) {
	case PRM_STE_L2_I:
		return PRM_STE_L2_O;
	case PRM_STE_L2_SRC_I:
		return PRM_STE_L2_SRC_O;
	case PRM_STE_L2_SRC_DST_I:
		return PRM_STE_L2_SRC_DST_O;
	case PRM_STE_IPV4_5_TUPLE_I:
		return PRM_STE_IPV4_5_TUPLE_O;
	case PRM_STE_IPV4_MISC_I:
		return PRM_STE_IPV4_MISC_O;
	case PRM_STE_L4_I:
		return PRM_STE_L4_O;
	case PRM_STE_IPV6_DST_I:
		return PRM_STE_IPV6_DST_O;
	case PRM_STE_IPV6_SRC_I:
		return PRM_STE_IPV6_SRC_O;
	case PRM_STE_L4_MISC_I:
		return PRM_STE_L4_MISC_O;
	case PRM_STE_MPLS_I:
		return PRM_STE_MPLS_O;
	default:
		return -1;
	}
}

/* Writes the tag of a lookup type of a tunnel's header, of the BTH, of the sending queue or of
 * registers. Returns false for other types. */
static bool put_others(const struct frame *frame, const struct frame *inner,
		       const struct flow_state *state, unsigned int lookup, uint8_t *tag)
{
	switch (lookup) {
	case PRM_STE_L2_TUNNEL:
		put_l2_tunnel(frame, inner, tag);
		return true;
	case PRM_STE_TUNNEL_START:
		put_tunnel_header(frame, STE_TUNNEL_START_SIZE, tag);
		return true;
	case PRM_STE_TUNNEL_HEADER:
		put_tunnel_header(frame, PRM_STE_TAG_SIZE, tag);
		return true;
	case PRM_STE_GRE:
		put_gre(frame, tag);
		return true;
	case PRM_STE_BTH:
		put_bth(frame, tag);
		return true;
	case PRM_STE_SRC_QP_GVMI:
		fld_set(tag, STE_SOURCE_QP, state->sqn);
		return true;
	case PRM_STE_REGISTER_A:
		memcpy(tag, fld_at(state->registers, FLOW_REGISTER_A), 4);
		return true;
	case PRM_STE_REGISTERS_0:
		memcpy(tag, fld_at(state->registers, FLOW_REGISTER_C(0)), PRM_STE_TAG_SIZE);
		return true;
	case PRM_STE_REGISTERS_1:
		memcpy(tag, fld_at(state->registers, FLOW_REGISTER_C(4)), PRM_STE_TAG_SIZE);
		return true;
	default:
		return false;
	}
}

bool ste_tag(struct frame *frame, const struct flow_state *state, unsigned int lookup,
	     uint8_t tag[PRM_STE_TAG_SIZE])
{
	const int outer = outer_type(lookup);
	struct tunnel tunnel;
	struct frame inner;
	bool has_inner;

	memset(tag, 0, PRM_STE_TAG_SIZE);
	if (put_headers(frame, lookup, tag))
		return true;
	tunnel = tunnel_find(frame);
	has_inner = tunnel_parse_inner(frame, &tunnel, &inner);
	if (outer >= 0 && has_inner) {
		inner.l4_check = frame->inner_l4_check;
		put_headers(&inner, (unsigned int)outer, tag);
		frame->inner_l4_check = inner.l4_check;
	}
	return outer >= 0 || put_others(frame, has_inner ? &inner : NULL, state, lookup, tag);
}
