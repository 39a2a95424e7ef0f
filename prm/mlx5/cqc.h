/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqc.h - completion queues: their commands and their context.
 */
#ifndef PRM_MLX5_CQC_H
#define PRM_MLX5_CQC_H

#include "prm/mlx5/states.h"
#include "util/fields.h"

enum {
	PRM_CQC_SIZE = 64,
	PRM_CREATE_CQ_IN_SIZE = 272,
	PRM_MODIFY_CQ_IN_SIZE = 272,
	PRM_QUERY_CQ_OUT_SIZE = 272,
};

/* MODIFY_CQ changes moderation with op_mod 0 and resizes with op_mod 1; the bits of the field
 * select depend on op_mod. */
enum {
	PRM_MODIFY_CQ_PERIOD = 1 << 0,
	PRM_MODIFY_CQ_COUNT = 1 << 1,
	PRM_MODIFY_CQ_OVERRUN = 1 << 2,
	PRM_RESIZE_CQ_LOG_SIZE = 1 << 0,
	PRM_RESIZE_CQ_PG_OFFSET = 1 << 1,
	PRM_RESIZE_CQ_PG_SIZE = 1 << 2,
	PRM_MODIFY_CQ_OP_RESIZE = 1,
};

#define CREATE_CQ_IN_CQC             FLD_PART(0x10)
#define CREATE_CQ_IN_CQ_UMEM_OFFSET  FLD64(0x50)
#define CREATE_CQ_IN_CQ_UMEM_ID      FLD(0x58, 31, 0)
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
#define CQC_CQE_COMPRESSION_LAYOUT   FLD(0x0, 1, 0)
#define CQC_DBR_UMEM_ID              FLD(0x4, 31, 0)
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

#endif
