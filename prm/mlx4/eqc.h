/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqc.h - contexts of event queues of mlx4 adapters. Source: the writes of Linux' driver mlx4_core
 * (6.1: mlx4.h, eq.c).
 */
#ifndef PRM_MLX4_EQC_H
#define PRM_MLX4_EQC_H

#include "util/fields.h"

enum { M4_EQC_SIZE = 0x40 };

enum { M4_EQ_ARMED = 9, M4_EQ_FIRED = 10 };

#define M4_EQC_STATUS        FLD(0x0, 31, 28)
#define M4_EQC_OWNER         FLD(0x0, 27, 24)
#define M4_EQC_STATE         FLD(0x0, 11, 8)
#define M4_EQC_PAGE_OFFSET   FLD(0x8, 11, 0)
#define M4_EQC_LOG_SIZE      FLD(0xc, 28, 24)
#define M4_EQC_INTR          FLD(0x14, 9, 0)
#define M4_EQC_LOG_PAGE_SIZE FLD(0x18, 29, 24)
#define M4_EQC_MTT_H         FLD(0x18, 7, 0)
#define M4_EQC_MTT_L         FLD(0x1c, 31, 0)
#define M4_EQC_CI            FLD(0x28, 23, 0)
#define M4_EQC_PI            FLD(0x2c, 23, 0)

#endif
