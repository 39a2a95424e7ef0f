/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_reformat.h - outer headers that come in front of frames or go: the commands that make
 * them, and their types.
 */
#ifndef PRM_MLX5_PACKET_REFORMAT_H
#define PRM_MLX5_PACKET_REFORMAT_H

#include "util/fields.h"

/* Values of reformat_type. Removal of headers up to an inner Ethernet header needs no
 * reformat_type: it is an action of entries. */
enum prm_reformat {
	PRM_REFORMAT_L2_TO_L2_TUNNEL = 2,
	PRM_REFORMAT_L3_TUNNEL_TO_L2 = 3,
	PRM_REFORMAT_L2_TO_L3_TUNNEL = 4,
};

enum { PRM_ALLOC_REFORMAT_IN_SIZE = 36 }; /* with the first two bytes of the headers */

#define ALLOC_REFORMAT_IN_TYPE      FLD(0x1c, 31, 24)
#define ALLOC_REFORMAT_IN_DATA_SIZE FLD(0x1c, 9, 0)
#define ALLOC_REFORMAT_IN_DATA      FLD_PART(0x22)
#define ALLOC_REFORMAT_OUT_ID       FLD(0x8, 31, 0)
#define DEALLOC_REFORMAT_IN_ID      FLD(0x8, 31, 0)

#endif
