/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umr.h - the segments of a UMR work request, and entries of translation tables.
 * PRM: UMR control segment, memory key context, KLM
 */
#ifndef PRM_MLX5_UMR_H
#define PRM_MLX5_UMR_H

#include "util/fields.h"

enum {
	UMR_CTRL_SIZE = 48,
	UMR_MKEY_SIZE = 64,
	UMR_KLM_BLOCK = 64, /* unit of inline translations */
};

enum umr_flags {
	/* the key must be bound to the QP of the request (PRM: UMR control segment, check_qpn) */
	UMR_CHECK_QPN = 1 << 3,
	UMR_OFFSET_GIVEN = 1 << 4,
	UMR_FAIL_IF_NOT_FREE = 1 << 5,
	UMR_FAIL_IF_FREE = 1 << 6,
	UMR_INLINE = 1 << 7,
};

/* Bits of UMR_MKEY_MASK: the fields of the context that the request sets; all others keep their
 * values (PRM: UMR control segment). */
enum {
	UMR_LEN = 0,
	UMR_PAGE_SIZE = 1,
	UMR_START_ADDR = 6,
	UMR_PD = 7,
	UMR_EN_RINVAL = 8,
	UMR_EN_SIGERR = 9,
	UMR_BSF_EN = 12,
	UMR_KEY = 13,
	UMR_QPN = 14,
	UMR_LR = 17,
	UMR_LW = 18,
	UMR_RR = 19,
	UMR_RW = 20,
	UMR_A = 21,
	UMR_SMALL_FENCE = 23,
	UMR_RELAXED_WRITE = 25,
	UMR_FREE = 29,
	UMR_RELAXED_READ = 47,
};

#define UMR_FLAGS            FLD(0x0, 31, 24)
#define UMR_XLT_OCTOWORDS    FLD(0x4, 31, 16)
#define UMR_XLT_OFFSET_15_0  FLD(0x4, 15, 0)
#define UMR_BSF_OCTOWORDS    FLD(0x4, 15, 0) /* in place of the offset */
#define UMR_MKEY_MASK        FLD64(0x8)
#define UMR_XLT_OFFSET_47_16 FLD(0x10, 31, 0)

#define KLM_LEN_MAX          (UINT32_C(1) << 31)
#define KLM_BCOUNT           FLD(0x0, 31, 0)
#define KLM_KEY              FLD(0x4, 31, 0)
#define KLM_VA               FLD64(0x8)

/* A list may be a repeating pattern. Its first entry is a header; each other entry has a stride,
 * the distance between two repetitions. */
#define PATTERN_OP_REPEAT    0x400
#define PATTERN_BYTES        FLD(0x0, 31, 0) /* of one repetition */
#define PATTERN_OP           FLD(0x4, 31, 0) /* at the offset of an entry's key */
#define PATTERN_REPEATS      FLD(0x8, 31, 0)
#define PATTERN_ENTRIES      FLD(0xc, 15, 0)
#define PATTERN_ENTRY_STRIDE FLD(0x0, 31, 16)
#define PATTERN_ENTRY_BCOUNT FLD(0x0, 15, 0)

#endif
