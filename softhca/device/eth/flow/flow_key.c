/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_key.c - the fields of a frame that flow tables can match: of outer headers, of a tunnel's
 * header, and of the headers inside the tunnel. PRM: fte_match_param
 *
 * As in frame.c, a header is read only after a check of its length.
 */
#include <string.h>

#include "ib/ethernet.h"
#include "ib/packet.h"
#include "softhca/device/eth/flow/flow_key.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/tunnel.h"
#include "util/bits.h"

#define OUTER(field)  FLD_IN(MATCH_OUTER_HEADERS, field)
#define MISC(field)   FLD_IN(MATCH_MISC_PARAMETERS, field)
#define INNER(field)  FLD_IN(MATCH_INNER_HEADERS, field)
#define MISC_2(field) FLD_IN(MATCH_MISC_PARAMETERS_2, field)
#define MISC_3(field) FLD_IN(MATCH_MISC_PARAMETERS_3, field)
#define MISC_5(field) FLD_IN(MATCH_MISC_PARAMETERS_5, field)

enum { TUNNEL_HEADER_DWORDS = 4 };

/* Places of the fields that outer and inner headers share. HEADERS is the set of one side; the
 * other fields are in the sets of miscellaneous parameters. */
struct side {
	uint32_t headers;
	uint32_t second_prio, second_cfi, second_vid, second_cvlan, second_svlan;
	uint32_t mpls, flow_label, esp_spi, tcp_sequence, tcp_acknowledgment;
};

static const struct side outer_side = {
	.headers = MATCH_OUTER_HEADERS,
	.second_prio = MISC(MISC_OUTER_SECOND_PRIO),
	.second_cfi = MISC(MISC_OUTER_SECOND_CFI),
	.second_vid = MISC(MISC_OUTER_SECOND_VID),
	.second_cvlan = MISC(MISC_OUTER_SECOND_CVLAN_TAG),
	.second_svlan = MISC(MISC_OUTER_SECOND_SVLAN_TAG),
	.mpls = MISC_2(MISC2_OUTER_FIRST_MPLS),
	.flow_label = MISC(MISC_OUTER_IPV6_FLOW_LABEL),
	.esp_spi = MISC(MISC_OUTER_ESP_SPI),
	.tcp_sequence = MISC_3(MISC3_OUTER_TCP_SEQ_NUM),
	.tcp_acknowledgment = MISC_3(MISC3_OUTER_TCP_ACK_NUM),
};

static const struct side inner_side = {
	.headers = MATCH_INNER_HEADERS,
	.second_prio = MISC(MISC_INNER_SECOND_PRIO),
	.second_cfi = MISC(MISC_INNER_SECOND_CFI),
	.second_vid = MISC(MISC_INNER_SECOND_VID),
	.second_cvlan = MISC(MISC_INNER_SECOND_CVLAN_TAG),
	.second_svlan = MISC(MISC_INNER_SECOND_SVLAN_TAG),
	.mpls = MISC_2(MISC2_INNER_FIRST_MPLS),
	.flow_label = MISC(MISC_INNER_IPV6_FLOW_LABEL),
	.esp_spi = MISC(MISC_INNER_ESP_SPI),
	.tcp_sequence = MISC_3(MISC3_INNER_TCP_SEQ_NUM),
	.tcp_acknowledgment = MISC_3(MISC3_INNER_TCP_ACK_NUM),
};

static uint32_t tci_get(uint16_t tci, uint32_t field)
{
	return tci >> FLD_SHIFT(field) & FLD_MASK(field);
}

static bool is_mpls(uint64_t ethertype)
{
	return ethertype == ETHERTYPE_MPLS || ethertype == ETHERTYPE_MPLS_MULTICAST;
}

/* Puts the label at AT, unless it ends behind END. */
static void put_mpls(uint8_t *key, uint32_t field, const struct frame *frame, size_t at, size_t end)
{
	if (at + MPLS_SIZE <= end)
		fld_set(key, field, get_be32(frame->bytes + at));
}

