/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qpc.h - queue pairs: their commands, their context and the address path in it.
 */
#ifndef PRM_MLX5_QPC_H
#define PRM_MLX5_QPC_H

#include "prm/mlx5/states.h"
#include "util/fields.h"

enum {
	PRM_QPC_SIZE = 232,
	PRM_QUERY_QP_OUT_SIZE = 24 + PRM_QPC_SIZE + 16,
	PRM_CREATE_QP_IN_SIZE = 272, /* and PAs behind it */
	PRM_MODIFY_QP_IN_SIZE = 272,
	PRM_QPC_EXT_SIZE = 192, /* extension behind MODIFY_QP_IN */
	PRM_MODIFY_QP_EXT_IN_SIZE = PRM_MODIFY_QP_IN_SIZE + PRM_QPC_EXT_SIZE,
};

enum prm_qp_service {
	PRM_QP_ST_RC = 0x0,
	PRM_QP_ST_UC = 0x1,
	PRM_QP_ST_UD = 0x2,
	PRM_QP_ST_XRC = 0x3,
	PRM_QP_ST_DCI = 0x5,
	PRM_QP_ST_QP0 = 0x7,
	PRM_QP_ST_QP1 = 0x8,
	PRM_QP_ST_REG_UMR = 0xc,
};

enum {
	PRM_QP_PM_STATE_MIGRATED = 0x3,
	PRM_QPC_OFFLOAD_TYPE_RNDV = 1,
};

enum prm_rq_type {
	PRM_RQ_TYPE_RQ = 0,
	PRM_RQ_TYPE_SRQ = 1,
	PRM_RQ_TYPE_ZERO_SIZE = 3,
};

/* Values of QPC_CS_REQ and QPC_CS_RES: the size of data that the adapter may put into a CQE */
enum prm_scatter_cqe {
	PRM_CS_RES_32B = 0x1,
	PRM_CS_RES_64B = 0x2,
	PRM_CS_REQ_32B = 0x11,
	PRM_CS_REQ_64B = 0x22,
};

/* Values of QPC_ATOMIC_MODE: a responder executes the atomics of InfiniBand only, or also masked
 * atomics, of 8 bytes or of up to 8 bytes. */
enum prm_atomic_mode {
	PRM_ATOMIC_MODE_IB_SPEC = 1,
	PRM_ATOMIC_MODE_ONLY_8B = 2,
	PRM_ATOMIC_MODE_UP_TO_8B = 3,
};

/* Bits of OPT_PARAM_MASK in commands that modify a QP: the attributes to modify */
enum prm_qp_optpar {
	PRM_OPTPAR_ALT_ADDR_PATH = 1 << 0,
	PRM_OPTPAR_RRE = 1 << 1,
	PRM_OPTPAR_RAE = 1 << 2,
	PRM_OPTPAR_RWE = 1 << 3,
	PRM_OPTPAR_PKEY_INDEX = 1 << 4,
	PRM_OPTPAR_Q_KEY = 1 << 5,
	PRM_OPTPAR_RNR_TIMEOUT = 1 << 6,
	PRM_OPTPAR_PRIMARY_ADDR_PATH = 1 << 7,
	PRM_OPTPAR_SRA_MAX = 1 << 8,
	PRM_OPTPAR_RRA_MAX = 1 << 9,
	PRM_OPTPAR_PM_STATE = 1 << 10,
	PRM_OPTPAR_DRAIN_SIGERR = 1 << 11,
	PRM_OPTPAR_RETRY_COUNT = 1 << 12,
	PRM_OPTPAR_RNR_RETRY = 1 << 13,
	PRM_OPTPAR_ACK_TIMEOUT = 1 << 14,
	PRM_OPTPAR_LAG_TX_AFF = 1 << 15,
	PRM_OPTPAR_PRI_PORT = 1 << 16,
	PRM_OPTPAR_SRQN = 1 << 18,
	PRM_OPTPAR_CQN_RCV = 1 << 19,
	PRM_OPTPAR_DC_HS = 1 << 20,
	PRM_OPTPAR_DC_KEY = 1 << 21,
	PRM_OPTPAR_COUNTER_SET_ID = 1 << 25,
};

