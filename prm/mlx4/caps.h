/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * caps.h - the capabilities of mlx4 adapters, and their setup by a driver: QUERY_FW, QUERY_DEV_CAP,
 * QUERY_PORT, QUERY_ADAPTER, INIT_HCA, SET_PORT, CONFIG_DEV. Numbers with LOG are powers of two.
 * Sources: MLX4_DEV_CAP_FLAG_* in linux/mlx4/device.h; offsets, from the reads and writes of Linux'
 * driver mlx4_core (6.1: fw.c, port.c).
 */
#ifndef PRM_MLX4_CAPS_H
#define PRM_MLX4_CAPS_H

#include "util/fields.h"

/* ---- QUERY_FW ---- */

#define M4_FW_MAJOR        FLD(0x0, 15, 0)
#define M4_FW_MINOR        FLD(0x4, 15, 0)
#define M4_FW_SUBMINOR     FLD(0x4, 31, 16)
#define M4_FW_PAGES        FLD(0x0, 31, 16) /* memory for the firmware, in pages of 4 KiB */
#define M4_FW_INTERFACE    FLD(0x8, 15, 0)
#define M4_FW_LOG_MAX_CMDS FLD(0xc, 7, 0)
#define M4_FW_CLEAR_INT    FLD64(0x20)      /* offset of the register; the next word has its BAR */
#define M4_FW_ERROR        FLD64(0x30)      /* the same, for the error buffer */
#define M4_FW_ERROR_SIZE   FLD(0x38, 31, 0) /* words */

enum { M4_FW_INTERFACE_REV = 3 };

/* ---- QUERY_DEV_CAP ---- */

#define M4_CAP_LOG_MAX_SRQ_SIZE  FLD(0x10, 31, 24)
#define M4_CAP_LOG_MAX_QP_SIZE   FLD(0x10, 23, 16)
#define M4_CAP_LOG_RSVD_QPS      FLD(0x10, 11, 8)
#define M4_CAP_LOG_MAX_QPS       FLD(0x10, 4, 0)
#define M4_CAP_LOG_RSVD_SRQS     FLD(0x14, 31, 28)
#define M4_CAP_LOG_MAX_SRQS      FLD(0x14, 20, 16)
#define M4_CAP_LOG_MAX_CQ_SIZE   FLD(0x18, 23, 16)
#define M4_CAP_LOG_RSVD_CQS      FLD(0x18, 11, 8)
#define M4_CAP_LOG_MAX_CQS       FLD(0x18, 4, 0)
#define M4_CAP_LOG_MAX_MPTS      FLD(0x1c, 21, 16)
#define M4_CAP_LOG_MAX_EQS       FLD(0x1c, 3, 0)
#define M4_CAP_LOG_MAX_MRW_SIZE  FLD(0x20, 23, 16)
#define M4_CAP_LOG_RSVD_MRWS     FLD(0x20, 11, 8)
#define M4_CAP_LOG_MAX_REQUESTER FLD(0x28, 21, 16)
#define M4_CAP_LOG_MAX_RESPONDER FLD(0x28, 5, 0)
#define M4_CAP_LOG_MAX_RDMA      FLD(0x2c, 5, 0)
#define M4_CAP_RSS_TOEPLITZ      FLD(0x2c, 12, 12)
#define M4_CAP_LOG_RSS_TABLE     FLD(0x2c, 11, 8) /* of an RSS table of user space */
#define M4_CAP_ACK_DELAY         FLD(0x34, 20, 16)
#define M4_CAP_PORTS             FLD(0x34, 3, 0)
#define M4_CAP_LOG_MAX_MSG       FLD(0x38, 28, 24)
#define M4_CAP_FLAGS_63_32       FLD(0x40, 31, 0)
#define M4_CAP_FLAGS_31_0        FLD(0x44, 31, 0)
#define M4_CAP_RSVD_UARS         FLD(0x48, 31, 28)
#define M4_CAP_UAR_MB            FLD(0x48, 21, 16) /* log2 of megabytes of doorbells */
#define M4_CAP_LOG_MIN_PAGE      FLD(0x48, 7, 0)
#define M4_CAP_BLUEFLAME         FLD(0x4c, 31, 31)
#define M4_CAP_LOG_BF_REGISTER   FLD(0x4c, 20, 16)
#define M4_CAP_LOG_BF_PER_PAGE   FLD(0x4c, 13, 8)
#define M4_CAP_MAX_SG_SQ         FLD(0x50, 23, 16)
#define M4_CAP_MAX_WQE_SQ        FLD(0x50, 15, 0)
#define M4_CAP_MAX_SG_RQ         FLD(0x54, 23, 16)
#define M4_CAP_MAX_WQE_RQ        FLD(0x54, 15, 0)
#define M4_CAP_LOG_MAX_QP_MCG    FLD(0x60, 23, 16)
#define M4_CAP_LOG_MAX_MCGS      FLD(0x60, 7, 0)
#define M4_CAP_LOG_MAX_PDS       FLD(0x64, 21, 16)
#define M4_CAP_LOG_MAX_XRCDS     FLD(0x64, 4, 0)
#define M4_CAP_STEERING          FLD(0x74, 15, 15) /* by rules; the next field: QPs per rule */
#define M4_CAP_STEERING_QPS      FLD(0x74, 7, 0)
#define M4_CAP_RDMARC_SIZE       FLD(0x80, 31, 16) /* entry size in bytes, as in the fields below */
#define M4_CAP_QPC_SIZE          FLD(0x80, 15, 0)
#define M4_CAP_AUX_SIZE          FLD(0x84, 31, 16)
#define M4_CAP_ALT_SIZE          FLD(0x84, 15, 0)
#define M4_CAP_EQC_SIZE          FLD(0x88, 31, 16)
#define M4_CAP_CQC_SIZE          FLD(0x88, 15, 0)
#define M4_CAP_SRQC_SIZE         FLD(0x8c, 31, 16)
#define M4_CAP_CMPT_SIZE         FLD(0x8c, 15, 0)
#define M4_CAP_MTT_SIZE          FLD(0x90, 31, 16)
#define M4_CAP_DMPT_SIZE         FLD(0x90, 15, 0)
#define M4_CAP_KEY_FLAGS         FLD(0x94, 31, 0)
#define M4_CAP_MAX_ICM           FLD64(0xa0)

