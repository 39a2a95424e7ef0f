/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqc.h - event queues: their commands and their context.
 */
#ifndef PRM_MLX5_EQC_H
#define PRM_MLX5_EQC_H

#include "util/fields.h"

enum {
	PRM_EQC_SIZE = 64,
	PRM_CREATE_EQ_IN_SIZE = 272,
	PRM_QUERY_EQ_OUT_SIZE = 272,
};

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

#endif
