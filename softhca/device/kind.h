/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kind.h - kinds of adapters, and how fronts that emulate the kernel drive an mlx4 adapter.
 *
 * Such a front uses mlx5's commands for every kind: they only say what the driver wants of an
 * object, and software never sees them. The fields below, reserved in the PRM, carry what mlx5's
 * commands cannot express. Decisions: docs/adr/0030, docs/adr/0031.
 */
#ifndef SOFTHCA_DEVICE_KIND_H
#define SOFTHCA_DEVICE_KIND_H

#include "util/fields.h"

enum hca_kind {
	HCA_MLX5,
	HCA_MLX4,
};

/* CREATE_CQ: CQEs have timestamps. */
#define CREATE_CQ_IN_HAS_TIME FLD(0xc, 0, 0)

/* CREATE_QP: log2 of the bytes of a send block. */
#define CREATE_QP_IN_LOG_BLOCK FLD(0xc, 7, 0)

/* CREATE_RQ, CREATE_SQ: the number that the driver chose for the queue, and the offset of the
 * queue's ring in the pages. The ring may fill only a part of them. */
#define CREATE_WQ_IN_NUMBER FLD(0xc, 23, 0)
#define CREATE_WQ_IN_SKIP   FLD(0x10, 31, 0)

/* CREATE_TIR: packet types to hash in addition to those of the context; values as in
 * device/eth/rss.h. */
#define CREATE_TIR_IN_MORE_TYPES FLD(0xc, 3, 0)

enum { CREATE_TIR_OF_IPV4 = 1 << 0, CREATE_TIR_OF_TCP = 1 << 2 };

/* Frame queues of mlx4 are QPs. Their numbers are above those of other QPs, so that a number tells
 * the kind. RQ and SQ of one QP have the same number. */
enum { M4_FIRST_FRAME_QUEUE = 1 << 19, M4_FRAME_QUEUES = 1 << 12, M4_LOG_QPNS = 20 };

/* Opcodes that the PRM leaves free, for mlx4's transitions to and within state SQD. They have the
 * layout of the other transitions. */
enum { M4_AS_RTS2SQD_QP = 0x508, M4_AS_SQD2SQD_QP = 0x509 };

/* RTS2SQD_QP: raise an event when the queue is drained. */
#define M4_AS_RTS2SQD_TELL FLD(0xc, 0, 0)

/* MODIFY_SQ: bit of modify_bitmask for the field SQ_RESTS, which stops the queue (1) or starts it
 * again (0). */
enum { M4_AS_MODIFY_SQ_REST = 1 << 30 };
#define M4_AS_SQ_RESTS FLD(0xc, 0, 0)

/* CREATE_MKEY: the key is a region, to which windows may be bound, or a window. Linux' mlx5 driver
 * leaves these bits 0. */
#define CREATE_MKEY_IN_MAY_BIND  FLD(0xc, 0, 0)
#define CREATE_MKEY_IN_IS_REGION FLD(0xc, 1, 1)
#define CREATE_MKEY_IN_IS_WINDOW FLD(0xc, 2, 2)

#endif
