/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.h - targets of the dynamically connected transport: their commands and their context. PRM:
 * DCT Context; fields of ordering: Linux 7.2, mlx5_ifc.h
 */
#ifndef PRM_MLX5_DCT_H
#define PRM_MLX5_DCT_H

#include "util/fields.h"

enum {
	PRM_DCTC_SIZE = 64,
	PRM_CREATE_DCT_IN_SIZE = 128,
	PRM_QUERY_DCT_OUT_SIZE = 128,
};

/* Values of DCTC_STATE */
enum prm_dct_state {
	PRM_DCT_STATE_ACTIVE = 0,
	PRM_DCT_STATE_DRAINING = 1,
	PRM_DCT_STATE_DRAINED = 2,
};

/* Values of DCTC_CS_RES. CQEs of 64 bytes cannot hold data. */
enum {
	PRM_DCT_CS_RES_DISABLE = 0,
	PRM_DCT_CS_RES_64B = 2,
};

#define CREATE_DCT_IN_CONTEXT              FLD_PART(0x10)

#define CREATE_DCT_OUT_DCTN                FLD(0x8, 23, 0)
#define CREATE_DCT_OUT_ECE                 FLD(0xc, 31, 0)

#define DESTROY_DCT_IN_DCTN                FLD(0x8, 23, 0)
#define DRAIN_DCT_IN_DCTN                  FLD(0x8, 23, 0)
#define ARM_DCT_IN_DCT_NUMBER              FLD(0x8, 23, 0)
#define QUERY_DCT_IN_DCTN                  FLD(0x8, 23, 0)

#define QUERY_DCT_OUT_CONTEXT              FLD_PART(0x10)

#define DCTC_STATE                         FLD(0x0, 27, 24)
#define DCTC_USER_INDEX                    FLD(0x4, 23, 0)
#define DCTC_DP_ORDERING_FORCE             FLD(0x4, 24, 24)
#define DCTC_CQN                           FLD(0x8, 23, 0)
#define DCTC_COUNTER_SET_ID                FLD(0xc, 31, 24)
#define DCTC_ATOMIC_MODE                   FLD(0xc, 23, 20)
#define DCTC_RRE                           FLD(0xc, 19, 19)
#define DCTC_RWE                           FLD(0xc, 18, 18)
#define DCTC_RAE                           FLD(0xc, 17, 17)
#define DCTC_DP_ORDERING_1                 FLD(0xc, 11, 11)
#define DCTC_CS_RES                        FLD(0x10, 23, 16)
#define DCTC_MIN_RNR_NAK                   FLD(0x10, 12, 8)
#define DCTC_SRQN_XRQN                     FLD(0x14, 23, 0)
#define DCTC_PD                            FLD(0x18, 23, 0)
#define DCTC_TCLASS                        FLD(0x1c, 31, 24)
#define DCTC_FLOW_LABEL                    FLD(0x1c, 19, 0)
#define DCTC_DC_ACCESS_KEY                 FLD64(0x20)
#define DCTC_MTU                           FLD(0x28, 26, 24)
#define DCTC_PORT                          FLD(0x28, 23, 16)
#define DCTC_PKEY_INDEX                    FLD(0x28, 15, 0)
#define DCTC_MY_ADDR_INDEX                 FLD(0x2c, 23, 16)
#define DCTC_HOP_LIMIT                     FLD(0x2c, 7, 0)
#define DCTC_DC_ACCESS_KEY_VIOLATION_COUNT FLD(0x30, 31, 0)
#define DCTC_ETH_PRIO                      FLD(0x34, 10, 8)
#define DCTC_ECE                           FLD(0x3c, 31, 0)

#endif
