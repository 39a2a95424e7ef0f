/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.h - sets of counters, which queues refer to by number.
 */
#ifndef PRM_MLX5_Q_COUNTER_H
#define PRM_MLX5_Q_COUNTER_H

#include "util/fields.h"

/* Sizes in bytes of the fixed part of each layout */
enum {
	PRM_QUERY_Q_COUNTER_OUT_SIZE = 256,
};

#define ALLOC_Q_COUNTER_IN_UID                         FLD(0x0, 15, 0)
#define ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID             FLD(0x8, 7, 0)
#define DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID            FLD(0x8, 7, 0)
#define QUERY_Q_COUNTER_IN_CLEAR                       FLD(0x18, 31, 31)
#define QUERY_Q_COUNTER_IN_COUNTER_SET_ID              FLD(0x1c, 7, 0)
#define QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS          FLD(0x10, 31, 0)
#define QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS           FLD(0x18, 31, 0)
#define QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS         FLD(0x20, 31, 0)
#define QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER              FLD(0x30, 31, 0)
#define QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE            FLD(0x38, 31, 0)
#define QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST          FLD(0x40, 31, 0)
#define QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR          FLD(0x48, 31, 0)
#define QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR             FLD(0x50, 31, 0)
#define QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR        FLD(0x58, 31, 0)
#define QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR      FLD(0x60, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR    FLD(0x78, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR             FLD(0x90, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR              FLD(0x94, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST FLD(0xa0, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS   FLD(0xa8, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS  FLD(0xac, 31, 0)
#define QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR       FLD(0xbc, 31, 0)
#define QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR        FLD(0xc0, 31, 0)

#endif
