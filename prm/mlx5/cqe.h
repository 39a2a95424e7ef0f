/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - where the fields of a 64-byte CQE are, for who writes CQEs: the device core, and the holder that ends
 * queues whose adapter is gone. PRM: CQE, CQE with error
 */
#ifndef PRM_MLX5_CQE_H
#define PRM_MLX5_CQE_H

#include "prm/mlx5/cmd.h"

#define CQE_SLID            PRM(0x14, 15, 0)
#define CQE_GRH             PRM(0x18, 29, 28)
#define CQE_SL              PRM(0x18, 27, 24) /* InfiniBand */
#define CQE_L3              PRM(0x18, 25, 24) /* RoCE */
#define CQE_RQPN            PRM(0x18, 23, 0)
#define CQE_VLAN_PRESENT    PRM(0x1c, 16, 16)
#define CQE_VLAN            PRM(0x1c, 15, 0)
#define CQE_USER_INDEX      PRM(0x20, 23, 0)
#define CQE_APP             PRM(0x28, 31, 24)
#define CQE_APP_OP          PRM(0x28, 23, 16)
#define CQE_APP_INFO        PRM(0x28, 15, 0)
#define CQE_BYTE_COUNT      PRM(0x2c, 31, 0)
#define CQE_TIMESTAMP       PRM64(0x30)
#define CQE_VENDOR_SYNDROME PRM(0x34, 15, 8)
#define CQE_SYNDROME        PRM(0x34, 7, 0)
#define CQE_SEND_OPCODE     PRM(0x38, 31, 24)
#define CQE_QPN             PRM(0x38, 23, 0)
#define CQE_WQE_COUNTER     PRM(0x3c, 31, 16)
#define CQE_OPCODE          PRM(0x3c, 7, 4)
#define CQE_FLAGS           PRM(0x3c, 3, 0)
#define CQE_OWNER           PRM(0x3c, 0, 0)

#endif
