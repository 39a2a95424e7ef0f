/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.h - rate limits of send queues of frames.
 */
#ifndef PRM_MLX5_PACING_H
#define PRM_MLX5_PACING_H

#include "util/fields.h"

enum {
	PRM_SET_PP_RATE_LIMIT_IN_SIZE = 64,
	PRM_PP_CONTEXT_SIZE = 48,
	PRM_SHARED_UID = 0xffff, /* UID of an object that any context may use */
};

#define SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX FLD(0x8, 15, 0)
#define SET_PP_RATE_LIMIT_IN_CTX              FLD_PART(0x10)
#define PP_CONTEXT_RATE_LIMIT                 FLD(0x0, 31, 0) /* kbit/s */
#define PP_CONTEXT_BURST_UPPER_BOUND          FLD(0x4, 31, 0) /* bytes */
#define PP_CONTEXT_TYPICAL_PACKET_SIZE        FLD(0x8, 15, 0)

#endif
