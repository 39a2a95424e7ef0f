/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srqc.h - shared receive queues: XRC SRQs, RMPs and XRQs, which do tag matching.
 *
 * Linux' driver creates a basic SRQ as an RMP, and an SRQ of an XRC domain as an XRC SRQ.
 */
#ifndef PRM_MLX5_SRQC_H
#define PRM_MLX5_SRQC_H

#include "util/fields.h"

enum {
	PRM_XRC_SRQC_SIZE = 64,
	PRM_RMPC_SIZE = 240,
	PRM_SRQ_CONTEXT_MAX = 320,        /* of an XRQ */
	PRM_CREATE_XRC_SRQ_IN_SIZE = 272, /* and PAs behind it */
	PRM_CREATE_RMP_IN_SIZE = 272,
	PRM_MODIFY_RMP_IN_SIZE = 272,
	PRM_QUERY_RMP_OUT_SIZE = 272,
	PRM_QUERY_XRC_SRQ_OUT_SIZE = 272, /* and PAs behind it */
	PRM_XRQC_SIZE = 320,
	PRM_CREATE_XRQ_IN_SIZE = 16 + PRM_XRQC_SIZE, /* and PAs behind it */
	PRM_QUERY_XRQ_OUT_SIZE = 16 + PRM_XRQC_SIZE,
};

enum {
	PRM_XRC_SRQC_STATE_GOOD = 0,
	PRM_XRC_SRQC_STATE_ERROR = 1,
	PRM_ARM_XRC_SRQ = 1, /* op_mod */
	PRM_RMPC_STATE_RDY = 1,
	PRM_RMPC_STATE_ERR = 3,
};

enum {
	PRM_XRQC_TOPOLOGY_TAG_MATCHING = 1,
	PRM_XRQC_OFFLOAD_RNDV = 1,
	PRM_XRQC_STATE_GOOD = 0,
	PRM_XRQC_STATE_ERROR = 1,
	PRM_ARM_RQ_XRQ = 2, /* op_mod */
};

/* Number and page list have the same offsets in the commands of all kinds of SRQ, so one set of
 * names serves them. */
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

#define MODIFY_RMP_IN_RMP_STATE                 FLD(0x8, 31, 28)
#define MODIFY_RMP_IN_RMPN                      FLD(0x8, 23, 0)
#define MODIFY_RMP_IN_BITMASK_LWM               FLD(0x14, 0, 0)
#define MODIFY_RMP_IN_CTX                       FLD_PART(0x20)
#define QUERY_RMP_IN_RMPN                       FLD(0x8, 23, 0)
#define QUERY_RMP_OUT_RMP_CONTEXT               FLD_PART(0x20)
#define RMPC_STATE                              FLD(0x0, 23, 20)
#define RMPC_BASIC_CYCLIC_RCV_WQE               FLD(0x4, 31, 31)

#define ARM_XRC_SRQ_IN_XRC_SRQN                 FLD(0x8, 23, 0)
#define ARM_XRC_SRQ_IN_LWM                      FLD(0xc, 15, 0)
#define QUERY_XRC_SRQ_IN_XRC_SRQN               FLD(0x8, 23, 0)
#define QUERY_XRC_SRQ_OUT_XRC_SRQ_CONTEXT_ENTRY FLD_PART(0x10)
#define XRC_SRQC_STATE                          FLD(0x0, 31, 28)
#define XRC_SRQC_WQ_SIGNATURE                   FLD(0x4, 31, 31)
#define XRC_SRQC_USER_INDEX                     FLD(0x10, 23, 0)
#define XRC_SRQC_LWM                            FLD(0x1c, 31, 16)
#define XRC_SRQC_WQE_CNT                        FLD(0x1c, 15, 0)

#define XRC_SRQC_BASIC_CYCLIC_RCV_WQE           FLD(0x4, 27, 27)
#define XRC_SRQC_DBR_UMEM_VALID                 FLD(0x8, 24, 24)
#define XRC_SRQC_DBR_UMEM_ID                    FLD(0x14, 31, 0)
#define CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_OFFSET   FLD64(0x50)
#define CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_ID       FLD(0x58, 31, 0)
#define CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_VALID    FLD(0x5c, 31, 31)

#define CREATE_XRQ_IN_XRQ_CONTEXT               FLD_PART(0x10)
#define CREATE_XRQ_IN_PAS                       FLD_PART(0x150)
#define CREATE_XRQ_OUT_XRQN                     FLD(0x8, 23, 0)
#define DESTROY_XRQ_IN_XRQN                     FLD(0x8, 23, 0)
#define QUERY_XRQ_IN_XRQN                       FLD(0x8, 23, 0)
#define QUERY_XRQ_OUT_XRQ_CONTEXT               FLD_PART(0x10)
#define ARM_RQ_IN_SRQ_NUMBER                    FLD(0x8, 23, 0)
#define ARM_RQ_IN_LWM                           FLD(0xc, 15, 0)

#define XRQC_STATE                              FLD(0x0, 31, 28)
#define XRQC_TOPOLOGY                           FLD(0x0, 11, 8)
#define XRQC_OFFLOAD                            FLD(0x0, 3, 0)
#define XRQC_USER_INDEX                         FLD(0x4, 23, 0)
#define XRQC_CQN                                FLD(0x8, 23, 0)
#define XRQC_LOG_MATCHING_LIST_SZ               FLD(0x20, 31, 28)
#define XRQC_APPEND_NEXT_INDEX                  FLD(0x20, 15, 0)
#define XRQC_SW_PHASE_CNT                       FLD(0x24, 31, 16)
#define XRQC_HW_PHASE_CNT                       FLD(0x24, 15, 0)
#define XRQC_WQ                                 FLD_PART(0x80)

#endif
