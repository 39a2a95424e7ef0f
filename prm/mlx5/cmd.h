/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - layouts of PRM commands and contexts, their opcodes and statuses: facts only.
 *
 * tests/unit/softhca/test_ifc.c compares every line with the kernel's own description.
 */
#ifndef PRM_MLX5_CMD_H
#define PRM_MLX5_CMD_H

#include "util/fields.h"

/* Bytes of the fixed part of what the layouts below describe. */
enum {
	PRM_CMD_IN_SIZE = 16,
	PRM_CMD_OUT_SIZE = 16,
	PRM_QPC_SIZE = 232,
	PRM_CQC_SIZE = 64,
	PRM_EQC_SIZE = 64,
	PRM_MKC_SIZE = 64,
	PRM_HCA_CAP_SIZE = 4096, /* any capability page, as answered */
	PRM_HCA_VPORT_CONTEXT_SIZE = 512,
	PRM_ROCE_ADDR_SIZE = 32,
	PRM_CREATE_QP_IN_SIZE = 272, /* and PAs behind it */
	PRM_MODIFY_QP_IN_SIZE = 272,
	PRM_CREATE_CQ_IN_SIZE = 272,
	PRM_CREATE_EQ_IN_SIZE = 272,
	PRM_CREATE_MKEY_IN_SIZE = 272,
	PRM_EQE_SIZE = 64,
};

enum prm_opcode {
	PRM_OP_QUERY_HCA_CAP = 0x100,
	PRM_OP_QUERY_ADAPTER = 0x101,
	PRM_OP_CREATE_MKEY = 0x200,
	PRM_OP_QUERY_MKEY = 0x201,
	PRM_OP_DESTROY_MKEY = 0x202,
	PRM_OP_QUERY_SPECIAL_CONTEXTS = 0x203,
	PRM_OP_CREATE_EQ = 0x301,
	PRM_OP_DESTROY_EQ = 0x302,
	PRM_OP_QUERY_EQ = 0x303,
	PRM_OP_CREATE_CQ = 0x400,
	PRM_OP_DESTROY_CQ = 0x401,
	PRM_OP_QUERY_CQ = 0x402,
	PRM_OP_MODIFY_CQ = 0x403,
	PRM_OP_CREATE_QP = 0x500,
	PRM_OP_DESTROY_QP = 0x501,
	PRM_OP_RST2INIT_QP = 0x502,
	PRM_OP_INIT2RTR_QP = 0x503,
	PRM_OP_RTR2RTS_QP = 0x504,
	PRM_OP_RTS2RTS_QP = 0x505,
	PRM_OP_SQERR2RTS_QP = 0x506,
	PRM_OP_2ERR_QP = 0x507,
	PRM_OP_2RST_QP = 0x50a,
	PRM_OP_QUERY_QP = 0x50b,
	PRM_OP_SQD_RTS_QP = 0x50c,
	PRM_OP_INIT2INIT_QP = 0x50e,
	PRM_OP_QUERY_VPORT_STATE = 0x750,
	PRM_OP_QUERY_ROCE_ADDRESS = 0x760,
	PRM_OP_SET_ROCE_ADDRESS = 0x761,
	PRM_OP_QUERY_HCA_VPORT_CONTEXT = 0x762,
	PRM_OP_QUERY_HCA_VPORT_GID = 0x764,
	PRM_OP_QUERY_HCA_VPORT_PKEY = 0x765,
	PRM_OP_ALLOC_PD = 0x800,
	PRM_OP_DEALLOC_PD = 0x801,
	PRM_OP_ALLOC_UAR = 0x802,
	PRM_OP_DEALLOC_UAR = 0x803,
	PRM_OP_NOP = 0x80d,
	PRM_OP_ALLOC_TRANSPORT_DOMAIN = 0x816,
	PRM_OP_DEALLOC_TRANSPORT_DOMAIN = 0x817,
};

enum prm_status {
	PRM_STAT_OK = 0x0,
	PRM_STAT_INT_ERR = 0x1,
	PRM_STAT_BAD_OP_ERR = 0x2,
	PRM_STAT_BAD_PARAM_ERR = 0x3,
	PRM_STAT_BAD_SYS_STATE_ERR = 0x4,
	PRM_STAT_BAD_RES_ERR = 0x5,
	PRM_STAT_RES_BUSY = 0x6,
	PRM_STAT_LIM_ERR = 0x8,
	PRM_STAT_BAD_RES_STATE_ERR = 0x9,
	PRM_STAT_IX_ERR = 0xa,
	PRM_STAT_NO_RES_ERR = 0xf,
	PRM_STAT_BAD_QP_STATE_ERR = 0x10,
	PRM_STAT_BAD_INP_LEN_ERR = 0x50,
	PRM_STAT_BAD_OUTP_LEN_ERR = 0x51,
};

/* QUERY_HCA_CAP: which page; op_mod is the page << 1, plus 1 for the current instead of the maximal
 * value. */
enum prm_cap {
	PRM_CAP_GENERAL = 0,
	PRM_CAP_ETHERNET_OFFLOADS = 1,
	PRM_CAP_ODP = 2,
	PRM_CAP_ATOMIC = 3,
	PRM_CAP_ROCE = 4,
};

enum prm_qp_state {
	PRM_QP_STATE_RST = 0,
	PRM_QP_STATE_INIT = 1,
	PRM_QP_STATE_RTR = 2,
	PRM_QP_STATE_RTS = 3,
	PRM_QP_STATE_SQER = 4,
	PRM_QP_STATE_SQD = 5,
	PRM_QP_STATE_ERR = 6,
	PRM_QP_STATE_SQ_DRAINING = 7,
};

