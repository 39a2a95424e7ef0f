/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.h - rate limits of send queues of frames: facts only, in the notation of cmd.h.
 */
#ifndef PRM_MLX5_PACING_H
#define PRM_MLX5_PACING_H

#include "prm/mlx5/cmd.h"

enum {
	PRM_OP_SET_PP_RATE_LIMIT = 0x780,
	PRM_SET_PP_RATE_LIMIT_IN_SIZE = 64,
	PRM_CAP_QOS = 12,              /* page of QUERY_HCA_CAP */
	PRM_MODIFY_SQ_PACING = 1 << 0, /* modify_bitmask */
};

#define SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX FLD(0x8, 15, 0)
#define SET_PP_RATE_LIMIT_IN_CTX              FLD_PART(0x10)
#define PP_CONTEXT_RATE_LIMIT                 FLD(0x0, 31, 0) /* kbit/s */
#define PP_CONTEXT_BURST_UPPER_BOUND          FLD(0x4, 31, 0) /* bytes */
#define PP_CONTEXT_TYPICAL_PACKET_SIZE        FLD(0x8, 15, 0)

#define QOS_CAP_PACKET_PACING                 FLD(0x0, 31, 31)
#define QOS_CAP_PACKET_PACING_BURST_BOUND     FLD(0x0, 26, 26)
#define QOS_CAP_PACKET_PACING_TYPICAL_SIZE    FLD(0x0, 25, 25)
#define QOS_CAP_PACKET_PACING_MAX_RATE        FLD(0x8, 31, 0) /* kbit/s */
#define QOS_CAP_PACKET_PACING_MIN_RATE        FLD(0xc, 31, 0)
#define QOS_CAP_PACKET_PACING_RATE_TABLE_SIZE FLD(0x10, 15, 0)

#endif
