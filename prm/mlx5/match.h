/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match.h - match fields and actions of flow table entries: the part of flow tables that no command
 * owns.
 */
#ifndef PRM_MLX5_MATCH_H
#define PRM_MLX5_MATCH_H

#include "util/fields.h"

enum {
	PRM_MATCH_SET_SIZE = 64, /* bytes of one set of fields */
	PRM_MATCH_SETS = 7,      /* consecutive, in the order of the bits below */
};

/* Bits of match_criteria_enable: the sets that a mask uses */
enum {
	PRM_MATCH_OUTER = 1 << 0,
	PRM_MATCH_MISC = 1 << 1,
};

enum prm_flow_table_type {
	PRM_FLOW_NIC_RX = 0,
	PRM_FLOW_NIC_TX = 1,
	PRM_FLOW_SNIFFER_TX = 6, /* copies of sent packets */
	PRM_FLOW_TYPES,
};

/* Bits of FLOW_CONTEXT_ACTION, the action of an entry */
enum {
	PRM_FLOW_ALLOW = 0x1,
	PRM_FLOW_DROP = 0x2,
	PRM_FLOW_FWD = 0x4,
	PRM_FLOW_COUNT = 0x8,
	PRM_FLOW_PACKET_REFORMAT = 0x10,
	PRM_FLOW_DECAP = 0x20,
	PRM_FLOW_MODIFY_HEADER = 0x40,
};