enum {
	PRM_QP_ST_RC = 0x0,
	PRM_QP_ST_UC = 0x1,
	PRM_QP_ST_UD = 0x2,
	PRM_QP_ST_XRC = 0x3,
	PRM_QP_ST_QP1 = 0x8,
	PRM_QP_PM_STATE_MIGRATED = 0x3,
};

enum prm_rq_type {
	PRM_RQ_TYPE_RQ = 0,
	PRM_RQ_TYPE_SRQ = 1,
	PRM_RQ_TYPE_ZERO_SIZE = 3,
};

enum prm_scatter_cqe { /* QPC cs_req, cs_res */
		       PRM_CS_DISABLE = 0x0,
		       PRM_CS_RES_32B = 0x1,
		       PRM_CS_RES_64B = 0x2,
		       PRM_CS_REQ_32B = 0x11,
		       PRM_CS_REQ_64B = 0x22,
};

enum prm_mkey_mode { /* MKC access_mode_1_0 */
		     PRM_MKEY_MODE_PA = 0x0,
		     PRM_MKEY_MODE_MTT = 0x1,
		     PRM_MKEY_MODE_KLMS = 0x2,
		     PRM_MKEY_MODE_KSM = 0x3,
};

/* opt_param_mask of the commands that change a QP */
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

/* MODIFY_CQ: op_mod 0 changes moderation, 1 resizes; the field select differs */
enum {
	PRM_MODIFY_CQ_PERIOD = 1 << 0,
	PRM_MODIFY_CQ_COUNT = 1 << 1,
	PRM_MODIFY_CQ_OVERRUN = 1 << 2,
	PRM_RESIZE_CQ_LOG_SIZE = 1 << 0,
	PRM_RESIZE_CQ_PG_OFFSET = 1 << 1,
	PRM_RESIZE_CQ_PG_SIZE = 1 << 2,
	PRM_MODIFY_CQ_OP_RESIZE = 1,
};

enum { /* ATOMIC_CAPS atomic_operations */
       PRM_ATOMIC_OPS_CS = 1 << 0,
       PRM_ATOMIC_OPS_FA = 1 << 1,
};

enum { /* CQC st, status; EQC st */
       PRM_CQC_ST_SOLICITED_ARMED = 0x6,
       PRM_CQC_ST_ARMED = 0x9,
       PRM_CQC_ST_FIRED = 0xa,
       PRM_CQC_STATUS_OK = 0x0,
       PRM_CQC_STATUS_OVERFLOW = 0x9,
       PRM_CQC_STATUS_WRITE_FAIL = 0xa,
};

/* Event queue entry: type at byte 1, sub_type at byte 3, data at 32..59, owner at 63 */
enum prm_event {
	PRM_EVENT_COMP = 0x00,     /* cqn at byte 56 */
	PRM_EVENT_PATH_MIG = 0x01, /* this and the other QP events: qpn at byte 56 */
	PRM_EVENT_COMM_EST = 0x02,
	PRM_EVENT_SQ_DRAINED = 0x03,
	PRM_EVENT_CQ_ERROR = 0x04, /* cqn at byte 32, syndrome at 43 */
	PRM_EVENT_WQ_CATAS_ERROR = 0x05,
	PRM_EVENT_PATH_MIG_FAILED = 0x07,
	PRM_EVENT_INTERNAL_ERROR = 0x08,
	PRM_EVENT_PORT_CHANGE = 0x09, /* port at byte 40, high nibble; sub_type 4 up, 1 down */
	PRM_EVENT_WQ_INVAL_REQ_ERROR = 0x10,
	PRM_EVENT_WQ_ACCESS_ERROR = 0x11,
	PRM_EVENT_SRQ_CATAS_ERROR = 0x12,
	PRM_EVENT_SRQ_LAST_WQE = 0x13,
	PRM_EVENT_SRQ_RQ_LIMIT = 0x14,
};

#define EQE_TYPE              FLD(0x0, 23, 16)
#define EQE_SUB_TYPE          FLD(0x0, 7, 0)
#define EQE_COMP_CQN          FLD(0x38, 23, 0)
#define EQE_QP_TYPE           FLD(0x34, 31, 24)
#define EQE_QPN               FLD(0x38, 23, 0)
#define EQE_CQ_ERROR_CQN      FLD(0x20, 23, 0)
#define EQE_CQ_ERROR_SYNDROME FLD(0x28, 7, 0)
#define EQE_PORT              FLD(0x28, 31, 28)
#define EQE_OWNER             FLD(0x3c, 0, 0)

enum {
	PRM_CQ_ERROR_OVERRUN = 0x1,
	PRM_CQ_ERROR_ACCESS = 0x2,
};

/* ---- layouts ---- */

/* Every command mailbox begins with these; ALLOC_PD stands for all of them. */
#define CMD_IN_OPCODE    FLD(0x0, 31, 16)
#define CMD_IN_UID       FLD(0x0, 15, 0)
#define CMD_IN_OP_MOD    FLD(0x4, 15, 0)

#define CMD_OUT_STATUS   FLD(0x0, 31, 24)
#define CMD_OUT_SYNDROME FLD(0x4, 31, 0)

/* QUERY_HCA_CAP, op_mod = capability type << 1 | (1: current, 0: maximum) */
#define QUERY_HCA_CAP_IN_OTHER_FUNCTION                       FLD(0x8, 31, 31)
#define QUERY_HCA_CAP_IN_FUNCTION_ID                          FLD(0x8, 15, 0)

#define QUERY_HCA_CAP_OUT_CAPABILITY                          FLD_PART(0x10)

