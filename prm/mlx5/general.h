/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * general.h - what commands on general objects have in common, and scheduling elements' numbers.
 */
#ifndef PRM_MLX5_GENERAL_H
#define PRM_MLX5_GENERAL_H

#include "util/fields.h"

#define GENERAL_IN_VHCA_TUNNEL_ID        FLD(0x4, 31, 16)
#define GENERAL_IN_OBJ_TYPE              FLD(0x4, 15, 0)
#define GENERAL_IN_OBJ_ID                FLD(0x8, 31, 0)
#define GENERAL_OUT_OBJ_ID               FLD(0x8, 31, 0)

#define SCHEDULING_IN_HIERARCHY          FLD(0x8, 31, 24)
#define SCHEDULING_IN_ELEMENT_ID         FLD(0xc, 31, 0)
#define CREATE_SCHEDULING_OUT_ELEMENT_ID FLD(0x10, 31, 0)

#define CREATE_PSV_IN_NUM_PSV            FLD(0x8, 31, 28)

#endif