static void put_tags(uint8_t *key, const struct side *side, const struct frame *frame)
{
	uint8_t *set = fld_at(key, side->headers);

	if (frame->vlans) {
		fld_set(set, LYR_2_4_CVLAN_TAG, frame->tpid[0] == ETHERTYPE_VLAN);
		fld_set(set, LYR_2_4_SVLAN_TAG, frame->tpid[0] == ETHERTYPE_QINQ);
		fld_set(set, LYR_2_4_FIRST_PRIO, tci_get(frame->tci[0], VLAN_PRIORITY));
		fld_set(set, LYR_2_4_FIRST_CFI, tci_get(frame->tci[0], VLAN_DEI));
		fld_set(set, LYR_2_4_FIRST_VID, tci_get(frame->tci[0], VLAN_ID));
	}
	if (frame->vlans > 1) {
		fld_set(key, side->second_cvlan, frame->tpid[1] == ETHERTYPE_VLAN);
		fld_set(key, side->second_svlan, frame->tpid[1] == ETHERTYPE_QINQ);
		fld_set(key, side->second_prio, tci_get(frame->tci[1], VLAN_PRIORITY));
		fld_set(key, side->second_cfi, tci_get(frame->tci[1], VLAN_DEI));
		fld_set(key, side->second_vid, tci_get(frame->tci[1], VLAN_ID));
	}
}

static void put_l2(uint8_t *key, const struct side *side, const struct frame *frame)
{
	const uint8_t *destination = fld_at(frame->bytes, ETHERNET_DESTINATION);
	const uint8_t *source = fld_at(frame->bytes, ETHERNET_SOURCE);
	uint8_t *set = fld_at(key, side->headers);

	fld_set(set, LYR_2_4_DMAC_47_16, fld_get(destination, MAC_47_16));
	fld_set(set, LYR_2_4_DMAC_15_0, fld_get16(destination, MAC_15_0));
	fld_set(set, LYR_2_4_SMAC_47_16, fld_get(source, MAC_47_16));
	fld_set(set, LYR_2_4_SMAC_15_0, fld_get16(source, MAC_15_0));
	fld_set(set, LYR_2_4_ETHERTYPE, frame->ethertype);
	put_tags(key, side, frame);
	if (is_mpls(frame->ethertype))
		put_mpls(key, side->mpls, frame, frame_type_at(frame) + sizeof(frame->ethertype),
			 frame->len);
}

static void put_v4(uint8_t *set, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	fld_set(set, LYR_2_4_IPV4_IHL, fld_get(ip, IP4_HEADER_WORDS));
	fld_set(set, LYR_2_4_IP_DSCP, fld_get(ip, IP4_DSCP));
	fld_set(set, LYR_2_4_IP_ECN, fld_get(ip, IP4_ECN));
	fld_set(set, LYR_2_4_TTL_HOPLIMIT, fld_get(ip, IP4_TTL));
	memcpy(fld_at(set, LYR_2_4_SRC_IPV4), fld_at(ip, IP4_SOURCE), 4);
	memcpy(fld_at(set, LYR_2_4_DST_IPV4), fld_at(ip, IP4_DESTINATION), 4);
}

static void put_v6(uint8_t *key, const struct side *side, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;
	uint8_t *set = fld_at(key, side->headers);

	fld_set(set, LYR_2_4_IP_DSCP, fld_get(ip, IP6_DSCP));
	fld_set(set, LYR_2_4_IP_ECN, fld_get(ip, IP6_ECN));
	fld_set(set, LYR_2_4_TTL_HOPLIMIT, fld_get(ip, IP6_HOP_LIMIT));
	memcpy(fld_at(set, LYR_2_4_SRC_IPV4_SRC_IPV6), fld_at(ip, IP6_SOURCE), 16);
	memcpy(fld_at(set, LYR_2_4_DST_IPV4_DST_IPV6), fld_at(ip, IP6_DESTINATION), 16);
	fld_set(key, side->flow_label, fld_get(ip, IP6_FLOW_LABEL));
}

static void put_l4(uint8_t *key, const struct side *side, const struct frame *frame)
{
	const uint8_t *l4 = frame->bytes + frame->l4;
	uint8_t *set = fld_at(key, side->headers);

	if (frame_is_tcp(frame)) {
		fld_set(set, LYR_2_4_TCP_SPORT, fld_get(l4, L4_SOURCE_PORT));
		fld_set(set, LYR_2_4_TCP_DPORT, fld_get(l4, L4_DESTINATION_PORT));
		fld_set(set, LYR_2_4_TCP_FLAGS, fld_get(l4, TCP_FLAGS));
		fld_set(key, side->tcp_sequence, fld_get(l4, TCP_SEQUENCE));
		fld_set(key, side->tcp_acknowledgment, fld_get(l4, TCP_ACKNOWLEDGMENT));
	} else if (frame_is_udp(frame)) {
		fld_set(set, LYR_2_4_UDP_SPORT, fld_get(l4, L4_SOURCE_PORT));
		fld_set(set, LYR_2_4_UDP_DPORT, fld_get(l4, L4_DESTINATION_PORT));
	} else if (frame->protocol == PROTO_ESP && frame->l4 + ESP_SIZE <= frame->l3_end) {
		fld_set(key, side->esp_spi, get_be32(fld_at(l4, ESP_SPI)));
	}
}