#define HCA_CAP_VHCA_ID                                       FLD(0x4, 15, 0)
#define HCA_CAP_LOG_MAX_SRQ_SZ                                FLD(0x10, 31, 24)
#define HCA_CAP_LOG_MAX_QP_SZ                                 FLD(0x10, 23, 16)
#define HCA_CAP_EVENT_CAP                                     FLD(0x10, 15, 15)
#define HCA_CAP_LOG_MAX_QP                                    FLD(0x10, 4, 0)
#define HCA_CAP_LOG_MAX_SRQ                                   FLD(0x14, 20, 16)
#define HCA_CAP_MAX_SGL_FOR_OPTIMIZED_PERFORMANCE             FLD(0x18, 31, 24)
#define HCA_CAP_LOG_MAX_CQ_SZ                                 FLD(0x18, 23, 16)
#define HCA_CAP_RELAXED_ORDERING_WRITE                        FLD(0x1c, 23, 23)
#define HCA_CAP_RELAXED_ORDERING_READ                         FLD(0x1c, 22, 22)
#define HCA_CAP_LOG_MAX_CQ                                    FLD(0x18, 4, 0)
#define HCA_CAP_LOG_MAX_EQ_SZ                                 FLD(0x1c, 31, 24)
#define HCA_CAP_LOG_MAX_MKEY                                  FLD(0x1c, 21, 16)
#define HCA_CAP_LOG_MAX_EQ                                    FLD(0x1c, 3, 0)
#define HCA_CAP_MAX_INDIRECTION                               FLD(0x20, 31, 24)
#define HCA_CAP_FIXED_BUFFER_SIZE                             FLD(0x20, 23, 23)
#define HCA_CAP_LOG_MAX_MRW_SZ                                FLD(0x20, 22, 16)
#define HCA_CAP_LOG_MAX_KLM_LIST_SIZE                         FLD(0x20, 5, 0)
#define HCA_CAP_CQE_128_ALWAYS                                FLD(0xb4, 2, 2)
#define HCA_CAP_NULL_MKEY                                     FLD(0x20, 6, 6)
#define HCA_CAP_LOG_MAX_RA_REQ_QP                             FLD(0x28, 21, 16)
#define HCA_CAP_LOG_MAX_RA_RES_QP                             FLD(0x28, 5, 0)
#define HCA_CAP_END_PAD                                       FLD(0x2c, 31, 31)
#define HCA_CAP_START_PAD                                     FLD(0x2c, 28, 28)
#define HCA_CAP_CACHE_LINE_128BYTE                            FLD(0x2c, 27, 27)
#define HCA_CAP_GID_TABLE_SIZE                                FLD(0x2c, 15, 0)
#define HCA_CAP_MAX_QP_CNT                                    FLD(0x30, 25, 16)
#define HCA_CAP_PKEY_TABLE_SIZE                               FLD(0x30, 15, 0)
#define HCA_CAP_VPORT_GROUP_MANAGER                           FLD(0x34, 31, 31)
#define HCA_CAP_IB_VIRT                                       FLD(0x34, 29, 29)
#define HCA_CAP_ETH_VIRT                                      FLD(0x34, 28, 28)
#define HCA_CAP_ETS                                           FLD(0x34, 26, 26)
#define HCA_CAP_NIC_FLOW_TABLE                                FLD(0x34, 25, 25)
#define HCA_CAP_LOCAL_CA_ACK_DELAY                            FLD(0x34, 20, 16)
#define HCA_CAP_PORT_TYPE                                     FLD(0x34, 9, 8)
#define HCA_CAP_NUM_PORTS                                     FLD(0x34, 7, 0)
#define HCA_CAP_LOG_MAX_MSG                                   FLD(0x38, 28, 24)
#define HCA_CAP_MAX_TC                                        FLD(0x38, 19, 16)
#define HCA_CAP_STAT_RATE_SUPPORT                             FLD(0x3c, 31, 16)
#define HCA_CAP_CQE_VERSION                                   FLD(0x3c, 3, 0)
#define HCA_CAP_COMPACT_ADDRESS_VECTOR                        FLD(0x40, 31, 31)
#define HCA_CAP_STRIDING_RQ                                   FLD(0x40, 30, 30)
#define HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED               FLD(0x40, 24, 24)
#define HCA_CAP_UMR_MODIFY_ATOMIC_DISABLED                    FLD(0x40, 23, 23)
#define HCA_CAP_UMR_INDIRECT_MKEY_DISABLED                    FLD(0x40, 22, 22)
#define HCA_CAP_UMR_FENCE                                     FLD(0x40, 21, 20)
#define HCA_CAP_DRAIN_SIGERR                                  FLD(0x40, 16, 16)
#define HCA_CAP_CMDIF_CHECKSUM                                FLD(0x40, 15, 14)
#define HCA_CAP_SIGERR_CQE                                    FLD(0x40, 13, 13)
#define HCA_CAP_WQ_SIGNATURE                                  FLD(0x40, 11, 11)
#define HCA_CAP_SCTR_DATA_CQE                                 FLD(0x40, 10, 10)
#define HCA_CAP_QOS                                           FLD(0x40, 4, 4)
#define HCA_CAP_ETH_NET_OFFLOADS                              FLD(0x40, 3, 3)
#define HCA_CAP_ROCE                                          FLD(0x40, 2, 2)
#define HCA_CAP_ATOMIC                                        FLD(0x40, 1, 1)
#define HCA_CAP_CQ_OI                                         FLD(0x44, 31, 31)
#define HCA_CAP_CQ_RESIZE                                     FLD(0x44, 30, 30)
#define HCA_CAP_CQ_MODERATION                                 FLD(0x44, 29, 29)
#define HCA_CAP_CQ_EQ_REMAP                                   FLD(0x44, 25, 25)
#define HCA_CAP_PG                                            FLD(0x44, 24, 24)
#define HCA_CAP_BLOCK_LB_MC                                   FLD(0x44, 23, 23)
#define HCA_CAP_CQ_PERIOD_START_FROM_CQE                      FLD(0x44, 20, 20)
#define HCA_CAP_CD                                            FLD(0x44, 19, 19)
#define HCA_CAP_APM                                           FLD(0x44, 17, 17)
#define HCA_CAP_UMR_PTR_RLKY                                  FLD(0x44, 15, 15)
#define HCA_CAP_IMAICL                                        FLD(0x44, 14, 14)
#define HCA_CAP_QP_PACKET_BASED                               FLD(0x44, 13, 13)
#define HCA_CAP_QKV                                           FLD(0x44, 9, 9)
#define HCA_CAP_PKV                                           FLD(0x44, 8, 8)
#define HCA_CAP_SET_DETH_SQPN                                 FLD(0x44, 7, 7)
#define HCA_CAP_XRC                                           FLD(0x44, 3, 3)
#define HCA_CAP_UD                                            FLD(0x44, 2, 2)
#define HCA_CAP_UC                                            FLD(0x44, 1, 1)
#define HCA_CAP_RC                                            FLD(0x44, 0, 0)
#define HCA_CAP_UAR_4K                                        FLD(0x48, 31, 31)
#define HCA_CAP_UAR_SZ                                        FLD(0x48, 21, 16)
#define HCA_CAP_LOG_PG_SZ                                     FLD(0x48, 7, 0)
#define HCA_CAP_BF                                            FLD(0x4c, 31, 31)
#define HCA_CAP_DRIVER_VERSION                                FLD(0x4c, 30, 30)
#define HCA_CAP_LOG_BF_REG_SIZE                               FLD(0x4c, 20, 16)
#define HCA_CAP_MAX_WQE_SZ_SQ                                 FLD(0x50, 15, 0)
#define HCA_CAP_MAX_WQE_SZ_RQ                                 FLD(0x54, 15, 0)
#define HCA_CAP_MAX_WQE_SZ_SQ_DC                              FLD(0x58, 15, 0)
#define HCA_CAP_MAX_QP_MCG                                    FLD(0x5c, 24, 0)
#define HCA_CAP_LOG_MAX_MCG                                   FLD(0x60, 7, 0)
#define HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN                      FLD(0x64, 28, 24)
#define HCA_CAP_LOG_MAX_PD                                    FLD(0x64, 20, 16)
#define HCA_CAP_LOG_MAX_XRCD                                  FLD(0x64, 4, 0)
#define HCA_CAP_LOG_MAX_RQ                                    FLD(0x6c, 28, 24)
#define HCA_CAP_LOG_MAX_SQ                                    FLD(0x6c, 20, 16)
#define HCA_CAP_LOG_MAX_TIR                                   FLD(0x6c, 12, 8)
#define HCA_CAP_LOG_MAX_TIS                                   FLD(0x6c, 4, 0)
#define HCA_CAP_LOG_MAX_RMP                                   FLD(0x70, 28, 24)
#define HCA_CAP_LOG_MAX_RQT                                   FLD(0x70, 20, 16)
#define HCA_CAP_LOG_MAX_RQT_SIZE                              FLD(0x70, 12, 8)
#define HCA_CAP_LOG_MAX_STRIDE_SZ_RQ                          FLD(0x74, 28, 24)
#define HCA_CAP_LOG_MIN_STRIDE_SZ_RQ                          FLD(0x74, 20, 16)
#define HCA_CAP_LOG_MAX_STRIDE_SZ_SQ                          FLD(0x74, 12, 8)
#define HCA_CAP_LOG_MIN_STRIDE_SZ_SQ                          FLD(0x74, 4, 0)
#define HCA_CAP_LOG_MAX_WQ_SZ                                 FLD(0x78, 4, 0)
#define HCA_CAP_GENERAL_OBJ_TYPES                             FLD64(0x80)
#define HCA_CAP_LOG_MAX_UCTX                                  FLD(0x8c, 28, 24)
#define HCA_CAP_LOG_MAX_UMEM                                  FLD(0x8c, 20, 16)
#define HCA_CAP_MAX_NUM_EQS                                   FLD(0x8c, 15, 0)
#define HCA_CAP_LOG_UAR_PAGE_SZ                               FLD(0x90, 15, 0)
#define HCA_CAP_DEVICE_FREQUENCY_MHZ                          FLD(0x98, 31, 0)
#define HCA_CAP_DEVICE_FREQUENCY_KHZ                          FLD(0x9c, 31, 0)
#define HCA_CAP_NUM_OF_UARS_PER_PAGE                          FLD(0xa4, 31, 0)
#define HCA_CAP_SQ_TS_FORMAT                                  FLD(0x88, 31, 30)
#define HCA_CAP_RQ_TS_FORMAT                                  FLD(0x88, 29, 28)

