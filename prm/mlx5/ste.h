/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste.h - entries of flow tables that software writes itself, in format 1 (ConnectX-6 Dx). PRM:
 * STE
 */
#ifndef PRM_MLX5_STE_H
#define PRM_MLX5_STE_H

#include "util/fields.h"

enum { PRM_STE_SIZE = 64, PRM_STE_TAG_SIZE = 16, PRM_STE_DEFINER_TAG_SIZE = 32 };

/* Values of STE_ENTRY_FORMAT. BYTES: a mask and a tag. WORDS: a mask and a tag, with a lookup type
 * above 0xff. MATCH: a tag only, and a third word of actions. With BYTES and WORDS, the format and
 * STE_DEFINER together are the lookup type. */
enum { PRM_STE_BYTES = 0, PRM_STE_WORDS = 1, PRM_STE_MATCH = 4 };

#define STE_ENTRY_FORMAT       FLD(0x0, 31, 24)
#define STE_COUNTER_ID         FLD(0x0, 23, 0)
#define STE_MISS_ADDRESS_63_48 FLD(0x4, 31, 16)
#define STE_DEFINER            FLD(0x4, 15, 8)
#define STE_MISS_ADDRESS_39_32 FLD(0x4, 7, 0)
#define STE_MISS_ADDRESS_31_6  FLD(0x8, 31, 6)
#define STE_REPARSE            FLD(0x8, 3, 3) /* actions change headers */
/* The table to go to on a hit: its address, and in the lowest bit that is set, from bit 5 on, half
 * of its size in bytes. Tables are aligned to their size. */
#define STE_NEXT_TABLE_63_48  FLD(0xc, 31, 16)
#define STE_NEXT_DEFINER      FLD(0xc, 15, 8)
#define STE_NEXT_TABLE_39_32  FLD(0xc, 7, 0)
#define STE_NEXT_TABLE_31_5   FLD(0x10, 31, 5)
#define STE_NEXT_BYTE_MASK    FLD(0x14, 31, 16) /* bit 31: the first byte of the tag */
#define STE_NEXT_ENTRY_FORMAT FLD(0x14, 15, 15)
#define STE_GVMI              FLD(0x14, 13, 0)
#define STE_ACTIONS           FLD_PART(0x18)
#define STE_MATCH_ACTIONS     FLD_PART(0x14)
#define STE_MASK              FLD_PART(0x20)
#define STE_TAG               FLD_PART(0x30)
#define STE_DEFINER_TAG       FLD_PART(0x20)

#define STE_ACTION_ID         FLD(0x0, 31, 24)
#define STE_ACTION_FLOW_TAG   FLD(0x0, 23, 0)

enum prm_ste_action {
	PRM_STE_ACTION_NOP = 0,
	PRM_STE_ACTION_COPY = 0x5,
	PRM_STE_ACTION_SET = 0x6,
	PRM_STE_ACTION_ADD = 0x7,
	PRM_STE_ACTION_REMOVE_BY_SIZE = 0x8,
	PRM_STE_ACTION_REMOVE_TO_HEADER = 0x9,
	PRM_STE_ACTION_INSERT_INLINE = 0xa,
	PRM_STE_ACTION_INSERT_POINTER = 0xb,
	PRM_STE_ACTION_FLOW_TAG = 0xc,
	PRM_STE_ACTION_LIST = 0xf,
	PRM_STE_ACTION_ASO = 0x12,
};

/* Set, add, copy: bits of a dword of PRM_STE_FIELD_*. Shifts are PRM_STE_SHIFT and the lowest bit.
 */
enum { PRM_STE_SHIFT = 32 };

#define STE_FIELD_DWORD        FLD(0x0, 23, 16)
#define STE_FIELD_SHIFT        FLD(0x0, 13, 8)
#define STE_FIELD_LENGTH       FLD(0x0, 5, 0)
#define STE_FIELD_DATA         FLD(0x4, 31, 0)
#define STE_FIELD_SOURCE_DWORD FLD(0x4, 23, 16)
#define STE_FIELD_SOURCE_SHIFT FLD(0x4, 13, 8)

