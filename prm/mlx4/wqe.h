/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.h - work queue elements of mlx4 adapters: opcodes, and the segments that WQEs are made of.
 *
 * Rings consist of slots of one size, a power of two, and a WQE has a slot. Nothing but the bit
 * M4_CTRL_OWNER says that it is posted: it changes with each lap of the ring. The adapter reads
 * ahead, in pieces of 64 bytes, so that what is in front of the last WQE must not look like one.
 * Sources: struct mlx4_wqe_*_seg in infiniband/mlx4dv.h, linux/mlx4/qp.h.
 */
#ifndef PRM_MLX4_WQE_H
#define PRM_MLX4_WQE_H

#include "util/fields.h"

enum {
	M4_SEG = 16, /* bytes of a segment; M4_CTRL_DS counts them */
	M4_PIECE = 64,
	M4_MIN_SLOT_LOG = 6,
	M4_MAX_SLOT_LOG = 10,
	M4_MAX_SEND = 1008, /* bytes of a WQE */
	M4_READ_AHEAD = 2048,
};

/* The number of a QP that receives for XRC has this bit, which tells it from others in a CQE. */
enum { M4_XRC_TARGET = 1 << 23 };

/* The first word of a piece has this value where there is no WQE to be seen. */
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
#define M4_CTRL_INDEX        FLD(0x0, 23, 8) /* of a WQE that is written through a register */
#define M4_CTRL_LONG_HEADER  FLD(0x0, 6, 6)  /* a large send's is longer than a piece */
#define M4_CTRL_OPCODE       FLD(0x0, 4, 0)
#define M4_CTRL_QPN          FLD(0x4, 31, 8) /* likewise; else there may be a VLAN tag */
#define M4_CTRL_VLAN         FLD(0x4, 31, 16)
#define M4_CTRL_INSERT_SVLAN FLD(0x4, 15, 15)
#define M4_CTRL_INSERT_VLAN  FLD(0x4, 14, 14)
#define M4_CTRL_FENCE        FLD(0x4, 6, 6)
#define M4_CTRL_DS           FLD(0x4, 5, 0)
#define M4_CTRL_XRC_SRQN     FLD(0x8, 31, 8) /* the SRQ that a request of XRC is for */
#define M4_CTRL_STRONG_ORDER FLD(0x8, 7, 7)
#define M4_CTRL_L4_CSUM      FLD(0x8, 5, 5)
#define M4_CTRL_IP_CSUM      FLD(0x8, 4, 4)
#define M4_CTRL_CQE          FLD(0x8, 3, 2)
#define M4_CTRL_SOLICITED    FLD(0x8, 1, 1)  /* frames: there is no ICRC */
#define M4_CTRL_IMM          FLD(0xc, 31, 0) /* immediate data, or the key to invalidate */
/* A frame has there whom it is for: by that the adapter finds what it sends to itself. */
#define M4_CTRL_MAC_47_32 FLD(0x8, 31, 16)
#define M4_CTRL_MAC_31_0  FLD(0xc, 31, 0)

enum { M4_CQE_WANTED = 3 }; /* M4_CTRL_CQE */

/* ---- a large send: behind the control segment come its headers, up to a segment's end ---- */

enum { M4_LARGE_HEADER = 4, M4_LARGE_SHORT = 64 /* of headers, with that, that are not long */ };

#define M4_LARGE_MSS       FLD(0x0, 31, 16)
#define M4_LARGE_SIZE      FLD(0x0, 15, 0) /* of the headers */

#define M4_RADDR_ADDR      FLD64(0x0)
#define M4_RADDR_RKEY      FLD(0x8, 31, 0)

#define M4_ATOMIC_SWAP_ADD FLD64(0x0)
#define M4_ATOMIC_COMPARE  FLD64(0x8)

/* ---- the address of a datagram: 32 bytes, and who it is for ---- */

enum {
	M4_DATAGRAM_SIZE = 48,
};

#define M4_AV_VLAN       FLD(0x0, 29, 29) /* the datagram has the tag below */
#define M4_AV_PORT       FLD(0x0, 28, 24)
#define M4_AV_PD         FLD(0x0, 23, 0)
#define M4_AV_GRH        FLD(0x4, 23, 23)
#define M4_AV_PATH_BITS  FLD(0x4, 22, 16)
#define M4_AV_DLID       FLD(0x4, 15, 0)
#define M4_AV_GID_INDEX  FLD(0x8, 22, 16)
#define M4_AV_RATE       FLD(0x8, 15, 8)
#define M4_AV_HOP_LIMIT  FLD(0x8, 7, 0)
#define M4_AV_SL         FLD(0xc, 31, 28) /* RoCE: the three upper bits, a priority */
#define M4_AV_ETH_PRIO   FLD(0xc, 31, 29)
#define M4_AV_TCLASS     FLD(0xc, 27, 20)
#define M4_AV_FLOW_LABEL FLD(0xc, 19, 0)
#define M4_AV_DGID       FLD_PART(0x10)
#define M4_DGRAM_QPN     FLD(0x20, 23, 0)
#define M4_DGRAM_QKEY    FLD(0x24, 31, 0)
#define M4_DGRAM_VLAN    FLD(0x28, 31, 16) /* the tag, with its priority */
#define M4_DGRAM_VLAN_ID FLD(0x28, 27, 16)
#define M4_DGRAM_MAC     FLD_PART(0x2a)

/* A rate has this number added to its enum ibv_rate. */
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

/* ---- fast registration: a kernel driver's, as the list of pages is at an address of the bus. Its
 * entries are as those of the table of translations. ---- */

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

/* ---- data: by pointer, or inline behind the first four bytes. Inline bytes do not run over the
 * end of a piece; more of them have another header in the next one. ---- */

enum {
	M4_INLINE_HEADER = 4,
	M4_TERMINATOR_LKEY = 0x100, /* ends the list of a receive before the WQE does */
};

#define M4_DATA_INLINE FLD(0x0, 31, 31)
#define M4_DATA_LEN    FLD(0x0, 30, 0)
#define M4_DATA_LKEY   FLD(0x4, 31, 0)
#define M4_DATA_ADDR   FLD64(0x8)

/* The first segment of an SRQ's WQE has the index of the next WQE. */
#define M4_SRQ_NEXT FLD(0x0, 15, 0)

#endif