static void put_packet(uint8_t *key, const struct side *side, const struct frame *frame)
{
	uint8_t *set = fld_at(key, side->headers);

	if (!frame->l3)
		return;
	fld_set(set, LYR_2_4_IP_VERSION, frame->ip_version);
	fld_set(set, LYR_2_4_IP_PROTOCOL, frame->protocol);
	fld_set(set, LYR_2_4_FRAG, frame->fragment);
	if (frame->ip_version == 4)
		put_v4(set, frame);
	else
		put_v6(key, side, frame);
	if (frame->l4)
		put_l4(key, side, frame);
}

static void put_vxlan(uint8_t *key, const struct frame *frame, unsigned int at)
{
	fld_set(key, MISC(MISC_VXLAN_VNI), fld_get(frame->bytes + at, VXLAN_VNI));
}

static void put_gpe(uint8_t *key, const struct frame *frame, unsigned int at)
{
	const uint8_t *header = frame->bytes + at;

	fld_set(key, MISC_3(MISC3_VXLAN_GPE_VNI), fld_get(header, VXLAN_VNI));
	fld_set(key, MISC_3(MISC3_VXLAN_GPE_NEXT), fld_get(header, VXLAN_GPE_NEXT));
	fld_set(key, MISC_3(MISC3_VXLAN_GPE_FLAGS), fld_get(header, VXLAN_GPE_FLAGS));
}

static void put_geneve(uint8_t *key, const struct frame *frame, unsigned int at)
{
	const uint8_t *header = frame->bytes + at;

	fld_set(key, MISC(MISC_GENEVE_VNI), fld_get(header, GENEVE_VNI));
	fld_set(key, MISC(MISC_GENEVE_OAM), fld_get(header, GENEVE_OAM));
	fld_set(key, MISC(MISC_GENEVE_OPT_LEN), fld_get(header, GENEVE_OPTION_WORDS));
	fld_set(key, MISC(MISC_GENEVE_PROTOCOL_TYPE), fld_get(header, GENEVE_PROTOCOL));
}

static void put_gtpu(uint8_t *key, const struct frame *frame, unsigned int at)
{
	const unsigned int optional = at + GTPU_SIZE, extension = optional + GTPU_OPTIONAL_SIZE;
	const uint8_t *header = frame->bytes + at;

	fld_set(key, MISC_3(MISC3_GTPU_TEID), fld_get(header, GTPU_TEID));
	fld_set(key, MISC_3(MISC3_GTPU_MSG_TYPE), fld_get(header, GTPU_TYPE));
	fld_set(key, MISC_3(MISC3_GTPU_MSG_FLAGS), fld_get(header, GTPU_FLAGS));
	fld_set(key, MISC_3(MISC3_GTPU_DW_0), get_be32(header));
	if (!fld_get(header, GTPU_OPTIONAL) || extension > frame->l3_end)
		return;
	fld_set(key, MISC_3(MISC3_GTPU_DW_2), get_be32(frame->bytes + optional));
	if (fld_get(header, GTPU_E) && extension + 4 <= frame->l3_end)
		fld_set(key, MISC_3(MISC3_GTPU_FIRST_EXT_DW_0), get_be32(frame->bytes + extension));
}

static void put_bth(uint8_t *key, const struct frame *frame, unsigned int at)
{
	fld_set(key, MISC(MISC_BTH_OPCODE), frame->bytes[at]);
	fld_set(key, MISC(MISC_BTH_DST_QP), fld_get(frame->bytes + at, BTH_DEST_QPN));
}

static void put_mpls_in_udp(uint8_t *key, const struct frame *frame, unsigned int at)
{
	put_mpls(key, MISC_2(MISC2_OUTER_MPLS_OVER_UDP), frame, at, frame->l3_end);
}

/* Headers inside UDP, by destination port: the least size, and the number of dwords that tables can
 * match whatever they mean. */
