/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.h - commands on the adapter's own memory. PRM: MEMIC
 */
#ifndef PRM_MLX5_MEMIC_H
#define PRM_MLX5_MEMIC_H

#include "util/fields.h"

/* These are the bytes of the fixed part of a layout. */
enum {
	PRM_ALLOC_MEMIC_IN_SIZE = 32,
	PRM_DEALLOC_MEMIC_IN_SIZE = 32,
};

/* Blocks are aligned to 64 << LOG_MEMIC_ADDR_ALIGNMENT bytes; addresses count from the start of
 * BAR 0. */
#define ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT FLD(0xc, 7, 0)
#define ALLOC_MEMIC_IN_RANGE_START_ADDR         FLD64(0x10)
#define ALLOC_MEMIC_IN_RANGE_SIZE               FLD(0x18, 31, 0)
#define ALLOC_MEMIC_IN_MEMIC_SIZE               FLD(0x1c, 31, 0)
#define ALLOC_MEMIC_OUT_MEMIC_START_ADDR        FLD64(0x8)
#define DEALLOC_MEMIC_IN_MEMIC_START_ADDR       FLD64(0x10)
#define DEALLOC_MEMIC_IN_MEMIC_SIZE             FLD(0x18, 31, 0)

#endif
