/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.h - work queue elements: opcodes, and the segments of WQEs. PRM: Send WQE format, Receive WQE
 * format
 *
 * A send WQE is a control segment and the segments of its opcode; a receive WQE is a list of data
 * segments. av.h has the address vector of a datagram, umr.h the segments of UMR.
 */
#ifndef PRM_MLX5_WQE_H
#define PRM_MLX5_WQE_H

#include "util/fields.h"

enum {
	WQE_SEG = 16, /* bytes of a segment; CTRL_DS counts them (PRM: Control Segment, ds) */
	/* Rings consist of basic blocks of this size, and indices count blocks, so each WQE starts
	 * at a multiple of 64 bytes (PRM: Send WQE format). */
	WQE_BB_LOG = 6,
	WQE_BB = 1 << WQE_BB_LOG,
};

enum wqe_opcode {
	WQE_NOP = 0x00,
	WQE_SEND_INVAL = 0x01,
	WQE_RDMA_WRITE = 0x08,
	WQE_RDMA_WRITE_IMM = 0x09,
	WQE_SEND = 0x0a,
	WQE_SEND_IMM = 0x0b,
	WQE_LSO = 0x0e,
	WQE_RDMA_READ = 0x10,
	WQE_ATOMIC_CS = 0x11,
	WQE_ATOMIC_FA = 0x12,
	WQE_MASKED_CS = 0x14, /* masked atomics; CTRL_OPMOD has their size */
	WQE_MASKED_FA = 0x15,
	WQE_SET_PSV = 0x20,
	WQE_UMR = 0x25,
	WQE_TAG_MATCHING = 0x28,
	WQE_MMO = 0x2f, /* memory to memory; CTRL_OPMOD: operation */
};

/* Values of CTRL_FM: which earlier WQEs this one waits for */
enum wqe_fence {
	WQE_FENCE_NONE = 0,
	WQE_FENCE_INITIATOR_SMALL = 1,
	WQE_FENCE_STRONG = 3,
	WQE_FENCE_SMALL_AND_STRONG = 4,
};

/* Bits of CTRL_CE_SE */
enum {
	WQE_CQ_UPDATE = 2 << 2,
	WQE_SOLICITED = 1 << 1,
};

#define CTRL_OPMOD      FLD(0x0, 31, 24)
#define CTRL_INDEX      FLD(0x0, 23, 8)
#define CTRL_OPCODE     FLD(0x0, 7, 0)
#define CTRL_QPN        FLD(0x4, 31, 8) /* or an SQ's number */
#define CTRL_DS         FLD(0x4, 5, 0)
#define CTRL_SIGNATURE  FLD(0x8, 31, 24)
#define CTRL_DCI_STREAM FLD(0x8, 23, 8)
#define CTRL_FM         FLD(0x8, 7, 5)
#define CTRL_CE_SE      FLD(0x8, 4, 0)
#define CTRL_IMM        FLD(0xc, 31, 0) /* immediate data, or the key to invalidate */
#define CTRL_MKEY       FLD(0xc, 31, 0) /* UMR: the key to modify */

#define RADDR_ADDR      FLD64(0x0)
#define RADDR_RKEY      FLD(0x8, 31, 0)

#define ATOMIC_SWAP_ADD FLD64(0x0)
#define ATOMIC_COMPARE  FLD64(0x8)

/* Operands of 4 bytes fill one segment, as do the operands of an addition of 8 bytes; a comparison
 * with 8 bytes has a second segment. An addition has field boundaries in place of the comparand. */
enum { WQE_MASKED_4 = 8, WQE_MASKED_8 = 9 };

#define MASKED_4_SWAP_ADD     FLD(0x0, 31, 0)
#define MASKED_4_COMPARE      FLD(0x4, 31, 0)
#define MASKED_4_SWAP_MASK    FLD(0x8, 31, 0)
#define MASKED_4_COMPARE_MASK FLD(0xc, 31, 0)
#define MASKED_8_SWAP_MASK    FLD64(0x10)
#define MASKED_8_COMPARE_MASK FLD64(0x18)