#define MATCH_OUTER_HEADERS         FLD_PART(0x0)
#define MATCH_MISC_PARAMETERS       FLD_PART(0x40)
#define MATCH_INNER_HEADERS         FLD_PART(0x80)
#define MATCH_MISC_PARAMETERS_2     FLD_PART(0xc0)
#define MATCH_MISC_PARAMETERS_3     FLD_PART(0x100)
#define MATCH_MISC_PARAMETERS_5     FLD_PART(0x180)
#define LYR_2_4_SMAC_47_16          FLD(0x0, 31, 0)
#define LYR_2_4_SMAC_15_0           FLD(0x4, 31, 16)
#define LYR_2_4_ETHERTYPE           FLD(0x4, 15, 0)
#define LYR_2_4_DMAC_47_16          FLD(0x8, 31, 0)
#define LYR_2_4_DMAC_15_0           FLD(0xc, 31, 16)
#define LYR_2_4_FIRST_PRIO          FLD(0xc, 15, 13)
#define LYR_2_4_FIRST_CFI           FLD(0xc, 12, 12)
#define LYR_2_4_FIRST_VID           FLD(0xc, 11, 0)
#define LYR_2_4_IP_PROTOCOL         FLD(0x10, 31, 24)
#define LYR_2_4_IP_DSCP             FLD(0x10, 23, 18)
#define LYR_2_4_IP_ECN              FLD(0x10, 17, 16)
#define LYR_2_4_CVLAN_TAG           FLD(0x10, 15, 15)
#define LYR_2_4_SVLAN_TAG           FLD(0x10, 14, 14)
#define LYR_2_4_FRAG                FLD(0x10, 13, 13)
#define LYR_2_4_IP_VERSION          FLD(0x10, 12, 9)
#define LYR_2_4_TCP_FLAGS           FLD(0x10, 8, 0)
#define LYR_2_4_TCP_SPORT           FLD(0x14, 31, 16)
#define LYR_2_4_TCP_DPORT           FLD(0x14, 15, 0)
#define LYR_2_4_IPV4_IHL            FLD(0x18, 15, 12)
#define LYR_2_4_TTL_HOPLIMIT        FLD(0x18, 7, 0)
#define LYR_2_4_UDP_SPORT           FLD(0x1c, 31, 16)
#define LYR_2_4_UDP_DPORT           FLD(0x1c, 15, 0)
#define LYR_2_4_SRC_IPV4_SRC_IPV6   FLD_PART(0x20)
#define LYR_2_4_DST_IPV4_DST_IPV6   FLD_PART(0x30)
#define LYR_2_4_SRC_IPV4            FLD_PART(0x2c)
#define LYR_2_4_DST_IPV4            FLD_PART(0x3c)
#define MISC_SOURCE_SQN             FLD(0x0, 23, 0)
#define MISC_OUTER_SECOND_PRIO      FLD(0x8, 31, 29)
#define MISC_OUTER_SECOND_CFI       FLD(0x8, 28, 28)
#define MISC_OUTER_SECOND_VID       FLD(0x8, 27, 16)
#define MISC_OUTER_SECOND_CVLAN_TAG FLD(0xc, 31, 31)
#define MISC_OUTER_SECOND_SVLAN_TAG FLD(0xc, 29, 29)
#define MISC_VXLAN_VNI              FLD(0x14, 31, 8)
#define MISC_GRE_C_PRESENT          FLD(0x0, 31, 31)
#define MISC_BTH_A                  FLD(0x0, 30, 30)
#define MISC_GRE_K_PRESENT          FLD(0x0, 29, 29)
#define MISC_GRE_S_PRESENT          FLD(0x0, 28, 28)
#define MISC_GRE_PROTOCOL           FLD(0xc, 15, 0)
#define MISC_GRE_KEY                FLD_PART(0x10)
#define MISC_OUTER_IPV6_FLOW_LABEL  FLD(0x1c, 19, 0)
#define MISC_INNER_SECOND_PRIO      FLD(0x8, 15, 13)
#define MISC_INNER_SECOND_CFI       FLD(0x8, 12, 12)
#define MISC_INNER_SECOND_VID       FLD(0x8, 11, 0)
#define MISC_INNER_SECOND_CVLAN_TAG FLD(0xc, 30, 30)
#define MISC_INNER_SECOND_SVLAN_TAG FLD(0xc, 28, 28)
#define MISC_BTH_OPCODE             FLD(0x14, 7, 0)
#define MISC_GENEVE_VNI             FLD(0x18, 31, 8)
#define MISC_GENEVE_OAM             FLD(0x18, 0, 0)
#define MISC_INNER_IPV6_FLOW_LABEL  FLD(0x20, 19, 0)
#define MISC_GENEVE_OPT_LEN         FLD(0x24, 21, 16)
#define MISC_GENEVE_PROTOCOL_TYPE   FLD(0x24, 15, 0)
#define MISC_BTH_DST_QP             FLD(0x28, 23, 0)
#define MISC_INNER_ESP_SPI          FLD(0x2c, 31, 0)
#define MISC_OUTER_ESP_SPI          FLD(0x30, 31, 0)
#define MISC2_OUTER_FIRST_MPLS      FLD(0x0, 31, 0)
#define MISC2_INNER_FIRST_MPLS      FLD(0x4, 31, 0)
#define MISC2_OUTER_MPLS_OVER_GRE   FLD(0x8, 31, 0)
#define MISC2_OUTER_MPLS_OVER_UDP   FLD(0xc, 31, 0)
#define MISC2_METADATA_REG_C_7      FLD(0x10, 31, 0)
#define MISC2_METADATA_REG_C_6      FLD(0x14, 31, 0)
#define MISC2_METADATA_REG_C_5      FLD(0x18, 31, 0)
#define MISC2_METADATA_REG_C_4      FLD(0x1c, 31, 0)
#define MISC2_METADATA_REG_C_3      FLD(0x20, 31, 0)
#define MISC2_METADATA_REG_C_2      FLD(0x24, 31, 0)
#define MISC2_METADATA_REG_C_1      FLD(0x28, 31, 0)
#define MISC2_METADATA_REG_C_0      FLD(0x2c, 31, 0)
#define MISC2_METADATA_REG_A        FLD(0x30, 31, 0)
#define MISC3_INNER_TCP_SEQ_NUM     FLD(0x0, 31, 0)
#define MISC3_OUTER_TCP_SEQ_NUM     FLD(0x4, 31, 0)
#define MISC3_INNER_TCP_ACK_NUM     FLD(0x8, 31, 0)
#define MISC3_OUTER_TCP_ACK_NUM     FLD(0xc, 31, 0)
#define MISC3_VXLAN_GPE_VNI         FLD(0x10, 23, 0)
#define MISC3_VXLAN_GPE_NEXT        FLD(0x14, 31, 24)
#define MISC3_VXLAN_GPE_FLAGS       FLD(0x14, 23, 16)
#define MISC3_ICMP_HEADER_DATA      FLD(0x18, 31, 0)
#define MISC3_ICMPV6_HEADER_DATA    FLD(0x1c, 31, 0)
#define MISC3_ICMP_TYPE             FLD(0x20, 31, 24)
#define MISC3_ICMP_CODE             FLD(0x20, 23, 16)
#define MISC3_ICMPV6_TYPE           FLD(0x20, 15, 8)
#define MISC3_ICMPV6_CODE           FLD(0x20, 7, 0)
#define MISC3_GTPU_TEID             FLD(0x28, 31, 0)
#define MISC3_GTPU_MSG_TYPE         FLD(0x2c, 31, 24)
#define MISC3_GTPU_MSG_FLAGS        FLD(0x2c, 23, 16)
#define MISC3_GTPU_DW_2             FLD(0x30, 31, 0)
#define MISC3_GTPU_FIRST_EXT_DW_0   FLD(0x34, 31, 0)
#define MISC3_GTPU_DW_0             FLD(0x38, 31, 0)
#define MISC5_TUNNEL_HEADER         FLD_PART(0x10) /* four dwords */

#endif
