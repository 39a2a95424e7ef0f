/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - commands and registers between a kernel driver and the adapter: facts only.
 *
 * What concerns start, stop and event queues; notation as in cmd.h, where the commands stand
 * that software of any kind uses.
 */
#ifndef PRM_MLX5_DRIVER_H
#define PRM_MLX5_DRIVER_H

#include "prm/mlx5/cmd.h"

enum prm_driver_opcode {
	PRM_OP_INIT_HCA = 0x102,
	PRM_OP_TEARDOWN_HCA = 0x103,
	PRM_OP_ENABLE_HCA = 0x104,
	PRM_OP_DISABLE_HCA = 0x105,
	PRM_OP_QUERY_PAGES = 0x107,
	PRM_OP_MANAGE_PAGES = 0x108,
	PRM_OP_SET_HCA_CAP = 0x109,
	PRM_OP_QUERY_ISSI = 0x10a,
	PRM_OP_SET_ISSI = 0x10b,
	PRM_OP_CREATE_XRC_SRQ = 0x705,
	PRM_OP_DESTROY_XRC_SRQ = 0x706,
	PRM_OP_MODIFY_HCA_VPORT_CONTEXT = 0x763,
	PRM_OP_ACCESS_REG = 0x805,
	PRM_OP_ALLOC_XRCD = 0x80e,
	PRM_OP_DEALLOC_XRCD = 0x80f,
	PRM_OP_CREATE_RMP = 0x90c,
	PRM_OP_DESTROY_RMP = 0x90e,
};

enum {
	PRM_PAGES_BOOT = 1, /* QUERY_PAGES op_mod */
	PRM_PAGES_INIT = 2,
	PRM_PAGES_REGULAR = 3,
	PRM_PAGES_CANNOT_GIVE = 0, /* MANAGE_PAGES op_mod */
	PRM_PAGES_GIVE = 1,
	PRM_PAGES_TAKE = 2,
	PRM_EVENT_COMMAND = 0x0a,
	PRM_EVENT_PAGE_REQUEST = 0x0b,
	PRM_EQ_ARM = 0x40, /* in the UAR page */
	PRM_EQ_UPDATE = 0x48,
};

enum {
	PRM_XRC_SRQC_SIZE = 64,
	PRM_RMPC_SIZE = 240,
	PRM_SRQ_CONTEXT_MAX = 320,        /* of an XRQ */
	PRM_CREATE_XRC_SRQ_IN_SIZE = 272, /* and PAs behind it */
	PRM_CREATE_RMP_IN_SIZE = 272,
	PRM_QP_ST_QP0 = 0x7,
	PRM_QP_ST_REG_UMR = 0xc,
};

enum prm_register {
	PRM_REG_PMTU = 0x5003,
	PRM_REG_PTYS = 0x5004,
	PRM_REG_PVLC = 0x500f,
	PRM_REG_NODE_DESC = 0x6001,
	PRM_REG_HOST_ENDIANNESS = 0x7004,
	PRM_REG_DTOR = 0xc00e, /* default timeouts */
};

#define QUERY_PAGES_OUT_NUM_PAGES                     FLD(0xc, 31, 0)
#define MANAGE_PAGES_IN_INPUT_NUM_ENTRIES             FLD(0xc, 31, 0)
#define MANAGE_PAGES_IN_PAS                           FLD_PART(0x10)
#define MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES           FLD(0x8, 31, 0)
#define MANAGE_PAGES_OUT_PAS                          FLD_PART(0x10)

#define QUERY_ISSI_OUT_CURRENT_ISSI                   FLD(0x8, 15, 0)
#define QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0             FLD(0x6c, 31, 0)
#define SET_ISSI_IN_CURRENT_ISSI                      FLD(0x8, 15, 0)
#define SET_HCA_CAP_IN_CAPABILITY                     FLD_PART(0x10)
#define TEARDOWN_HCA_IN_PROFILE                       FLD(0x8, 15, 0)

#define ACCESS_REGISTER_IN_REGISTER_ID                FLD(0x8, 15, 0)
#define ACCESS_REGISTER_IN_REGISTER_DATA              FLD_PART(0x10)
#define ACCESS_REGISTER_OUT_REGISTER_DATA             FLD_PART(0x10)

