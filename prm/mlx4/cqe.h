/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - completion queue entries of mlx4 adapters: 32 bytes. An entry of 64 bytes has them at its
 * end. On a host with cache lines of 128 or 256 bytes an entry may fill a line; it then begins with
 * them. Sources: struct mlx4_cqe and struct mlx4_err_cqe in infiniband/mlx4dv.h, linux/mlx4/cq.h;
 * mlx4_enable_cqe_eqe_stride() and get_sw_cqe() in Linux.
 */
#ifndef PRM_MLX4_CQE_H
#define PRM_MLX4_CQE_H

#include "util/fields.h"

enum {
	M4_CQE_SIZE = 32,
	M4_CQE_LARGE = 64,
	M4_CQE_STRIDE_MAX = 256,
	/* last byte of a never written entry: owned by hardware, so that polling finds no CQE in a
	 * new ring */
	M4_CQE_NEW = 0xcc,
};

/* Values of M4_CQE_OPCODE for a received message. CQEs of a send queue have the WQE's opcode. */
enum m4_cqe_opcode {
	M4_RECV_WRITE_IMM = 0x00,
	M4_RECV_SEND = 0x01,
	M4_RECV_SEND_IMM = 0x02,
	M4_RECV_SEND_INVAL = 0x03,
	M4_CQE_RESIZE = 0x16,
	M4_CQE_ERROR = 0x1e,
};

#define M4_CQE_VLAN_PRESENT FLD(0x0, 29, 29)
#define M4_CQE_QPN          FLD(0x0, 23, 0)
#define M4_CQE_IMM          FLD(0x4, 31, 0) /* immediate data, an invalidated key, or a hash */
#define M4_CQE_GRH          FLD(0x8, 31, 31)
#define M4_CQE_PATH_BITS    FLD(0x8, 30, 24)
#define M4_CQE_RQPN         FLD(0x8, 23, 0) /* for messages of XRC, the SRQ's number */
#define M4_CQE_SL           FLD(0xc, 31, 28)
#define M4_CQE_ETH_PRIO     FLD(0xc, 31, 29)
#define M4_CQE_VID          FLD(0xc, 27, 16)
#define M4_CQE_RLID         FLD(0xc, 15, 0)
#define M4_CQE_TIME_47_16   FLD(0xc, 31, 0) /* with timestamps, in place of SL and LID */
#define M4_CQE_STATUS       FLD(0x10, 31, 0)
#define M4_CQE_BYTE_COUNT   FLD(0x14, 31, 0)
#define M4_CQE_WQE_INDEX    FLD(0x18, 31, 16)
#define M4_CQE_CHECKSUM     FLD(0x18, 15, 0) /* all ones: correct TCP or UDP checksum */
#define M4_CQE_TIME_15_0    FLD(0x1c, 23, 8)
#define M4_CQE_OWNER        FLD(0x1c, 7, 7)
#define M4_CQE_IS_SEND      FLD(0x1c, 6, 6)
#define M4_CQE_OPCODE       FLD(0x1c, 4, 0)

#define M4_CQE_VENDOR       FLD(0x18, 15, 8)
#define M4_CQE_SYNDROME     FLD(0x18, 7, 0)

/* Bits of M4_CQE_STATUS, for frames */
enum m4_cqe_status {
	M4_STATUS_L4_OK = 1 << 2,
	M4_STATUS_IPV4 = 1 << 22,
	M4_STATUS_IPV4_FRAGMENT = 1 << 23,
	M4_STATUS_IPV6 = 1 << 24,
	M4_STATUS_IPV4_OPTIONS = 1 << 25,
	M4_STATUS_TCP = 1 << 26,
	M4_STATUS_UDP = 1 << 27,
	M4_STATUS_IP_OK = 1 << 28,
};

#endif
