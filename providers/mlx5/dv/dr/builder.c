/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * builder.c - lookup types and their fields, in format 1. PRM: STE
 */
#include "providers/mlx5/dv/dr/builder.h"

#include "util/bits.h"

#define OUTER(field) FLD_IN(MATCH_OUTER_HEADERS, field)
#define INNER(field) FLD_IN(MATCH_INNER_HEADERS, field)
#define MISC(field)  FLD_IN(MATCH_MISC_PARAMETERS, field)
#define MISC2(field) FLD_IN(MATCH_MISC_PARAMETERS_2, field)
#define MISC3(field) FLD_IN(MATCH_MISC_PARAMETERS_3, field)
#define MISC5(field) FLD_IN(MATCH_MISC_PARAMETERS_5, field)

#define COPY(from, to)                  \
	{                               \
		from, to, DR_FIELD_COPY \
	}
#define DWORD(n) FLD(4 * (n), 31, 0)

#define MAC_FIELDS(SIDE, which)                               \
	COPY(SIDE(LYR_2_4_##which##_47_16), FLD(0x4, 31, 0)), \
		COPY(SIDE(LYR_2_4_##which##_15_0), FLD(0x8, 31, 16))

#define VLAN_FIELDS(SIDE, to)                                                           \
	{ SIDE(LYR_2_4_CVLAN_TAG), to##_FIRST_VLAN_QUALIFIER, DR_FIELD_CVLAN },         \
		{ SIDE(LYR_2_4_SVLAN_TAG), to##_FIRST_VLAN_QUALIFIER, DR_FIELD_SVLAN }, \
		COPY(SIDE(LYR_2_4_FIRST_PRIO), to##_FIRST_PRIORITY),                    \
		COPY(SIDE(LYR_2_4_FIRST_CFI), to##_FIRST_CFI),                          \
		COPY(SIDE(LYR_2_4_FIRST_VID), to##_FIRST_VLAN_ID)

#define L2_FIELDS(SIDE)                                                                        \
	COPY(SIDE(LYR_2_4_FRAG), STE_L2_IP_FRAGMENTED),                                        \
		{ SIDE(LYR_2_4_IP_VERSION), STE_L2_L3_TYPE, DR_FIELD_IP_VERSION },             \
		VLAN_FIELDS(SIDE, STE_L2), COPY(SIDE(LYR_2_4_ETHERTYPE), STE_L2_L3_ETHERTYPE), \
		{ MISC(MISC_##SIDE##_SECOND_CVLAN_TAG), STE_L2_SECOND_VLAN_QUALIFIER,          \
		  DR_FIELD_CVLAN },                                                            \
		{ MISC(MISC_##SIDE##_SECOND_SVLAN_TAG), STE_L2_SECOND_VLAN_QUALIFIER,          \
		  DR_FIELD_SVLAN },                                                            \
		COPY(MISC(MISC_##SIDE##_SECOND_PRIO), STE_L2_SECOND_PRIORITY),                 \
		COPY(MISC(MISC_##SIDE##_SECOND_CFI), STE_L2_SECOND_CFI),                       \
		COPY(MISC(MISC_##SIDE##_SECOND_VID), STE_L2_SECOND_VLAN_ID)

#define L2_BOTH_FIELDS(SIDE)                                                            \
	COPY(SIDE(LYR_2_4_DMAC_47_16), STE_L2_BOTH_DMAC_47_16),                         \
		COPY(SIDE(LYR_2_4_DMAC_15_0), STE_L2_BOTH_DMAC_15_0),                   \
		COPY(SIDE(LYR_2_4_SMAC_47_16), STE_L2_BOTH_SMAC_47_16),                 \
		COPY(SIDE(LYR_2_4_SMAC_15_0), STE_L2_BOTH_SMAC_15_0),                   \
		{ SIDE(LYR_2_4_IP_VERSION), STE_L2_BOTH_L3_TYPE, DR_FIELD_IP_VERSION }, \
		VLAN_FIELDS(SIDE, STE_L2_BOTH)

static const struct dr_field outer_l2_both[] = { L2_BOTH_FIELDS(OUTER) };
static const struct dr_field inner_l2_both[] = { L2_BOTH_FIELDS(INNER) };
static const struct dr_field outer_l2_src[] = { MAC_FIELDS(OUTER, SMAC), L2_FIELDS(OUTER) };
static const struct dr_field inner_l2_src[] = { MAC_FIELDS(INNER, SMAC), L2_FIELDS(INNER) };
static const struct dr_field outer_l2[] = { MAC_FIELDS(OUTER, DMAC), L2_FIELDS(OUTER) };
static const struct dr_field inner_l2[] = { MAC_FIELDS(INNER, DMAC), L2_FIELDS(INNER) };

#define ADDRESS_FIELDS(address)                                                 \
	COPY(address + DWORD(0), DWORD(0)), COPY(address + DWORD(1), DWORD(1)), \
		COPY(address + DWORD(2), DWORD(2)), COPY(address + DWORD(3), DWORD(3))

#define PORT_FIELDS(SIDE, src, dst)                                             \
	COPY(SIDE(LYR_2_4_TCP_SPORT), src), COPY(SIDE(LYR_2_4_UDP_SPORT), src), \
		COPY(SIDE(LYR_2_4_TCP_DPORT), dst), COPY(SIDE(LYR_2_4_UDP_DPORT), dst)

#define TUPLE_FIELDS(SIDE)                                                          \
	COPY(SIDE(LYR_2_4_SRC_IPV4 + DWORD(0)), STE_IPV4_SOURCE),                   \
		COPY(SIDE(LYR_2_4_DST_IPV4 + DWORD(0)), STE_IPV4_DESTINATION),      \
		PORT_FIELDS(SIDE, STE_IPV4_SOURCE_PORT, STE_IPV4_DESTINATION_PORT), \
		COPY(SIDE(LYR_2_4_IP_PROTOCOL), STE_IPV4_PROTOCOL),                 \
		COPY(SIDE(LYR_2_4_IP_DSCP), STE_IPV4_DSCP),                         \
		COPY(SIDE(LYR_2_4_IP_ECN), STE_IPV4_ECN),                           \
		COPY(SIDE(LYR_2_4_FRAG), STE_FRAGMENTED),                           \
		COPY(SIDE(LYR_2_4_TCP_FLAGS), STE_TCP_FLAGS)

#define L4_FIELDS(SIDE)                                                                           \
	COPY(SIDE(LYR_2_4_IP_PROTOCOL), STE_L4_PROTOCOL),                                         \
		COPY(SIDE(LYR_2_4_IP_DSCP), STE_L4_DSCP), COPY(SIDE(LYR_2_4_IP_ECN), STE_L4_ECN), \
		COPY(SIDE(LYR_2_4_TTL_HOPLIMIT), STE_L4_IPV6_HOP_LIMIT),                          \
		PORT_FIELDS(SIDE, STE_L4_SRC_PORT, STE_L4_DST_PORT),                              \
		COPY(SIDE(LYR_2_4_FRAG), STE_FRAGMENTED),                                         \
		COPY(SIDE(LYR_2_4_TCP_FLAGS), STE_TCP_FLAGS),                                     \
		COPY(MISC(MISC_##SIDE##_IPV6_FLOW_LABEL), STE_L4_FLOW_LABEL)

#define IPV4_MISC_FIELDS(SIDE)                                   \
	COPY(SIDE(LYR_2_4_TTL_HOPLIMIT), STE_MISC_TIME_TO_LIVE), \
		COPY(SIDE(LYR_2_4_IPV4_IHL), STE_MISC_IHL)

#define TCP_FIELDS(SIDE)                                              \
	COPY(MISC3(MISC3_##SIDE##_TCP_SEQ_NUM), STE_L4_MISC_SEQ_NUM), \
		COPY(MISC3(MISC3_##SIDE##_TCP_ACK_NUM), STE_L4_MISC_ACK_NUM)

static const struct dr_field outer_ipv6_dst[] = { ADDRESS_FIELDS(
	OUTER(LYR_2_4_DST_IPV4_DST_IPV6)) };
static const struct dr_field inner_ipv6_dst[] = { ADDRESS_FIELDS(
	INNER(LYR_2_4_DST_IPV4_DST_IPV6)) };
static const struct dr_field outer_ipv6_src[] = { ADDRESS_FIELDS(
	OUTER(LYR_2_4_SRC_IPV4_SRC_IPV6)) };
static const struct dr_field inner_ipv6_src[] = { ADDRESS_FIELDS(
	INNER(LYR_2_4_SRC_IPV4_SRC_IPV6)) };
static const struct dr_field outer_ipv4_misc[] = { IPV4_MISC_FIELDS(OUTER) };
static const struct dr_field inner_ipv4_misc[] = { IPV4_MISC_FIELDS(INNER) };
static const struct dr_field outer_tuple[] = { TUPLE_FIELDS(OUTER) };
static const struct dr_field inner_tuple[] = { TUPLE_FIELDS(INNER) };
static const struct dr_field outer_l4[] = { L4_FIELDS(OUTER) };
static const struct dr_field inner_l4[] = { L4_FIELDS(INNER) };
static const struct dr_field outer_tcp[] = { TCP_FIELDS(OUTER) };
static const struct dr_field inner_tcp[] = { TCP_FIELDS(INNER) };

static const struct dr_field icmp4[] = {
	COPY(MISC3(MISC3_ICMP_HEADER_DATA), STE_ICMP_HEADER_DATA),
	COPY(MISC3(MISC3_ICMP_TYPE), STE_ICMP_TYPE),
	COPY(MISC3(MISC3_ICMP_CODE), STE_ICMP_CODE),
};

static const struct dr_field icmp6[] = {
	COPY(MISC3(MISC3_ICMPV6_HEADER_DATA), STE_ICMP_HEADER_DATA),
	COPY(MISC3(MISC3_ICMPV6_TYPE), STE_ICMP_TYPE),
	COPY(MISC3(MISC3_ICMPV6_CODE), STE_ICMP_CODE),
};

static const struct dr_field vxlan[] = {
	COPY(MISC(MISC_VXLAN_VNI), FLD(0x0, 31, 8)),
	MAC_FIELDS(INNER, DMAC),
	COPY(INNER(LYR_2_4_ETHERTYPE), STE_TUNNEL_L3_ETHERTYPE),
	COPY(INNER(LYR_2_4_FRAG), STE_TUNNEL_IP_FRAGMENTED),
	{ INNER(LYR_2_4_IP_VERSION), STE_TUNNEL_L3_TYPE, DR_FIELD_IP_VERSION },
	VLAN_FIELDS(INNER, STE_TUNNEL),
};

/* GENEVE, VXLAN-GPE and GTP-U: the tag contains the first bytes of the header inside UDP. */
static const struct dr_field geneve[] = {
	COPY(MISC(MISC_GENEVE_OPT_LEN), FLD(0x0, 29, 24)),
	COPY(MISC(MISC_GENEVE_OAM), FLD(0x0, 23, 23)),
	COPY(MISC(MISC_GENEVE_PROTOCOL_TYPE), FLD(0x0, 15, 0)),
	COPY(MISC(MISC_GENEVE_VNI), FLD(0x4, 31, 8)),
};

static const struct dr_field vxlan_gpe[] = {
	COPY(MISC3(MISC3_VXLAN_GPE_FLAGS), FLD(0x0, 31, 24)),
	COPY(MISC3(MISC3_VXLAN_GPE_NEXT), FLD(0x0, 7, 0)),
	COPY(MISC3(MISC3_VXLAN_GPE_VNI), FLD(0x4, 31, 8)),
};

static const struct dr_field gtpu[] = {
	COPY(MISC3(MISC3_GTPU_MSG_FLAGS), FLD(0x0, 31, 24)),
	COPY(MISC3(MISC3_GTPU_MSG_TYPE), FLD(0x0, 23, 16)),
	COPY(MISC3(MISC3_GTPU_TEID), DWORD(1)),
};

static const struct dr_field tunnel_header[] = {
	COPY(MISC5(MISC5_TUNNEL_HEADER + DWORD(0)), DWORD(0)),
	COPY(MISC5(MISC5_TUNNEL_HEADER + DWORD(1)), DWORD(1)),
};

static const struct dr_field gre[] = {
	COPY(MISC(MISC_GRE_C_PRESENT), FLD(0x0, 31, 31)),
	COPY(MISC(MISC_GRE_K_PRESENT), FLD(0x0, 29, 29)),
	COPY(MISC(MISC_GRE_S_PRESENT), FLD(0x0, 28, 28)),
	COPY(MISC(MISC_GRE_PROTOCOL), FLD(0x0, 15, 0)),
	COPY(MISC(MISC_GRE_KEY + DWORD(0)), DWORD(2)),
};

static const struct dr_field outer_mpls[] = {
	COPY(MISC2(MISC2_OUTER_FIRST_MPLS), DWORD(1)),
};

static const struct dr_field inner_mpls[] = {
	COPY(MISC2(MISC2_INNER_FIRST_MPLS), DWORD(1)),
};

static const struct dr_field bth[] = {
	COPY(MISC(MISC_BTH_OPCODE), STE_BTH_OPCODE),
	COPY(MISC(MISC_BTH_DST_QP), STE_BTH_QP),
	COPY(MISC(MISC_BTH_A), STE_BTH_ACK_REQUEST),
};

static const struct dr_field register_a[] = { COPY(MISC2(MISC2_METADATA_REG_A), DWORD(0)) };

static const struct dr_field registers_0[] = {
	COPY(MISC2(MISC2_METADATA_REG_C_0), DWORD(0)),
	COPY(MISC2(MISC2_METADATA_REG_C_1), DWORD(1)),
	COPY(MISC2(MISC2_METADATA_REG_C_2), DWORD(2)),
	COPY(MISC2(MISC2_METADATA_REG_C_3), DWORD(3)),
};

static const struct dr_field registers_1[] = {
	COPY(MISC2(MISC2_METADATA_REG_C_4), DWORD(0)),
	COPY(MISC2(MISC2_METADATA_REG_C_5), DWORD(1)),
	COPY(MISC2(MISC2_METADATA_REG_C_6), DWORD(2)),
	COPY(MISC2(MISC2_METADATA_REG_C_7), DWORD(3)),
};

static const struct dr_field source_qp[] = { COPY(MISC(MISC_SOURCE_SQN), STE_SOURCE_QP) };

#define BUILDER(type, need, version, side, fields)                                                \
	{                                                                                         \
		PRM_STE_##type, need, MATCH_##side##_HEADERS, version, fields, ARRAY_SIZE(fields) \
	}

const struct dr_builder mlx5_dr_builders[] = {
	BUILDER(REGISTER_A, DR_NEED_NOTHING, 0, OUTER, register_a),
	BUILDER(REGISTERS_0, DR_NEED_NOTHING, 0, OUTER, registers_0),
	BUILDER(REGISTERS_1, DR_NEED_NOTHING, 0, OUTER, registers_1),
	BUILDER(SRC_QP_GVMI, DR_NEED_NOTHING, 0, OUTER, source_qp),
	BUILDER(L2_SRC_DST_O, DR_NEED_BOTH_MACS, 0, OUTER, outer_l2_both),
	BUILDER(L2_SRC_O, DR_NEED_SMAC, 0, OUTER, outer_l2_src),
	BUILDER(L2_O, DR_NEED_NOTHING, 0, OUTER, outer_l2),
	BUILDER(IPV6_DST_O, DR_NEED_NOTHING, 6, OUTER, outer_ipv6_dst),
	BUILDER(IPV6_SRC_O, DR_NEED_NOTHING, 6, OUTER, outer_ipv6_src),
	BUILDER(IPV4_MISC_O, DR_NEED_NOTHING, 4, OUTER, outer_ipv4_misc),
	BUILDER(IPV4_5_TUPLE_O, DR_NEED_NOTHING, 4, OUTER, outer_tuple),
	BUILDER(L4_O, DR_NEED_NOTHING, 6, OUTER, outer_l4),
	BUILDER(L4_MISC_O, DR_NEED_NOTHING, 0, OUTER, outer_tcp),
	BUILDER(L2_TUNNEL, DR_NEED_VNI, 0, INNER, vxlan),
	BUILDER(TUNNEL_START, DR_NEED_NOTHING, 0, OUTER, vxlan_gpe),
	BUILDER(TUNNEL_START, DR_NEED_NOTHING, 0, OUTER, geneve),
	BUILDER(TUNNEL_START, DR_NEED_NOTHING, 0, OUTER, gtpu),
	BUILDER(TUNNEL_START, DR_NEED_NOTHING, 0, OUTER, tunnel_header),
	BUILDER(GRE, DR_NEED_NOTHING, 0, OUTER, gre),
	BUILDER(MPLS_O, DR_NEED_NOTHING, 0, OUTER, outer_mpls),
	BUILDER(L4_MISC_O, DR_NEED_NOTHING, 4, OUTER, icmp4),
	BUILDER(L4_MISC_O, DR_NEED_NOTHING, 6, OUTER, icmp6),
	BUILDER(BTH, DR_NEED_NOTHING, 0, OUTER, bth),
	BUILDER(L2_SRC_DST_I, DR_NEED_BOTH_MACS, 0, INNER, inner_l2_both),
	BUILDER(L2_SRC_I, DR_NEED_SMAC, 0, INNER, inner_l2_src),
	BUILDER(L2_I, DR_NEED_NOTHING, 0, INNER, inner_l2),
	BUILDER(IPV6_DST_I, DR_NEED_NOTHING, 6, INNER, inner_ipv6_dst),
	BUILDER(IPV6_SRC_I, DR_NEED_NOTHING, 6, INNER, inner_ipv6_src),
	BUILDER(IPV4_MISC_I, DR_NEED_NOTHING, 4, INNER, inner_ipv4_misc),
	BUILDER(IPV4_5_TUPLE_I, DR_NEED_NOTHING, 4, INNER, inner_tuple),
	BUILDER(L4_I, DR_NEED_NOTHING, 6, INNER, inner_l4),
	BUILDER(L4_MISC_I, DR_NEED_NOTHING, 0, INNER, inner_tcp),
	BUILDER(MPLS_I, DR_NEED_NOTHING, 0, INNER, inner_mpls),
};

const size_t mlx5_dr_num_builders = ARRAY_SIZE(mlx5_dr_builders);