static const struct {
	uint16_t port;
	uint8_t size, dwords;
	void (*put)(uint8_t *key, const struct frame *frame, unsigned int at);
} in_udp[] = {
	{ VXLAN_PORT, VXLAN_SIZE, VXLAN_SIZE / 4, put_vxlan },
	{ VXLAN_GPE_PORT, VXLAN_SIZE, VXLAN_SIZE / 4, put_gpe },
	{ GENEVE_PORT, GENEVE_SIZE, TUNNEL_HEADER_DWORDS, put_geneve },
	{ GTPU_PORT, GTPU_SIZE, TUNNEL_HEADER_DWORDS, put_gtpu },
	{ ROCE_UDP_PORT, BTH_SIZE, 0, put_bth },
	{ MPLS_PORT, MPLS_SIZE, 0, put_mpls_in_udp },
};

/* Puts the first COUNT dwords at AT that the packet has. */
static void put_dwords(uint8_t *key, const struct frame *frame, unsigned int at, unsigned int count)
{
	uint8_t *to = fld_at(key, MISC_5(MISC5_TUNNEL_HEADER));

	for (unsigned int i = 0; i < count && at + 4 * (i + 1) <= frame->l3_end; i++)
		memcpy(to + 4 * i, frame->bytes + at + 4 * i, 4);
}

/* Puts what UDP carries; it ends where UDP's own length says. */
static void put_in_udp(uint8_t *key, const struct frame *packet)
{
	const uint8_t *udp = packet->bytes + packet->l4;
	const uint64_t port = fld_get(udp, L4_DESTINATION_PORT);
	const unsigned int at = packet->l4 + UDP_SIZE;
	const unsigned int end = packet->l4 + (unsigned int)fld_get(udp, UDP_LENGTH);
	struct frame shorter = *packet;
	const struct frame *frame = &shorter;

	if (end < shorter.l3_end)
		shorter.l3_end = end;
	for (size_t i = 0; i < ARRAY_SIZE(in_udp); i++) {
		if (in_udp[i].port != port || at + in_udp[i].size > frame->l3_end)
			continue;
		in_udp[i].put(key, frame, at);
		put_dwords(key, frame, at, in_udp[i].dwords);
	}
}

static void put_gre(uint8_t *key, const struct frame *frame)
{
	const uint8_t *gre = frame->bytes + frame->l4;
	unsigned int at = frame->l4 + GRE_SIZE + (fld_get(gre, GRE_C) ? GRE_FIELD_SIZE : 0);

	fld_set(key, MISC(MISC_GRE_C_PRESENT), fld_get(gre, GRE_C));
	fld_set(key, MISC(MISC_GRE_K_PRESENT), fld_get(gre, GRE_K));
	fld_set(key, MISC(MISC_GRE_S_PRESENT), fld_get(gre, GRE_S));
	fld_set(key, MISC(MISC_GRE_PROTOCOL), fld_get(gre, GRE_PROTOCOL));
	if (fld_get(gre, GRE_K) && at + GRE_FIELD_SIZE <= frame->l3_end)
		memcpy(fld_at(key, MISC(MISC_GRE_KEY)), frame->bytes + at, GRE_FIELD_SIZE);
	if (!is_mpls(fld_get(gre, GRE_PROTOCOL)))
		return;
	at += GRE_FIELD_SIZE * (unsigned int)(fld_get(gre, GRE_K) + fld_get(gre, GRE_S));
	put_mpls(key, MISC_2(MISC2_OUTER_MPLS_OVER_GRE), frame, at, frame->l3_end);
}

static void put_icmp(uint8_t *key, const struct frame *frame)
{
	const uint8_t *icmp = frame->bytes + frame->l4;
	const bool is_v4 = frame->ip_version == 4;

	fld_set(key, is_v4 ? MISC_3(MISC3_ICMP_TYPE) : MISC_3(MISC3_ICMPV6_TYPE),
		fld_get(icmp, ICMP_TYPE));
	fld_set(key, is_v4 ? MISC_3(MISC3_ICMP_CODE) : MISC_3(MISC3_ICMPV6_CODE),
		fld_get(icmp, ICMP_CODE));
	fld_set(key, is_v4 ? MISC_3(MISC3_ICMP_HEADER_DATA) : MISC_3(MISC3_ICMPV6_HEADER_DATA),
		fld_get(icmp, ICMP_DATA));
}

