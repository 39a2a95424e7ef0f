/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.h - headers at the start of messages with a tag: the tag matching header and, behind it, the
 * rendezvous header. Programs know them as struct ibv_tmh and struct ibv_rvh.
 */
#ifndef PRM_MLX5_TM_H
#define PRM_MLX5_TM_H

#include "util/fields.h"

enum {
	TM_HEADER = 16,
	TM_RNDV_HEADER = 32, /* both headers of a rendezvous */
};

enum tmh_op {
	TMH_NO_TAG = 0, /* no tag: the message bypasses the list */
	TMH_RNDV = 1,   /* READ the data; the second header has its address */
	TMH_FIN = 2,    /* the data has been fetched */
	TMH_EAGER = 3,  /* the data follows */
};

#define TMH_OP   FLD(0x0, 31, 24)
#define TMH_APP  FLD(0x4, 31, 0)
#define TMH_TAG  FLD64(0x8)

#define RVH_ADDR FLD64(0x10)
#define RVH_RKEY FLD(0x18, 31, 0)
#define RVH_LEN  FLD(0x1c, 31, 0)

#endif