#define ATOMIC_CAPS_ATOMIC_REQ_8B_ENDIANNESS_MODE             FLD(0x8, 31, 30)
#define ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1 FLD(0x8, 25, 25)
#define ATOMIC_CAPS_ATOMIC_OPERATIONS                         FLD(0x10, 15, 0)
#define ATOMIC_CAPS_ATOMIC_SIZE_QP                            FLD(0x14, 15, 0)
#define ATOMIC_CAPS_ATOMIC_SIZE_DC                            FLD(0x18, 15, 0)

#define ROCE_CAP_ROCE_APM                                     FLD(0x0, 31, 31)
#define ROCE_CAP_SW_R_ROCE_SRC_UDP_PORT                       FLD(0x0, 27, 27)
#define ROCE_CAP_QP_TS_FORMAT                                 FLD(0x0, 1, 0)
#define ROCE_CAP_L3_TYPE                                      FLD(0x10, 19, 16)
#define ROCE_CAP_ROCE_VERSION                                 FLD(0x10, 7, 0)
#define ROCE_CAP_R_ROCE_DEST_UDP_PORT                         FLD(0x14, 15, 0)
#define ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT                      FLD(0x18, 31, 16)
#define ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT                      FLD(0x18, 15, 0)
#define ROCE_CAP_ROCE_ADDRESS_TABLE_SIZE                      FLD(0x1c, 15, 0)