static void put_behind_outer(uint8_t *key, const struct frame *frame)
{
	const uint8_t icmp = frame->ip_version == 4 ? PROTO_ICMP : PROTO_ICMP6;

	if (!frame->l4)
		return;
	if (frame_is_udp(frame))
		put_in_udp(key, frame);
	else if (frame->protocol == PROTO_GRE && frame->l4 + GRE_SIZE <= frame->l3_end)
		put_gre(key, frame);
	else if (frame->protocol == icmp && frame->l4 + ICMP_SIZE <= frame->l3_end)
		put_icmp(key, frame);
}

/* The layout has register C 7 first and C 0 last. */
static void put_state(uint8_t *key, const struct flow_state *state)
{
	fld_set(key, MISC(MISC_SOURCE_SQN), state->sqn);
	fld_set(key, MISC_2(MISC2_METADATA_REG_A), fld_get(state->registers, FLOW_REGISTER_A));
	for (unsigned int n = 0; n < FLOW_C_REGISTERS; n++)
		fld_set(key, MISC_2(MISC2_METADATA_REG_C_7) + FLD_PART(4 * (7 - n)),
			fld_get(state->registers, FLOW_REGISTER_C(n)));
}

void flow_key_write(const struct frame *frame, const struct flow_state *state,
		    uint8_t key[FLOW_KEY_SIZE])
{
	const struct tunnel tunnel = tunnel_find(frame);
	struct frame inner;

	memset(key, 0, FLOW_KEY_SIZE);
	put_state(key, state);
	put_l2(key, &outer_side, frame);
	put_packet(key, &outer_side, frame);
	put_behind_outer(key, frame);
	if (!tunnel_parse_inner(frame, &tunnel, &inner))
		return;
	if (tunnel.l2)
		put_l2(key, &inner_side, &inner);
	put_packet(key, &inner_side, &inner);
}

/* Fields of both sets: outer headers, inner headers */
static const uint32_t in_headers[] = {
	LYR_2_4_SMAC_47_16,  LYR_2_4_SMAC_15_0,  LYR_2_4_ETHERTYPE,    LYR_2_4_DMAC_47_16,
	LYR_2_4_DMAC_15_0,   LYR_2_4_FIRST_PRIO, LYR_2_4_FIRST_CFI,    LYR_2_4_FIRST_VID,
	LYR_2_4_IP_PROTOCOL, LYR_2_4_IP_DSCP,    LYR_2_4_IP_ECN,       LYR_2_4_CVLAN_TAG,
	LYR_2_4_SVLAN_TAG,   LYR_2_4_FRAG,       LYR_2_4_IP_VERSION,   LYR_2_4_TCP_FLAGS,
	LYR_2_4_TCP_SPORT,   LYR_2_4_TCP_DPORT,  LYR_2_4_TTL_HOPLIMIT, LYR_2_4_UDP_SPORT,
	LYR_2_4_UDP_DPORT,
};

/* Fields of the other sets that the device announces to kernel drivers as well, or that belong to
 * such */
static const uint32_t announced[] = {
	MISC(MISC_SOURCE_SQN),
	MISC(MISC_OUTER_SECOND_PRIO),
	MISC(MISC_OUTER_SECOND_CFI),
	MISC(MISC_OUTER_SECOND_VID),
	MISC(MISC_OUTER_SECOND_CVLAN_TAG),
	MISC(MISC_OUTER_SECOND_SVLAN_TAG),
	MISC(MISC_VXLAN_VNI),
	MISC(MISC_GRE_C_PRESENT),
	MISC(MISC_GRE_K_PRESENT),
	MISC(MISC_GRE_S_PRESENT),
	MISC(MISC_GRE_PROTOCOL),
	MISC(MISC_OUTER_IPV6_FLOW_LABEL),
};

