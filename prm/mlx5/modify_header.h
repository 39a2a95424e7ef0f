/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_header.h - lists of actions that change the headers of frames: the commands that make
 * them, the actions, and the numbers of the fields.
 */
#ifndef PRM_MLX5_MODIFY_HEADER_H
#define PRM_MLX5_MODIFY_HEADER_H

#include "util/fields.h"

enum {
	PRM_HEADER_ACTION_SIZE = 8,
	PRM_HEADER_SET = 1, /* action_type */
	PRM_HEADER_ADD = 2,
	PRM_HEADER_COPY = 3,
};

#define ALLOC_MODIFY_HEADER_IN_TABLE_TYPE     FLD(0xc, 31, 24)
#define ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS FLD(0xc, 7, 0)
#define ALLOC_MODIFY_HEADER_IN_ACTIONS        FLD_PART(0x10)
#define ALLOC_MODIFY_HEADER_OUT_ID            FLD(0x8, 31, 0)
#define DEALLOC_MODIFY_HEADER_IN_ID           FLD(0x8, 31, 0)
#define HEADER_ACTION_TYPE                    FLD(0x0, 31, 28)
#define HEADER_ACTION_FIELD                   FLD(0x0, 27, 16) /* of a copy: the source */
#define HEADER_ACTION_OFFSET                  FLD(0x0, 12, 8)
#define HEADER_ACTION_LENGTH                  FLD(0x0, 4, 0) /* in bits; 0: 32 */
#define HEADER_ACTION_DATA                    FLD(0x4, 31, 0)
#define HEADER_COPY_TO_FIELD                  FLD(0x4, 27, 16)
#define HEADER_COPY_TO_OFFSET                 FLD(0x4, 12, 8)

/* Fields of the outer headers, and registers that a frame has while it is in flow tables */
enum prm_header_field {
	PRM_HEADER_SMAC_47_16 = 0x1,
	PRM_HEADER_SMAC_15_0 = 0x2,
	PRM_HEADER_ETHERTYPE = 0x3,
	PRM_HEADER_DMAC_47_16 = 0x4,
	PRM_HEADER_DMAC_15_0 = 0x5,
	PRM_HEADER_IP_DSCP = 0x6,
	PRM_HEADER_TCP_FLAGS = 0x7,
	PRM_HEADER_TCP_SPORT = 0x8,
	PRM_HEADER_TCP_DPORT = 0x9,
	PRM_HEADER_IP_TTL = 0xa,
	PRM_HEADER_UDP_SPORT = 0xb,
	PRM_HEADER_UDP_DPORT = 0xc,
	PRM_HEADER_SIPV6_127_96 = 0xd,
	PRM_HEADER_SIPV6_95_64 = 0xe,
	PRM_HEADER_SIPV6_63_32 = 0xf,
	PRM_HEADER_SIPV6_31_0 = 0x10,
	PRM_HEADER_DIPV6_127_96 = 0x11,
	PRM_HEADER_DIPV6_95_64 = 0x12,
	PRM_HEADER_DIPV6_63_32 = 0x13,
	PRM_HEADER_DIPV6_31_0 = 0x14,
	PRM_HEADER_SIPV4 = 0x15,
	PRM_HEADER_DIPV4 = 0x16,
	PRM_HEADER_FIRST_VID = 0x17,
	PRM_HEADER_IPV6_HOPLIMIT = 0x47,
	PRM_HEADER_METADATA_A = 0x49,
	PRM_HEADER_METADATA_B = 0x50,
	PRM_HEADER_METADATA_C_0 = 0x51,
	PRM_HEADER_METADATA_C_7 = 0x58,
	PRM_HEADER_TCP_SEQ_NUM = 0x59,
	PRM_HEADER_TCP_ACK_NUM = 0x5b,
	PRM_HEADER_IP_ECN = 0x73,
};

#endif
