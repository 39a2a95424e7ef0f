/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpt.h - entries of the memory key table (MPT) of mlx4 adapters. Sources: MLX4_PERM_* in
 * linux/mlx4/device.h, and the writes of Linux' driver mlx4_core (6.1: mlx4.h, mr.c).
 */
#ifndef PRM_MLX4_MPT_H
#define PRM_MLX4_MPT_H

#include "util/fields.h"

enum { M4_MPT_SIZE = 0x40 };

/* Value of M4_MPT_STATUS for a free key, and values of an entry's first byte, which names the
 * owner */
enum { M4_MPT_FREE = 0x3 };
enum { M4_MPT_BYTE_HW = 0x00, M4_MPT_BYTE_SW = 0xf0 };

#define M4_MPT_STATUS       FLD(0x0, 31, 28)
#define M4_MPT_BIND         FLD(0x0, 15, 15)
#define M4_MPT_ATOMIC       FLD(0x0, 14, 14)
#define M4_MPT_REMOTE_WRITE FLD(0x0, 13, 13)
#define M4_MPT_REMOTE_READ  FLD(0x0, 12, 12)
#define M4_MPT_LOCAL_WRITE  FLD(0x0, 11, 11)
#define M4_MPT_LOCAL_READ   FLD(0x0, 10, 10)
#define M4_MPT_PHYSICAL     FLD(0x0, 9, 9)
#define M4_MPT_REGION       FLD(0x0, 8, 8) /* 0: a window */
/* the key of WQEs, rotated: its last byte comes first, and the other three are the index of this
 * entry */
#define M4_MPT_KEY           FLD(0x8, 31, 0)
#define M4_MPT_FAST_REG      FLD(0xc, 27, 27)
#define M4_MPT_INVALIDATE    FLD(0xc, 25, 24) /* by local and by remote requests */
#define M4_MPT_PD            FLD(0xc, 23, 0)
#define M4_MPT_START         FLD64(0x10)
#define M4_MPT_LENGTH        FLD64(0x18)
#define M4_MPT_MTT           FLD64(0x2c)
#define M4_MPT_ENTRIES       FLD(0x34, 31, 0) /* number of translations, for fast registration */
#define M4_MPT_LOG_PAGE_SIZE FLD(0x38, 5, 0)

#endif
