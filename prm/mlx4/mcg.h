/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.h - entries of the multicast group table of mlx4 adapters. A search begins at the hash of the
 * GID and goes on at the entry's M4_MCG_NEXT. Source: the writes of Linux' driver mlx4_core (6.1:
 * mlx4.h, mcg.c).
 */
#ifndef PRM_MLX4_MCG_H
#define PRM_MLX4_MCG_H

#include "util/fields.h"

enum { M4_MCG_HEAD = 0x20, M4_MCG_SIZE_MAX = 0x1000, M4_MCG_PROTOCOL_IB = 0 };

#define M4_MCG_NEXT     FLD(0x0, 31, 6) /* 0: none */
#define M4_MCG_PROTOCOL FLD(0x4, 31, 30)
#define M4_MCG_MEMBERS  FLD(0x4, 23, 0)
#define M4_MCG_GID      FLD_PART(0x10)
#define M4_MCG_QPS      FLD_PART(0x20)

/* The 4 bytes of each member */
#define M4_MCG_BLOCKS_OWN FLD(0x0, 30, 30)
#define M4_MCG_QPN        FLD(0x0, 23, 0)

#endif
