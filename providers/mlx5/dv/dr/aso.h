/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.h - actions on the adapter's objects with the state of flows (ASO): first hits, meters, and
 * connections. A frame gets the state in a register C, and may change it. PRM: ASO
 */
#ifndef PROVIDERS_MLX5_DV_DR_ASO_H
#define PROVIDERS_MLX5_DV_DR_ASO_H

#include <stdint.h>

struct mlx5dv_devx_obj;

struct dr_aso {
	struct mlx5dv_devx_obj *obj;
	uint32_t number;   /* of the object, within OBJ's range */
	uint32_t words[2]; /* the entry action */
};

#endif
