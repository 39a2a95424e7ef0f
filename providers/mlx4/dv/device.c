/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - mlx4dv_query_device(), and what mlx4dv_set_context_attr() may set.
 */
#include "providers/common/allocators.h"
#include "providers/mlx4/device.h"
#include "providers/mlx4/dv/dv.h"

DV_EXPORT int mlx4dv_query_device(struct ibv_context *context, struct mlx4dv_context *attrs)
{
	const struct mlx4_uverbs_ex_query_device_resp *resp;
	int ret = dv_check_context(context, "mlx4dv_query_device");

	if (!ret)
		ret = mlx4_device_resp_get(to_mctx(context), &resp);
	if (ret)
		return ret;
	*attrs = (struct mlx4dv_context){ .max_inl_recv_sz = resp->max_inl_recv_sz };
	return 0;
}

/* Ranges are of WQs. */
DV_EXPORT int mlx4dv_set_context_attr(struct ibv_context *context,
				      enum mlx4dv_set_ctx_attr_type attr_type, void *attr)
{
	const struct mlx4dv_ctx_allocators *allocators = attr;
	int ret = dv_check_context(context, "mlx4dv_set_context_attr");
	struct program_allocator of_program;

	if (ret)
		return ret;
	if (attr_type != MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS) {
		verbs_warn("mlx4dv_set_context_attr: attr_type is %d, must be "
			   "MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS",
			   (int)attr_type);
		return EOPNOTSUPP;
	}
	of_program =
		(struct program_allocator){ allocators->alloc, allocators->free, allocators->data };
	return provider_allocators_set("mlx4dv_set_context_attr", context,
				       &to_mctx(context)->dbrecs, &of_program,
				       &to_mctx(context)->allocators);
}
