/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm.c - direct verbs on device memory: its types, and operations on it.
 */
#include "providers/mlx5/dm.h"
#include "providers/mlx5/dv/dv.h"

static int dm_check_attr(const struct mlx5dv_alloc_dm_attr *attr)
{
	if (attr->comp_mask) {
		verbs_warn("mlx5dv_alloc_dm: comp_mask is %#llx, must be 0",
			   (unsigned long long)attr->comp_mask);
		return EINVAL;
	}
	if ((uint32_t)attr->type > MLX5DV_DM_TYPE_ENCAP_SW_ICM) {
		verbs_warn("mlx5dv_alloc_dm: type is %d, must be one MLX5DV_DM_TYPE_*",
			   (int)attr->type);
		return EOPNOTSUPP;
	}
	return 0;
}

DV_EXPORT struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context,
					 struct ibv_alloc_dm_attr *dm_attr,
					 struct mlx5dv_alloc_dm_attr *mlx5_dm_attr)
{
	int ret = dv_check_context("mlx5dv_alloc_dm", context);

	if (!ret)
		ret = dm_check_attr(mlx5_dm_attr);
	return ret ? dv_fail(ret) : mlx5_dm_alloc_of_type(context, dm_attr, mlx5_dm_attr->type);
}

DV_EXPORT void *mlx5dv_dm_map_op_addr(struct ibv_dm *dm, uint8_t op)
{
	void *addr = NULL;
	int ret = dv_check_context("mlx5dv_dm_map_op_addr", dm->context);

	if (!ret)
		ret = mlx5_dm_map_operation(dm, op, &addr);
	return ret ? dv_fail(ret) : addr;
}
