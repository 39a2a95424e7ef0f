/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.h - commands on the adapter's own memory. PRM: MEMIC
 */
#ifndef PRM_MLX5_MEMIC_H
#define PRM_MLX5_MEMIC_H

#include "util/fields.h"

enum {
	PRM_ALLOC_MEMIC_IN_SIZE = 32,
	PRM_DEALLOC_MEMIC_IN_SIZE = 32,
	PRM_MODIFY_MEMIC_IN_SIZE = 64,
	PRM_MODIFY_MEMIC_OUT_SIZE = 64,
};

/* Values of MODIFY_MEMIC's op_mod: allocate or free the address of an operation */
enum { PRM_MODIFY_MEMIC_ALLOC = 0, PRM_MODIFY_MEMIC_DEALLOC = 1 };

/* Operations on a block, each with an address of its own. A write to the increment address adds to
 * the memory. A read from the test-and-set address returns the memory and sets all its bits. The
 * values are the bit numbers of the operations in the capability. */
enum { PRM_MEMIC_INCREMENT = 0, PRM_MEMIC_TEST_AND_SET = 1 };

/* Blocks are aligned to 64 << LOG_MEMIC_ADDR_ALIGNMENT bytes; addresses count from the start of
 * BAR 0. */
#define ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT FLD(0xc, 7, 0)
#define ALLOC_MEMIC_IN_RANGE_START_ADDR         FLD64(0x10)
#define ALLOC_MEMIC_IN_RANGE_SIZE               FLD(0x18, 31, 0)
#define ALLOC_MEMIC_IN_MEMIC_SIZE               FLD(0x1c, 31, 0)
#define ALLOC_MEMIC_OUT_MEMIC_START_ADDR        FLD64(0x8)
#define DEALLOC_MEMIC_IN_MEMIC_START_ADDR       FLD64(0x10)
#define DEALLOC_MEMIC_IN_MEMIC_SIZE             FLD(0x18, 31, 0)
#define MODIFY_MEMIC_IN_MEMIC_OPERATION_TYPE    FLD(0xc, 7, 0)
#define MODIFY_MEMIC_IN_MEMIC_START_ADDR        FLD64(0x10)
#define MODIFY_MEMIC_OUT_MEMIC_OPERATION_ADDR   FLD64(0x10)

#endif
