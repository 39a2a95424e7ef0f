/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.h - commands, contexts and registers of an Ethernet port: facts only.
 *
 * Notation as in cmd.h; tests/unit/softhca/test_ifc.c compares each line with the kernel's own
 * description. Values without a name there are said to be so.
 */
#ifndef PRM_MLX5_ETH_H
#define PRM_MLX5_ETH_H

#include "prm/mlx5/driver.h"

enum prm_eth_opcode {
	PRM_OP_SET_DRIVER_VERSION = 0x10d,
	PRM_OP_MODIFY_VPORT_STATE = 0x751,
	PRM_OP_QUERY_NIC_VPORT_CONTEXT = 0x754,
	PRM_OP_MODIFY_NIC_VPORT_CONTEXT = 0x755,
	PRM_OP_QUERY_VPORT_COUNTER = 0x770,
	PRM_OP_ALLOC_Q_COUNTER = 0x771,
	PRM_OP_DEALLOC_Q_COUNTER = 0x772,
	PRM_OP_QUERY_Q_COUNTER = 0x773,
	PRM_OP_CREATE_TIR = 0x900,
	PRM_OP_MODIFY_TIR = 0x901,
	PRM_OP_DESTROY_TIR = 0x902,
	PRM_OP_QUERY_TIR = 0x903,
	PRM_OP_CREATE_SQ = 0x904,
	PRM_OP_MODIFY_SQ = 0x905,
	PRM_OP_DESTROY_SQ = 0x906,
	PRM_OP_QUERY_SQ = 0x907,
	PRM_OP_CREATE_RQ = 0x908,
	PRM_OP_MODIFY_RQ = 0x909,
	PRM_OP_DESTROY_RQ = 0x90a,
	PRM_OP_QUERY_RQ = 0x90b,
	PRM_OP_CREATE_TIS = 0x912,
	PRM_OP_MODIFY_TIS = 0x913,
	PRM_OP_DESTROY_TIS = 0x914,
	PRM_OP_QUERY_TIS = 0x915,
	PRM_OP_CREATE_RQT = 0x916,
	PRM_OP_MODIFY_RQT = 0x917,
	PRM_OP_DESTROY_RQT = 0x918,
	PRM_OP_QUERY_RQT = 0x919,
	PRM_OP_SET_FLOW_TABLE_ROOT = 0x92f,
	PRM_OP_CREATE_FLOW_TABLE = 0x930,
	PRM_OP_DESTROY_FLOW_TABLE = 0x931,
	PRM_OP_QUERY_FLOW_TABLE = 0x932,
	PRM_OP_CREATE_FLOW_GROUP = 0x933,
	PRM_OP_DESTROY_FLOW_GROUP = 0x934,
	PRM_OP_SET_FLOW_TABLE_ENTRY = 0x936,
	PRM_OP_QUERY_FLOW_TABLE_ENTRY = 0x937,
	PRM_OP_DELETE_FLOW_TABLE_ENTRY = 0x938,
	PRM_OP_ALLOC_FLOW_COUNTER = 0x939,
	PRM_OP_DEALLOC_FLOW_COUNTER = 0x93a,
	PRM_OP_QUERY_FLOW_COUNTER = 0x93b,
	PRM_OP_MODIFY_FLOW_TABLE = 0x93c,
};

enum {
	PRM_CAP_FLOW_TABLE = 7, /* a page of QUERY_HCA_CAP */
	PRM_NIC_VPORT_CONTEXT_SIZE = 256,
	PRM_QUERY_VPORT_COUNTER_OUT_SIZE = 528,
	PRM_QUERY_Q_COUNTER_OUT_SIZE = 256,
	PRM_TISC_SIZE = 160,
	PRM_TIRC_SIZE = 240, /* RQTC, SQC and RQC too */
	PRM_RQTC_SIZE = 240,
	PRM_SQC_SIZE = 240,
	PRM_RQC_SIZE = 240,
	PRM_WQ_SIZE = 192,
	PRM_FLOW_TABLE_CONTEXT_SIZE = 40,
	PRM_FLOW_CONTEXT_SIZE = 768,
	PRM_MATCH_SET_SIZE = 64,
	PRM_TRAFFIC_COUNTER_SIZE = 16,
	PRM_DEST_FORMAT_SIZE = 8,
	PRM_PPCNT_REG_SIZE = 256,
};

