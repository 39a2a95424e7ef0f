/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.h - users of the adapter beside its driver (UCTX), whose number (UID) each of their commands
 * carries, and the memory for their queues (UMEM).
 */
#ifndef PRM_MLX5_UMEM_H
#define PRM_MLX5_UMEM_H

#include "util/fields.h"

enum {
	PRM_CREATE_UCTX_IN_SIZE = 64,
	PRM_CREATE_UMEM_IN_SIZE = 48, /* a page list follows */
};

enum {
	PRM_UCTX_CAP_RAW_TX = 1 << 0,
	PRM_UCTX_CAP_INTERNAL_DEV_RES = 1 << 1,
};

#define CREATE_UCTX_IN_UCTX     FLD_PART(0x10)
#define CREATE_UCTX_OUT_UID     FLD(0x8, 15, 0)
#define UCTX_CAP                FLD(0x0, 31, 0)
#define DESTROY_UCTX_IN_UID     FLD(0x8, 15, 0)

#define CREATE_UMEM_IN_UMEM     FLD_PART(0x10)
#define CREATE_UMEM_OUT_UMEM_ID FLD(0x8, 23, 0)
#define UMEM_ATS                FLD(0x10, 31, 31)
#define UMEM_LOG_PAGE_SIZE      FLD(0x10, 4, 0)
#define UMEM_PAGE_OFFSET        FLD(0x14, 31, 0)
#define UMEM_NUM_OF_MTT         FLD64(0x18)
#define UMEM_MTT                FLD_PART(0x20)
#define DESTROY_UMEM_IN_UMEM_ID FLD(0x8, 23, 0)

#endif
