/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.h - samplers: an action that forwards all frames to a table, and a copy of some of them
 * to a QP or TIR. A sampler uses that table and the actions for copies. PRM: SAMPLER
 */
#ifndef PROVIDERS_MLX5_DV_DR_SAMPLER_H
#define PROVIDERS_MLX5_DV_DR_SAMPLER_H

#include "providers/mlx5/dv/dr/forward.h"

struct mlx5dv_dr_table;

struct dr_sampler {
	struct dr_forward forward; /* table that forwards the copies */
	struct mlx5dv_devx_obj *obj;
	uint64_t address; /* ICM address that table entries point to */
	struct mlx5dv_dr_table *next;
	struct mlx5dv_dr_action *destination;
	struct mlx5dv_dr_action *counter; /* counter of the copies; NULL: none */
};

/* Destroys the sampler and drops its references, but does not free ACTION. Returns 0 or an
 * errno. */
int mlx5_dr_sampler_destroy(struct mlx5dv_dr_action *action);

#endif