static const uint32_t others[] = {
	MISC(MISC_INNER_SECOND_PRIO),
	MISC(MISC_INNER_SECOND_CFI),
	MISC(MISC_INNER_SECOND_VID),
	MISC(MISC_INNER_SECOND_CVLAN_TAG),
	MISC(MISC_INNER_SECOND_SVLAN_TAG),
	OUTER(LYR_2_4_IPV4_IHL),
	INNER(LYR_2_4_IPV4_IHL),
	MISC(MISC_INNER_IPV6_FLOW_LABEL),
	MISC(MISC_BTH_OPCODE),
	MISC(MISC_BTH_DST_QP),
	MISC(MISC_GENEVE_VNI),
	MISC(MISC_GENEVE_OAM),
	MISC(MISC_GENEVE_OPT_LEN),
	MISC(MISC_GENEVE_PROTOCOL_TYPE),
	MISC(MISC_INNER_ESP_SPI),
	MISC(MISC_OUTER_ESP_SPI),
	MISC_2(MISC2_OUTER_FIRST_MPLS),
	MISC_2(MISC2_INNER_FIRST_MPLS),
	MISC_2(MISC2_OUTER_MPLS_OVER_GRE),
	MISC_2(MISC2_OUTER_MPLS_OVER_UDP),
	MISC_2(MISC2_METADATA_REG_A),
	MISC_2(MISC2_METADATA_REG_C_0),
	MISC_2(MISC2_METADATA_REG_C_1),
	MISC_2(MISC2_METADATA_REG_C_2),
	MISC_2(MISC2_METADATA_REG_C_3),
	MISC_2(MISC2_METADATA_REG_C_4),
	MISC_2(MISC2_METADATA_REG_C_5),
	MISC_2(MISC2_METADATA_REG_C_6),
	MISC_2(MISC2_METADATA_REG_C_7),
	MISC_3(MISC3_INNER_TCP_SEQ_NUM),
	MISC_3(MISC3_OUTER_TCP_SEQ_NUM),
	MISC_3(MISC3_INNER_TCP_ACK_NUM),
	MISC_3(MISC3_OUTER_TCP_ACK_NUM),
	MISC_3(MISC3_VXLAN_GPE_VNI),
	MISC_3(MISC3_VXLAN_GPE_NEXT),
	MISC_3(MISC3_VXLAN_GPE_FLAGS),
	MISC_3(MISC3_ICMP_HEADER_DATA),
	MISC_3(MISC3_ICMPV6_HEADER_DATA),
	MISC_3(MISC3_ICMP_TYPE),
	MISC_3(MISC3_ICMP_CODE),
	MISC_3(MISC3_ICMPV6_TYPE),
	MISC_3(MISC3_ICMPV6_CODE),
	MISC_3(MISC3_GTPU_TEID),
	MISC_3(MISC3_GTPU_MSG_TYPE),
	MISC_3(MISC3_GTPU_MSG_FLAGS),
	MISC_3(MISC3_GTPU_DW_2),
	MISC_3(MISC3_GTPU_FIRST_EXT_DW_0),
	MISC_3(MISC3_GTPU_DW_0),
};

static void put_others(uint8_t *mask)
{
	for (size_t i = 0; i < ARRAY_SIZE(in_headers); i++)
		fld_set(mask, INNER(in_headers[i]), UINT32_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		fld_set(mask, others[i], UINT32_MAX);
	memset(fld_at(mask, INNER(LYR_2_4_SRC_IPV4_SRC_IPV6)), 0xff, 32);
	memset(fld_at(mask, MISC_5(MISC5_TUNNEL_HEADER)), 0xff, 4 * TUNNEL_HEADER_DWORDS);
}

void flow_supported_mask(bool kernel_driver, uint8_t mask[FLOW_KEY_SIZE])
{
	memset(mask, 0, FLOW_KEY_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(in_headers); i++)
		fld_set(mask, OUTER(in_headers[i]), UINT32_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(announced); i++)
		fld_set(mask, announced[i], UINT32_MAX);
	memset(fld_at(mask, OUTER(LYR_2_4_SRC_IPV4_SRC_IPV6)), 0xff, 32);
	memset(fld_at(mask, MISC(MISC_GRE_KEY)), 0xff, 4);
	if (!kernel_driver)
		put_others(mask);
}

uint8_t flow_key_sets(const uint8_t mask[FLOW_KEY_SIZE])
{
	uint8_t sets = 0;

	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		if (mask[i])
			sets |= (uint8_t)(1 << i / PRM_MATCH_SET_SIZE);
	return sets;
}

/* Hashes with FNV-1a. */
uint32_t flow_hash(const uint8_t key[FLOW_KEY_SIZE], uint8_t sets)
{
	uint32_t sum = 2166136261u;

	for (unsigned int set = 0; set < PRM_MATCH_SETS; set++)
		for (unsigned int i = 0; sets >> set & 1 && i < PRM_MATCH_SET_SIZE; i++)
			sum = (sum ^ key[set * PRM_MATCH_SET_SIZE + i]) * 16777619u;
	return sum ^ sum >> 16;
}
