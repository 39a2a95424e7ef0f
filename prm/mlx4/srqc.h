/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srqc.h - contexts of shared receive queues of mlx4 adapters. Source: the writes of Linux' driver
 * mlx4_core (6.1: mlx4.h, srq.c).
 */
#ifndef PRM_MLX4_SRQC_H
#define PRM_MLX4_SRQC_H

#include "util/fields.h"

enum { M4_SRQC_SIZE = 0x30 };

#define M4_SRQC_LOG_SIZE      FLD(0x0, 28, 24)
#define M4_SRQC_SRQN          FLD(0x0, 23, 0)
#define M4_SRQC_LOG_STRIDE    FLD(0x4, 26, 24) /* in units of 16 bytes */
#define M4_SRQC_XRCD          FLD(0x4, 15, 0)
#define M4_SRQC_PAGE_OFFSET   FLD(0x8, 31, 26)
#define M4_SRQC_CQN           FLD(0x8, 23, 0)
#define M4_SRQC_LOG_PAGE_SIZE FLD(0x10, 29, 24)
#define M4_SRQC_MTT_H         FLD(0x10, 7, 0)
#define M4_SRQC_MTT_L         FLD(0x14, 31, 0)
#define M4_SRQC_PD            FLD(0x18, 23, 0)
#define M4_SRQC_LIMIT         FLD(0x1c, 31, 16)
#define M4_SRQC_WQES          FLD(0x1c, 15, 0)
#define M4_SRQC_WQE_COUNTER   FLD(0x20, 15, 0)
#define M4_SRQC_RECORD        FLD64(0x28)

#endif
