/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.h - commands and capabilities of the adapter's own memory, and of paging on demand: facts
 * only, as in cmd.h. PRM: MEMIC, Device Memory Capabilities, ODP Capabilities
 */
#ifndef PRM_MLX5_MEMIC_H
#define PRM_MLX5_MEMIC_H

#include "prm/mlx5/cmd.h"

enum {
	PRM_OP_ALLOC_MEMIC = 0x205,
	PRM_OP_DEALLOC_MEMIC = 0x206,

	PRM_ALLOC_MEMIC_IN_SIZE = 32,
	PRM_DEALLOC_MEMIC_IN_SIZE = 32,

	PRM_CAP_DEV_MEM = 15, /* a page of QUERY_HCA_CAP */

	PRM_MKEY_MODE_MEMIC = 5,
};

#define HCA_CAP_DEVICE_MEMORY                FLD(0x34, 23, 23)

#define MEM_CAP_MEMIC                        FLD(0x0, 31, 31)
#define MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE     FLD(0x4, 20, 16)
#define MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT FLD(0x4, 7, 0)
#define MEM_CAP_MEMIC_BAR_START_ADDR         FLD64(0x8)
#define MEM_CAP_MEMIC_BAR_SIZE               FLD(0x10, 31, 0)
#define MEM_CAP_MAX_MEMIC_SIZE               FLD(0x14, 31, 0)
#define MEM_CAP_MEMIC_OPERATIONS             FLD(0x40, 31, 0)

/* An alignment of 64 << LOG_MEMIC_ADDR_ALIGNMENT bytes; addresses from the start of BAR 0 */
#define ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT FLD(0xc, 7, 0)
#define ALLOC_MEMIC_IN_RANGE_START_ADDR         FLD64(0x10)
#define ALLOC_MEMIC_IN_RANGE_SIZE               FLD(0x18, 31, 0)
#define ALLOC_MEMIC_IN_MEMIC_SIZE               FLD(0x1c, 31, 0)
#define ALLOC_MEMIC_OUT_MEMIC_START_ADDR        FLD64(0x8)
#define DEALLOC_MEMIC_IN_MEMIC_START_ADDR       FLD64(0x10)
#define DEALLOC_MEMIC_IN_MEMIC_SIZE             FLD(0x18, 31, 0)

/* By transport: parts of the page, each with the same bits */
#define ODP_CAP_RC      FLD_PART(0x10)
#define ODP_CAP_UC      FLD_PART(0x14)
#define ODP_CAP_UD      FLD_PART(0x18)
#define ODP_CAP_XRC     FLD_PART(0x1c)
#define ODP_SEND        FLD(0x0, 31, 31)
#define ODP_RECEIVE     FLD(0x0, 30, 30)
#define ODP_WRITE       FLD(0x0, 29, 29)
#define ODP_READ        FLD(0x0, 28, 28)
#define ODP_ATOMIC      FLD(0x0, 27, 27)
#define ODP_SRQ_RECEIVE FLD(0x0, 26, 26)

#endif
