/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - what a program may set of a context by direct verbs.
 */
#include "providers/mlx5/allocators.h"
#include "providers/mlx5/dv/dv.h"

DV_EXPORT int mlx5dv_set_context_attr(struct ibv_context *context,
				      enum mlx5dv_set_ctx_attr_type type, void *attr)
{
	const struct mlx5dv_ctx_allocators *allocators = attr;
	int ret = dv_check_context("mlx5dv_set_context_attr", context);

	if (ret)
		return ret;
	if (type != MLX5DV_CTX_ATTR_BUF_ALLOCATORS) {
		verbs_warn("mlx5dv_set_context_attr: type is %d, must be "
			   "MLX5DV_CTX_ATTR_BUF_ALLOCATORS",
			   (int)type);
		return EOPNOTSUPP;
	}
	if (!allocators->alloc || !allocators->free) {
		verbs_warn("mlx5dv_set_context_attr: alloc or free is NULL");
		return EINVAL;
	}
	return mlx5_allocators_set(to_mctx(context), allocators);
}
