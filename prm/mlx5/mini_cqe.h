/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mini_cqe.h - compressed completions. PRM: CQE compression
 *
 * A run of nearly identical completions occupies one entry of the ring for each completion, but the
 * adapter writes only a few of these. The first is the title: a CQE of format COMPRESSED, with the
 * number of completions instead of a byte count. A mini CQE holds the fields in which a completion
 * differs from the title; the first completion has one, too. Mini CQEs come in arrays of eight, one
 * array per entry. The array of the first eight is behind the title; each further array is in the
 * entry of its first completion. Linux: mlx5_mini_cqe8, mlx5e.
 */
#ifndef PRM_MLX5_MINI_CQE_H
#define PRM_MLX5_MINI_CQE_H

#include "util/fields.h"

enum {
	PRM_MINI_CQE_SIZE = 8,
	PRM_MINI_CQES = 8, /* in an array */
};

/* Values of CQC_MINI_CQE_RES_FORMAT: the first half of a responder's mini CQE */
enum prm_mini_cqe_format {
	PRM_MINI_CQE_HASH = 0,
	PRM_MINI_CQE_CHECKSUM = 1,
	PRM_MINI_CQE_CHECKSUM_STRIDE = 3,
};

/* Values of CQC_CQE_COMPRESSION_LAYOUT: the basic layout is described above. The enhanced one has
 * blocks of mini CQEs instead of titles. A block is one written entry that occupies as many entries
 * as it has mini CQEs. It continues the last full CQE, which counts separately. Its CQE_OPCODE is
 * the number of mini CQEs - 1; its format is COMPRESSED. Readers of such a CQ compare CQE_VALIDITY,
 * the number of the lap, instead of the owner bit. Linux 7.2, mlx5e; UCX 1.18. */
enum { PRM_CQE_COMPRESSION_BASIC = 0, PRM_CQE_COMPRESSION_ENHANCED = 1 };

/* Value of CQE_FORMAT in the title */
enum { CQE_FORMAT_COMPRESSED = 3 };

/* A responder's first half: the hash, or the checksum and the value of CQE_WQE_COUNTER */
#define MINI_CQE_RSS_HASH  FLD(0x0, 31, 0)
#define MINI_CQE_CHECK_SUM FLD(0x0, 31, 16)
#define MINI_CQE_STRIDE    FLD(0x0, 15, 0)
/* A requester's first half */
#define MINI_CQE_WQE_COUNTER FLD(0x0, 31, 16)
#define MINI_CQE_SEND_OPCODE FLD(0x0, 15, 8)

#define MINI_CQE_BYTE_COUNT  FLD(0x4, 31, 0)

#endif
