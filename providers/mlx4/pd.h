/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains and thread domains. A context has one BlueFlame register, so that a
 * thread domain has no register of its own: queues in it take no lock of theirs.
 */
#ifndef PROVIDERS_MLX4_PD_H
#define PROVIDERS_MLX4_PD_H

#include "providers/common/pd.h"

int mlx4_pd_alloc(struct ibv_context *context, struct ibv_pd **pd);
struct ibv_td *mlx4_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mlx4_td_dealloc(struct ibv_td *td);

#endif
