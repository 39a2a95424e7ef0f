/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqc.h - contexts of completion queues of mlx4 adapters. Source: the writes of Linux' driver
 * mlx4_core (6.1: mlx4.h, cq.c).
 */
#ifndef PRM_MLX4_CQC_H
#define PRM_MLX4_CQC_H

#include "util/fields.h"

enum { M4_CQC_SIZE = 0x40 };

enum { M4_CQC_ST_SOLICITED_ARMED = 6, M4_CQC_ST_ARMED = 9, M4_CQC_ST_FIRED = 10 };

#define M4_CQC_STATUS        FLD(0x0, 31, 28)
#define M4_CQC_HAS_TIME      FLD(0x0, 19, 19)
#define M4_CQC_COLLAPSED     FLD(0x0, 18, 18)
#define M4_CQC_OI            FLD(0x0, 17, 17)
#define M4_CQC_STATE         FLD(0x0, 11, 8)
#define M4_CQC_PAGE_OFFSET   FLD(0x8, 11, 0)
#define M4_CQC_LOG_SIZE      FLD(0xc, 28, 24)
#define M4_CQC_UAR           FLD(0xc, 23, 0)
#define M4_CQC_PERIOD        FLD(0x10, 31, 16) /* microseconds */
#define M4_CQC_MAX_COUNT     FLD(0x10, 15, 0)
#define M4_CQC_EQN           FLD(0x14, 8, 0)
#define M4_CQC_LOG_PAGE_SIZE FLD(0x18, 29, 24)
#define M4_CQC_MTT_H         FLD(0x18, 7, 0)
#define M4_CQC_MTT_L         FLD(0x1c, 31, 0)
#define M4_CQC_NOTIFIED      FLD(0x20, 23, 0)
#define M4_CQC_SOLICITED     FLD(0x24, 23, 0)
#define M4_CQC_CI            FLD(0x28, 23, 0)
#define M4_CQC_PI            FLD(0x2c, 23, 0)
#define M4_CQC_RECORD        FLD64(0x38)

#endif