#define XRC_SRQN              FLD(0x0, 23, 0)

/* ---- memory to memory: a segment of its own, then source and destination as data segments ---- */

enum { WQE_MMO_DMA = 1 };

/* ---- data: by pointer, or inline behind the first four bytes ---- */

enum {
	WQE_INLINE_HEADER = 4,
	/* ends a receive's scatter list early, as all WQEs of a receive queue have its stride */
	WQE_TERMINATOR_LKEY = 0x100,
};

#define DATA_LEN        FLD(0x0, 31, 0)
#define DATA_LKEY       FLD(0x4, 31, 0)
#define DATA_ADDR       FLD64(0x8)
#define DATA_INLINE     FLD(0x0, 31, 31)
#define DATA_INLINE_LEN FLD(0x0, 9, 0)
#define DATA_FRAME_LEN  FLD(0x0, 30, 0) /* receives of frames have a flag in bit 31 */

/* The first segment of a receive WQE if its queue has signatures */
enum {
	RECV_SIGNATURE_SIZE = 16,
	RECV_SIGNATURE_AT = 4, /* its only byte that is not reserved */
};

/* The first segment of an SRQ's WQE has the index of the next WQE, because requests of an SRQ
 * complete in any order: the adapter follows a list. */
#define SRQ_WQE_NEXT FLD(0x0, 15, 0)

/* ---- frames ---- */

/* Bits of ETH_CS */
enum {
	WQE_CS_L3 = 1 << 6,
	WQE_CS_L4 = 1 << 7,
};

/* Bits of ETH_INLINE if the WQE inserts a tag. Otherwise, ETH_INLINE is the size of the inline
 * headers. */
enum {
	WQE_INSERT_VLAN = 1 << 15,
	WQE_INSERT_SERVICE_TAG = 1 << 0, /* 802.1ad */
};

enum {
	/* inline bytes for adapters that parse the header: Ethernet's 14 and a VLAN tag's 4 */
	WQE_ETH_MIN_HEADER = 18,
	/* the first bytes of inline headers are inside the segment (PRM: Ethernet Segment, byte
	 * 0Eh) */
	WQE_ETH_INLINE_START = 14,
};

#define ETH_CS     FLD(0x4, 31, 24)
#define ETH_SWP    FLD(0x4, 23, 16)
#define ETH_MSS    FLD(0x4, 13, 0)
#define ETH_INLINE FLD(0xc, 31, 16)
#define ETH_TCI    FLD(0xc, 15, 0)

/* ---- datagrams with another QP's number as source: padding stands between address vector and
 * Ethernet segment; the latter has the start of an IP-over-InfiniBand packet ---- */

enum {
	UNDERLAY_PAD = 16,
	UNDERLAY_HEADER = 4,         /* bytes of the packet that the adapter parses */
	UNDERLAY_HEADER_INLINE = 18, /* the same if the rest is inline, too */
	UNDERLAY_ETH = 32,           /* size of the Ethernet segment with either */
};

/* ---- tag matching ---- */

enum {
	WQE_TM_SEG = 32,
};

/* Values of TM_SEG_OPCODE */
enum {
	TM_SEG_OP_NOP = 0,
	TM_SEG_OP_APPEND = 1,
	TM_SEG_OP_REMOVE = 2,
};

/* Bits of TM_SEG_FLAGS */
enum {
	TM_SEG_FLAG_SW_COUNT = 1 << 6,
	TM_SEG_FLAG_CQE = 1 << 7,
};

#define TM_SEG_OPCODE   FLD(0x0, 31, 28)
#define TM_SEG_FLAGS    FLD(0x0, 23, 16)
#define TM_SEG_INDEX    FLD(0x0, 15, 0)
#define TM_SEG_SW_COUNT FLD(0x4, 15, 0)
#define TM_SEG_TAG      FLD64(0x10)
#define TM_SEG_MASK     FLD64(0x18)

#endif
