/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - commands on shared receive queues and on multicast groups: facts only.
 *
 * What follows creation; how they are created stands in driver.h, notation as in cmd.h. A
 * basic SRQ is an RMP, one of an XRC domain an XRC SRQ: that is how Linux' driver makes them.
 */
#ifndef PRM_MLX5_SRQ_H
#define PRM_MLX5_SRQ_H

#include "prm/mlx5/driver.h"

enum prm_srq_opcode {
	PRM_OP_QUERY_XRC_SRQ = 0x707,
	PRM_OP_ARM_XRC_SRQ = 0x708,
	PRM_OP_ATTACH_TO_MCG = 0x806,
	PRM_OP_DETACH_FROM_MCG = 0x807,
	PRM_OP_MODIFY_RMP = 0x90d,
	PRM_OP_QUERY_RMP = 0x90f,
};

enum {
	PRM_XRC_SRQC_STATE_GOOD = 0,
	PRM_XRC_SRQC_STATE_ERROR = 1,
	PRM_ARM_XRC_SRQ = 1, /* op_mod */
	PRM_RMPC_STATE_RDY = 1,
	PRM_RMPC_STATE_ERR = 3,
	PRM_MODIFY_RMP_IN_SIZE = 272,
	PRM_QUERY_RMP_OUT_SIZE = 272,
	PRM_QUERY_XRC_SRQ_OUT_SIZE = 272, /* and PAs behind it */
	PRM_MCG_IN_SIZE = 32,
};

#define MODIFY_RMP_IN_RMP_STATE                 FLD(0x8, 31, 28)
#define MODIFY_RMP_IN_RMPN                      FLD(0x8, 23, 0)
#define MODIFY_RMP_IN_BITMASK_LWM               FLD(0x14, 0, 0)
#define MODIFY_RMP_IN_CTX                       FLD_PART(0x20)
#define QUERY_RMP_IN_RMPN                       FLD(0x8, 23, 0)
#define QUERY_RMP_OUT_RMP_CONTEXT               FLD_PART(0x20)
#define RMPC_STATE                              FLD(0x0, 23, 20)
#define WQ_WQ_SIGNATURE                         FLD(0x0, 27, 27)
#define WQ_LWM                                  FLD(0x4, 15, 0)

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
#define WQ_WQ_TYPE                              FLD(0x0, 31, 28)
#define WQ_DBR_UMEM_VALID                       FLD(0x24, 31, 31)
#define WQ_WQ_UMEM_VALID                        FLD(0x24, 30, 30)

/* In a WQE: the index of the next one. PRM: next segment of an SRQ's WQE */
#define SRQ_WQE_NEXT FLD(0x0, 15, 0)

/* The same for attach and detach */
#define MCG_IN_QPN           FLD(0x8, 23, 0)
#define MCG_IN_MULTICAST_GID FLD_PART(0x10)

#endif
