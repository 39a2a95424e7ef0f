/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flow tables, their groups and entries, what they match, and flow counters.
 */
#ifndef PRM_MLX5_FLOW_H
#define PRM_MLX5_FLOW_H

#include "util/fields.h"

/* These are the bytes of the fixed part of a layout. */
enum {
	PRM_FLOW_TABLE_CONTEXT_SIZE = 40,
	PRM_FLOW_CONTEXT_SIZE = 768,
	PRM_MATCH_SET_SIZE = 64,
	PRM_DEST_FORMAT_SIZE = 8,
};

enum prm_flow_table_type {
	PRM_FLOW_NIC_RX = 0,
	PRM_FLOW_NIC_TX = 1,
};

enum {
	PRM_MISS_DEFAULT = 0, /* table_miss_action */
	PRM_MISS_FORWARD = 1,
	PRM_MODIFY_TABLE_MISS = 1 << 0, /* MODIFY_FLOW_TABLE modify_field_select */
	PRM_MATCH_OUTER = 1 << 0,       /* match_criteria_enable */
	PRM_MATCH_MISC = 1 << 1,
	PRM_FLOW_ALLOW = 0x1, /* FLOW_CONTEXT action */
	PRM_FLOW_DROP = 0x2,
	PRM_FLOW_FWD = 0x4,
	PRM_FLOW_COUNT = 0x8,
	PRM_DEST_TABLE = 1, /* DEST_FORMAT destination_type */
	PRM_DEST_TIR = 2,
	PRM_FTE_MODIFY_ACTION = 1 << 0, /* SET_FTE modify_enable_mask */
	PRM_FTE_MODIFY_TAG = 1 << 1,
	PRM_FTE_MODIFY_DESTINATIONS = 1 << 2,
	PRM_FTE_MODIFY_COUNTERS = 1 << 3,
	PRM_ROOT_SET = 0, /* SET_FLOW_TABLE_ROOT op_mod; without a name there */
	PRM_ROOT_DISCONNECT = 1,
};