#define PTYS_REG_LOCAL_PORT                           FLD(0x0, 23, 16)
#define PTYS_REG_PROTO_MASK                           FLD(0x0, 2, 0)
#define PTYS_REG_IB_LINK_WIDTH_CAPABILITY             FLD(0x10, 31, 16)
#define PTYS_REG_IB_PROTO_CAPABILITY                  FLD(0x10, 15, 0)
#define PTYS_REG_IB_LINK_WIDTH_OPER                   FLD(0x28, 31, 16)
#define PTYS_REG_IB_PROTO_OPER                        FLD(0x28, 15, 0)
#define PMTU_REG_LOCAL_PORT                           FLD(0x0, 23, 16)
#define PMTU_REG_MAX_MTU                              FLD(0x4, 31, 16)
#define PMTU_REG_ADMIN_MTU                            FLD(0x8, 31, 16)
#define PMTU_REG_OPER_MTU                             FLD(0xc, 31, 16)
#define PVLC_REG_LOCAL_PORT                           FLD(0x0, 23, 16)
#define PVLC_REG_VL_HW_CAP                            FLD(0x4, 3, 0)
#define PVLC_REG_VL_OPERATIONAL                       FLD(0xc, 3, 0)

#define MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT FLD_PART(0x10)
/* Milliseconds, while the multiplier in bits 31:29 is 0 */
#define DTOR_REG_PCIE_TOGGLE_TO       FLD(0x4, 19, 0)
#define DTOR_REG_HEALTH_POLL_TO       FLD(0x14, 19, 0)
#define DTOR_REG_FULL_CRDUMP_TO       FLD(0x18, 19, 0)
#define DTOR_REG_FW_RESET_TO          FLD(0x1c, 19, 0)
#define DTOR_REG_FLUSH_ON_ERR_TO      FLD(0x20, 19, 0)
#define DTOR_REG_PCI_SYNC_UPDATE_TO   FLD(0x24, 19, 0)
#define DTOR_REG_TEAR_DOWN_TO         FLD(0x28, 19, 0)
#define DTOR_REG_FSM_REACTIVATE_TO    FLD(0x2c, 19, 0)
#define DTOR_REG_RECLAIM_PAGES_TO     FLD(0x30, 19, 0)
#define DTOR_REG_RECLAIM_VFS_PAGES_TO FLD(0x34, 19, 0)

#define ALLOC_XRCD_OUT_XRCD           FLD(0x8, 23, 0)
#define DEALLOC_XRCD_IN_XRCD          FLD(0x8, 23, 0)

/* Number and page list have the same place in the commands of all kinds of SRQ. */
#define CREATE_SRQ_OUT_SRQN                     FLD(0x8, 23, 0)
#define CREATE_SRQ_IN_PAS                       FLD_PART(0x110)
#define DESTROY_SRQ_IN_SRQN                     FLD(0x8, 23, 0)

#define CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY FLD_PART(0x10)
#define XRC_SRQC_LOG_XRC_SRQ_SIZE               FLD(0x0, 27, 24)
#define XRC_SRQC_LOG_RQ_STRIDE                  FLD(0x4, 26, 24)
#define XRC_SRQC_XRCD                           FLD(0x4, 23, 0)
#define XRC_SRQC_PAGE_OFFSET                    FLD(0x8, 31, 26)
#define XRC_SRQC_CQN                            FLD(0x8, 23, 0)
#define XRC_SRQC_LOG_PAGE_SIZE                  FLD(0x10, 29, 24)
#define XRC_SRQC_PD                             FLD(0x18, 23, 0)
#define XRC_SRQC_DBR_ADDR                       FLD64(0x28)

#define CREATE_RMP_IN_CTX                       FLD_PART(0x20)
#define RMPC_WQ                                 FLD_PART(0x30)
#define WQ_PAGE_OFFSET                          FLD(0x4, 20, 16)
#define WQ_PD                                   FLD(0x8, 23, 0)
#define WQ_DBR_ADDR                             FLD64(0x10)
#define WQ_LOG_WQ_STRIDE                        FLD(0x20, 19, 16)
#define WQ_LOG_WQ_PG_SZ                         FLD(0x20, 12, 8)
#define WQ_LOG_WQ_SZ                            FLD(0x20, 4, 0)

#define EQE_PAGE_REQUEST_NUM_PAGES              FLD(0x24, 31, 0) /* signed */
#define EQE_COMMAND_VECTOR                      FLD(0x20, 31, 0)

#endif
