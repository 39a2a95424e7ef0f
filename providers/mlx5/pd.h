/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains and thread domains of mlx5. A thread domain has a doorbell register of
 * its own, which its send queues share.
 */
#ifndef PROVIDERS_MLX5_PD_H
#define PROVIDERS_MLX5_PD_H

#include "providers/common/pd.h"
#include "providers/mlx5/uar/uar.h"

struct mlx5_td {
	struct provider_td ptd;
	struct mlx5_bfreg *bfreg;
};

static inline struct mlx5_td *to_mtd(struct provider_td *ptd)
{
	return container_of(ptd, struct mlx5_td, ptd);
}

int mlx5_pd_alloc(struct ibv_context *context, struct ibv_pd **pd);
int mlx5_pd_import(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd);

struct ibv_td *mlx5_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mlx5_td_dealloc(struct ibv_td *td);

#endif