/* Bits of M4_CAP_FLAGS_31_0 and, if HIGH is in the name, of M4_CAP_FLAGS_63_32 */
enum m4_cap_flags {
	M4_FLAG_RC = 1 << 0,
	M4_FLAG_UC = 1 << 1,
	M4_FLAG_UD = 1 << 2,
	M4_FLAG_XRC = 1 << 3,
	M4_FLAG_SRQ = 1 << 6,
	M4_FLAG_WINDOWS = 1 << 16,
	M4_FLAG_ATOMIC = 1 << 18,
	M4_FLAG_UD_AV_PORT = 1 << 20,
	M4_FLAG_UD_MCAST = 1 << 21,
	M4_FLAG_ROCE = 1 << 30,
	M4_FLAG_HIGH_UDP_RSS = 1 << (40 - 32),
	M4_FLAG_HIGH_LARGE_CQE = 1 << (62 - 32),
};

/* Bits of M4_CAP_KEY_FLAGS: local and remote invalidation, fast registration, windows of type 2,
 * which are bound to a QP. ROCE_V2 does not concern keys: it means that the device has both
 * versions of RoCE. */
enum {
	M4_KEY_FLAG_LOCAL_INVAL = 1 << 6,
	M4_KEY_FLAG_REMOTE_INVAL = 1 << 7,
	M4_KEY_FLAG_FAST_REG = 1 << 11,
	M4_KEY_FLAG_WINDOW_2 = 1 << 9,
	M4_KEY_FLAG_WINDOW_2B = 1 << 1,
	M4_KEY_FLAG_ROCE_V2 = 1 << 19
};

/* ---- QUERY_PORT ---- */

enum { M4_PORT_TYPE_IB = 1, M4_PORT_TYPE_ETH = 2 };

#define M4_PORT_LINK_UP   FLD(0x0, 31, 31)
#define M4_PORT_TYPES     FLD(0x0, 25, 24)
#define M4_PORT_IB_MTU    FLD(0x0, 19, 16)
#define M4_PORT_ETH_MTU   FLD(0x0, 15, 0)
#define M4_PORT_SPEED     FLD(0x4, 22, 16) /* of Ethernet */
#define M4_PORT_WIDTH     FLD(0x4, 11, 8)
#define M4_PORT_LOG_GIDS  FLD(0x4, 7, 4)
#define M4_PORT_LOG_PKEYS FLD(0x4, 3, 0)
#define M4_PORT_LOG_VLANS FLD(0x8, 15, 12)
#define M4_PORT_LOG_MACS  FLD(0x8, 11, 8)
#define M4_PORT_VLS       FLD(0x8, 3, 0)
#define M4_PORT_MAC       FLD64(0x10)

enum { M4_PORT_SPEED_40G = 0x40 };

/* ---- QUERY_ADAPTER ---- */

#define M4_ADAPTER_BOARD_ID FLD_PART(0xf0) /* 16 bytes, byte-swapped in groups of 4 */

/* ---- MOD_STAT_CFG: for the port in the modifier, if the operation modifier is 2 ---- */