/* Dwords of fields; header fields are those of the outer headers */
enum prm_ste_field {
	PRM_STE_FIELD_L2_0 = 0x0,
	PRM_STE_FIELD_L2_1 = 0x1,
	PRM_STE_FIELD_L2_2 = 0x2,
	PRM_STE_FIELD_L2_SRC_0 = 0x8,
	PRM_STE_FIELD_L2_SRC_1 = 0x9,
	PRM_STE_FIELD_L3_0 = 0xe,
	PRM_STE_FIELD_L4_0 = 0x18,
	PRM_STE_FIELD_L4_1 = 0x19,
	PRM_STE_FIELD_IPV4_SRC = 0x40,
	PRM_STE_FIELD_IPV4_DST = 0x41,
	PRM_STE_FIELD_IPV6_DST_0 = 0x44,
	PRM_STE_FIELD_IPV6_SRC_0 = 0x4c,
	PRM_STE_FIELD_TCP_SEQUENCE = 0x5e,
	PRM_STE_FIELD_TCP_ACKNOWLEDGMENT = 0x5f,
	PRM_STE_FIELD_REGISTER_B = 0x7b,
	PRM_STE_FIELD_REGISTER_A = 0x7c,
	PRM_STE_FIELD_REGISTER_C_4 = 0x8c,
	PRM_STE_FIELD_REGISTER_C_5 = 0x8d,
	PRM_STE_FIELD_REGISTER_C_2 = 0x8e,
	PRM_STE_FIELD_REGISTER_C_3 = 0x8f,
	PRM_STE_FIELD_REGISTER_C_0 = 0x90,
	PRM_STE_FIELD_REGISTER_C_1 = 0x91,
};

/* Places in a frame at which headers are removed and inserted. Sizes and offsets are in units of
 * PRM_STE_WORD bytes. */
enum prm_ste_anchor {
	PRM_STE_ANCHOR_START = 0x0,
	PRM_STE_ANCHOR_FIRST_VLAN = 0x2,
	PRM_STE_ANCHOR_IP = 0x7,
	PRM_STE_ANCHOR_INNER_MAC = 0x13,
	PRM_STE_ANCHOR_INNER_IP = 0x19,
};

enum { PRM_STE_WORD = 2 };

#define STE_HEADER_START       FLD(0x0, 21, 16)
#define STE_REMOVE_END         FLD(0x0, 13, 8)
#define STE_REMOVE_OFFSET      FLD(0x0, 13, 7)
#define STE_REMOVE_SIZE        FLD(0x0, 5, 0)
#define STE_INSERT_OFFSET      FLD(0x0, 15, 9)
#define STE_INSERT_INLINE_DATA FLD(0x4, 31, 0)
#define STE_INSERT_SIZE        FLD(0x0, 8, 3)
#define STE_INSERT_ATTRIBUTES  FLD(0x0, 2, 0)
#define STE_INSERT_POINTER_ID  FLD(0x4, 31, 0) /* of packet_reformat_context */

enum { PRM_STE_INSERT_TUNNEL = 1 }; /* 0: headers without lengths to write */

/* Lists of actions of PRM_STE_LIST_ACTION bytes, in units of PRM_STE_LIST_UNIT */
enum { PRM_STE_LIST_ACTION = 8, PRM_STE_LIST_UNIT = 64 };

#define STE_LIST_COUNT   FLD(0x0, 23, 16)
#define STE_LIST_POINTER FLD(0x0, 15, 0)

/* ASO: an object gives its value to a register C, and changes. TYPE is one of PRM_STE_ASO_*. */
enum prm_ste_aso { PRM_STE_ASO_CONNECTION = 1, PRM_STE_ASO_METER = 2, PRM_STE_ASO_FIRST_HIT = 4 };

#define STE_ASO_OBJECT              FLD(0x0, 23, 0)
#define STE_ASO_REGISTER            FLD(0x4, 31, 30) /* of C 1, 3, 5, 7 */
#define STE_ASO_TYPE                FLD(0x4, 27, 24)
#define STE_ASO_FIRST_HIT_KEEP      FLD(0x4, 9, 9) /* the frame does not set the state */
#define STE_ASO_FIRST_HIT_LINE      FLD(0x4, 8, 0)
#define STE_ASO_METER_INITIAL_COLOR FLD(0x4, 2, 1) /* PRM_METER_*, or 3 for none */
#define STE_ASO_METER_LINE          FLD(0x4, 0, 0)
#define STE_ASO_CONNECTION_REPLY    FLD(0x4, 0, 0) /* the frame is not of the initiator */

/* Lookup types: what the tag of an entry describes. _O: outer headers,
 * _I: inner ones */
