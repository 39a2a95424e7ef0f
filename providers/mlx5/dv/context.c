/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.c - attributes of a context that direct verbs can set.
 */
#include "providers/common/memory/allocators.h"
#include "providers/mlx5/dv/dv.h"

DV_EXPORT int mlx5dv_set_context_attr(struct ibv_context *context,
				      enum mlx5dv_set_ctx_attr_type type, void *attr)
{
	const struct mlx5dv_ctx_allocators *allocators = attr;
	struct program_allocator of_program;
	int ret = dv_check_context("mlx5dv_set_context_attr", context);

	if (ret)
		return verbs_result(ret);
	if (type != MLX5DV_CTX_ATTR_BUF_ALLOCATORS) {
		verbs_warn("mlx5dv_set_context_attr: type is %d, must be "
			   "MLX5DV_CTX_ATTR_BUF_ALLOCATORS",
			   (int)type);
		return verbs_result(EOPNOTSUPP);
	}
	of_program =
		(struct program_allocator){ allocators->alloc, allocators->free, allocators->data };
	if (allocators_stay_unset(&of_program, to_mctx(context)->common.allocators))
		return 0;
	return verbs_result(provider_allocators_set("mlx5dv_set_context_attr", context,
						    &to_mctx(context)->common.dbrecs, &of_program,
						    &to_mctx(context)->common.allocators));
}