/* QUERY_ADAPTER */
#define QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT FLD_PART(0x10)

#define ADAPTER_IEEE_VENDOR_ID                 FLD(0x18, 23, 0)
#define ADAPTER_VSD_VENDOR_ID                  FLD(0x1c, 15, 0)
#define ADAPTER_VSD                            FLD_PART(0x20)
#define ADAPTER_VSD_CONTD_PSID                 FLD_PART(0xf0)

/* Numbered objects without a context */
#define ALLOC_UAR_OUT_UAR                            FLD(0x8, 23, 0)

#define DEALLOC_UAR_IN_UAR                           FLD(0x8, 23, 0)

#define ALLOC_PD_OUT_PD                              FLD(0x8, 23, 0)

#define DEALLOC_PD_IN_PD                             FLD(0x8, 23, 0)

#define ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN  FLD(0x8, 23, 0)

#define DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN FLD(0x8, 23, 0)

#define QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY    FLD(0x8, 31, 0)
#define QUERY_SPECIAL_CONTEXTS_OUT_RESD_LKEY         FLD(0xc, 31, 0)
#define QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY         FLD(0x10, 31, 0)

/* Memory keys */
#define CREATE_MKEY_IN_PG_ACCESS                        FLD(0xc, 31, 31)
#define CREATE_MKEY_IN_MKEY_UMEM_VALID                  FLD(0xc, 30, 30)
#define CREATE_MKEY_IN_MKC                              FLD_PART(0x10)
#define CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE FLD(0x60, 31, 0)
#define CREATE_MKEY_IN_PAS                              FLD_PART(0x110)

#define CREATE_MKEY_OUT_MKEY_INDEX                      FLD(0x8, 23, 0)

#define QUERY_MKEY_IN_MKEY_INDEX                        FLD(0x8, 23, 0)
#define QUERY_MKEY_IN_PG_ACCESS                         FLD(0xc, 31, 31)

#define QUERY_MKEY_OUT_MKC                              FLD_PART(0x10)

#define DESTROY_MKEY_IN_MKEY_INDEX                      FLD(0x8, 23, 0)

#define MKC_FREE                                        FLD(0x0, 30, 30)
#define MKC_ACCESS_MODE_4_2                             FLD(0x0, 28, 26)
#define MKC_RELAXED_ORDERING_WRITE                      FLD(0x0, 18, 18)
#define MKC_UMR_EN                                      FLD(0x0, 15, 15)
#define MKC_A                                           FLD(0x0, 14, 14)
#define MKC_RW                                          FLD(0x0, 13, 13)
#define MKC_RR                                          FLD(0x0, 12, 12)
#define MKC_LW                                          FLD(0x0, 11, 11)
#define MKC_LR                                          FLD(0x0, 10, 10)
#define MKC_ACCESS_MODE_1_0                             FLD(0x0, 9, 8)
#define MKC_MA_TRANSLATION_MODE                         FLD(0x0, 5, 4)
#define MKC_QPN                                         FLD(0x4, 31, 8)
#define MKC_MKEY_7_0                                    FLD(0x4, 7, 0)
#define MKC_LENGTH64                                    FLD(0xc, 31, 31)
#define MKC_BSF_EN                                      FLD(0xc, 30, 30)
#define MKC_EN_RINVAL                                   FLD(0xc, 24, 24)
#define MKC_PD                                          FLD(0xc, 23, 0)
#define MKC_START_ADDR                                  FLD64(0x10)
#define MKC_LEN                                         FLD64(0x18)
#define MKC_BSF_OCTWORD_SIZE                            FLD(0x20, 31, 0)
#define MKC_TRANSLATIONS_OCTWORD_SIZE                   FLD(0x34, 31, 0)
#define MKC_RELAXED_ORDERING_READ                       FLD(0x38, 6, 6)
#define MKC_LOG_PAGE_SIZE                               FLD(0x38, 4, 0)

/* Event queues */
#define CREATE_EQ_IN_EQC           FLD_PART(0x10)
#define CREATE_EQ_IN_EVENT_BITMASK FLD_PART(0x58)
#define CREATE_EQ_IN_PAS           FLD_PART(0x110)

#define CREATE_EQ_OUT_EQ_NUMBER    FLD(0x8, 7, 0)

#define DESTROY_EQ_IN_EQ_NUMBER    FLD(0x8, 7, 0)

#define QUERY_EQ_IN_EQ_NUMBER      FLD(0x8, 7, 0)

#define QUERY_EQ_OUT_EQC           FLD_PART(0x10)

#define EQC_STATUS                 FLD(0x0, 31, 28)
#define EQC_EC                     FLD(0x0, 18, 18)
#define EQC_OI                     FLD(0x0, 17, 17)
#define EQC_ST                     FLD(0x0, 11, 8)
#define EQC_PAGE_OFFSET            FLD(0x8, 11, 6)
#define EQC_LOG_EQ_SIZE            FLD(0xc, 28, 24)
#define EQC_UAR_PAGE               FLD(0xc, 23, 0)
#define EQC_INTR                   FLD(0x14, 11, 0)
#define EQC_LOG_PAGE_SIZE          FLD(0x18, 28, 24)
#define EQC_CONSUMER_COUNTER       FLD(0x28, 23, 0)
#define EQC_PRODUCER_COUNTER       FLD(0x2c, 23, 0)

