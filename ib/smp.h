/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smp.h - subnet management packets: the attributes that subnet managers read and write at each
 * port, and routes as a list of ports (directed route). Facts only. IBTA vol 1, 14.2.1 (headers),
 * 14.2.5 (attributes); ib/mad.h has the common header.
 */
#ifndef IB_SMP_H
#define IB_SMP_H

#include "ib/mad.h"

enum {
	SMP_CLASS_VERSION = 1,
	SMP_DATA = 64, /* offset and size of the attribute */
	SMP_DATA_SIZE = 64,
	SMP_MAX_HOPS = 63,
};

enum { /* attributes */
       SMP_NODE_DESCRIPTION = 0x10,
       SMP_NODE_INFO = 0x11,
       SMP_SWITCH_INFO = 0x12,
       SMP_GUID_INFO = 0x14,
       SMP_PORT_INFO = 0x15,
       SMP_PKEY_TABLE = 0x16,
       SMP_SL_TO_VL = 0x17,
       SMP_LINEAR_FORWARDING = 0x19,
       SMP_SM_INFO = 0x20,
       SMP_MELLANOX_PORT_INFO = 0xff90, /* of Mellanox devices: FDR10 */
};

/* The highest bit of a directed packet's status: it is on its way back, so its hop pointer counts
 * down. */
enum { SMP_RETURNS = 0x8000 };

/* Fields of a directed packet. The path lists have a byte for each hop, from index 1. */
#define SMP_HOP_POINTER  FLD(0x4, 15, 8)
#define SMP_HOP_COUNT    FLD(0x4, 7, 0)
#define SMP_DR_SLID      FLD(0x20, 31, 16)
#define SMP_DR_DLID      FLD(0x20, 15, 0)
#define SMP_INITIAL_PATH FLD_PART(0x80)
#define SMP_RETURN_PATH  FLD_PART(0xc0)

enum { NODE_CA = 1, NODE_SWITCH = 2 };

enum { NODE_INFO_SIZE = 40, NODE_DESCRIPTION_SIZE = 64 };

#define NODE_BASE_VERSION     FLD(0x0, 31, 24)
#define NODE_CLASS_VERSION    FLD(0x0, 23, 16)
#define NODE_TYPE             FLD(0x0, 15, 8)
#define NODE_PORTS            FLD(0x0, 7, 0)
#define NODE_SYSTEM_GUID      FLD64(0x4)
#define NODE_GUID             FLD64(0xc)
#define NODE_PORT_GUID        FLD64(0x14)
#define NODE_PKEYS            FLD(0x1c, 31, 16)
#define NODE_DEVICE           FLD(0x1c, 15, 0)
#define NODE_LOCAL_PORT       FLD(0x24, 31, 24)
#define NODE_VENDOR           FLD(0x24, 23, 0)

#define SWITCH_INFO_SIZE      20
#define SWITCH_LINEAR_CAP     FLD(0x0, 31, 16)
#define SWITCH_LINEAR_TOP     FLD(0x4, 15, 0)
#define SWITCH_LIFETIME       FLD(0x8, 7, 3)
#define SWITCH_PARTITION_CAP  FLD(0xc, 15, 0)
#define SWITCH_ENHANCED_PORT0 FLD(0x10, 27, 27)

enum { /* bits of the capability mask */
       PORT_CAP_SM = 1 << 1,
       PORT_CAP_EXTENDED_SPEEDS = 1 << 14,
};
enum { PORT_DOWN = 1, PORT_ACTIVE = 4 };               /* state */
enum { PORT_PHYS_POLLING = 2, PORT_PHYS_LINK_UP = 5 }; /* physical state */
enum { PORT_WIDTH_4X = 2, PORT_SPEED_QDR = 4, PORT_SPEEDS_TO_QDR = 7 };
enum { PORT_SPEED_HDR = 4, PORT_SPEEDS_TO_HDR = 7 }; /* extended speeds */
enum { PORT_VL_0 = 1 };                              /* data uses one virtual lane */

#define PORT_GID_PREFIX          FLD64(0x8)
#define PORT_LID                 FLD(0x10, 31, 16)
#define PORT_SM_LID              FLD(0x10, 15, 0)
#define PORT_CAPABILITIES        FLD(0x14, 31, 0)
#define PORT_LOCAL_PORT          FLD(0x1c, 31, 24)
#define PORT_WIDTH_ENABLED       FLD(0x1c, 23, 16)
#define PORT_WIDTH_SUPPORTED     FLD(0x1c, 15, 8)
#define PORT_WIDTH_ACTIVE        FLD(0x1c, 7, 0)
#define PORT_SPEED_SUPPORTED     FLD(0x20, 31, 28)
#define PORT_STATE               FLD(0x20, 27, 24)
#define PORT_PHYS_STATE          FLD(0x20, 23, 20)
#define PORT_DOWN_DEFAULT        FLD(0x20, 19, 16)
#define PORT_SPEED_ACTIVE        FLD(0x20, 7, 4)
#define PORT_SPEED_ENABLED       FLD(0x20, 3, 0)
#define PORT_NEIGHBOUR_MTU       FLD(0x24, 31, 28)
#define PORT_VL_CAP              FLD(0x24, 23, 20)
#define PORT_MTU_CAP             FLD(0x28, 19, 16)
#define PORT_VLS                 FLD(0x28, 7, 4)
#define PORT_PKEY_VIOLATIONS     FLD(0x2c, 15, 0)
#define PORT_QKEY_VIOLATIONS     FLD(0x30, 31, 16)
#define PORT_GUID_CAP            FLD(0x30, 15, 8)
#define PORT_SUBNET_TIMEOUT      FLD(0x30, 4, 0)
#define PORT_RESPONSE_TIME       FLD(0x34, 28, 24)
#define PORT_SPEED_EXT_ACTIVE    FLD(0x3c, 15, 12)
#define PORT_SPEED_EXT_SUPPORTED FLD(0x3c, 11, 8)
#define PORT_SPEED_EXT_ENABLED   FLD(0x3c, 4, 0)

/* Tables are read and written in blocks, because an SMP has room for 64 bytes; the attribute
 * modifier is the block's number. IBTA vol 1, 14.2.5 */
enum { GUIDS_PER_BLOCK = 8, PKEYS_PER_BLOCK = 32, LIDS_PER_BLOCK = 64, NO_PORT = 255 };

enum { SM_MASTER = 3, SM_HIGHEST_PRIORITY = 15, SM_INFO_SIZE = 21 };

#define SM_INFO_GUID     FLD64(0x0)
#define SM_INFO_KEY      FLD64(0x8)
#define SM_INFO_ACTIVITY FLD(0x10, 31, 0)
#define SM_INFO_PRIORITY FLD(0x14, 31, 28)
#define SM_INFO_STATE    FLD(0x14, 27, 24)

#endif
