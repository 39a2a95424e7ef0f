/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.h - where the fields of a 64-byte CQE are, for who writes CQEs: the device core, and the holder that ends
 * queues whose adapter is gone. PRM: CQE, CQE with error
 */
#ifndef PRM_MLX5_CQE_H
#define PRM_MLX5_CQE_H

#include "prm/mlx5/cmd.h"

#define CQE_SLID            FLD(0x14, 15, 0)
#define CQE_GRH             FLD(0x18, 29, 28)
#define CQE_SL              FLD(0x18, 27, 24) /* InfiniBand */
#define CQE_L3              FLD(0x18, 25, 24) /* RoCE */
#define CQE_RQPN            FLD(0x18, 23, 0)
#define CQE_VLAN_PRESENT    FLD(0x1c, 16, 16)
#define CQE_VLAN            FLD(0x1c, 15, 0)
#define CQE_USER_INDEX      FLD(0x20, 23, 0)
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
#define CQE_OPCODE          FLD(0x3c, 7, 4)
#define CQE_FLAGS           FLD(0x3c, 3, 0)
#define CQE_OWNER           FLD(0x3c, 0, 0)

#endif