/* Completion queues */
#define CREATE_CQ_IN_CQC             FLD_PART(0x10)
#define CREATE_CQ_IN_CQ_UMEM_VALID   FLD(0x5c, 31, 31)
#define CREATE_CQ_IN_PAS             FLD_PART(0x110)

#define CREATE_CQ_OUT_CQN            FLD(0x8, 23, 0)

#define DESTROY_CQ_IN_CQN            FLD(0x8, 23, 0)

#define QUERY_CQ_IN_CQN              FLD(0x8, 23, 0)

#define QUERY_CQ_OUT_CQC             FLD_PART(0x10)

#define MODIFY_CQ_IN_CQN             FLD(0x8, 23, 0)
#define MODIFY_CQ_IN_FIELD_SELECT    FLD(0xc, 31, 0)
#define MODIFY_CQ_IN_CQC             FLD_PART(0x10)
#define MODIFY_CQ_IN_CQ_UMEM_VALID   FLD(0x5c, 31, 31)
#define MODIFY_CQ_IN_PAS             FLD_PART(0x110)

#define CQC_STATUS                   FLD(0x0, 31, 28)
#define CQC_DBR_UMEM_VALID           FLD(0x0, 25, 25)
#define CQC_CQE_SZ                   FLD(0x0, 23, 21)
#define CQC_CC                       FLD(0x0, 20, 20)
#define CQC_SCQE_BREAK_MODERATION_EN FLD(0x0, 18, 18)
#define CQC_OI                       FLD(0x0, 17, 17)
#define CQC_CQ_PERIOD_MODE           FLD(0x0, 16, 15)
#define CQC_CQE_COMP_EN              FLD(0x0, 14, 14)
#define CQC_MINI_CQE_RES_FORMAT      FLD(0x0, 13, 12)
#define CQC_ST                       FLD(0x0, 11, 8)
#define CQC_PAGE_OFFSET              FLD(0x8, 11, 6)
#define CQC_LOG_CQ_SIZE              FLD(0xc, 28, 24)
#define CQC_UAR_PAGE                 FLD(0xc, 23, 0)
#define CQC_CQ_PERIOD                FLD(0x10, 27, 16)
#define CQC_CQ_MAX_COUNT             FLD(0x10, 15, 0)
#define CQC_C_EQN                    FLD(0x14, 31, 0)
#define CQC_LOG_PAGE_SIZE            FLD(0x18, 28, 24)
#define CQC_LAST_NOTIFIED_INDEX      FLD(0x20, 23, 0)
#define CQC_LAST_SOLICIT_INDEX       FLD(0x24, 23, 0)
#define CQC_CONSUMER_COUNTER         FLD(0x28, 23, 0)
#define CQC_PRODUCER_COUNTER         FLD(0x2c, 23, 0)
#define CQC_DBR_ADDR                 FLD64(0x38)

/* Queue pairs; all commands that change the state of a QP share the layout of RST2INIT */
#define CREATE_QP_IN_INPUT_QPN         FLD(0x8, 23, 0)
#define CREATE_QP_IN_OPT_PARAM_MASK    FLD(0x10, 31, 0)
#define CREATE_QP_IN_ECE               FLD(0x14, 31, 0)
#define CREATE_QP_IN_QPC               FLD_PART(0x18)
#define CREATE_QP_IN_WQ_UMEM_VALID     FLD(0x10c, 31, 31)
#define CREATE_QP_IN_PAS               FLD_PART(0x110)

#define CREATE_QP_OUT_QPN              FLD(0x8, 23, 0)
#define CREATE_QP_OUT_ECE              FLD(0xc, 31, 0)

#define DESTROY_QP_IN_QPN              FLD(0x8, 23, 0)

#define MODIFY_QP_IN_QPN               FLD(0x8, 23, 0)
#define MODIFY_QP_IN_OPT_PARAM_MASK    FLD(0x10, 31, 0)
#define MODIFY_QP_IN_ECE               FLD(0x14, 31, 0)
#define MODIFY_QP_IN_QPC               FLD_PART(0x18)

#define QUERY_QP_IN_QPN                FLD(0x8, 23, 0)

#define QUERY_QP_OUT_OPT_PARAM_MASK    FLD(0x10, 31, 0)
#define QUERY_QP_OUT_ECE               FLD(0x14, 31, 0)
#define QUERY_QP_OUT_QPC               FLD_PART(0x18)
#define QUERY_QP_OUT_PAS               FLD_PART(0x110)

