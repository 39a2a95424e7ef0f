/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkc.h - memory keys: their commands and their context.
 */
#ifndef PRM_MLX5_MKC_H
#define PRM_MLX5_MKC_H

#include "util/fields.h"

enum {
	PRM_MKC_SIZE = 64,
	PRM_CREATE_MKEY_IN_SIZE = 272,
	PRM_QUERY_MKEY_OUT_SIZE = 304, /* the context and the first translation entries */
	PRM_QUERY_SPECIAL_CONTEXTS_OUT_SIZE = 32,
	PRM_MKC_ANY_QP = 0xffffff, /* MKC_QPN: the key is not bound to a QP */
};

/* Values of MKC_ACCESS_MODE_4_2 and MKC_ACCESS_MODE_1_0 together */
enum prm_mkey_mode {
	PRM_MKEY_MODE_PA = 0x0,
	PRM_MKEY_MODE_MTT = 0x1,
	PRM_MKEY_MODE_KLMS = 0x2,
	PRM_MKEY_MODE_KSM = 0x3,
	PRM_MKEY_MODE_SW_ICM = 4,
	PRM_MKEY_MODE_MEMIC = 5,
};

#define QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY       FLD(0x8, 31, 0)
#define QUERY_SPECIAL_CONTEXTS_OUT_RESD_LKEY            FLD(0xc, 31, 0)
#define QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY            FLD(0x10, 31, 0)

#define CREATE_MKEY_IN_PG_ACCESS                        FLD(0xc, 31, 31)
#define CREATE_MKEY_IN_MKEY_UMEM_VALID                  FLD(0xc, 30, 30)
#define CREATE_MKEY_IN_MKC                              FLD_PART(0x10)
#define CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE FLD(0x60, 31, 0)
#define CREATE_MKEY_IN_MKEY_UMEM_ID                     FLD(0x64, 31, 0)
#define CREATE_MKEY_IN_MKEY_UMEM_OFFSET                 FLD64(0x68)
#define CREATE_MKEY_IN_PAS                              FLD_PART(0x110)

#define CREATE_MKEY_OUT_MKEY_INDEX                      FLD(0x8, 23, 0)

#define QUERY_MKEY_IN_MKEY_INDEX                        FLD(0x8, 23, 0)
#define QUERY_MKEY_IN_PG_ACCESS                         FLD(0xc, 31, 31)

#define QUERY_MKEY_OUT_MKC                              FLD_PART(0x10)

#define DESTROY_MKEY_IN_MKEY_INDEX                      FLD(0x8, 23, 0)

#define MKC_FREE                                        FLD(0x0, 30, 30)
#define MKC_ACCESS_MODE_4_2                             FLD(0x0, 28, 26)
#define MKC_RELAXED_ORDERING_WRITE                      FLD(0x0, 18, 18)
#define MKC_UMR_EN                                      FLD(0x0, 15, 15)
#define MKC_A                                           FLD(0x0, 14, 14)
#define MKC_RW                                          FLD(0x0, 13, 13)
#define MKC_RR                                          FLD(0x0, 12, 12)
#define MKC_LW                                          FLD(0x0, 11, 11)
#define MKC_LR                                          FLD(0x0, 10, 10)
#define MKC_ACCESS_MODE_1_0                             FLD(0x0, 9, 8)
#define MKC_MA_TRANSLATION_MODE                         FLD(0x0, 5, 4)
#define MKC_QPN                                         FLD(0x4, 31, 8)
#define MKC_MKEY_7_0                                    FLD(0x4, 7, 0)
#define MKC_LENGTH64                                    FLD(0xc, 31, 31)
#define MKC_BSF_EN                                      FLD(0xc, 30, 30)
#define MKC_EXPECTED_SIGERR_COUNT                       FLD(0xc, 26, 26)
#define MKC_EN_RINVAL                                   FLD(0xc, 24, 24)
#define MKC_PD                                          FLD(0xc, 23, 0)
#define MKC_START_ADDR                                  FLD64(0x10)
#define MKC_LEN                                         FLD64(0x18)
#define MKC_BSF_OCTWORD_SIZE                            FLD(0x20, 31, 0)
#define MKC_TRANSLATIONS_OCTWORD_SIZE                   FLD(0x34, 31, 0)
#define MKC_RELAXED_ORDERING_READ                       FLD(0x38, 6, 6)
#define MKC_CRYPTO_EN                                   FLD(0x3c, 28, 27)
#define MKC_LOG_PAGE_SIZE                               FLD(0x38, 4, 0)

#define MKC_SMALL_FENCE                                 FLD(0x0, 16, 16)

#endif