enum { M4_MOD_STAT_CFG_SET_PAGE = 0, M4_MOD_STAT_CFG_PORT = 2, M4_MOD_STAT_PORT_SHIFT = 8 };

#define M4_MOD_STAT_GUID_H FLD(0x14, 31, 0)
#define M4_MOD_STAT_GUID_L FLD(0x1c, 31, 0)

/* ---- INIT_HCA, QUERY_HCA ---- */

enum { M4_INIT_VERSION_2 = 2, M4_INIT_SIZE = 0x200 };

#define M4_INIT_VERSION    FLD(0x0, 31, 24)
#define M4_INIT_CLOCK      FLD(0xc, 31, 0) /* QUERY_HCA: MHz */
#define M4_INIT_BIG_ENDIAN FLD(0x14, 1, 1)
#define M4_INIT_DMFS       FLD(0x14, 6, 6)
#define M4_INIT_LOG_QPS    FLD(0x34, 4, 0)
#define M4_INIT_LOG_SRQS   FLD(0x4c, 4, 0)
#define M4_INIT_LOG_CQS    FLD(0x54, 4, 0)
#define M4_INIT_LARGE_CQE  FLD(0x58, 30, 30)
#define M4_INIT_LARGE_EQE  FLD(0x58, 29, 29)
#define M4_INIT_STRIDES    FLD(0x58, 7, 0)
#define M4_INIT_LOG_EQS    FLD(0x84, 4, 0)
#define M4_INIT_LOG_MCG    FLD(0xd0, 4, 0) /* bytes of an entry */
#define M4_INIT_LOG_MCGS   FLD(0xd8, 4, 0)
#define M4_INIT_LOG_HASH   FLD(0xd4, 4, 0)
#define M4_INIT_DMPT       FLD64(0xf0)
#define M4_INIT_LOG_MPTS   FLD(0xf8, 5, 0)
#define M4_INIT_MTT        FLD64(0x100)
#define M4_INIT_UAR_PAGE   FLD(0x128, 7, 0) /* log2 of 4 KiB */

/* ---- SET_PORT of an InfiniBand port ---- */

#define M4_SET_PORT_CHANGE_MTU FLD(0x0, 22, 22)
#define M4_SET_PORT_CHANGE_VL  FLD(0x0, 21, 21)
#define M4_SET_PORT_MTU        FLD(0x0, 15, 12)
#define M4_SET_PORT_VLS        FLD(0x0, 7, 4)
#define M4_SET_PORT_CAPS       FLD(0x4, 31, 0)

/* ---- SET_PORT of an Ethernet port: the modifier has the subject above the port ---- */

enum m4_set_port_eth {
	M4_SET_PORT_GENERAL = 0,
	M4_SET_PORT_RQP_CALC = 1,
	M4_SET_PORT_MAC_TABLE = 2,
	M4_SET_PORT_VLAN_TABLE = 3,
	M4_SET_PORT_GID_TABLE = 5,
	M4_SET_PORT_ROCE_TABLE = 0xd,
};

enum {
	M4_SET_PORT_SHIFT = 8,
	M4_ROCE_GIDS = 128,
	M4_VLANS = 128,
	M4_VLAN_TABLE_SIZE = 4 * M4_VLANS,
	M4_VLAN_FILTER_SIZE = 0x200,
};

#define M4_SET_PORT_HAS_MTU  FLD(0x0, 0, 0)
#define M4_SET_PORT_ETH_MTU  FLD(0x4, 15, 0) /* of a frame, with its FCS */
#define M4_SET_PORT_BASE_QPN FLD(0x0, 23, 0)

/* M4_SET_PORT_ROCE_TABLE: entries of 32 bytes, for both versions of RoCE */
enum { M4_ROCE_ENTRY = 32, M4_ROCE_L3_IPV4 = 0, M4_ROCE_L3_IPV6 = 1 };

#define M4_ROCE_GID     FLD_PART(0x0)
#define M4_ROCE_L3_TYPE FLD(0x18, 15, 8)
#define M4_ROCE_VERSION FLD(0x18, 7, 0) /* 0 or 2 */

/* M4_SET_PORT_VLAN_TABLE: one word per entry. Paths name an entry by its index. */
#define M4_VLAN_VALID FLD(0x0, 31, 31)
#define M4_VLAN_ID    FLD(0x0, 11, 0)

/* ---- CONFIG_DEV: a mask of the values to change, and the values ---- */

enum { M4_CONFIG_SIZE = 0x80, M4_CONFIG_SET = 0 };

#define M4_CONFIG_CHANGE    FLD(0x0, 31, 0)
#define M4_CONFIG_ROCE_PORT FLD(0x14, 15, 0) /* of UDP */

enum { M4_CONFIG_CHANGE_ROCE_PORT = 1 << 3 };

#endif
