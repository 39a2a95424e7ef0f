/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flow tables, their groups and entries, and flow counters: their commands and contexts.
 */
#ifndef PRM_MLX5_FLOW_H
#define PRM_MLX5_FLOW_H

#include "prm/mlx5/match.h"
#include "util/fields.h"

enum {
	PRM_FLOW_TABLE_CONTEXT_SIZE = 40,
	PRM_FLOW_CONTEXT_SIZE = 768,
	PRM_DEST_FORMAT_SIZE = 8,
};

enum {
	PRM_MISS_DEFAULT = 0, /* table_miss_action */
	PRM_MISS_FORWARD = 1,
	PRM_MODIFY_TABLE_MISS = 1 << 0, /* MODIFY_FLOW_TABLE modify_field_select */
	PRM_DEST_TABLE = 1,             /* DEST_FORMAT destination_type */
	PRM_DEST_TIR = 2,
	PRM_FTE_MODIFY_ACTION = 1 << 0, /* SET_FTE modify_enable_mask */
	PRM_FTE_MODIFY_TAG = 1 << 1,
	PRM_FTE_MODIFY_DESTINATIONS = 1 << 2,
	PRM_FTE_MODIFY_COUNTERS = 1 << 3,
	PRM_ROOT_SET = 0, /* SET_FLOW_TABLE_ROOT op_mod; unnamed in Linux */
	PRM_ROOT_DISCONNECT = 1,
};

/* The commands on flow tables have table, type and vport in the same place. */
#define CREATE_FLOW_TABLE_IN_OTHER_VPORT                        FLD(0x8, 31, 31)
#define CREATE_FLOW_TABLE_IN_TABLE_TYPE                         FLD(0x10, 31, 24)
#define CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT                 FLD_PART(0x18)
#define CREATE_FLOW_TABLE_OUT_TABLE_ID                          FLD(0x8, 23, 0)
#define CREATE_FLOW_TABLE_OUT_ICM_ADDRESS_39_32                 FLD(0x8, 31, 24)
#define CREATE_FLOW_TABLE_OUT_ICM_ADDRESS_31_0                  FLD(0xc, 31, 0)
#define FLOW_TABLE_CONTEXT_REFORMAT_EN                          FLD(0x0, 31, 31)
#define FLOW_TABLE_CONTEXT_DECAP_EN                             FLD(0x0, 30, 30)
#define FLOW_TABLE_CONTEXT_SW_OWNER                             FLD(0x0, 29, 29)
#define FLOW_TABLE_CONTEXT_TERMINATION_TABLE                    FLD(0x0, 28, 28)
#define FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION                    FLD(0x0, 27, 24)
#define FLOW_TABLE_CONTEXT_LEVEL                                FLD(0x0, 23, 16)
#define FLOW_TABLE_CONTEXT_LOG_SIZE                             FLD(0x0, 7, 0)
#define FLOW_TABLE_CONTEXT_TABLE_MISS_ID                        FLD(0x4, 23, 0)
#define FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0                  FLD64(0x20)
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
#define ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK_LOG_SIZE        FLD(0xc, 12, 8)
#define ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID                  FLD(0x8, 31, 0)
#define DEALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_ID                 FLD(0x8, 31, 0)
#define QUERY_FLOW_COUNTER_IN_CLEAR                             FLD(0x18, 31, 31)
#define QUERY_FLOW_COUNTER_IN_NUM_OF_COUNTERS                   FLD(0x18, 15, 0)
#define QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID                   FLD(0x1c, 31, 0)
#define QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS                  FLD_PART(0x10)

/* All commands on flow tables have these two fields. */
#define FLOW_IN_TABLE_TYPE FLD(0x10, 31, 24)
#define FLOW_IN_TABLE_ID   FLD(0x14, 23, 0)

#endif
