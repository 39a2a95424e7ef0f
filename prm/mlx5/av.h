/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * av.h - the address vector in the WQE of a datagram or of a DC initiator. PRM: Address Vector
 *
 * A compact address vector consists of the first 16 bytes.
 */
#ifndef PRM_MLX5_AV_H
#define PRM_MLX5_AV_H

#include "util/fields.h"

#define AV_QKEY      FLD(0x0, 31, 0)
#define AV_DC_KEY    FLD64(0x0) /* of a DC target, in place of the Q_Key */
#define AV_EXTENDED  FLD(0x8, 31, 31)
#define AV_DQPN      FLD(0x8, 23, 0)
#define AV_STAT_RATE FLD(0xc, 31, 28)
#define AV_SL        FLD(0xc, 27, 24)
#define AV_ETH_PRIO  FLD(0xc, 27, 25)
#define AV_MLID      FLD(0xc, 22, 16)
/* InfiniBand; RoCE has no LIDs, so its UDP source port is here. PRM: Address Vector */
#define AV_RLID       FLD(0xc, 15, 0)
#define AV_UDP_SPORT  FLD(0xc, 15, 0) /* RoCE, in place of AV_RLID. PRM: Address Vector */
#define AV_RMAC_47_16 FLD(0x14, 31, 0)
#define AV_RMAC_15_0  FLD(0x18, 31, 16)
#define AV_TCLASS     FLD(0x18, 15, 8)
#define AV_HOP_LIMIT  FLD(0x18, 7, 0)
#define AV_GRH        FLD(0x1c, 30, 30)
#define AV_GID_INDEX  FLD(0x1c, 27, 20)
#define AV_FLOW_LABEL FLD(0x1c, 19, 0)
#define AV_RGID       FLD_PART(0x20)

/* With this bit in a WQE's Q_Key, the adapter sends the Q_Key of the QP's context. IBTA vol 1,
 * 10.2.5 */
#define AV_QKEY_OF_QP 0x80000000u

#endif
