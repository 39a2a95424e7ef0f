/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - commands of mlx4 adapters: their register (HCR), opcodes, statuses.
 *
 * A command has an input and an output parameter of 64 bits, each a value or the address of a
 * mailbox, and a modifier. Sources: enum mlx4_cmd and MLX4_SET_PORT_* in linux/mlx4/cmd.h; the
 * register, statuses and offsets in BAR 0, from the reads and writes of Linux' driver mlx4_core
 * (6.1: cmd.c, fw.c, reset.c, catas.c).
 */
#ifndef PRM_MLX4_CMD_H
#define PRM_MLX4_CMD_H

#include "util/fields.h"

enum m4_opcode_cmd {
	M4_CMD_QUERY_DEV_CAP = 0x3,
	M4_CMD_QUERY_FW = 0x4,
	M4_CMD_QUERY_ADAPTER = 0x6,
	M4_CMD_INIT_HCA = 0x7,
	M4_CMD_CLOSE_HCA = 0x8,
	M4_CMD_INIT_PORT = 0x9,
	M4_CMD_CLOSE_PORT = 0xa,
	M4_CMD_QUERY_HCA = 0xb,
	M4_CMD_SET_PORT = 0xc,
	M4_CMD_SW2HW_MPT = 0xd,
	M4_CMD_QUERY_MPT = 0xe,
	M4_CMD_HW2SW_MPT = 0xf,
	M4_CMD_WRITE_MTT = 0x11,
	M4_CMD_MAP_EQ = 0x12,
	M4_CMD_SW2HW_EQ = 0x13,
	M4_CMD_HW2SW_EQ = 0x14,
	M4_CMD_QUERY_EQ = 0x15,
	M4_CMD_SW2HW_CQ = 0x16,
	M4_CMD_HW2SW_CQ = 0x17,
	M4_CMD_QUERY_CQ = 0x18,
	M4_CMD_RST2INIT_QP = 0x19,
	M4_CMD_INIT2RTR_QP = 0x1a,
	M4_CMD_RTR2RTS_QP = 0x1b,
	M4_CMD_RTS2RTS_QP = 0x1c,
	M4_CMD_SQERR2RTS_QP = 0x1d,
	M4_CMD_2ERR_QP = 0x1e,
	M4_CMD_RTS2SQD_QP = 0x1f,
	M4_CMD_SQD2RTS_QP = 0x20,
	M4_CMD_2RST_QP = 0x21,
	M4_CMD_QUERY_QP = 0x22,
	M4_CMD_CONF_SPECIAL_QP = 0x23,
	M4_CMD_MAD_IFC = 0x24,
	M4_CMD_READ_MCG = 0x25,
	M4_CMD_WRITE_MCG = 0x26,
	M4_CMD_MGID_HASH = 0x27,
	M4_CMD_MODIFY_CQ = 0x2c,
	M4_CMD_INIT2INIT_QP = 0x2d,
	M4_CMD_SYNC_TPT = 0x2f,
	M4_CMD_DIAG_RPRT = 0x30,
	M4_CMD_NOP = 0x31,
	M4_CMD_MOD_STAT_CFG = 0x34,
	M4_CMD_SW2HW_SRQ = 0x35,
	M4_CMD_HW2SW_SRQ = 0x36,
	M4_CMD_QUERY_SRQ = 0x37,
	M4_CMD_SQD2SQD_QP = 0x38,
	M4_CMD_CONFIG_DEV = 0x3a,
	M4_CMD_ARM_SRQ = 0x40,
	M4_CMD_QUERY_PORT = 0x43,
	M4_CMD_SET_VLAN_FLTR = 0x47,
	M4_CMD_SET_MCAST_FLTR = 0x48,
	M4_CMD_DUMP_ETH_STATS = 0x49,
	M4_CMD_FLOW_ATTACH = 0x65,
	M4_CMD_FLOW_DETACH = 0x66,
	M4_CMD_RUN_FW = 0xff6,
	M4_CMD_UNMAP_ICM = 0xff9,
	M4_CMD_MAP_ICM = 0xffa,
	M4_CMD_UNMAP_ICM_AUX = 0xffb,
	M4_CMD_MAP_ICM_AUX = 0xffc,
	M4_CMD_SET_ICM_SIZE = 0xffd,
	M4_CMD_UNMAP_FA = 0xffe,
	M4_CMD_MAP_FA = 0xfff,
};

