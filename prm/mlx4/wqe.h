/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.h - work queue elements of mlx4 adapters: opcodes, and the segments that WQEs are made of.
 *
 * Rings consist of slots of one size, a power of two; each WQE has a slot. Only the bit
 * M4_CTRL_OWNER, which changes with each lap of the ring, marks a WQE as posted. The adapter
 * prefetches in pieces of 64 bytes, so memory ahead of the last WQE must not look like a posted
 * one. Sources: struct mlx4_wqe_*_seg in infiniband/mlx4dv.h, linux/mlx4/qp.h.
 */
#ifndef PRM_MLX4_WQE_H
#define PRM_MLX4_WQE_H

#include "util/fields.h"

enum {
	M4_SEG = 16, /* bytes of a segment; M4_CTRL_DS counts them */
	M4_PIECE = 64,
	M4_MIN_SLOT_LOG = 6,
	M4_MAX_SLOT_LOG = 10,
	M4_MAX_SEND = 1008, /* bytes of a send WQE */
	M4_READ_AHEAD = 2048,
};

/* Set in the number of an XRC target QP, to tell it from other QPs in a CQE. */
enum { M4_XRC_TARGET = 1 << 23 };

/* First word of each 64 bytes (M4_PIECE) without a posted WQE, so that the adapter does not take
 * old bytes for a WQE */
#define M4_STAMP 0xffffffffu

enum m4_opcode {
	M4_NOP = 0x00,
	M4_SEND_INVAL = 0x01,
	M4_RDMA_WRITE = 0x08,
	M4_RDMA_WRITE_IMM = 0x09,
	M4_SEND = 0x0a,
	M4_SEND_IMM = 0x0b,
	M4_LSO = 0x0e,
	M4_RDMA_READ = 0x10,
	M4_ATOMIC_CS = 0x11,
	M4_ATOMIC_FA = 0x12,
	M4_BIND_MW = 0x18,
	M4_FAST_REG = 0x19,
	M4_LOCAL_INVAL = 0x1b,
};

#define M4_CTRL_OWNER        FLD(0x0, 31, 31)
#define M4_CTRL_INDEX        FLD(0x0, 23, 8) /* if the WQE is written through a register */
#define M4_CTRL_LONG_HEADER  FLD(0x0, 6, 6)  /* headers of a large send exceed a piece */
#define M4_CTRL_OPCODE       FLD(0x0, 4, 0)
#define M4_CTRL_QPN          FLD(0x4, 31, 8) /* as for the index; else possibly a VLAN tag */
#define M4_CTRL_VLAN         FLD(0x4, 31, 16)
#define M4_CTRL_INSERT_SVLAN FLD(0x4, 15, 15)
#define M4_CTRL_INSERT_VLAN  FLD(0x4, 14, 14)
#define M4_CTRL_FENCE        FLD(0x4, 6, 6)
#define M4_CTRL_DS           FLD(0x4, 5, 0)
#define M4_CTRL_XRC_SRQN     FLD(0x8, 31, 8) /* SRQ that receives a request of XRC */
#define M4_CTRL_STRONG_ORDER FLD(0x8, 7, 7)
#define M4_CTRL_L4_CSUM      FLD(0x8, 5, 5)
#define M4_CTRL_IP_CSUM      FLD(0x8, 4, 4)
#define M4_CTRL_CQE          FLD(0x8, 3, 2)
#define M4_CTRL_SOLICITED    FLD(0x8, 1, 1)  /* frames: no ICRC */
#define M4_CTRL_IMM          FLD(0xc, 31, 0) /* immediate data, or the key to invalidate */
/* In the WQE of a frame: the destination MAC, by which the adapter detects loopback. */
#define M4_CTRL_MAC_47_32 FLD(0x8, 31, 16)
#define M4_CTRL_MAC_31_0  FLD(0xc, 31, 0)

enum { M4_CQE_WANTED = 3 }; /* M4_CTRL_CQE */

/* ---- a large send: its headers follow the control segment, padded to a whole segment ---- */

enum { M4_LARGE_HEADER = 4, M4_LARGE_SHORT = 64 /* short: up to 64 bytes with the first 4 */ };

#define M4_LARGE_MSS       FLD(0x0, 31, 16)
#define M4_LARGE_SIZE      FLD(0x0, 15, 0) /* size of the headers */

#define M4_RADDR_ADDR      FLD64(0x0)
#define M4_RADDR_RKEY      FLD(0x8, 31, 0)

#define M4_ATOMIC_SWAP_ADD FLD64(0x0)
#define M4_ATOMIC_COMPARE  FLD64(0x8)