#define QPC_STATE                      FLD(0x0, 31, 28)
#define QPC_LAG_TX_PORT_AFFINITY       FLD(0x0, 27, 24)
#define QPC_ST                         FLD(0x0, 23, 16)
#define QPC_ISOLATE_VL_TC              FLD(0x0, 13, 13)
#define QPC_PM_STATE                   FLD(0x0, 12, 11)
#define QPC_REQ_E2E_CREDIT_MODE        FLD(0x0, 9, 8)
#define QPC_OFFLOAD_TYPE               FLD(0x0, 7, 4)
#define QPC_END_PADDING_MODE           FLD(0x0, 3, 2)
#define QPC_WQ_SIGNATURE               FLD(0x4, 31, 31)
#define QPC_BLOCK_LB_MC                FLD(0x4, 30, 30)
#define QPC_ATOMIC_LIKE_WRITE_EN       FLD(0x4, 29, 29)
#define QPC_LATENCY_SENSITIVE          FLD(0x4, 28, 28)
#define QPC_DRAIN_SIGERR               FLD(0x4, 26, 26)
#define QPC_PD                         FLD(0x4, 23, 0)
#define QPC_MTU                        FLD(0x8, 31, 29)
#define QPC_LOG_MSG_MAX                FLD(0x8, 28, 24)
#define QPC_LOG_RQ_SIZE                FLD(0x8, 22, 19)
#define QPC_LOG_RQ_STRIDE              FLD(0x8, 18, 16)
#define QPC_NO_SQ                      FLD(0x8, 15, 15)
#define QPC_LOG_SQ_SIZE                FLD(0x8, 14, 11)
#define QPC_TS_FORMAT                  FLD(0x8, 7, 6)
#define QPC_RLKY                       FLD(0x8, 4, 4)
#define QPC_ULP_STATELESS_OFFLOAD_MODE FLD(0x8, 3, 0)
#define QPC_COUNTER_SET_ID             FLD(0xc, 31, 24)
#define QPC_UAR_PAGE                   FLD(0xc, 23, 0)
#define QPC_USER_INDEX                 FLD(0x10, 23, 0)
#define QPC_LOG_PAGE_SIZE              FLD(0x14, 28, 24)
#define QPC_REMOTE_QPN                 FLD(0x14, 23, 0)
#define QPC_PRIMARY_PATH               FLD_PART(0x18)
#define QPC_SECONDARY_PATH             FLD_PART(0x44)
#define QPC_LOG_ACK_REQ_FREQ           FLD(0x70, 31, 28)
#define QPC_LOG_SRA_MAX                FLD(0x70, 23, 21)
#define QPC_RETRY_COUNT                FLD(0x70, 18, 16)
#define QPC_RNR_RETRY                  FLD(0x70, 15, 13)
#define QPC_FRE                        FLD(0x70, 11, 11)
#define QPC_CUR_RNR_RETRY              FLD(0x70, 10, 8)
#define QPC_CUR_RETRY_COUNT            FLD(0x70, 7, 5)
#define QPC_NEXT_SEND_PSN              FLD(0x78, 23, 0)
#define QPC_CQN_SND                    FLD(0x7c, 23, 0)
#define QPC_DETH_SQPN                  FLD(0x80, 23, 0)
#define QPC_LAST_ACKED_PSN             FLD(0x88, 23, 0)
#define QPC_SSN                        FLD(0x8c, 23, 0)
#define QPC_LOG_RRA_MAX                FLD(0x90, 23, 21)
#define QPC_ATOMIC_MODE                FLD(0x90, 19, 16)
#define QPC_RRE                        FLD(0x90, 15, 15)
#define QPC_RWE                        FLD(0x90, 14, 14)
#define QPC_RAE                        FLD(0x90, 13, 13)
#define QPC_PAGE_OFFSET                FLD(0x90, 11, 6)
#define QPC_CD_SLAVE_RECEIVE           FLD(0x90, 2, 2)
#define QPC_CD_SLAVE_SEND              FLD(0x90, 1, 1)
#define QPC_CD_MASTER                  FLD(0x90, 0, 0)
#define QPC_MIN_RNR_NAK                FLD(0x94, 28, 24)
#define QPC_NEXT_RCV_PSN               FLD(0x94, 23, 0)
#define QPC_XRCD                       FLD(0x98, 23, 0)
#define QPC_CQN_RCV                    FLD(0x9c, 23, 0)
#define QPC_DBR_ADDR                   FLD64(0xa0)
#define QPC_Q_KEY                      FLD(0xa8, 31, 0)
#define QPC_RQ_TYPE                    FLD(0xac, 26, 24)
#define QPC_SRQN_RMPN_XRQN             FLD(0xac, 23, 0)
#define QPC_RMSN                       FLD(0xb0, 23, 0)
#define QPC_HW_SQ_WQEBB_COUNTER        FLD(0xb4, 31, 16)
#define QPC_SW_SQ_WQEBB_COUNTER        FLD(0xb4, 15, 0)
#define QPC_HW_RQ_COUNTER              FLD(0xb8, 31, 0)
#define QPC_SW_RQ_COUNTER              FLD(0xbc, 31, 0)
#define QPC_CGS                        FLD(0xc4, 16, 16)
#define QPC_CS_REQ                     FLD(0xc4, 15, 8)
#define QPC_CS_RES                     FLD(0xc4, 7, 0)
#define QPC_DC_ACCESS_KEY              FLD64(0xc8)
#define QPC_DBR_UMEM_VALID             FLD(0xd0, 28, 28)

#define ADS_FL                         FLD(0x0, 31, 31)
#define ADS_FREE_AR                    FLD(0x0, 30, 30)
#define ADS_PKEY_INDEX                 FLD(0x0, 15, 0)
#define ADS_GRH                        FLD(0x4, 23, 23)
#define ADS_MLID                       FLD(0x4, 22, 16)
#define ADS_RLID                       FLD(0x4, 15, 0)
#define ADS_ACK_TIMEOUT                FLD(0x8, 31, 27)
#define ADS_SRC_ADDR_INDEX             FLD(0x8, 23, 16)
#define ADS_STAT_RATE                  FLD(0x8, 11, 8)
#define ADS_HOP_LIMIT                  FLD(0x8, 7, 0)
#define ADS_TCLASS                     FLD(0xc, 27, 20)
#define ADS_FLOW_LABEL                 FLD(0xc, 19, 0)
#define ADS_RGID_RIP                   FLD_PART(0x10)
#define ADS_F_DSCP                     FLD(0x20, 27, 27)
#define ADS_F_ECN                      FLD(0x20, 26, 26)
#define ADS_F_ETH_PRIO                 FLD(0x20, 24, 24)
#define ADS_ECN                        FLD(0x20, 23, 22)
#define ADS_DSCP                       FLD(0x20, 21, 16)
#define ADS_UDP_SPORT                  FLD(0x20, 15, 0)
#define ADS_DEI_CFI                    FLD(0x24, 31, 31)
#define ADS_ETH_PRIO                   FLD(0x24, 30, 28)
#define ADS_SL                         FLD(0x24, 27, 24)
#define ADS_VHCA_PORT_NUM              FLD(0x24, 23, 16)
#define ADS_RMAC_47_32                 FLD(0x24, 15, 0)
#define ADS_RMAC_31_0                  FLD(0x28, 31, 0)

