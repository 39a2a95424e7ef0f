/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Wire headers of tag matching, at the start of a message to an SRQ of type IBV_SRQT_TM. All
 * multi-byte fields are big-endian.
 */
#ifndef _TM_TYPES_H
#define _TM_TYPES_H

#include <stdint.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ibv_tmh_op {
	IBV_TMH_NO_TAG = 0, /* bypasses the matching list */
	IBV_TMH_RNDV = 1,   /* an RVH follows: the receiver fetches the data by RDMA READ */
	IBV_TMH_FIN = 2,    /* the receiver's answer when its RDMA READ is complete */
	IBV_TMH_EAGER = 3,  /* the data follows */
};

/* Tag matching header, the first header. */
struct ibv_tmh {
	uint8_t opcode;      /* enum ibv_tmh_op */
	uint8_t reserved[3]; /* 0 */
	__be32 app_ctx;      /* program's own value, returned with the completion */
	__be64 tag;
};

/* Rendezvous header: location of the sender's data. */
struct ibv_rvh {
	__be64 va;
	__be32 rkey;
	__be32 len; /* bytes */
};

#ifdef __cplusplus
}
#endif

#endif
