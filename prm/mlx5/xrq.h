/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrq.h - extended receive queues and tag matching: facts only, in the notation of cmd.h.
 *
 * The layout of the tag-matching segment and of its CQEs stands in mlx5dv.h, the headers on the wire
 * in tm_types.h.
 */
#ifndef PRM_MLX5_XRQ_H
#define PRM_MLX5_XRQ_H

#include "prm/mlx5/srq.h"

enum prm_xrq_opcode {
	PRM_OP_ARM_RQ = 0x703,
	PRM_OP_CREATE_XRQ = 0x717,
	PRM_OP_DESTROY_XRQ = 0x718,
	PRM_OP_QUERY_XRQ = 0x719,
};

enum {
	PRM_XRQC_SIZE = 320,
	PRM_CREATE_XRQ_IN_SIZE = 16 + PRM_XRQC_SIZE, /* and PAs behind it */
	PRM_QUERY_XRQ_OUT_SIZE = 16 + PRM_XRQC_SIZE,
	PRM_XRQC_TOPOLOGY_TAG_MATCHING = 1,
	PRM_XRQC_OFFLOAD_RNDV = 1,
	PRM_XRQC_STATE_GOOD = 0,
	PRM_XRQC_STATE_ERROR = 1,
	PRM_QPC_OFFLOAD_TYPE_RNDV = 1,
	PRM_ARM_RQ_XRQ = 2, /* op_mod */
};

#define CREATE_XRQ_IN_XRQ_CONTEXT        FLD_PART(0x10)
#define CREATE_XRQ_IN_PAS                FLD_PART(0x150)
#define CREATE_XRQ_OUT_XRQN              FLD(0x8, 23, 0)
#define DESTROY_XRQ_IN_XRQN              FLD(0x8, 23, 0)
#define QUERY_XRQ_IN_XRQN                FLD(0x8, 23, 0)
#define QUERY_XRQ_OUT_XRQ_CONTEXT        FLD_PART(0x10)
#define ARM_RQ_IN_SRQ_NUMBER             FLD(0x8, 23, 0)
#define ARM_RQ_IN_LWM                    FLD(0xc, 15, 0)

#define XRQC_STATE                       FLD(0x0, 31, 28)
#define XRQC_TOPOLOGY                    FLD(0x0, 11, 8)
#define XRQC_OFFLOAD                     FLD(0x0, 3, 0)
#define XRQC_USER_INDEX                  FLD(0x4, 23, 0)
#define XRQC_CQN                         FLD(0x8, 23, 0)
#define XRQC_LOG_MATCHING_LIST_SZ        FLD(0x20, 31, 28)
#define XRQC_APPEND_NEXT_INDEX           FLD(0x20, 15, 0)
#define XRQC_SW_PHASE_CNT                FLD(0x24, 31, 16)
#define XRQC_HW_PHASE_CNT                FLD(0x24, 15, 0)
#define XRQC_WQ                          FLD_PART(0x80)

#define HCA_CAP_TAG_MATCHING             FLD(0xbc, 15, 15)
#define HCA_CAP_RNDV_OFFLOAD_RC          FLD(0xbc, 14, 14)
#define HCA_CAP_LOG_TAG_MATCHING_LIST_SZ FLD(0xbc, 12, 8)
#define HCA_CAP_LOG_MAX_XRQ              FLD(0xbc, 4, 0)

#endif
