/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qpc.h - contexts of queue pairs of mlx4 adapters, and the commands that change them. Sources:
 * struct mlx4_qp_context, mlx4_qp_path, MLX4_QP_* in linux/mlx4/qp.h; positions within a byte or
 * word, from the writes of Linux' driver mlx4_ib (6.1: qp.c).
 */
#ifndef PRM_MLX4_QPC_H
#define PRM_MLX4_QPC_H

#include "util/fields.h"

enum { M4_QPC_SIZE = 0xf8 };

/* A command's mailbox begins with a mask of optional parameters. */
#define M4_MODIFY_OPTPAR FLD(0x0, 31, 0)
#define M4_MODIFY_QPC    FLD_PART(0x8)

/* The modifier of RTS2SQD_QP is a QP number; this bit requests an event once the QP is drained. */
#define M4_TELL_DRAINED (1u << 31)

enum m4_qp_state {
	M4_QP_RST = 0,
	M4_QP_INIT = 1,
	M4_QP_RTR = 2,
	M4_QP_RTS = 3,
	M4_QP_SQER = 4,
	M4_QP_SQD = 5,
	M4_QP_ERR = 6,
	M4_QP_SQ_DRAINING = 7,
};

enum m4_qp_service {
	M4_ST_RC = 0,
	M4_ST_UC = 1,
	M4_ST_UD = 3,
	M4_ST_XRC = 6,
	M4_ST_MLX = 7, /* software writes the headers */
};

enum m4_optpar {
	M4_OPTPAR_RRE = 1 << 1,
	M4_OPTPAR_RAE = 1 << 2,
	M4_OPTPAR_RWE = 1 << 3,
	M4_OPTPAR_PKEY_INDEX = 1 << 4,
	M4_OPTPAR_QKEY = 1 << 5,
	M4_OPTPAR_RNR_TIMEOUT = 1 << 6,
	M4_OPTPAR_PRIMARY_PATH = 1 << 7,
	M4_OPTPAR_SRA_MAX = 1 << 8,
	M4_OPTPAR_RRA_MAX = 1 << 9,
	M4_OPTPAR_PM_STATE = 1 << 10,
	M4_OPTPAR_RETRY_COUNT = 1 << 12,
	M4_OPTPAR_RNR_RETRY = 1 << 13,
	M4_OPTPAR_ACK_TIMEOUT = 1 << 14,
	M4_OPTPAR_SCHED_QUEUE = 1 << 16,
	M4_OPTPAR_COUNTER_INDEX = 1 << 20,
};

/* Operation modifier of 2RST: do not write the context back. */
enum { M4_2RST_NO_CONTEXT = 2 };

#define M4_QPC_STATE         FLD(0x0, 31, 28)
#define M4_QPC_ST            FLD(0x0, 19, 16)
#define M4_QPC_RSS           FLD(0x0, 13, 13)
#define M4_QPC_PM_STATE      FLD(0x0, 12, 11)
#define M4_QPC_PD            FLD(0x4, 23, 0)
#define M4_QPC_MTU           FLD(0x8, 31, 29) /* in IBTA's encoding */
#define M4_QPC_LOG_MSG_MAX   FLD(0x8, 28, 24)
#define M4_QPC_LOG_RQ_SIZE   FLD(0x8, 22, 19)
#define M4_QPC_LOG_RQ_STRIDE FLD(0x8, 18, 16) /* in units of 16 bytes, as for the SQ below */
#define M4_QPC_LOG_SQ_SIZE   FLD(0x8, 14, 11)
#define M4_QPC_LOG_SQ_STRIDE FLD(0x8, 10, 8)
#define M4_QPC_ROCE_MODE     FLD(0x8, 7, 6) /* value of M4_ROCE_VERSION for the path's GID */
#define M4_QPC_UAR           FLD(0xc, 23, 0)
#define M4_QPC_LOCAL_QPN     FLD(0x10, 23, 0)
#define M4_QPC_REMOTE_QPN    FLD(0x14, 23, 0)
#define M4_QPC_PATH          FLD_PART(0x18)
#define M4_QPC_LOG_SRA_MAX   FLD(0x70, 23, 21)
#define M4_QPC_RETRY_COUNT   FLD(0x70, 18, 16)
#define M4_QPC_RNR_RETRY     FLD(0x70, 15, 13)
#define M4_QPC_NEXT_SEND_PSN FLD(0x78, 23, 0)
#define M4_QPC_CQN_SEND      FLD(0x7c, 23, 0)
#define M4_QPC_ROCE_ENTROPY  FLD(0x80, 31, 16) /* a UDP source port */
#define M4_QPC_LAST_ACKED    FLD(0x88, 23, 0)
#define M4_QPC_LOG_RRA_MAX   FLD(0x90, 23, 21)
#define M4_QPC_RRE           FLD(0x90, 15, 15)
#define M4_QPC_RWE           FLD(0x90, 14, 14)
#define M4_QPC_RAE           FLD(0x90, 13, 13)
#define M4_QPC_MIN_RNR       FLD(0x94, 28, 24)
#define M4_QPC_NEXT_RECV_PSN FLD(0x94, 23, 0)
#define M4_QPC_XRCD          FLD(0x98, 15, 0)
#define M4_QPC_CQN_RECV      FLD(0x9c, 23, 0)
#define M4_QPC_RECORD        FLD64(0xa0)
#define M4_QPC_QKEY          FLD(0xa8, 31, 0)
#define M4_QPC_HAS_SRQ       FLD(0xac, 24, 24)
#define M4_QPC_SRQN          FLD(0xac, 23, 0)
#define M4_QPC_RQ_COUNTER    FLD(0xb4, 31, 16)
#define M4_QPC_SQ_COUNTER    FLD(0xb4, 15, 0)
#define M4_QPC_INLINE_RECV   FLD(0xc0, 25, 25)
#define M4_QPC_LOG_PAGE_SIZE FLD(0xc8, 29, 24)
#define M4_QPC_MTT_H         FLD(0xc8, 7, 0)
#define M4_QPC_MTT_L         FLD(0xcc, 31, 0)

