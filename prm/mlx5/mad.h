/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.h - management datagrams that the adapter's own agents answer.
 */
#ifndef PRM_MLX5_MAD_H
#define PRM_MLX5_MAD_H

#include "util/fields.h"

enum { PRM_MAD_IFC_SIZE = 16 + 256 };

/* Bits of OP_MOD: do not check the datagram's M_Key or B_Key. */
enum { PRM_MAD_IGNORE_MKEY = 1, PRM_MAD_IGNORE_BKEY = 2 };

#define MAD_IFC_IN_REMOTE_LID FLD(0x8, 31, 16)
#define MAD_IFC_IN_PORT       FLD(0x8, 7, 0)
#define MAD_IFC_IN_MAD        FLD_PART(0x10)

#define MAD_IFC_OUT_MAD       FLD_PART(0x10)

#endif