enum prm_ste_lookup {
	PRM_STE_L2_TUNNEL = 0x2,
	PRM_STE_L2_O = 0x3,
	PRM_STE_L2_I = 0x4,
	PRM_STE_L2_SRC_O = 0x5,
	PRM_STE_L2_SRC_I = 0x6,
	PRM_STE_IPV4_5_TUPLE_O = 0x7,
	PRM_STE_IPV4_5_TUPLE_I = 0x8,
	PRM_STE_L4_O = 0x9,
	PRM_STE_L4_I = 0xa,
	PRM_STE_L2_SRC_DST_O = 0xb,
	PRM_STE_L2_SRC_DST_I = 0xc,
	PRM_STE_IPV4_MISC_O = 0xd,
	PRM_STE_TUNNEL_START = 0xe, /* the first bytes of a header inside UDP */
	PRM_STE_IPV4_MISC_I = 0xf,
	PRM_STE_NOTHING = 0xf, /* without a mask: in an entry that all frames hit or miss */
	PRM_STE_BTH = 0x103,
	PRM_STE_SRC_QP_GVMI = 0x104,
	PRM_STE_IPV6_DST_O = 0x107,
	PRM_STE_IPV6_DST_I = 0x108,
	PRM_STE_IPV6_SRC_O = 0x109,
	PRM_STE_IPV6_SRC_I = 0x10a,
	PRM_STE_MPLS_O = 0x10b,
	PRM_STE_MPLS_I = 0x10c,
	PRM_STE_GRE = 0x10d,
	PRM_STE_REGISTER_A = 0x10e,
	PRM_STE_REGISTERS_0 = 0x10f, /* C 0 to 3 */
	PRM_STE_REGISTERS_1 = 0x110, /* C 4 to 7 */
	PRM_STE_L4_MISC_O = 0x113,
	PRM_STE_L4_MISC_I = 0x114,
	PRM_STE_TUNNEL_HEADER = 0x117, /* the same as TUNNEL_START, and 8 more bytes */
};

enum { PRM_STE_L3_IPV4 = 1, PRM_STE_L3_IPV6 = 2 };
enum { PRM_STE_L4_TCP = 1, PRM_STE_L4_UDP = 2 };
enum { PRM_STE_VLAN_S = 1, PRM_STE_VLAN_C = 2 };

/* Ethernet, with the address of one side */
#define STE_L2_IP_FRAGMENTED             FLD(0x0, 28, 28)
#define STE_L2_L3_TYPE                   FLD(0x0, 21, 20)
#define STE_L2_L4_TYPE                   FLD(0x0, 19, 18)
#define STE_L2_FIRST_VLAN_QUALIFIER      FLD(0x0, 17, 16)
#define STE_L2_FIRST_PRIORITY            FLD(0x0, 15, 13)
#define STE_L2_FIRST_CFI                 FLD(0x0, 12, 12)
#define STE_L2_FIRST_VLAN_ID             FLD(0x0, 11, 0)
#define STE_L2_MAC                       FLD_PART(0x4)
#define STE_L2_L3_ETHERTYPE              FLD(0x8, 15, 0)
#define STE_L2_TCP_SYN                   FLD(0xc, 25, 25)
#define STE_L2_L2_OK                     FLD(0xc, 20, 20)
#define STE_L2_L3_OK                     FLD(0xc, 19, 19)
#define STE_L2_L4_OK                     FLD(0xc, 18, 18)
#define STE_L2_SECOND_VLAN_QUALIFIER     FLD(0xc, 17, 16)
#define STE_L2_SECOND_PRIORITY           FLD(0xc, 15, 13)
#define STE_L2_SECOND_CFI                FLD(0xc, 12, 12)
#define STE_L2_SECOND_VLAN_ID            FLD(0xc, 11, 0)

#define STE_L2_BOTH_DMAC_47_16           FLD(0x0, 31, 0)
#define STE_L2_BOTH_SMAC_47_16           FLD(0x4, 31, 0)
#define STE_L2_BOTH_DMAC_15_0            FLD(0x8, 31, 16)
#define STE_L2_BOTH_L3_TYPE              FLD(0x8, 5, 4)
#define STE_L2_BOTH_FIRST_VLAN_QUALIFIER FLD(0x8, 1, 0)
#define STE_L2_BOTH_FIRST_PRIORITY       FLD(0xc, 31, 29)
#define STE_L2_BOTH_FIRST_CFI            FLD(0xc, 28, 28)
#define STE_L2_BOTH_FIRST_VLAN_ID        FLD(0xc, 27, 16)
#define STE_L2_BOTH_SMAC_15_0            FLD(0xc, 15, 0)

