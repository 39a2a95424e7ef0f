/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kind.h - the kinds of adapters, and how fronts that play the kernel drive one that is not mlx5.
 *
 * Such a front orders by the commands of mlx5 whatever the kind is: they say what the driver wants
 * of an object, and nobody else sees them. What they have no word for is in the fields here, which
 * PRM has as reserved.
 * Decisions: docs/adr/0030, docs/adr/0031.
 */
#ifndef SOFTHCA_DEVICE_KIND_H
#define SOFTHCA_DEVICE_KIND_H

#include "util/fields.h"

enum hca_kind {
	HCA_MLX5,
	HCA_MLX4,
};

/* CREATE_CQ: CQEs have timestamps */
#define CREATE_CQ_IN_HAS_TIME FLD(0xc, 0, 0)

/* CREATE_QP: log2 of the bytes of a block of sends */
#define CREATE_QP_IN_LOG_BLOCK FLD(0xc, 7, 0)

/* CREATE_RQ, CREATE_SQ: the number of the queue, which the driver chooses, and where its ring
 * begins in the pages, of which it has a part. */
#define CREATE_WQ_IN_NUMBER FLD(0xc, 23, 0)
#define CREATE_WQ_IN_SKIP   FLD(0x10, 31, 0)

/* CREATE_TIR: packets to hash beside those that the context names, as in device/eth/rss.h */
#define CREATE_TIR_IN_MORE_TYPES FLD(0xc, 3, 0)

enum { CREATE_TIR_OF_IPV4 = 1 << 0, CREATE_TIR_OF_TCP = 1 << 2 };

/* Queues of frames of mlx4 are QPs, too, and have numbers behind those of others; two that are one
 * QP have the same. */
enum { M4_FIRST_FRAME_QUEUE = 1 << 19, M4_FRAME_QUEUES = 1 << 12, M4_LOG_QPNS = 20 };

/* Commands in numbers that PRM leaves free: the ways to and within state SQD, which are the
 * driver's of mlx4 alone. They have the layout of the other ways. */
enum { M4_AS_RTS2SQD_QP = 0x508, M4_AS_SQD2SQD_QP = 0x509 };

/* RTS2SQD_QP: an event is wanted when the queue is drained */
#define M4_AS_RTS2SQD_TELL FLD(0xc, 0, 0)

/* MODIFY_SQ: a bit of modify_bitmask, that the queue rests or no longer does */
enum { M4_AS_MODIFY_SQ_REST = 1 << 30 };
#define M4_AS_SQ_RESTS FLD(0xc, 0, 0)

/* CREATE_MKEY: the key is a region's, to which windows may be bound, or a window's; a driver of
 * mlx5 does not say so */
#define CREATE_MKEY_IN_MAY_BIND  FLD(0xc, 0, 0)
#define CREATE_MKEY_IN_IS_REGION FLD(0xc, 1, 1)
#define CREATE_MKEY_IN_IS_WINDOW FLD(0xc, 2, 2)

#endif
