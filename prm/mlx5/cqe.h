/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - completion queue entries: the fields of their 64 bytes, opcodes and syndromes. PRM: CQE,
 * CQE with error
 *
 * An entry of 128 bytes has these 64 at its end.
 */
#ifndef PRM_MLX5_CQE_H
#define PRM_MLX5_CQE_H

#include "util/fields.h"

enum {
	PRM_CQE_SIZE = 64,
	/* CQE version 0: CQEs of the QP have no user index, so software finds the QP by its
	 * number */
	PRM_NO_USER_INDEX = 0xffffff,
};

enum cqe_opcode {
	CQE_OP_REQ = 0,
	CQE_OP_RESP_WRITE_IMM = 1,
	CQE_OP_RESP_SEND = 2,
	CQE_OP_RESP_SEND_IMM = 3,
	CQE_OP_RESP_SEND_INVAL = 4,
	CQE_OP_RESIZE = 5,
	CQE_OP_NO_PACKET = 6,
	CQE_OP_SIG_ERR = 12,
	CQE_OP_REQ_ERR = 13,
	CQE_OP_RESP_ERR = 14,
	CQE_OP_INVALID = 15,
};

/* Bits of CQE_FLAGS */
enum cqe_flags {
	CQE_SOLICITED = 0x2,
	CQE_INLINE_32 = 0x4, /* data is in the first 32 bytes of the entry */
	CQE_INLINE_64 = 0x8, /* data is in the 64 bytes before the entry */
};

/* Values of CQE_L3: the network header of a datagram */
enum cqe_l3 {
	CQE_L3_GRH = 0,
	CQE_L3_IPV6 = 1,
	CQE_L3_IPV4 = 2,
};

enum cqe_syndrome {
	SYND_LOCAL_LENGTH = 0x01,
	SYND_LOCAL_QP_OP = 0x02,
	SYND_LOCAL_PROT = 0x04,
	SYND_FLUSH = 0x05,
	SYND_MW_BIND = 0x06,
	SYND_BAD_RESPONSE = 0x10,
	SYND_LOCAL_ACCESS = 0x11,
	SYND_REMOTE_INVAL_REQ = 0x12,
	SYND_REMOTE_ACCESS = 0x13,
	SYND_REMOTE_OP = 0x14,
	SYND_RETRY_EXCEEDED = 0x15,
	SYND_RNR_EXCEEDED = 0x16,
	SYND_REMOTE_ABORTED = 0x22,
};

/* Values of QPC_TS_FORMAT, SQC_TS_FORMAT and RQC_TS_FORMAT: ticks of the adapter's clock, or
 * seconds (in the upper 32 bits) and nanoseconds. */
enum prm_ts_format {
	PRM_TS_FREE_RUNNING = 0,
	PRM_TS_REAL_TIME = 2,
};

/* A capability has 2 bits for the formats of each kind of queue. */
enum { PRM_TS_CAP_BOTH = 2 };

enum cqe_vendor_syndrome {
	VEND_RETRY_EXCEEDED = 0x81,
	VEND_RNR_EXCEEDED = 0x87,
	VEND_REMOTE_ACCESS = 0x88,
	VEND_REMOTE_OP = 0x89,
	VEND_REMOTE_INVAL_REQ = 0x8a,
	VEND_PAGE_FAULT = 0x93,
	VEND_FLUSH = 0xf9,
};

#define CQE_PATH_BITS       FLD(0x10, 22, 16)
#define CQE_SLID            FLD(0x14, 15, 0)
#define CQE_GRH             FLD(0x18, 29, 28)
#define CQE_SL              FLD(0x18, 27, 24) /* InfiniBand */
#define CQE_L3              FLD(0x18, 25, 24) /* RoCE */
#define CQE_RQPN            FLD(0x18, 23, 0)
#define CQE_VLAN_PRESENT    FLD(0x1c, 16, 16)
#define CQE_VLAN            FLD(0x1c, 15, 0)
#define CQE_USER_INDEX      FLD(0x20, 23, 0)
#define CQE_IMM             FLD(0x24, 31, 0)
#define CQE_APP             FLD(0x28, 31, 24)
#define CQE_APP_OP          FLD(0x28, 23, 16)
#define CQE_APP_INFO        FLD(0x28, 15, 0)
#define CQE_BYTE_COUNT      FLD(0x2c, 31, 0)
#define CQE_TIMESTAMP       FLD64(0x30)
#define CQE_VENDOR_SYNDROME FLD(0x34, 15, 8)
#define CQE_SYNDROME        FLD(0x34, 7, 0)
#define CQE_SEND_OPCODE     FLD(0x38, 31, 24)
#define CQE_QPN             FLD(0x38, 23, 0)
#define CQE_WQE_COUNTER     FLD(0x3c, 31, 16)
#define CQE_VALIDITY        FLD(0x3c, 15, 8)
#define CQE_OPCODE          FLD(0x3c, 7, 4)
#define CQE_FLAGS           FLD(0x3c, 3, 0)
#define CQE_FORMAT          FLD(0x3c, 3, 2) /* bits 3:2 of CQE_FLAGS */
#define CQE_OWNER           FLD(0x3c, 0, 0)