/* Bits of the second mask of these commands. DCI_STREAM_CHANNEL_ID resets the named stream of a
 * DCI. */
enum prm_qp_optpar_32 {
	PRM_OPTPAR_32_DCI_STREAM_CHANNEL_ID = 1 << 0,
	PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID = 1 << 1,
	PRM_OPTPAR_32_UDP_SPORT = 1 << 2,
	PRM_OPTPAR_32_MMO = 1 << 3,
};

/* Connection establishment options (ECE): a version and one bit for each option. Software sets the
 * version in a command; the adapter answers with the options that it has. */
#define ECE_VERSION FLD(0x0, 31, 28)
enum { PRM_ECE_VERSION_1 = 1 };

/* All commands that change the state of a QP share the layout of RST2INIT, so one set of names
 * serves them. */
#define CREATE_QP_IN_INPUT_QPN      FLD(0x8, 23, 0)
#define CREATE_QP_IN_OPT_PARAM_MASK FLD(0x10, 31, 0)
#define CREATE_QP_IN_ECE            FLD(0x14, 31, 0)
#define CREATE_QP_IN_QPC            FLD_PART(0x18)
#define CREATE_QP_IN_WQ_UMEM_OFFSET FLD64(0x100)
#define CREATE_QP_IN_WQ_UMEM_ID     FLD(0x108, 31, 0)
#define CREATE_QP_IN_WQ_UMEM_VALID  FLD(0x10c, 31, 31)
#define CREATE_QP_IN_PAS            FLD_PART(0x110)

#define CREATE_QP_OUT_QPN           FLD(0x8, 23, 0)
#define CREATE_QP_OUT_ECE           FLD(0xc, 31, 0)

#define DESTROY_QP_IN_QPN           FLD(0x8, 23, 0)

#define MODIFY_QP_IN_QPN            FLD(0x8, 23, 0)
#define MODIFY_QP_IN_OPT_PARAM_MASK FLD(0x10, 31, 0)
#define MODIFY_QP_IN_ECE            FLD(0x14, 31, 0)
#define MODIFY_QP_IN_QPC            FLD_PART(0x18)

/* An extension of the context: a mask of its fields, and their values */
#define MODIFY_QP_IN_QPC_EXT            FLD(0x8, 31, 31)
#define MODIFY_QP_IN_OPT_PARAM_MASK_32  FLD(0x10c, 31, 0) /* PRM_OPTPAR_32_* */
#define MODIFY_QP_IN_QPC_DATA_EXT       FLD_PART(0x110)

#define QPC_EXT_MMO                     FLD(0x0, 29, 29)
#define QPC_EXT_DCI_STREAM_CHANNEL_ID   FLD(0x0, 15, 0)
#define QPC_EXT_QOS_GROUP_REQUESTER     FLD(0x4, 31, 0)
#define QPC_EXT_QOS_GROUP_RESPONDER     FLD(0x8, 31, 0)

#define MODIFY_QP_OUT_ECE               FLD(0xc, 31, 0)

#define QUERY_QP_IN_QPN                 FLD(0x8, 23, 0)

#define QUERY_QP_OUT_OPT_PARAM_MASK     FLD(0x10, 31, 0)
#define QUERY_QP_OUT_ECE                FLD(0x14, 31, 0)
#define QUERY_QP_OUT_QPC                FLD_PART(0x18)
#define QUERY_QP_OUT_PAS                FLD_PART(0x110)

