/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - doorbells: the registers of a UAR page, and the words of doorbell records. PRM: UAR Page
 * Format, Doorbell Record
 */
#ifndef PRM_MLX5_UAR_H
#define PRM_MLX5_UAR_H

#include "util/fields.h"

enum {
	/* the adapter's unit whatever the host's page size: a host page may hold several (PRM: UAR
	 * Page) */
	PRM_UAR_SIZE = 0x1000,
	PRM_UAR_CQ = 0x20, /* 8 bytes: the arm word of the record, and UAR_CQ_CQN */
	PRM_EQ_ARM = 0x40, /* 4 bytes: UAR_EQ_EQN and UAR_EQ_CI */
	PRM_EQ_UPDATE = 0x48,
	/* Registers of sends: software writes the start of a control segment. A register has two
	 * buffers, which writes must use in turn (PRM: Doorbells, BlueFlame). Programs use two
	 * registers of a page. */
	PRM_UAR_SQ = 0x800,
	PRM_UAR_SQ_SIZE = 0x100, /* distance between registers */
	PRM_UAR_SQS = 2,
};

#define UAR_CQ_ARM FLD(0x0, 31, 0)
#define UAR_CQ_CQN FLD(0x4, 23, 0)
#define UAR_EQ_EQN FLD(0x0, 31, 24)
#define UAR_EQ_CI  FLD(0x0, 23, 0)

/* A doorbell record has 8 bytes. A QP's record has the counters of its receives and of its send
 * basic blocks. An SRQ and an RQ have the first counter only, an SQ the second. */
/* free-running; the adapter uses the low 16 bits (PRM: Doorbell Record) */
#define QP_DBREC_RECV FLD(0x0, 31, 0)
#define QP_DBREC_SEND FLD(0x4, 31, 0)
/* free-running; the adapter uses the low 24 bits (PRM: Doorbell Record) */
#define CQ_DBREC_CI  FLD(0x0, 31, 0)
#define CQ_DBREC_ARM FLD(0x4, 31, 0)

/* The arm word requests an event, for solicited completions only or for any. The serial number
 * tells a new request from a repeated one (PRM: CQ Doorbell Record, cmd_sn). */
#define CQ_ARM_SN             FLD(0x0, 29, 28)
#define CQ_ARM_SOLICITED_ONLY FLD(0x0, 24, 24)
#define CQ_ARM_CI             FLD(0x0, 23, 0)

#endif
