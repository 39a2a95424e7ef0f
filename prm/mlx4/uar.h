/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - doorbells of mlx4 adapters: registers, and records in memory.
 *
 * The page behind the registers is for BlueFlame: software writes whole WQEs to its buffers, in
 * turn. The record of a receive queue has 4 bytes, a CQ's has 8. Sources: infiniband/mlx4dv.h,
 * linux/mlx4/cq.h and doorbell.h.
 */
#ifndef PRM_MLX4_UAR_H
#define PRM_MLX4_UAR_H

#include "util/fields.h"

enum {
	M4_UAR_SEND = 0x14, /* 4 bytes: the QP's number */
	M4_UAR_CQ = 0x20,   /* 8 bytes */
};

#define M4_SEND_QPN FLD(0x0, 31, 8)

/* Values of M4_ARM_COMMAND: the completions that cause an event */
enum m4_arm {
	M4_ARM_SOLICITED = 1,
	M4_ARM_ANY = 2,
};

/* Layout of the register. Its first word has the CQ's number, the record's the consumer index. */
#define M4_ARM_SN        FLD(0x0, 29, 28)
#define M4_ARM_COMMAND   FLD(0x0, 26, 24)
#define M4_ARM_CI        FLD(0x0, 23, 0)
#define M4_UAR_CQ_CQN    FLD(0x0, 23, 0)
#define M4_UAR_CQ_CI     FLD(0x4, 23, 0)

#define M4_RECV_RECORD   FLD_PART(0x0) /* number of posted receives */
#define M4_CQ_RECORD_CI  FLD_PART(0x0)
#define M4_CQ_RECORD_ARM FLD_PART(0x4)

#endif
