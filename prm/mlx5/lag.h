/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lag.h - bonded ports (link aggregation).
 */
#ifndef PRM_MLX5_LAG_H
#define PRM_MLX5_LAG_H

#include "util/fields.h"

enum {
	PRM_QUERY_LAG_OUT_SIZE = 16,
};

#define QUERY_LAG_OUT_CTX FLD_PART(0x8)
/* The port that carries traffic of port 1 or 2 */
#define LAGC_LAG_STATE           FLD(0x0, 2, 0)
#define LAGC_TX_REMAP_AFFINITY_2 FLD(0x4, 11, 8)
#define LAGC_TX_REMAP_AFFINITY_1 FLD(0x4, 3, 0)

#endif
