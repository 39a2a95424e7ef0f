/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.h - what software rings: the registers of a UAR page, and the words of doorbell records. PRM:
 * UAR Page Format, Doorbell Record
 */
#ifndef PRM_MLX5_UAR_H
#define PRM_MLX5_UAR_H

#include "util/fields.h"

enum {
	PRM_UAR_SIZE = 0x1000, /* where a page of the host has several */
	PRM_UAR_CQ = 0x20,     /* 8 bytes: the arm word of the record, and UAR_CQ_CQN */
	PRM_EQ_ARM = 0x40,     /* 4 bytes: UAR_EQ_EQN and UAR_EQ_CI */
	PRM_EQ_UPDATE = 0x48,
	/* A control segment begins in a register of sends. Each has two buffers, used in turn, and
	 * programs use as many of a page. */
	PRM_UAR_SQ = 0x800,
	PRM_UAR_SQ_SIZE = 0x100, /* the distance to the next */
	PRM_UAR_SQS = 2,
};

#define UAR_CQ_ARM FLD(0x0, 31, 0)
#define UAR_CQ_CQN FLD(0x4, 23, 0)
#define UAR_EQ_EQN FLD(0x0, 31, 24)
#define UAR_EQ_CI  FLD(0x0, 23, 0)

/* A doorbell record has 8 bytes. The record of a QP counts receives and blocks of sends; SRQ and RQ
 * have the first counter only, an SQ the second. */
#define QP_DBREC_RECV FLD(0x0, 31, 0) /* 16 bits count */
#define QP_DBREC_SEND FLD(0x4, 31, 0)
#define CQ_DBREC_CI   FLD(0x0, 31, 0) /* 24 bits count */
#define CQ_DBREC_ARM  FLD(0x4, 31, 0)

/* The arm word asks for an event, perhaps of solicited completions only. */
#define CQ_ARM_SN             FLD(0x0, 29, 28)
#define CQ_ARM_SOLICITED_ONLY FLD(0x0, 24, 24)
#define CQ_ARM_CI             FLD(0x0, 23, 0)

#endif