enum m4_status {
	M4_STAT_OK = 0x00,
	M4_STAT_INTERNAL_ERR = 0x01,
	M4_STAT_BAD_OP = 0x02,
	M4_STAT_BAD_PARAM = 0x03,
	M4_STAT_BAD_SYS_STATE = 0x04,
	M4_STAT_BAD_RESOURCE = 0x05,
	M4_STAT_RESOURCE_BUSY = 0x06,
	M4_STAT_EXCEED_LIM = 0x08,
	M4_STAT_BAD_RES_STATE = 0x09,
	M4_STAT_BAD_INDEX = 0x0a,
	M4_STAT_ICM_ERROR = 0x0c,
	M4_STAT_BAD_QP_STATE = 0x10,
	M4_STAT_REG_BOUND = 0x21, /* windows are bound to the region */
	M4_STAT_BAD_PKT = 0x30,
	M4_STAT_BAD_SIZE = 0x40,
};

enum { M4_MAILBOX_SIZE = 4096, M4_ICM_PAGE = 4096 };

/* ---- the register, at M4_HCR of BAR 0 ---- */

enum { M4_HCR_SIZE = 0x1c };

#define M4_HCR_IN_PARAM \
	FLD_PART(0x0) /* 64 bits; this and M4_HCR_OUT_PARAM are not aligned to them */
#define M4_HCR_IN_MODIFIER FLD(0x8, 31, 0)
#define M4_HCR_OUT_PARAM   FLD_PART(0xc)
#define M4_HCR_TOKEN       FLD(0x14, 31, 16)
#define M4_HCR_STATUS      FLD(0x18, 31, 24)
#define M4_HCR_GO          FLD(0x18, 23, 23)
#define M4_HCR_EVENT       FLD(0x18, 22, 22) /* the command ends with an event */
#define M4_HCR_OP_MODIFIER FLD(0x18, 15, 12)
#define M4_HCR_OPCODE      FLD(0x18, 11, 0)

/* ---- BAR 0 ---- */

enum {
	M4_BAR0_SIZE = 1 << 20,
	M4_HCR = 0x80680,
	/* a reader that gets 0 owns the device, so that one driver at a time uses it; writing 0
	 * releases it */
	M4_OWNER = 0x8069c,
	M4_RESET = 0xf0010,     /* the value below resets the device */
	M4_SEMAPHORE = 0xf03fc, /* a reader that gets 0 takes it; a reset releases it */
};

enum { M4_RESET_VALUE = 1 }; /* big-endian */

/* ---- BAR 2: pages of doorbells, followed by as many pages of BlueFlame registers ---- */

enum {
	M4_UAR_PAGE = 4096,
	M4_UAR_EQ = 0x800, /* registers of four event queues, 8 bytes apart; page: EQ number / 4 */
	M4_EQS_PER_UAR = 4,
};

#define M4_EQ_ARM FLD(0x0, 31, 31)
#define M4_EQ_CI  FLD(0x0, 23, 0)

/* ---- mailboxes of commands that belong to no object ---- */

/* MAP_FA, MAP_ICM_AUX, MAP_ICM: entries; the modifier has their number. */
enum { M4_MAP_ENTRY = 16, M4_MAP_ENTRIES = M4_MAILBOX_SIZE / M4_MAP_ENTRY };

#define M4_MAP_VIRT     FLD64(0x0) /* MAP_ICM */
#define M4_MAP_ADDR     FLD64(0x8) /* the low bits hold M4_MAP_LOG_SIZE */
#define M4_MAP_LOG_SIZE 0x1full    /* in pages of 4 KiB */

/* WRITE_MTT: an index, then entries; the modifier has their number. */
#define M4_MTT_INDEX   FLD64(0x0)
#define M4_MTT_ENTRIES FLD_PART(0x10)

enum { M4_MTT_SIZE = 8, M4_MTT_PRESENT = 1 };

/* MAP_EQ: the parameter is a mask of events */
enum { M4_MAP_EQ_EQN = 0xff };
#define M4_MAP_EQ_UNMAP (1u << 31) /* a bit of the modifier */

enum { M4_MODIFY_CQ_RESIZE = 0, M4_MODIFY_CQ_MODERATION = 1 };

enum { M4_SET_PORT_IB = 0, M4_SET_PORT_ETH = 1 };

enum {
	M4_MAD_IGNORE_MKEY = 1 << 0,
	M4_MAD_IGNORE_BKEY = 1 << 1,
	M4_MAD_EXTENDED = 1 << 2, /* behind the datagram: how it was received */
};

#endif
