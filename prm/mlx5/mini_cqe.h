/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mini_cqe.h - compressed completions. PRM: CQE compression
 *
 * A run of completions that are nearly alike takes as many entries of the ring as it has
 * completions, and few of these are written: the first is the title, a CQE of format COMPRESSED
 * that says how many completions there are instead of a byte count. What each of them, the first
 * included, has of its own is a mini CQE, of which an entry holds an array: that of the first eight
 * is behind the title, that of each eight more is where the first of these would have its CQE.
 * Linux: mlx5_mini_cqe8, mlx5e.
 */
#ifndef PRM_MLX5_MINI_CQE_H
#define PRM_MLX5_MINI_CQE_H

#include "util/fields.h"

enum {
	PRM_MINI_CQE_SIZE = 8,
	PRM_MINI_CQES = 8, /* of an array */
};

/* CQC_MINI_CQE_RES_FORMAT says what responders' mini CQEs have in their first half. */
enum prm_mini_cqe_format {
	PRM_MINI_CQE_HASH = 0,
	PRM_MINI_CQE_CHECKSUM = 1,
	PRM_MINI_CQE_CHECKSUM_STRIDE = 3,
};

/* CQC_CQE_COMPRESSION_LAYOUT: the one that is described here, or blocks of mini CQEs instead of
 * titles. A block is one entry, takes as many as it has mini CQEs, and goes on from the last CQE
 * that is whole, which counts by itself. Its CQE_OPCODE says how many mini CQEs there are, less
 * one; the format is COMPRESSED. Who reads such a CQ looks at CQE_VALIDITY instead of the owner:
 * the number of the lap. Linux 7.2, mlx5e; UCX 1.18. */
enum { PRM_CQE_COMPRESSION_BASIC = 0, PRM_CQE_COMPRESSION_ENHANCED = 1 };

/* The title has this in CQE_FORMAT. */
enum { CQE_FORMAT_COMPRESSED = 3 };

/* Of a responder: the hash; or the checksum, and what CQE_WQE_COUNTER would say. */
#define MINI_CQE_RSS_HASH  FLD(0x0, 31, 0)
#define MINI_CQE_CHECK_SUM FLD(0x0, 31, 16)
#define MINI_CQE_STRIDE    FLD(0x0, 15, 0)
/* Of a requester. */
#define MINI_CQE_WQE_COUNTER FLD(0x0, 31, 16)
#define MINI_CQE_SEND_OPCODE FLD(0x0, 15, 8)

#define MINI_CQE_BYTE_COUNT  FLD(0x4, 31, 0)

#endif
