/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * builder.h - the lookup types of table entries in the order in which rules use them, and which
 * match parameters each describes.
 */
#ifndef PROVIDERS_MLX5_DV_DR_BUILDER_H
#define PROVIDERS_MLX5_DV_DR_BUILDER_H

#include <stddef.h>

#include "providers/mlx5/dv/dr/match.h"

/* Condition under which a lookup type is used. The mask must also have a field of that type
 * left. */
enum dr_builder_need {
	DR_NEED_NOTHING,
	DR_NEED_SMAC,
	DR_NEED_BOTH_MACS,
	DR_NEED_VNI,
};

struct dr_builder {
	uint16_t type;
	enum dr_builder_need need;
	uint32_t headers; /* MATCH_OUTER_HEADERS or MATCH_INNER_HEADERS */
	unsigned int version;
	const struct dr_field *fields;
	size_t count;
};

extern const struct dr_builder mlx5_dr_builders[];
extern const size_t mlx5_dr_num_builders;

#endif