/* The commands on flow tables have table, type and vport in the same place. */
#define CREATE_FLOW_TABLE_IN_OTHER_VPORT                        FLD(0x8, 31, 31)
#define CREATE_FLOW_TABLE_IN_TABLE_TYPE                         FLD(0x10, 31, 24)
#define CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT                 FLD_PART(0x18)
#define CREATE_FLOW_TABLE_OUT_TABLE_ID                          FLD(0x8, 23, 0)
#define FLOW_TABLE_CONTEXT_REFORMAT_EN                          FLD(0x0, 31, 31)
#define FLOW_TABLE_CONTEXT_DECAP_EN                             FLD(0x0, 30, 30)
#define FLOW_TABLE_CONTEXT_SW_OWNER                             FLD(0x0, 29, 29)
#define FLOW_TABLE_CONTEXT_TERMINATION_TABLE                    FLD(0x0, 28, 28)
#define FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION                    FLD(0x0, 27, 24)
#define FLOW_TABLE_CONTEXT_LEVEL                                FLD(0x0, 23, 16)
#define FLOW_TABLE_CONTEXT_LOG_SIZE                             FLD(0x0, 7, 0)
#define FLOW_TABLE_CONTEXT_TABLE_MISS_ID                        FLD(0x4, 23, 0)
#define MODIFY_FLOW_TABLE_IN_MODIFY_FIELD_SELECT                FLD(0xc, 15, 0)
#define MODIFY_FLOW_TABLE_IN_TABLE_ID                           FLD(0x14, 23, 0)
#define MODIFY_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT                 FLD_PART(0x18)
#define DESTROY_FLOW_TABLE_IN_TABLE_ID                          FLD(0x14, 23, 0)
#define QUERY_FLOW_TABLE_IN_TABLE_TYPE                          FLD(0x10, 31, 24)
#define QUERY_FLOW_TABLE_IN_TABLE_ID                            FLD(0x14, 23, 0)
#define QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT                 FLD_PART(0x18)
#define SET_FLOW_TABLE_ROOT_IN_TABLE_TYPE                       FLD(0x10, 31, 24)
#define SET_FLOW_TABLE_ROOT_IN_TABLE_ID                         FLD(0x14, 23, 0)
#define SET_FLOW_TABLE_ROOT_IN_UNDERLAY_QPN                     FLD(0x18, 23, 0)
#define CREATE_FLOW_GROUP_IN_GROUP_TYPE                         FLD(0x10, 19, 16)
#define CREATE_FLOW_GROUP_IN_SOURCE_ESWITCH_OWNER_VHCA_ID_VALID FLD(0x18, 31, 31)
#define CREATE_FLOW_GROUP_IN_START_FLOW_INDEX                   FLD(0x1c, 31, 0)
#define CREATE_FLOW_GROUP_IN_END_FLOW_INDEX                     FLD(0x24, 31, 0)
#define CREATE_FLOW_GROUP_IN_MATCH_DEFINER_ID                   FLD(0x28, 15, 0)
#define CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE              FLD(0x3c, 7, 0)
#define CREATE_FLOW_GROUP_IN_MATCH_CRITERIA                     FLD_PART(0x40)
#define CREATE_FLOW_GROUP_OUT_GROUP_ID                          FLD(0x8, 23, 0)
#define DESTROY_FLOW_GROUP_IN_GROUP_ID                          FLD(0x18, 31, 0)
#define SET_FTE_IN_IGNORE_FLOW_LEVEL                            FLD(0x18, 31, 31)
#define SET_FTE_IN_MODIFY_ENABLE_MASK                           FLD(0x18, 7, 0)
#define SET_FTE_IN_FLOW_INDEX                                   FLD(0x20, 31, 0)
#define SET_FTE_IN_FLOW_CONTEXT                                 FLD_PART(0x40)
#define DELETE_FTE_IN_FLOW_INDEX                                FLD(0x20, 31, 0)
#define QUERY_FTE_IN_FLOW_INDEX                                 FLD(0x20, 31, 0)
#define QUERY_FTE_OUT_FLOW_CONTEXT                              FLD_PART(0x40)
#define FLOW_CONTEXT_GROUP_ID                                   FLD(0x4, 31, 0)
#define FLOW_CONTEXT_FLOW_TAG                                   FLD(0x8, 23, 0)
#define FLOW_CONTEXT_ACTION                                     FLD(0xc, 15, 0)
#define FLOW_CONTEXT_EXTENDED_DESTINATION                       FLD(0x10, 31, 31)
#define FLOW_CONTEXT_FLOW_SOURCE                                FLD(0x10, 29, 28)
#define FLOW_CONTEXT_ENCRYPT_DECRYPT_TYPE                       FLD(0x10, 27, 24)
#define FLOW_CONTEXT_DESTINATION_LIST_SIZE                      FLD(0x10, 23, 0)
#define FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE                     FLD(0x14, 23, 0)
#define FLOW_CONTEXT_PACKET_REFORMAT_ID                         FLD(0x18, 31, 0)
#define FLOW_CONTEXT_MODIFY_HEADER_ID                           FLD(0x1c, 31, 0)
#define FLOW_CONTEXT_MATCH_VALUE                                FLD_PART(0x40)
#define FLOW_CONTEXT_DESTINATION                                FLD_PART(0x300)
#define DEST_FORMAT_DESTINATION_TYPE                            FLD(0x0, 31, 24)
#define DEST_FORMAT_DESTINATION_ID                              FLD(0x0, 23, 0)
#define DEST_FORMAT_DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID     FLD(0x4, 31, 31)
#define DEST_FORMAT_PACKET_REFORMAT                             FLD(0x4, 30, 30)
#define ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK                 FLD(0xc, 7, 0)
#define ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID                  FLD(0x8, 31, 0)
#define DEALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_ID                 FLD(0x8, 31, 0)
#define QUERY_FLOW_COUNTER_IN_CLEAR                             FLD(0x18, 31, 31)
#define QUERY_FLOW_COUNTER_IN_NUM_OF_COUNTERS                   FLD(0x18, 15, 0)
#define QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID                   FLD(0x1c, 31, 0)
#define QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS                  FLD_PART(0x10)

/* A flow is matched by the fields of these layouts. */
#define MATCH_OUTER_HEADERS         FLD_PART(0x0)
#define MATCH_MISC_PARAMETERS       FLD_PART(0x40)
#define MATCH_INNER_HEADERS         FLD_PART(0x80)
#define MATCH_MISC_PARAMETERS_2     FLD_PART(0xc0)
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
#define MISC_GRE_K_PRESENT          FLD(0x0, 29, 29)
#define MISC_GRE_S_PRESENT          FLD(0x0, 28, 28)
#define MISC_GRE_PROTOCOL           FLD(0xc, 15, 0)
#define MISC_GRE_KEY                FLD_PART(0x10)
#define MISC_OUTER_IPV6_FLOW_LABEL  FLD(0x1c, 19, 0)

/* All commands on flow tables have these two fields. */
#define FLOW_IN_TABLE_TYPE FLD(0x10, 31, 24)
#define FLOW_IN_TABLE_ID   FLD(0x14, 23, 0)

#endif
