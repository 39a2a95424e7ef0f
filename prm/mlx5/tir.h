/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.h - objects that steer frames to and from queues: TIS, TIR and RQT.
 */
#ifndef PRM_MLX5_TIR_H
#define PRM_MLX5_TIR_H

#include "util/fields.h"

enum {
	PRM_TISC_SIZE = 160,
	PRM_TIRC_SIZE = 240, /* RQTC, SQC and RQC too */
	PRM_RQTC_SIZE = 240,
};

enum {
	PRM_TIR_DIRECT = 0, /* TIRC disp_type */
	PRM_TIR_INDIRECT = 1,
	PRM_RX_HASH_NONE = 0, /* TIRC rx_hash_fn */
	PRM_RX_HASH_INVERTED_XOR8 = 1,
	PRM_RX_HASH_TOEPLITZ = 2,
	PRM_RX_HASH_KEY_SIZE = 40,
	PRM_LRO_IPV4 = 1, /* TIRC packet_merge_mask */
	PRM_LRO_IPV6 = 2,
	PRM_BLOCK_UNICAST = 1, /* TIRC self_lb_block */
	PRM_BLOCK_MULTICAST = 2,
	PRM_L3_IPV4 = 0, /* RX_HASH l3_prot_type */
	PRM_L3_IPV6 = 1,
	PRM_L4_TCP = 0,
	PRM_L4_UDP = 1,
	PRM_HASH_SRC_IP = 1 << 0,
	PRM_HASH_DST_IP = 1 << 1,
	PRM_HASH_L4_SPORT = 1 << 2,
	PRM_HASH_L4_DPORT = 1 << 3,
	PRM_HASH_IPSEC_SPI = 1 << 4,
};

#define CREATE_TIS_IN_CTX                 FLD_PART(0x20)
#define CREATE_TIS_OUT_TISN               FLD(0x8, 23, 0)
#define MODIFY_TIS_IN_TISN                FLD(0x8, 23, 0)
#define MODIFY_TIS_IN_BITMASK             FLD_PART(0x10)
#define MODIFY_TIS_IN_CTX                 FLD_PART(0x20)
#define QUERY_TIS_IN_TISN                 FLD(0x8, 23, 0)
#define QUERY_TIS_OUT_TIS_CONTEXT         FLD_PART(0x10)
#define DESTROY_TIS_IN_TISN               FLD(0x8, 23, 0)
#define MODIFY_TIS_BITMASK_LAG_PORT       FLD(0x4, 2, 2)
#define MODIFY_TIS_BITMASK_PRIO           FLD(0x4, 0, 0)
#define TISC_STRICT_LAG_TX_PORT_AFFINITY  FLD(0x0, 31, 31)
#define TISC_TLS_EN                       FLD(0x0, 30, 30)
#define TISC_LAG_TX_PORT_AFFINITY         FLD(0x0, 27, 24)
#define TISC_PRIO                         FLD(0x0, 19, 16)
#define TISC_TRANSPORT_DOMAIN             FLD(0x24, 23, 0)
#define TISC_UNDERLAY_QPN                 FLD(0x28, 23, 0)
#define TISC_PD                           FLD(0x2c, 23, 0)
#define CREATE_TIR_IN_CTX                 FLD_PART(0x20)
#define CREATE_TIR_OUT_ICM_ADDRESS_63_40  FLD(0x0, 23, 0)
#define CREATE_TIR_OUT_ICM_ADDRESS_39_32  FLD(0x8, 31, 24)
#define CREATE_TIR_OUT_TIRN               FLD(0x8, 23, 0)
#define CREATE_TIR_OUT_ICM_ADDRESS_31_0   FLD(0xc, 31, 0)
#define MODIFY_TIR_IN_TIRN                FLD(0x8, 23, 0)
#define MODIFY_TIR_IN_BITMASK             FLD_PART(0x10)
#define MODIFY_TIR_IN_CTX                 FLD_PART(0x20)
#define MODIFY_TIR_BITMASK_SELF_LB_EN     FLD(0x4, 4, 4)
#define MODIFY_TIR_BITMASK_HASH           FLD(0x4, 2, 2)
#define MODIFY_TIR_BITMASK_PACKET_MERGE   FLD(0x4, 0, 0)
#define QUERY_TIR_IN_TIRN                 FLD(0x8, 23, 0)
#define QUERY_TIR_OUT_TIR_CONTEXT         FLD_PART(0x20)
#define DESTROY_TIR_IN_TIRN               FLD(0x8, 23, 0)
#define TIRC_DISP_TYPE                    FLD(0x4, 31, 28)
#define TIRC_TLS_EN                       FLD(0x4, 27, 27)
#define TIRC_LRO_TIMEOUT_PERIOD_USECS     FLD(0x10, 27, 12)
#define TIRC_PACKET_MERGE_MASK            FLD(0x10, 11, 8)
#define TIRC_LRO_MAX_IP_PAYLOAD_SIZE      FLD(0x10, 7, 0) /* in 256 bytes */
#define TIRC_INLINE_RQN                   FLD(0x1c, 23, 0)
#define TIRC_RX_HASH_SYMMETRIC            FLD(0x20, 31, 31)
#define TIRC_TUNNELED_OFFLOAD_EN          FLD(0x20, 29, 29)
#define TIRC_INDIRECT_TABLE               FLD(0x20, 23, 0)
#define TIRC_RX_HASH_FN                   FLD(0x24, 31, 28)
#define TIRC_SELF_LB_BLOCK                FLD(0x24, 25, 24)
#define TIRC_TRANSPORT_DOMAIN             FLD(0x24, 23, 0)
#define TIRC_RX_HASH_TOEPLITZ_KEY         FLD_PART(0x28)
#define TIRC_RX_HASH_FIELD_SELECTOR_OUTER FLD_PART(0x50)
#define TIRC_RX_HASH_FIELD_SELECTOR_INNER FLD_PART(0x54)
#define RX_HASH_L3_PROT_TYPE              FLD(0x0, 31, 31)
#define RX_HASH_L4_PROT_TYPE              FLD(0x0, 30, 30)
#define RX_HASH_SELECTED_FIELDS           FLD(0x0, 29, 0)
#define CREATE_RQT_IN_RQT_CONTEXT         FLD_PART(0x20)
#define CREATE_RQT_OUT_RQTN               FLD(0x8, 23, 0)
#define MODIFY_RQT_IN_RQTN                FLD(0x8, 23, 0)
#define MODIFY_RQT_IN_BITMASK             FLD_PART(0x10)
#define MODIFY_RQT_IN_CTX                 FLD_PART(0x20)
#define QUERY_RQT_IN_RQTN                 FLD(0x8, 23, 0)
#define QUERY_RQT_OUT_RQT_CONTEXT         FLD_PART(0x20)
#define DESTROY_RQT_IN_RQTN               FLD(0x8, 23, 0)
#define RQT_BITMASK_RQN_LIST              FLD(0x4, 0, 0)
#define RQTC_LIST_Q_TYPE                  FLD(0x14, 26, 24)
#define RQTC_RQT_MAX_SIZE                 FLD(0x14, 15, 0)
#define RQTC_RQ_VHCA_ID_FORMAT            FLD(0x18, 31, 31)
#define RQTC_RQT_ACTUAL_SIZE              FLD(0x18, 15, 0)
#define RQTC_RQ_NUM                       FLD_PART(0xf0)
#define RQ_NUM_RQ_NUM                     FLD(0x0, 23, 0)

#endif
