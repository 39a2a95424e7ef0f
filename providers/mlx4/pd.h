/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains and thread domains. A context has a single BlueFlame register, so a
 * thread domain has none of its own; its queues only save their locks.
 */
#ifndef PROVIDERS_MLX4_PD_H
#define PROVIDERS_MLX4_PD_H

#include "providers/common/pd.h"

int mlx4_pd_alloc(struct ibv_context *context, struct ibv_pd **pd);
struct ibv_td *mlx4_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mlx4_td_dealloc(struct ibv_td *td);

#endif
