/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.h - multicast groups.
 */
#ifndef PRM_MLX5_MCG_H
#define PRM_MLX5_MCG_H

#include "util/fields.h"

enum {
	PRM_MCG_IN_SIZE = 32,
};

/* ATTACH_TO_MCG and DETACH_FROM_MCG have the same layout, so these names serve both. */
#define MCG_IN_QPN           FLD(0x8, 23, 0)
#define MCG_IN_MULTICAST_GID FLD_PART(0x10)

#endif
