/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meter.h - flow meters. A flow meter is an action that writes a color into a register C, depending
 * on the rate of the frames, and forwards the frames to a table, whose rules can match the color. A
 * meter uses that table. PRM: FLOW_METER
 */
#ifndef PROVIDERS_MLX5_DV_DR_METER_H
#define PROVIDERS_MLX5_DV_DR_METER_H

#include <stdint.h>

struct mlx5dv_devx_obj;
struct mlx5dv_dr_action;
struct mlx5dv_dr_table;

struct dr_meter {
	struct mlx5dv_devx_obj *obj;
	uint64_t address; /* ICM address to which entries lead */
	struct mlx5dv_dr_table *next;
};

/* Returns 0 or an errno. */
int mlx5_dr_meter_destroy(struct mlx5dv_dr_action *action);

#endif