#define QPC_STATE                       FLD(0x0, 31, 28)
#define QPC_LAG_TX_PORT_AFFINITY        FLD(0x0, 27, 24)
#define QPC_ST                          FLD(0x0, 23, 16)
#define QPC_ISOLATE_VL_TC               FLD(0x0, 13, 13)
#define QPC_PM_STATE                    FLD(0x0, 12, 11)
#define QPC_REQ_E2E_CREDIT_MODE         FLD(0x0, 9, 8)
#define QPC_OFFLOAD_TYPE                FLD(0x0, 7, 4)
#define QPC_END_PADDING_MODE            FLD(0x0, 3, 2)
#define QPC_WQ_SIGNATURE                FLD(0x4, 31, 31)
#define QPC_BLOCK_LB_MC                 FLD(0x4, 30, 30)
#define QPC_ATOMIC_LIKE_WRITE_EN        FLD(0x4, 29, 29)
#define QPC_LATENCY_SENSITIVE           FLD(0x4, 28, 28)
#define QPC_DRAIN_SIGERR                FLD(0x4, 26, 26)
#define QPC_DP_ORDERING_FORCE           FLD(0x4, 24, 24)
#define QPC_PD                          FLD(0x4, 23, 0)
#define QPC_MTU                         FLD(0x8, 31, 29)
#define QPC_LOG_MSG_MAX                 FLD(0x8, 28, 24)
#define QPC_LOG_RQ_SIZE                 FLD(0x8, 22, 19)
#define QPC_LOG_RQ_STRIDE               FLD(0x8, 18, 16)
#define QPC_NO_SQ                       FLD(0x8, 15, 15)
#define QPC_LOG_SQ_SIZE                 FLD(0x8, 14, 11)
#define QPC_DATA_IN_ORDER               FLD(0x8, 5, 5)
#define QPC_TS_FORMAT                   FLD(0x8, 7, 6)
#define QPC_RLKY                        FLD(0x8, 4, 4)
#define QPC_ULP_STATELESS_OFFLOAD_MODE  FLD(0x8, 3, 0)
#define QPC_COUNTER_SET_ID              FLD(0xc, 31, 24)
#define QPC_UAR_PAGE                    FLD(0xc, 23, 0)
#define QPC_USER_INDEX                  FLD(0x10, 23, 0)
#define QPC_LOG_PAGE_SIZE               FLD(0x14, 28, 24)
#define QPC_REMOTE_QPN                  FLD(0x14, 23, 0)
#define QPC_PRIMARY_PATH                FLD_PART(0x18)
#define QPC_SECONDARY_PATH              FLD_PART(0x44)
#define QPC_LOG_ACK_REQ_FREQ            FLD(0x70, 31, 28)
#define QPC_LOG_SRA_MAX                 FLD(0x70, 23, 21)
#define QPC_RETRY_COUNT                 FLD(0x70, 18, 16)
#define QPC_RNR_RETRY                   FLD(0x70, 15, 13)
#define QPC_FRE                         FLD(0x70, 11, 11)
#define QPC_CUR_RNR_RETRY               FLD(0x70, 10, 8)
#define QPC_CUR_RETRY_COUNT             FLD(0x70, 7, 5)
#define QPC_NEXT_SEND_PSN               FLD(0x78, 23, 0)
#define QPC_LOG_NUM_DCI_STREAM_CHANNELS FLD(0x7c, 28, 24)
#define QPC_CQN_SND                     FLD(0x7c, 23, 0)
#define QPC_LOG_NUM_DCI_ERRORED_STREAMS FLD(0x80, 28, 24)
#define QPC_DETH_SQPN                   FLD(0x80, 23, 0)
#define QPC_LAST_ACKED_PSN              FLD(0x88, 23, 0)
#define QPC_SSN                         FLD(0x8c, 23, 0)
#define QPC_LOG_RRA_MAX                 FLD(0x90, 23, 21)
#define QPC_ATOMIC_MODE                 FLD(0x90, 19, 16)
#define QPC_RRE                         FLD(0x90, 15, 15)
#define QPC_RWE                         FLD(0x90, 14, 14)
#define QPC_RAE                         FLD(0x90, 13, 13)
#define QPC_PAGE_OFFSET                 FLD(0x90, 11, 6)
#define QPC_DP_ORDERING_1               FLD(0x90, 3, 3)
#define QPC_CD_SLAVE_RECEIVE            FLD(0x90, 2, 2)
#define QPC_CD_SLAVE_SEND               FLD(0x90, 1, 1)
#define QPC_CD_MASTER                   FLD(0x90, 0, 0)
#define QPC_MIN_RNR_NAK                 FLD(0x94, 28, 24)
#define QPC_NEXT_RCV_PSN                FLD(0x94, 23, 0)
#define QPC_XRCD                        FLD(0x98, 23, 0)
#define QPC_CQN_RCV                     FLD(0x9c, 23, 0)
#define QPC_DBR_ADDR                    FLD64(0xa0)
#define QPC_Q_KEY                       FLD(0xa8, 31, 0)
#define QPC_RQ_TYPE                     FLD(0xac, 26, 24)
#define QPC_SRQN_RMPN_XRQN              FLD(0xac, 23, 0)
#define QPC_RMSN                        FLD(0xb0, 23, 0)
#define QPC_HW_SQ_WQEBB_COUNTER         FLD(0xb4, 31, 16)
#define QPC_SW_SQ_WQEBB_COUNTER         FLD(0xb4, 15, 0)
#define QPC_HW_RQ_COUNTER               FLD(0xb8, 31, 0)
#define QPC_SW_RQ_COUNTER               FLD(0xbc, 31, 0)
#define QPC_CGS                         FLD(0xc4, 16, 16)
#define QPC_CS_REQ                      FLD(0xc4, 15, 8)
#define QPC_CS_RES                      FLD(0xc4, 7, 0)
#define QPC_DC_ACCESS_KEY               FLD64(0xc8)
#define QPC_DBR_UMEM_VALID              FLD(0xd0, 28, 28)
#define QPC_DBR_UMEM_ID                 FLD(0xe4, 31, 0)

