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

#define HCA_CAP_DEVICE_MEMORY                PRM(0x34, 23, 23)

#define MEM_CAP_MEMIC                        PRM(0x0, 31, 31)
#define MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE     PRM(0x4, 20, 16)
#define MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT PRM(0x4, 7, 0)
#define MEM_CAP_MEMIC_BAR_START_ADDR         PRM64(0x8)
#define MEM_CAP_MEMIC_BAR_SIZE               PRM(0x10, 31, 0)
#define MEM_CAP_MAX_MEMIC_SIZE               PRM(0x14, 31, 0)
#define MEM_CAP_MEMIC_OPERATIONS             PRM(0x40, 31, 0)

/* An alignment of 64 << LOG_MEMIC_ADDR_ALIGNMENT bytes; addresses from the start of BAR 0 */
#define ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT PRM(0xc, 7, 0)
#define ALLOC_MEMIC_IN_RANGE_START_ADDR         PRM64(0x10)
#define ALLOC_MEMIC_IN_RANGE_SIZE               PRM(0x18, 31, 0)
#define ALLOC_MEMIC_IN_MEMIC_SIZE               PRM(0x1c, 31, 0)
#define ALLOC_MEMIC_OUT_MEMIC_START_ADDR        PRM64(0x8)
#define DEALLOC_MEMIC_IN_MEMIC_START_ADDR       PRM64(0x10)
#define DEALLOC_MEMIC_IN_MEMIC_SIZE             PRM(0x18, 31, 0)

/* By transport: parts of the page, each with the same bits */
#define ODP_CAP_RC      PRM_PART(0x10)
#define ODP_CAP_UC      PRM_PART(0x14)
#define ODP_CAP_UD      PRM_PART(0x18)
#define ODP_CAP_XRC     PRM_PART(0x1c)
#define ODP_SEND        PRM(0x0, 31, 31)
#define ODP_RECEIVE     PRM(0x0, 30, 30)
#define ODP_WRITE       PRM(0x0, 29, 29)
#define ODP_READ        PRM(0x0, 28, 28)
#define ODP_ATOMIC      PRM(0x0, 27, 27)
#define ODP_SRQ_RECEIVE PRM(0x0, 26, 26)

#endif
