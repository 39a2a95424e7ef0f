/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diag.h - error counters of mlx4 adapters (DIAG_RPRT), 4 bytes each, of receive queues and of send
 * queues. Sources: MLX4_OP_MOD_QUERY_TRANSPORT_CI_ERRORS in linux/mlx4/device.h, and the reads of
 * Linux' driver mlx4_ib (6.1: main.c).
 */
#ifndef PRM_MLX4_DIAG_H
#define PRM_MLX4_DIAG_H

#include "util/fields.h"

enum { M4_DIAG_TRANSPORT = 2, M4_DIAG_SIZE = 0x200 };

#define M4_DIAG_RECV_LENGTH          FLD(0x0, 31, 0)
#define M4_DIAG_RECV_FLUSHED         FLD(0x20, 31, 0)
#define M4_DIAG_SEND_FLUSHED         FLD(0x24, 31, 0)
#define M4_DIAG_SEND_REMOTE_INVALID  FLD(0x44, 31, 0)
#define M4_DIAG_SEND_REMOTE_ACCESS   FLD(0x4c, 31, 0)
#define M4_DIAG_RECV_REMOTE_ACCESS   FLD(0x50, 31, 0)
#define M4_DIAG_SEND_RNR             FLD(0x6c, 31, 0)
#define M4_DIAG_RECV_OUT_OF_SEQUENCE FLD(0x100, 31, 0)
#define M4_DIAG_SEND_OUT_OF_SEQUENCE FLD(0x104, 31, 0)
#define M4_DIAG_RECV_DUPLICATE       FLD(0x130, 31, 0)
#define M4_DIAG_SEND_TIMEOUT         FLD(0x134, 31, 0)

#endif