enum { /* allowed_list_type of a vport */
       PRM_LIST_UC = 0,
       PRM_LIST_MC = 1,
       PRM_LIST_VLAN = 2,
       PRM_LIST_TYPES,
};

enum prm_wq_state { /* RQC, SQC state */
		    PRM_WQ_STATE_RST = 0,
		    PRM_WQ_STATE_RDY = 1,
		    PRM_WQ_STATE_ERR = 3,
};

enum {
	PRM_WQ_TYPE_CYCLIC = 1,
	PRM_RQ_MEMORY_INLINE = 0, /* RQC mem_rq_type */
	PRM_RQ_MODIFY_VSD = 1 << 1,
	PRM_RQ_MODIFY_SCATTER_FCS = 1 << 2,
	PRM_RQ_MODIFY_COUNTER_SET_ID = 1 << 3,
};

enum {
	PRM_TIR_DIRECT = 0, /* TIRC disp_type */
	PRM_TIR_INDIRECT = 1,
	PRM_RX_HASH_NONE = 0, /* TIRC rx_hash_fn */
	PRM_RX_HASH_INVERTED_XOR8 = 1,
	PRM_RX_HASH_TOEPLITZ = 2,
	PRM_RX_HASH_KEY_SIZE = 40,
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

enum prm_eth_register {
	PRM_REG_PAOS = 0x5006,
	PRM_REG_PFCC = 0x5007,
	PRM_REG_PPCNT = 0x5008,
	PRM_REG_PMLP = 0x5002,
};

enum {
	PRM_PORT_UP = 1, /* PAOS admin_status, oper_status */
	PRM_PORT_DOWN = 2,
	PRM_COUNTERS_IEEE_802_3 = 0x0, /* PPCNT grp */
	PRM_COUNTERS_RFC_2863 = 0x1,
	PRM_COUNTERS_RFC_2819 = 0x2,
	PRM_COUNTERS_PER_PRIORITY = 0x10,
	PRM_COUNTERS_PHYSICAL = 0x12,
	PRM_COUNTERS_INFINIBAND = 0x20,
	PRM_PORT_CHANGE_DOWN = 1, /* EQE sub_type */
	PRM_PORT_CHANGE_ACTIVE = 4,
	PRM_PORT_CHANGE_LID = 6,
	PRM_PORT_CHANGE_PKEY = 7,
	PRM_PORT_CHANGE_GUID = 8,
	PRM_PORT_CHANGE_CLIENT_REREG = 9,
};

/* NIC vport */
#define QUERY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT            FLD(0x8, 31, 31)
#define QUERY_NIC_VPORT_CONTEXT_IN_ALLOWED_LIST_TYPE      FLD(0xc, 26, 24)
#define QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT     FLD_PART(0x10)
#define MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT           FLD(0x8, 31, 31)
#define MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT          FLD_PART(0xc)
#define MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT     FLD_PART(0x100)
#define NIC_VPORT_FIELD_DISABLE_UC_LOCAL_LB               FLD(0x0, 11, 11)
#define NIC_VPORT_FIELD_DISABLE_MC_LOCAL_LB               FLD(0x0, 10, 10)
#define NIC_VPORT_FIELD_NODE_GUID                         FLD(0x0, 9, 9)
#define NIC_VPORT_FIELD_PORT_GUID                         FLD(0x0, 8, 8)
#define NIC_VPORT_FIELD_MIN_INLINE                        FLD(0x0, 7, 7)
#define NIC_VPORT_FIELD_MTU                               FLD(0x0, 6, 6)
#define NIC_VPORT_FIELD_CHANGE_EVENT                      FLD(0x0, 5, 5)
#define NIC_VPORT_FIELD_PROMISC                           FLD(0x0, 4, 4)
#define NIC_VPORT_FIELD_PERMANENT_ADDRESS                 FLD(0x0, 3, 3)
#define NIC_VPORT_FIELD_ADDRESSES_LIST                    FLD(0x0, 2, 2)
#define NIC_VPORT_FIELD_ROCE_EN                           FLD(0x0, 1, 1)
#define NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE             FLD(0x0, 26, 24)
#define NIC_VPORT_CONTEXT_DISABLE_MC_LOCAL_LB             FLD(0x0, 2, 2)
#define NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB             FLD(0x0, 1, 1)
#define NIC_VPORT_CONTEXT_ROCE_EN                         FLD(0x0, 0, 0)
#define NIC_VPORT_CONTEXT_ARM_CHANGE_EVENT                FLD(0x4, 31, 31)
#define NIC_VPORT_CONTEXT_EVENT_ON_MTU                    FLD(0x4, 4, 4)
#define NIC_VPORT_CONTEXT_EVENT_ON_PROMISC_CHANGE         FLD(0x4, 3, 3)
#define NIC_VPORT_CONTEXT_EVENT_ON_VLAN_CHANGE            FLD(0x4, 2, 2)
#define NIC_VPORT_CONTEXT_EVENT_ON_MC_ADDRESS_CHANGE      FLD(0x4, 1, 1)
#define NIC_VPORT_CONTEXT_EVENT_ON_UC_ADDRESS_CHANGE      FLD(0x4, 0, 0)
#define NIC_VPORT_CONTEXT_MTU                             FLD(0x24, 15, 0)
#define NIC_VPORT_CONTEXT_SYSTEM_IMAGE_GUID               FLD64(0x28)
#define NIC_VPORT_CONTEXT_PORT_GUID                       FLD64(0x30)
#define NIC_VPORT_CONTEXT_NODE_GUID                       FLD64(0x38)
#define NIC_VPORT_CONTEXT_PROMISC_UC                      FLD(0xf0, 31, 31)
#define NIC_VPORT_CONTEXT_PROMISC_MC                      FLD(0xf0, 30, 30)
#define NIC_VPORT_CONTEXT_PROMISC_ALL                     FLD(0xf0, 29, 29)
#define NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE               FLD(0xf0, 26, 24)
#define NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE               FLD(0xf0, 11, 0)
#define NIC_VPORT_CONTEXT_PERMANENT_ADDRESS               FLD_PART(0xf4)
#define NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS          FLD_PART(0x100)
#define MAC_ADDRESS_MAC_ADDR_47_32                        FLD(0x0, 15, 0)
#define MAC_ADDRESS_MAC_ADDR_31_0                         FLD(0x4, 31, 0)
#define VLAN_LAYOUT_VLAN                                  FLD(0x0, 11, 0)
#define MODIFY_VPORT_STATE_IN_OTHER_VPORT                 FLD(0x8, 31, 31)
#define MODIFY_VPORT_STATE_IN_ADMIN_STATE                 FLD(0xc, 7, 4)
#define QUERY_VPORT_COUNTER_IN_OTHER_VPORT                FLD(0x8, 31, 31)
#define QUERY_VPORT_COUNTER_IN_PORT_NUM                   FLD(0x8, 19, 16)
#define QUERY_VPORT_COUNTER_IN_CLEAR                      FLD(0x18, 31, 31)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ERRORS           FLD_PART(0x10)
#define QUERY_VPORT_COUNTER_OUT_TRANSMIT_ERRORS           FLD_PART(0x20)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST       FLD_PART(0x30)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST    FLD_PART(0x40)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST     FLD_PART(0x50)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST  FLD_PART(0x60)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_BROADCAST    FLD_PART(0x70)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_BROADCAST FLD_PART(0x80)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_UNICAST      FLD_PART(0x90)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_UNICAST   FLD_PART(0xa0)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_MULTICAST    FLD_PART(0xb0)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_MULTICAST FLD_PART(0xc0)
#define TRAFFIC_COUNTER_PACKETS                           FLD64(0x0)
#define TRAFFIC_COUNTER_OCTETS                            FLD64(0x8)

/* Queues without a QP */
#define WQ_WQ_TYPE                         FLD(0x0, 31, 28)
#define WQ_WQ_SIGNATURE                    FLD(0x0, 27, 27)
#define WQ_END_PADDING_MODE                FLD(0x0, 26, 25)
#define WQ_LWM                             FLD(0x4, 15, 0)
#define WQ_UAR_PAGE                        FLD(0xc, 23, 0)
#define WQ_HW_COUNTER                      FLD(0x18, 31, 0)
#define WQ_SW_COUNTER                      FLD(0x1c, 31, 0)
#define WQ_DBR_UMEM_VALID                  FLD(0x24, 31, 31)
#define WQ_WQ_UMEM_VALID                   FLD(0x24, 30, 30)
#define CREATE_RQ_IN_CTX                   FLD_PART(0x20)
#define CREATE_RQ_OUT_RQN                  FLD(0x8, 23, 0)
#define MODIFY_RQ_IN_RQ_STATE              FLD(0x8, 31, 28)
#define MODIFY_RQ_IN_RQN                   FLD(0x8, 23, 0)
#define MODIFY_RQ_IN_MODIFY_BITMASK        FLD_PART(0x10)
#define MODIFY_RQ_IN_CTX                   FLD_PART(0x20)
#define QUERY_RQ_IN_RQN                    FLD(0x8, 23, 0)
#define QUERY_RQ_OUT_RQ_CONTEXT            FLD_PART(0x20)
#define DESTROY_RQ_IN_RQN                  FLD(0x8, 23, 0)
#define RQC_DELAY_DROP_EN                  FLD(0x0, 30, 30)
#define RQC_SCATTER_FCS                    FLD(0x0, 29, 29)
#define RQC_VSD                            FLD(0x0, 28, 28)
#define RQC_MEM_RQ_TYPE                    FLD(0x0, 27, 24)
#define RQC_STATE                          FLD(0x0, 23, 20)
#define RQC_FLUSH_IN_ERROR_EN              FLD(0x0, 18, 18)
#define RQC_HAIRPIN                        FLD(0x0, 17, 17)
#define RQC_TS_FORMAT                      FLD(0x0, 5, 4)
#define RQC_USER_INDEX                     FLD(0x4, 23, 0)
#define RQC_CQN                            FLD(0x8, 23, 0)
#define RQC_COUNTER_SET_ID                 FLD(0xc, 31, 24)
#define RQC_WQ                             FLD_PART(0x30)
#define CREATE_SQ_IN_CTX                   FLD_PART(0x20)
#define CREATE_SQ_OUT_SQN                  FLD(0x8, 23, 0)
#define MODIFY_SQ_IN_SQ_STATE              FLD(0x8, 31, 28)
#define MODIFY_SQ_IN_SQN                   FLD(0x8, 23, 0)
#define MODIFY_SQ_IN_MODIFY_BITMASK        FLD64(0x10)
#define MODIFY_SQ_IN_CTX                   FLD_PART(0x20)
#define QUERY_SQ_IN_SQN                    FLD(0x8, 23, 0)
#define QUERY_SQ_OUT_SQ_CONTEXT            FLD_PART(0x20)
#define DESTROY_SQ_IN_SQN                  FLD(0x8, 23, 0)
#define SQC_CD_MASTER                      FLD(0x0, 30, 30)
#define SQC_FLUSH_IN_ERROR_EN              FLD(0x0, 28, 28)
#define SQC_ALLOW_MULTI_PKT_SEND_WQE       FLD(0x0, 27, 27)
#define SQC_MIN_WQE_INLINE_MODE            FLD(0x0, 26, 24)
#define SQC_STATE                          FLD(0x0, 23, 20)
#define SQC_REG_UMR                        FLD(0x0, 19, 19)
#define SQC_ALLOW_SWP                      FLD(0x0, 18, 18)
#define SQC_HAIRPIN                        FLD(0x0, 17, 17)
#define SQC_TS_FORMAT                      FLD(0x0, 5, 4)
#define SQC_USER_INDEX                     FLD(0x4, 23, 0)
#define SQC_CQN                            FLD(0x8, 23, 0)
#define SQC_TS_CQE_TO_DEST_CQN             FLD(0x18, 23, 0)
#define SQC_PACKET_PACING_RATE_LIMIT_INDEX FLD(0x1c, 15, 0)
#define SQC_TIS_LST_SZ                     FLD(0x20, 31, 16)
#define SQC_TIS_NUM_0                      FLD(0x2c, 23, 0)
#define SQC_WQ                             FLD_PART(0x30)

/* What steers: TIS, TIR, RQT */
#define CREATE_TIS_IN_CTX                 FLD_PART(0x20)
#define CREATE_TIS_OUT_TISN               FLD(0x8, 23, 0)
#define MODIFY_TIS_IN_TISN                FLD(0x8, 23, 0)
#define MODIFY_TIS_IN_BITMASK             FLD_PART(0x10)
#define MODIFY_TIS_IN_CTX                 FLD_PART(0x20)
#define QUERY_TIS_IN_TISN                 FLD(0x8, 23, 0)
#define QUERY_TIS_OUT_TIS_CONTEXT         FLD_PART(0x10)
#define DESTROY_TIS_IN_TISN               FLD(0x8, 23, 0)
#define MODIFY_TIS_BITMASK_PRIO           FLD(0x4, 0, 0)
#define TISC_STRICT_LAG_TX_PORT_AFFINITY  FLD(0x0, 31, 31)
#define TISC_TLS_EN                       FLD(0x0, 30, 30)
#define TISC_LAG_TX_PORT_AFFINITY         FLD(0x0, 27, 24)
#define TISC_PRIO                         FLD(0x0, 19, 16)
#define TISC_TRANSPORT_DOMAIN             FLD(0x24, 23, 0)
#define TISC_UNDERLAY_QPN                 FLD(0x28, 23, 0)
#define TISC_PD                           FLD(0x2c, 23, 0)
#define CREATE_TIR_IN_CTX                 FLD_PART(0x20)
#define CREATE_TIR_OUT_TIRN               FLD(0x8, 23, 0)
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
#define TIRC_PACKET_MERGE_MASK            FLD(0x10, 11, 8)
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

/* Flow tables. Table, type and vport stand in the same place of every command that has them. */
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

/* What a flow is matched by */
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

/* Capabilities */
#define ETH_CAP_CSUM_CAP                                FLD(0x0, 31, 31)
#define ETH_CAP_VLAN_CAP                                FLD(0x0, 30, 30)
#define ETH_CAP_LRO_CAP                                 FLD(0x0, 29, 29)
#define ETH_CAP_WQE_VLAN_INSERT                         FLD(0x0, 24, 24)
#define ETH_CAP_SELF_LB_EN_MODIFIABLE                   FLD(0x0, 23, 23)
#define ETH_CAP_MAX_LSO_CAP                             FLD(0x0, 20, 16)
#define ETH_CAP_WQE_INLINE_MODE                         FLD(0x0, 13, 12)
#define ETH_CAP_RSS_IND_TBL_CAP                         FLD(0x0, 11, 8)
#define ETH_CAP_CQE_CHECKSUM_FULL                       FLD(0x4, 28, 28)
#define FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS             FLD(0x0, 31, 31)
#define FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS_FTS         FLD(0x0, 30, 30)
#define FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE  FLD_PART(0x40)
#define FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT FLD_PART(0x100)
#define FT_PROP_FT_SUPPORT                              FLD(0x0, 31, 31)
#define FT_PROP_FLOW_COUNTER                            FLD(0x0, 29, 29)
#define FT_PROP_FLOW_MODIFY_EN                          FLD(0x0, 28, 28)
#define FT_PROP_MODIFY_ROOT                             FLD(0x0, 27, 27)
#define FT_PROP_IDENTIFIED_MISS_TABLE_MODE              FLD(0x0, 26, 26)
#define FT_PROP_FLOW_TABLE_MODIFY                       FLD(0x0, 25, 25)
#define FT_PROP_LOG_MAX_FT_SIZE                         FLD(0x4, 29, 24)
#define FT_PROP_MAX_FT_LEVEL                            FLD(0x4, 7, 0)
#define FT_PROP_LOG_MAX_FT_NUM                          FLD(0xc, 7, 0)
#define FT_PROP_LOG_MAX_FLOW_COUNTER                    FLD(0x10, 15, 8)
#define FT_PROP_LOG_MAX_DESTINATION                     FLD(0x10, 7, 0)
#define FT_PROP_LOG_MAX_FLOW                            FLD(0x14, 7, 0)
#define FT_PROP_FT_FIELD_SUPPORT                        FLD_PART(0x20)
#define FT_PROP_FT_FIELD_BITMASK_SUPPORT                FLD_PART(0x30)
#define FT_FIELD_OUTER_DMAC                             FLD(0x0, 31, 31)
#define FT_FIELD_OUTER_SMAC                             FLD(0x0, 30, 30)
#define FT_FIELD_OUTER_ETHER_TYPE                       FLD(0x0, 29, 29)
#define FT_FIELD_OUTER_IP_VERSION                       FLD(0x0, 28, 28)
#define FT_FIELD_OUTER_FIRST_PRIO                       FLD(0x0, 27, 27)
#define FT_FIELD_OUTER_FIRST_CFI                        FLD(0x0, 26, 26)
#define FT_FIELD_OUTER_FIRST_VID                        FLD(0x0, 25, 25)
#define FT_FIELD_OUTER_IPV4_TTL                         FLD(0x0, 24, 24)
#define FT_FIELD_OUTER_SECOND_PRIO                      FLD(0x0, 23, 23)
#define FT_FIELD_OUTER_SECOND_CFI                       FLD(0x0, 22, 22)
#define FT_FIELD_OUTER_SECOND_VID                       FLD(0x0, 21, 21)
#define FT_FIELD_OUTER_SIP                              FLD(0x0, 19, 19)
#define FT_FIELD_OUTER_DIP                              FLD(0x0, 18, 18)
#define FT_FIELD_OUTER_FRAG                             FLD(0x0, 17, 17)
#define FT_FIELD_OUTER_IP_PROTOCOL                      FLD(0x0, 16, 16)
#define FT_FIELD_OUTER_IP_ECN                           FLD(0x0, 15, 15)
#define FT_FIELD_OUTER_IP_DSCP                          FLD(0x0, 14, 14)
#define FT_FIELD_OUTER_UDP_SPORT                        FLD(0x0, 13, 13)
#define FT_FIELD_OUTER_UDP_DPORT                        FLD(0x0, 12, 12)
#define FT_FIELD_OUTER_TCP_SPORT                        FLD(0x0, 11, 11)
#define FT_FIELD_OUTER_TCP_DPORT                        FLD(0x0, 10, 10)
#define FT_FIELD_OUTER_TCP_FLAGS                        FLD(0x0, 9, 9)
#define FT_FIELD_OUTER_VXLAN_VNI                        FLD(0x0, 6, 6)
#define FT_FIELD_OUTER_GRE_PROTOCOL                     FLD(0x0, 8, 8)
#define FT_FIELD_OUTER_GRE_KEY                          FLD(0x0, 7, 7)

/* Counters of queues */
#define ALLOC_Q_COUNTER_IN_UID                         FLD(0x0, 15, 0)
#define ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID             FLD(0x8, 7, 0)
#define DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID            FLD(0x8, 7, 0)
#define QUERY_Q_COUNTER_IN_CLEAR                       FLD(0x18, 31, 31)
#define QUERY_Q_COUNTER_IN_COUNTER_SET_ID              FLD(0x1c, 7, 0)
#define QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS          FLD(0x10, 31, 0)
#define QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS           FLD(0x18, 31, 0)
#define QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS         FLD(0x20, 31, 0)
#define QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER              FLD(0x30, 31, 0)
#define QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE            FLD(0x38, 31, 0)
#define QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST          FLD(0x40, 31, 0)
#define QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR          FLD(0x48, 31, 0)
#define QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR             FLD(0x50, 31, 0)
#define QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR        FLD(0x58, 31, 0)
#define QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR      FLD(0x60, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR    FLD(0x78, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR             FLD(0x90, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR              FLD(0x94, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST FLD(0xa0, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS   FLD(0xa8, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS  FLD(0xac, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR       FLD(0xbc, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR        FLD(0xc0, 31, 0)

#define HCA_CAP_OUT_OF_SEQ_CNT                         FLD(0x30, 31, 31)
#define HCA_CAP_RETRANSMISSION_Q_COUNTERS              FLD(0x30, 29, 29)
#define HCA_CAP_ENHANCED_ERROR_Q_COUNTERS              FLD(0x34, 14, 14)

/* Registers */
#define PAOS_REG_LOCAL_PORT           FLD(0x0, 23, 16)
#define PAOS_REG_ADMIN_STATUS         FLD(0x0, 11, 8)
#define PAOS_REG_OPER_STATUS          FLD(0x0, 3, 0)
#define PAOS_REG_ASE                  FLD(0x4, 31, 31)
#define PAOS_REG_EE                   FLD(0x4, 30, 30)
#define PAOS_REG_E                    FLD(0x4, 1, 0)
#define PTYS_REG_AN_DISABLE_ADMIN     FLD(0x0, 30, 30)
#define PTYS_REG_AN_DISABLE_CAP       FLD(0x0, 29, 29)
#define PTYS_REG_AN_STATUS            FLD(0x4, 31, 28)
#define PTYS_REG_ETH_PROTO_CAPABILITY FLD(0xc, 31, 0)
#define PTYS_REG_ETH_PROTO_ADMIN      FLD(0x18, 31, 0)
#define PTYS_REG_ETH_PROTO_OPER       FLD(0x24, 31, 0)
#define PTYS_REG_EXT_ETH_PROTO_ADMIN  FLD(0x14, 31, 0)
#define PTYS_REG_CONNECTOR_TYPE       FLD(0x2c, 3, 0)
#define PMLP_REG_LOCAL_PORT           FLD(0x0, 23, 16)
#define PMLP_REG_WIDTH                FLD(0x0, 7, 0)
#define PMLP_REG_LANE0_MODULE_MAPPING FLD(0x4, 31, 0)
#define PFCC_REG_LOCAL_PORT           FLD(0x0, 23, 16)
#define PFCC_REG_PPTX                 FLD(0x8, 31, 31)
#define PFCC_REG_PPRX                 FLD(0xc, 31, 31)
#define PFCC_REG_PFCTX                FLD(0x8, 23, 16)
#define PFCC_REG_PFCRX                FLD(0xc, 23, 16)
#define PPCNT_REG_LOCAL_PORT          FLD(0x0, 23, 16)
#define PPCNT_REG_GRP                 FLD(0x0, 5, 0)
#define PPCNT_REG_CLR                 FLD(0x4, 31, 31)
#define PPCNT_REG_PRIO_TC             FLD(0x4, 2, 0)
#define PPCNT_REG_COUNTER_SET         FLD_PART(0x8)

/* More of the general capabilities */
#define HCA_CAP_LOG_MAX_VLAN_LIST         FLD(0x7c, 20, 16)
#define HCA_CAP_LOG_MAX_CURRENT_MC_LIST   FLD(0x7c, 12, 8)
#define HCA_CAP_LOG_MAX_CURRENT_UC_LIST   FLD(0x7c, 4, 0)
#define HCA_CAP_DISABLE_LOCAL_LB_UC       FLD(0x7c, 30, 30)
#define HCA_CAP_DISABLE_LOCAL_LB_MC       FLD(0x7c, 29, 29)
#define HCA_CAP_MODIFY_RQ_COUNTER_SET_ID  FLD(0x30, 27, 27)
#define HCA_CAP_VPORT_COUNTERS            FLD(0x30, 30, 30)
#define HCA_CAP_OUT_OF_SEQ_CNT            FLD(0x30, 31, 31)
#define HCA_CAP_LOG_MAX_FLOW_COUNTER_BULK FLD(0x68, 23, 16)

/* PPCNT groups: 64-bit counters; the names are those of their upper halves */
#define PPCNT_A_FRAMES_TRANSMITTED_OK_HIGH        FLD_PART(0x0)
#define PPCNT_A_FRAMES_RECEIVED_OK_HIGH           FLD_PART(0x8)
#define PPCNT_A_OCTETS_TRANSMITTED_OK_HIGH        FLD_PART(0x20)
#define PPCNT_A_OCTETS_RECEIVED_OK_HIGH           FLD_PART(0x28)
#define PPCNT_A_MULTICAST_FRAMES_XMITTED_OK_HIGH  FLD_PART(0x30)
#define PPCNT_A_BROADCAST_FRAMES_XMITTED_OK_HIGH  FLD_PART(0x38)
#define PPCNT_A_MULTICAST_FRAMES_RECEIVED_OK_HIGH FLD_PART(0x40)
#define PPCNT_A_BROADCAST_FRAMES_RECEIVED_OK_HIGH FLD_PART(0x48)
#define PPCNT_A_FRAME_TOO_LONG_ERRORS_HIGH        FLD_PART(0x60)
#define PPCNT_IF_IN_OCTETS_HIGH                   FLD_PART(0x0)
#define PPCNT_IF_IN_UCAST_PKTS_HIGH               FLD_PART(0x8)
#define PPCNT_IF_IN_DISCARDS_HIGH                 FLD_PART(0x10)
#define PPCNT_IF_OUT_OCTETS_HIGH                  FLD_PART(0x28)
#define PPCNT_IF_OUT_UCAST_PKTS_HIGH              FLD_PART(0x30)
#define PPCNT_IF_OUT_DISCARDS_HIGH                FLD_PART(0x38)
#define PPCNT_IF_IN_MULTICAST_PKTS_HIGH           FLD_PART(0x48)
#define PPCNT_IF_IN_BROADCAST_PKTS_HIGH           FLD_PART(0x50)
#define PPCNT_IF_OUT_MULTICAST_PKTS_HIGH          FLD_PART(0x58)
#define PPCNT_IF_OUT_BROADCAST_PKTS_HIGH          FLD_PART(0x60)
#define PPCNT_ETHER_STATS_OCTETS_HIGH             FLD_PART(0x8)
#define PPCNT_ETHER_STATS_PKTS_HIGH               FLD_PART(0x10)
#define PPCNT_ETHER_STATS_BROADCAST_PKTS_HIGH     FLD_PART(0x18)
#define PPCNT_ETHER_STATS_MULTICAST_PKTS_HIGH     FLD_PART(0x20)
#define PPCNT_ETHER_STATS_OVERSIZE_PKTS_HIGH      FLD_PART(0x38)
#define PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH       FLD_PART(0x58)
#define PPCNT_PRIO_RX_OCTETS_HIGH                 FLD_PART(0x0)
#define PPCNT_PRIO_RX_FRAMES_HIGH                 FLD_PART(0x20)
#define PPCNT_PRIO_TX_OCTETS_HIGH                 FLD_PART(0x28)
#define PPCNT_PRIO_TX_FRAMES_HIGH                 FLD_PART(0x48)
#define PPCNT_LINK_DOWNED_COUNTER                 FLD(0x0, 7, 0)
#define PPCNT_PORT_XMIT_DISCARDS                  FLD(0x8, 15, 0)
#define PPCNT_LINK_DOWN_EVENTS                    FLD_PART(0xc0)

/* Common to the commands about flow tables */
#define FLOW_IN_TABLE_TYPE FLD(0x10, 31, 24)
#define FLOW_IN_TABLE_ID   FLD(0x14, 23, 0)

#endif
