/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * init_seg.h - the initialization segment at the start of BAR 0, and the entries and mailboxes of
 * the command queue whose address it takes. PRM: Initialization Segment, Command Interface
 */
#ifndef PRM_MLX5_INIT_SEG_H
#define PRM_MLX5_INIT_SEG_H

#include "util/fields.h"

enum {
	PRM_CMDQ_ENTRY_SIZE = 64,
	PRM_CMDQ_BLOCK_DATA = 512, /* bytes of a mailbox that are command or answer */
	PRM_CMDQ_BLOCK_SIZE = 576,
	PRM_CMDQ_BLOCK_STRIDE = 1024, /* a mailbox is aligned to 512 bytes */
};

enum {
	PRM_CMDIF_REV = 5,       /* INIT_SEG_CMDIF_REV */
	PRM_CMDQ_TYPE_PCI = 0x7, /* CMDQ_TYPE */
	/* bytes of the command and of its answer in the entry; the rest is in mailboxes (PRM:
	 * Command Queue Entry) */
	PRM_CMDQ_INLINE = 16,
};

/* 0: full */
enum prm_nic_interface {
	PRM_NIC_DISABLED = 1,
	PRM_NIC_SW_RESET = 7,
};

#define INIT_SEG_FW_REV          FLD(0x0, 31, 0)
#define INIT_SEG_CMDIF_REV       FLD(0x4, 31, 16)
#define INIT_SEG_CMDQ_ADDR_63_32 FLD(0x10, 31, 0)
#define INIT_SEG_CMDQ_ADDR_31_12 FLD(0x14, 31, 12) /* written as a whole word */
/* read: the adapter's state, of enum prm_nic_interface; in the word of the address */
#define INIT_SEG_NIC_INTERFACE    FLD(0x14, 10, 8)
#define INIT_SEG_LOG_CMDQ_SIZE    FLD(0x14, 7, 4)
#define INIT_SEG_LOG_CMDQ_STRIDE  FLD(0x14, 3, 0)
#define INIT_SEG_COMMAND_DOORBELL FLD(0x18, 31, 0) /* a bit for each entry */
#define INIT_SEG_INITIALIZING     FLD(0x1fc, 31, 31)
/* With a syndrome: firmware works no more, and requests a reset. Without this bit the syndrome is a
 * warning (PRM: Health Buffer) */
#define INIT_SEG_HEALTH_RESET    FLD(0x238, 31, 31)
#define INIT_SEG_HEALTH_SYNDROME FLD(0x23c, 23, 16)
/* Timeouts in ms. 0 in the second: firmware states neither */
#define INIT_SEG_CMD_EXEC_TO    FLD(0xff8, 31, 0)
#define INIT_SEG_CMDQ_INIT_TO   FLD(0xffc, 31, 0)
#define INIT_SEG_HEALTH_COUNTER FLD(0x1010, 23, 0)

#define CMDQ_TYPE               FLD(0x0, 31, 24)
#define CMDQ_INPUT_LENGTH       FLD(0x4, 31, 0)
#define CMDQ_INPUT_MAILBOX      FLD64(0x8)
#define CMDQ_INPUT_INLINE       FLD_PART(0x10)
#define CMDQ_OUTPUT_INLINE      FLD_PART(0x20)
#define CMDQ_OUTPUT_MAILBOX     FLD64(0x30)
#define CMDQ_OUTPUT_LENGTH      FLD(0x38, 31, 0)
#define CMDQ_TOKEN              FLD(0x3c, 31, 24)
#define CMDQ_SIGNATURE          FLD(0x3c, 23, 16)
#define CMDQ_STATUS             FLD(0x3c, 7, 1)
/* 1: the adapter owns the entry. The adapter clears the bit once the answer is written (PRM:
 * Command Queue Entry) */
#define CMDQ_OWNER        FLD(0x3c, 0, 0)

#define CMDQ_BLOCK_NEXT   FLD64(0x230)
#define CMDQ_BLOCK_NUMBER FLD(0x238, 31, 0)
#define CMDQ_BLOCK_TOKEN  FLD(0x23c, 23, 16)

#endif