/* Ports */
#define QUERY_HCA_VPORT_CONTEXT_IN_OTHER_VPORT        FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM           FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_CONTEXT_IN_VPORT_NUMBER       FLD(0x8, 15, 0)

#define QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT FLD_PART(0x10)

#define HCA_VPORT_CONTEXT_FIELD_SELECT                FLD(0x0, 31, 0)
#define HCA_VPORT_CONTEXT_SM_VIRT_AWARE               FLD(0x20, 31, 31)
#define HCA_VPORT_CONTEXT_HAS_SMI                     FLD(0x20, 30, 30)
#define HCA_VPORT_CONTEXT_HAS_RAW                     FLD(0x20, 29, 29)
#define HCA_VPORT_CONTEXT_GRH_REQUIRED                FLD(0x20, 28, 28)
#define HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE         FLD(0x20, 15, 12)
#define HCA_VPORT_CONTEXT_VPORT_STATE_POLICY          FLD(0x20, 11, 8)
#define HCA_VPORT_CONTEXT_PORT_STATE                  FLD(0x20, 7, 4)
#define HCA_VPORT_CONTEXT_VPORT_STATE                 FLD(0x20, 3, 0)
#define HCA_VPORT_CONTEXT_SYSTEM_IMAGE_GUID           FLD64(0x28)
#define HCA_VPORT_CONTEXT_PORT_GUID                   FLD64(0x30)
#define HCA_VPORT_CONTEXT_NODE_GUID                   FLD64(0x38)
#define HCA_VPORT_CONTEXT_CAP_MASK1                   FLD(0x40, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT      FLD(0x44, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK2                   FLD(0x48, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK2_FIELD_SELECT      FLD(0x4c, 31, 0)
#define HCA_VPORT_CONTEXT_LID                         FLD(0x60, 31, 16)
#define HCA_VPORT_CONTEXT_INIT_TYPE_REPLY             FLD(0x60, 11, 8)
#define HCA_VPORT_CONTEXT_LMC                         FLD(0x60, 7, 5)
#define HCA_VPORT_CONTEXT_SUBNET_TIMEOUT              FLD(0x60, 4, 0)
#define HCA_VPORT_CONTEXT_SM_LID                      FLD(0x64, 31, 16)
#define HCA_VPORT_CONTEXT_SM_SL                       FLD(0x64, 15, 12)
#define HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER      FLD(0x68, 31, 16)
#define HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER      FLD(0x68, 15, 0)

#define QUERY_HCA_VPORT_GID_IN_OTHER_VPORT            FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_GID_IN_PORT_NUM               FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_GID_IN_VPORT_NUMBER           FLD(0x8, 15, 0)
#define QUERY_HCA_VPORT_GID_IN_GID_INDEX              FLD(0xc, 15, 0)

#define QUERY_HCA_VPORT_GID_OUT_GIDS_NUM              FLD(0xc, 31, 16)
#define QUERY_HCA_VPORT_GID_OUT_GID                   FLD_PART(0x10)

#define QUERY_HCA_VPORT_PKEY_IN_OTHER_VPORT           FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_PKEY_IN_PORT_NUM              FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_PKEY_IN_VPORT_NUMBER          FLD(0x8, 15, 0)
#define QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX            FLD(0xc, 15, 0)

#define QUERY_HCA_VPORT_PKEY_OUT_PKEY                 FLD_PART(0x10)

#define PKEY_PKEY                                     FLD(0x0, 15, 0)

#define QUERY_VPORT_STATE_IN_OTHER_VPORT              FLD(0x8, 31, 31)
#define QUERY_VPORT_STATE_IN_VPORT_NUMBER             FLD(0x8, 15, 0)

#define QUERY_VPORT_STATE_OUT_ADMIN_STATE             FLD(0xc, 7, 4)
#define QUERY_VPORT_STATE_OUT_STATE                   FLD(0xc, 3, 0)

#define SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX        FLD(0x8, 31, 16)
#define SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM             FLD(0x8, 3, 0)
#define SET_ROCE_ADDRESS_IN_ROCE_ADDRESS              FLD_PART(0x10)

#define QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX      FLD(0x8, 31, 16)
#define QUERY_ROCE_ADDRESS_IN_VHCA_PORT_NUM           FLD(0x8, 3, 0)

#define QUERY_ROCE_ADDRESS_OUT_ROCE_ADDRESS           FLD_PART(0x10)

#define ROCE_ADDR_SOURCE_L3_ADDRESS                   FLD_PART(0x0)
#define ROCE_ADDR_VLAN_VALID                          FLD(0x10, 28, 28)
#define ROCE_ADDR_VLAN_ID                             FLD(0x10, 27, 16)
#define ROCE_ADDR_SOURCE_MAC_47_32                    FLD(0x10, 15, 0)
#define ROCE_ADDR_SOURCE_MAC_31_0                     FLD(0x14, 31, 0)
#define ROCE_ADDR_ROCE_L3_TYPE                        FLD(0x18, 11, 8)
#define ROCE_ADDR_ROCE_VERSION                        FLD(0x18, 7, 0)

#endif
