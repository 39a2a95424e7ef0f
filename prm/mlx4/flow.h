/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - rules of flow steering of mlx4 adapters: the mailbox of QP_FLOW_STEERING_ATTACH. A rule
 * is a head and specs; each spec has its length. Sources: struct mlx4_net_trans_rule_hw_* in
 * linux/mlx4/device.h; numbers, from the writes of Linux' driver mlx4_core (6.1: mcg.c).
 */
#ifndef PRM_MLX4_FLOW_H
#define PRM_MLX4_FLOW_H

#include "util/fields.h"

enum { M4_FLOW_HEAD = 0x10, M4_FLOW_SIZE_MAX = 0x200, M4_FLOW_UNIT = 4 /* bytes */ };

#define M4_FLOW_PRIORITY FLD(0x0, 31, 16) /* lower numbers match first */
#define M4_FLOW_TYPE     FLD(0x0, 15, 8)
#define M4_FLOW_PORT     FLD(0x4, 7, 0)
#define M4_FLOW_QPN      FLD(0x8, 23, 0)

enum m4_flow_type {
	M4_FLOW_REGULAR = 0,
	M4_FLOW_DEFAULT = 1,       /* packets that match no other rule */
	M4_FLOW_GROUP_DEFAULT = 3, /* multicast packets that match no other rule */
	M4_FLOW_MIRROR_RX = 4,
	M4_FLOW_MIRROR_TX = 5,
	M4_FLOW_UNICAST_COPY = 6,
	M4_FLOW_GROUP_COPY = 7,
};

/* ---- specs ---- */

#define M4_SPEC_SIZE FLD(0x0, 31, 24)
#define M4_SPEC_ID   FLD(0x0, 15, 0)

enum m4_spec_id {
	M4_SPEC_ETH = 0xe001,
	M4_SPEC_IPV4 = 0xe002,
	M4_SPEC_TCP = 0xe004,
	M4_SPEC_IB = 0xe005,
	M4_SPEC_UDP = 0xe006,
};

enum { M4_SPEC_ETH_SIZE = 0x30, M4_SPEC_IPV4_SIZE = 0x18, M4_SPEC_L4_SIZE = 0x18 };
enum { M4_SPEC_IB_SIZE = 0x30 };

#define M4_ETH_DMAC         FLD_PART(0x0a)
#define M4_ETH_DMAC_MASK    FLD_PART(0x12)
#define M4_ETH_SMAC         FLD_PART(0x1a)
#define M4_ETH_SMAC_MASK    FLD_PART(0x22)
#define M4_ETH_HAS_TYPE     FLD(0x28, 23, 16)
#define M4_ETH_TYPE         FLD(0x28, 15, 0)
#define M4_ETH_VLAN_MASK    FLD(0x2c, 31, 16)
#define M4_ETH_VLAN         FLD(0x2c, 15, 0)

#define M4_IPV4_DEST        FLD_PART(0x08)
#define M4_IPV4_DEST_MASK   FLD_PART(0x0c)
#define M4_IPV4_SOURCE      FLD_PART(0x10)
#define M4_IPV4_SOURCE_MASK FLD_PART(0x14)

#define M4_L4_DEST          FLD_PART(0x0a) /* ports of 16 bits, as in the next fields */
#define M4_L4_DEST_MASK     FLD_PART(0x0e)
#define M4_L4_SOURCE        FLD_PART(0x12)
#define M4_L4_SOURCE_MASK   FLD_PART(0x16)

#define M4_IB_GID           FLD_PART(0x10)

#endif
