/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm.h - device memory.
 */
#ifndef PROVIDERS_MLX5_DM_H
#define PROVIDERS_MLX5_DM_H

#include <infiniband/mlx5dv.h>
#include "libibverbs/driver.h"

struct ibv_dm *mlx5_dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
struct ibv_dm *mlx5_dm_alloc_of_type(struct ibv_context *context,
				     const struct ibv_alloc_dm_attr *attr, uint32_t type);
int mlx5_dm_free(struct ibv_dm *dm);
int mlx5_dm_import(struct ibv_context *context, uint32_t handle, struct ibv_dm **dm);
void mlx5_dm_unimport(struct ibv_dm *dm);
struct ibv_mr *mlx5_dm_reg_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			      unsigned int access);
int mlx5_dm_export_dmabuf(struct ibv_dm *dm);

/* Sets *ADDR to the address at which accesses to DM perform operation OP in the adapter. */
int mlx5_dm_map_operation(struct ibv_dm *dm, uint8_t op, void **addr);

void mlx5_dm_describe(struct ibv_dm *dm, struct mlx5dv_dm *out);

#endif