/* ---- the address of a datagram: an address vector of 32 bytes, then the remote QP ---- */

enum {
	M4_DATAGRAM_SIZE = 48,
};

#define M4_AV_VLAN       FLD(0x0, 29, 29) /* the datagram has a VLAN tag: M4_DGRAM_VLAN */
#define M4_AV_PORT       FLD(0x0, 28, 24)
#define M4_AV_PD         FLD(0x0, 23, 0)
#define M4_AV_GRH        FLD(0x4, 23, 23)
#define M4_AV_PATH_BITS  FLD(0x4, 22, 16)
#define M4_AV_DLID       FLD(0x4, 15, 0)
#define M4_AV_GID_INDEX  FLD(0x8, 22, 16)
#define M4_AV_RATE       FLD(0x8, 15, 8)
#define M4_AV_HOP_LIMIT  FLD(0x8, 7, 0)
#define M4_AV_SL         FLD(0xc, 31, 28) /* RoCE: priority, in the upper three bits */
#define M4_AV_ETH_PRIO   FLD(0xc, 31, 29)
#define M4_AV_TCLASS     FLD(0xc, 27, 20)
#define M4_AV_FLOW_LABEL FLD(0xc, 19, 0)
#define M4_AV_DGID       FLD_PART(0x10)
#define M4_DGRAM_QPN     FLD(0x20, 23, 0)
#define M4_DGRAM_QKEY    FLD(0x24, 31, 0)
#define M4_DGRAM_VLAN    FLD(0x28, 31, 16) /* VLAN tag, with its priority */
#define M4_DGRAM_VLAN_ID FLD(0x28, 27, 16)
#define M4_DGRAM_MAC     FLD_PART(0x2a)

/* Added to an enum ibv_rate for the adapter */
enum { M4_RATE_OFFSET = 5 };

/* ---- memory windows ---- */

enum { M4_BIND_SIZE = 32, M4_INVAL_SIZE = 32 };

#define M4_BIND_ATOMIC       FLD(0x0, 31, 31)
#define M4_BIND_REMOTE_WRITE FLD(0x0, 30, 30)
#define M4_BIND_REMOTE_READ  FLD(0x0, 29, 29)
#define M4_BIND_TYPE_2       FLD(0x4, 31, 31)
#define M4_BIND_ZERO_BASED   FLD(0x4, 30, 30)
#define M4_BIND_RKEY         FLD(0x8, 31, 0)
#define M4_BIND_LKEY         FLD(0xc, 31, 0)
#define M4_BIND_ADDR         FLD64(0x10)
#define M4_BIND_LENGTH       FLD64(0x18)
#define M4_INVAL_KEY         FLD(0x8, 31, 0)

/* ---- fast registration, for kernel drivers: the page list is at a bus address, with entries as in
 * the translation table ---- */

enum { M4_REG_SIZE = 48 };

#define M4_REG_ATOMIC        FLD(0x0, 31, 31)
#define M4_REG_REMOTE_WRITE  FLD(0x0, 30, 30)
#define M4_REG_REMOTE_READ   FLD(0x0, 29, 29)
#define M4_REG_LOCAL_WRITE   FLD(0x0, 28, 28)
#define M4_REG_LOCAL_READ    FLD(0x0, 27, 27)
#define M4_REG_KEY           FLD(0x4, 31, 0)
#define M4_REG_LIST          FLD64(0x8)
#define M4_REG_START         FLD64(0x10)
#define M4_REG_LENGTH        FLD64(0x18)
#define M4_REG_OFFSET        FLD(0x20, 31, 0) /* Linux writes 0 */
#define M4_REG_LOG_PAGE_SIZE FLD(0x24, 5, 0)

/* ---- data: by pointer, or inline behind a header of four bytes. Inline data does not cross the
 * end of a piece; another header continues it in the next piece. ---- */

enum {
	M4_INLINE_HEADER = 4,
	/* ends the scatter list of a receive early, as all WQEs of a receive queue have its
	 * stride */
	M4_TERMINATOR_LKEY = 0x100,
};

#define M4_DATA_INLINE FLD(0x0, 31, 31)
#define M4_DATA_LEN    FLD(0x0, 30, 0)
#define M4_DATA_LKEY   FLD(0x4, 31, 0)
#define M4_DATA_ADDR   FLD64(0x8)

/* The first segment of an SRQ's WQE has the index of the next WQE, because requests of an SRQ
 * complete in any order: the adapter follows a list. */
#define M4_SRQ_NEXT FLD(0x0, 15, 0)

#endif
