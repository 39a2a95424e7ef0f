/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eqe.h - event queue entries of mlx4 adapters. Event types have the same numbers as on mlx5
 * adapters, as far as both have them. Source: struct mlx4_eqe in linux/mlx4/device.h.
 */
#ifndef PRM_MLX4_EQE_H
#define PRM_MLX4_EQE_H

#include "util/fields.h"

enum { M4_EQE_SIZE = 32 };

enum { M4_EVENT_COMMAND = 0x0a };

/* M4_EQE_SUBTYPE of PORT_CHANGE */
enum { M4_PORT_DOWN = 1, M4_PORT_ACTIVE = 4 };

#define M4_EQE_TYPE      FLD(0x0, 23, 16)
#define M4_EQE_SUBTYPE   FLD(0x0, 7, 0)
#define M4_EQE_NUMBER    FLD(0x4, 23, 0) /* number of the CQ, QP or SRQ */
#define M4_EQE_TOKEN     FLD(0x4, 15, 0) /* of a command, as the next two */
#define M4_EQE_STATUS    FLD(0xc, 7, 0)
#define M4_EQE_OUT_PARAM FLD64(0x10)
#define M4_EQE_SYNDROME  FLD(0xc, 7, 0) /* of a CQ error */
#define M4_EQE_PORT      FLD(0xc, 31, 28)
#define M4_EQE_OWNER     FLD(0x1c, 7, 7)

#endif