/* Fields of a QP that spreads frames over other QPs (M4_QPC_RSS), in place of most of a path.
 * M4_RSS_TCP_* and M4_RSS_UDP_* hash ports along with the addresses. */
#define M4_QPC_RSS_LOG_SIZE FLD(0x3c, 31, 24)
#define M4_QPC_RSS_QPN      FLD(0x3c, 23, 0) /* the first of these QPs */
#define M4_QPC_RSS_OTHERS   FLD(0x40, 23, 0) /* QP for frames without a hash */
#define M4_QPC_RSS_FUNCTION FLD(0x44, 15, 8)
#define M4_QPC_RSS_FLAGS    FLD(0x44, 7, 0)
#define M4_QPC_RSS_KEY      FLD_PART(0x48)
#define M4_QPC_RSS_UDP_QPN  FLD(0x70, 23, 0) /* first QP for frames that M4_RSS_UDP_* hash */

enum { M4_RSS_TOEPLITZ = 1 };
enum {
	M4_RSS_UDP_IPV6 = 1 << 0,
	M4_RSS_UDP_IPV4 = 1 << 1,
	M4_RSS_TCP_IPV6 = 1 << 2,
	M4_RSS_IPV6 = 1 << 3,
	M4_RSS_TCP_IPV4 = 1 << 4,
	M4_RSS_IPV4 = 1 << 5,
	M4_RSS_KNOWN = (1 << 6) - 1, /* higher bits: which headers of a tunnel */
};

/* ---- a path, 44 bytes ---- */

#define M4_PATH_PKEY_INDEX FLD(0x0, 6, 0)
#define M4_PATH_COUNTER    FLD(0x4, 31, 24)
#define M4_PATH_GRH        FLD(0x4, 23, 23)
#define M4_PATH_PATH_BITS  FLD(0x4, 22, 16)
#define M4_PATH_RLID       FLD(0x4, 15, 0)
#define M4_PATH_ACKTO      FLD(0x8, 31, 27)
#define M4_PATH_GID_INDEX  FLD(0x8, 22, 16)
#define M4_PATH_RATE       FLD(0x8, 15, 8)
#define M4_PATH_HOP_LIMIT  FLD(0x8, 7, 0)
#define M4_PATH_TCLASS     FLD(0xc, 27, 20)
#define M4_PATH_FLOW_LABEL FLD(0xc, 19, 0)
#define M4_PATH_RGID       FLD_PART(0x10)
#define M4_PATH_PORT       FLD(0x20, 30, 30) /* port number - 1 */
#define M4_PATH_SL         FLD(0x20, 29, 26)
#define M4_PATH_ETH_PRIO   FLD(0x20, 29, 27) /* of RoCE, as the fields below */
#define M4_PATH_VLAN       FLD(0x0, 30, 30)
#define M4_PATH_VLAN_INDEX FLD(0x20, 22, 16)
#define M4_PATH_DMAC       FLD_PART(0x26)

#endif