/* ---- frames ---- */

/* Bits of CQE_HEADERS_OK */
enum cqe_headers_ok {
	CQE_L2_OK = 1,
	CQE_L3_OK = 2,
	CQE_L4_OK = 4,
};

enum cqe_eth_l3 {
	CQE_ETH_L3_NONE = 0,
	CQE_ETH_L3_IPV6 = 1,
	CQE_ETH_L3_IPV4 = 2,
};

enum cqe_eth_l4 {
	CQE_ETH_L4_NONE = 0,
	CQE_ETH_L4_TCP_NO_ACK = 1,
	CQE_ETH_L4_UDP = 2,
	CQE_ETH_L4_TCP_ACK_NO_DATA = 3,
	CQE_ETH_L4_TCP_ACK_AND_DATA = 4,
};

/* Values of CQE_RSS_HASH_TYPE: the hashed headers. One of the first two combines with one of the
 * others. */
enum cqe_rss_hash_type {
	CQE_RSS_IPV4 = 1 << 2,
	CQE_RSS_IPV6 = 2 << 2,
	CQE_RSS_TCP = 1 << 6,
	CQE_RSS_UDP = 2 << 6,
	CQE_RSS_IPSEC = 3 << 6,
};

/* Fields of a striding queue: the number of the WQE and, beside the length, the number of strides
 * that the frame took. A filler CQE has no frame, because the rest of the WQE was too small for
 * one. CQE_WQE_COUNTER is the first stride. */
#define CQE_WQE_ID  FLD(0x0, 15, 0)
#define CQE_FILLER  FLD(0x2c, 31, 31)
#define CQE_STRIDES FLD(0x2c, 30, 16)
/* Fields of an XRQ whose WQEs have strides: each packet of an unexpected message has a stride and a
 * CQE. The length of the packet is in the lower half of CQE_BYTE_COUNT. */
#define CQE_PACKET_STRIDE FLD(0x14, 31, 16)
#define CQE_PACKET_LAST   FLD(0x2c, 30, 30)
/* Fields of CQE_LRO_SEGMENTS TCP segments that the adapter merged into one frame. The frame has the
 * headers of the first segment; software updates them from these values. CQE_CHECK_SUM covers the
 * data. */
#define CQE_LRO_PUSH      FLD(0x4, 30, 30)
#define CQE_LRO_MIN_TTL   FLD(0x4, 23, 16)
#define CQE_LRO_WINDOW    FLD(0x4, 15, 0)
#define CQE_LRO_ACK       FLD(0x8, 31, 0)
#define CQE_LRO_SEGMENTS  FLD(0x20, 31, 24)
#define CQE_RSS_HASH      FLD(0xc, 31, 0)
#define CQE_RSS_HASH_TYPE FLD(0x10, 31, 24)
#define CQE_CHECK_SUM     FLD(0x14, 31, 16)
#define CQE_HEADERS_OK    FLD(0x1c, 31, 24)
#define CQE_ETH_L4_TYPE   FLD(0x1c, 22, 20)
#define CQE_ETH_L3_TYPE   FLD(0x1c, 19, 18)
#define CQE_FLOW_TAG      FLD(0x38, 23, 0)

/* ---- tag matching ---- */

enum {
	CQE_APP_TAG_MATCHING = 1, /* value of CQE_APP */
};

/* Values of CQE_APP_OP */
enum tm_cqe {
	TM_CQE_CONSUMED = 0x1, /* a tag matched; its data is still to come */
	TM_CQE_EXPECTED = 0x2, /* the data of the message that matched has arrived */
	TM_CQE_UNEXPECTED = 0x3,
	TM_CQE_NO_TAG = 0x4,
	TM_CQE_APPEND = 0x5,
	TM_CQE_REMOVE = 0x6,
	TM_CQE_NOOP = 0x7,
	TM_CQE_CONSUMED_SW_RNDV = 0x9,
	TM_CQE_CONSUMED_MSG = 0xa,         /* a tag matched, and its data has arrived */
	TM_CQE_CONSUMED_MSG_SW_RNDV = 0xb, /* headers of a rendezvous: software continues */
	TM_CQE_CANCELED = 0xc,             /* the data will not arrive */
};

/* The first bytes are the result of an operation on the list, or the header of a message. */
#define CQE_TM_SUCCESS  FLD(0x0, 31, 31)
#define CQE_TM_HW_PHASE FLD(0x4, 31, 16)
#define CQE_TM_APP      FLD(0x4, 31, 0)
#define CQE_TM_TAG      FLD64(0x8)

#endif