#define ADS_FL                          FLD(0x0, 31, 31)
#define ADS_FREE_AR                     FLD(0x0, 30, 30)
#define ADS_PKEY_INDEX                  FLD(0x0, 15, 0)
#define ADS_GRH                         FLD(0x4, 23, 23)
#define ADS_MLID                        FLD(0x4, 22, 16)
#define ADS_RLID                        FLD(0x4, 15, 0)
#define ADS_ACK_TIMEOUT                 FLD(0x8, 31, 27)
#define ADS_SRC_ADDR_INDEX              FLD(0x8, 23, 16)
#define ADS_STAT_RATE                   FLD(0x8, 11, 8)
#define ADS_HOP_LIMIT                   FLD(0x8, 7, 0)
#define ADS_TCLASS                      FLD(0xc, 27, 20)
#define ADS_FLOW_LABEL                  FLD(0xc, 19, 0)
#define ADS_RGID_RIP                    FLD_PART(0x10)
#define ADS_F_DSCP                      FLD(0x20, 27, 27)
#define ADS_F_ECN                       FLD(0x20, 26, 26)
#define ADS_F_ETH_PRIO                  FLD(0x20, 24, 24)
#define ADS_ECN                         FLD(0x20, 23, 22)
#define ADS_DSCP                        FLD(0x20, 21, 16)
#define ADS_UDP_SPORT                   FLD(0x20, 15, 0)
#define ADS_DEI_CFI                     FLD(0x24, 31, 31)
#define ADS_ETH_PRIO                    FLD(0x24, 30, 28)
#define ADS_SL                          FLD(0x24, 27, 24)
#define ADS_VHCA_PORT_NUM               FLD(0x24, 23, 16)
#define ADS_RMAC_47_32                  FLD(0x24, 15, 0)
#define ADS_RMAC_31_0                   FLD(0x28, 31, 0)

#endif
