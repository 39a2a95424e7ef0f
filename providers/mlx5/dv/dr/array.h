/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * array.h - arrays of destinations: an action that copies a frame to each of them. The array uses
 * the actions of its destinations, which cannot be destroyed before it.
 */
#ifndef PROVIDERS_MLX5_DV_DR_ARRAY_H
#define PROVIDERS_MLX5_DV_DR_ARRAY_H

#include "providers/mlx5/dv/dr/forward.h"

struct dr_array {
	struct dr_forward forward;
	size_t count;
	struct mlx5dv_dr_action *destinations[];
};

/* Destroys the array and drops its references, but does not free ACTION. Returns 0 or an errno. */
int mlx5_dr_array_destroy(struct mlx5dv_dr_action *action);

#endif