#define STE_IPV4_SOURCE                  FLD(0x0, 31, 0)
#define STE_IPV4_DESTINATION             FLD(0x4, 31, 0)
#define STE_IPV4_SOURCE_PORT             FLD(0x8, 31, 16)
#define STE_IPV4_DESTINATION_PORT        FLD(0x8, 15, 0)
#define STE_IPV4_DSCP                    FLD(0xc, 15, 10)
#define STE_IPV4_ECN                     FLD(0xc, 9, 8)
#define STE_IPV4_PROTOCOL                FLD(0xc, 7, 0)

#define STE_MISC_IDENTIFICATION          FLD(0x0, 31, 16)
#define STE_MISC_FLAGS_AND_OFFSET        FLD(0x0, 15, 0)
#define STE_MISC_TOTAL_LENGTH            FLD(0x4, 31, 16)
#define STE_MISC_CHECKSUM                FLD(0x4, 15, 0)
#define STE_MISC_VERSION                 FLD(0x8, 31, 28)
#define STE_MISC_IHL                     FLD(0x8, 27, 24)
#define STE_MISC_TIME_TO_LIVE            FLD(0x8, 23, 16)

#define STE_L4_DSCP                      FLD(0x0, 23, 18)
#define STE_L4_ECN                       FLD(0x0, 17, 16)
#define STE_L4_IPV6_HOP_LIMIT            FLD(0x0, 15, 8)
#define STE_L4_PROTOCOL                  FLD(0x0, 7, 0)
#define STE_L4_SRC_PORT                  FLD(0x4, 31, 16)
#define STE_L4_DST_PORT                  FLD(0x4, 15, 0)
#define STE_L4_FLOW_LABEL                FLD(0x8, 19, 0)
#define STE_L4_TCP_DATA_OFFSET           FLD(0xc, 31, 28)
#define STE_L4_IPV6_PAYLEN               FLD(0xc, 15, 0)

/* In the last word of both IPV4_5_TUPLE and L4 */
#define STE_L4_OK      FLD(0xc, 27, 27)
#define STE_L3_OK      FLD(0xc, 26, 26)
#define STE_FRAGMENTED FLD(0xc, 25, 25)
#define STE_TCP_FLAGS  FLD(0xc, 24, 16)

/* TCP, or ICMP in the same place */
#define STE_L4_MISC_ACK_NUM  FLD(0x4, 31, 0)
#define STE_L4_MISC_SEQ_NUM  FLD(0x8, 31, 0)
#define STE_ICMP_HEADER_DATA FLD(0x4, 31, 0)
#define STE_ICMP_TYPE        FLD(0x8, 31, 24)
#define STE_ICMP_CODE        FLD(0x8, 23, 16)

#define STE_SOURCE_QP        FLD(0x4, 23, 0)

/* The header of a tunnel, and the inner Ethernet header */
#define STE_TUNNEL_NETWORK              FLD(0x0, 31, 0) /* of VXLAN: 24 bits, then 8 of zeroes */
#define STE_TUNNEL_DMAC                 FLD_PART(0x4)
#define STE_TUNNEL_L3_ETHERTYPE         FLD(0x8, 15, 0)
#define STE_TUNNEL_IP_FRAGMENTED        FLD(0xc, 28, 28)
#define STE_TUNNEL_L3_TYPE              FLD(0xc, 21, 20)
#define STE_TUNNEL_L4_TYPE              FLD(0xc, 19, 18)
#define STE_TUNNEL_FIRST_VLAN_QUALIFIER FLD(0xc, 17, 16)
#define STE_TUNNEL_FIRST_PRIORITY       FLD(0xc, 15, 13)
#define STE_TUNNEL_FIRST_CFI            FLD(0xc, 12, 12)
#define STE_TUNNEL_FIRST_VLAN_ID        FLD(0xc, 11, 0)

enum { STE_TUNNEL_START_SIZE = 8 };

#define STE_GRE_START       FLD_PART(0x0) /* its first dword */
#define STE_GRE_KEY         FLD_PART(0x8)

#define STE_MPLS_LABEL_0    FLD_PART(0x4)

#define STE_BTH_OPCODE      FLD(0x0, 31, 24)
#define STE_BTH_QP          FLD(0x0, 23, 0)
#define STE_BTH_SOLICITED   FLD(0x4, 31, 31)
#define STE_BTH_MIGRATED    FLD(0x4, 30, 30)
#define STE_BTH_ACK_REQUEST FLD(0x4, 29, 29)
#define STE_BTH_PKEY        FLD(0x4, 15, 0)

#endif
