/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - mlx4dv_query_device(), and the attributes of mlx4dv_set_context_attr().
 */
#include "providers/common/memory/allocators.h"
#include "providers/mlx4/dv/dv.h"

/* Reports no receive with inline data: the kernel has its maximal size, but the layout in WQE and
 * CQE is unpublished, so no QP supports it. */
DV_EXPORT int mlx4dv_query_device(struct ibv_context *context, struct mlx4dv_context *attrs)
{
	int ret = dv_check_context(context, "mlx4dv_query_device");

	if (!ret)
		*attrs = (struct mlx4dv_context){ .max_inl_recv_sz = 0 };
	return verbs_result(ret);
}

static int set_allocators(struct ibv_context *context,
			  const struct mlx4dv_ctx_allocators *allocators)
{
	struct mlx4_context *ctx = to_mctx(context);
	const struct program_allocator of_program = { allocators->alloc, allocators->free,
						      allocators->data };

	if (allocators_stay_unset(&of_program, ctx->common.allocators))
		return 0;
	return provider_allocators_set("mlx4dv_set_context_attr", context, &ctx->common.dbrecs,
				       &of_program, &ctx->common.allocators);
}

/* Stores the range of WQNs, as log2, for the next WQ. The kernel checks it when that WQ is
 * created. */
static int set_wqs_range(struct mlx4_context *ctx, const uint8_t *log_size)
{
	pthread_mutex_lock(&ctx->wqs_lock);
	ctx->log_wqs_range = *log_size;
	pthread_mutex_unlock(&ctx->wqs_lock);
	return 0;
}

DV_EXPORT int mlx4dv_set_context_attr(struct ibv_context *context,
				      enum mlx4dv_set_ctx_attr_type attr_type, void *attr)
{
	int ret = dv_check_context(context, "mlx4dv_set_context_attr");

	if (ret)
		return verbs_result(ret);
	switch (attr_type) {
	case MLX4DV_SET_CTX_ATTR_LOG_WQS_RANGE_SZ:
		return verbs_result(set_wqs_range(to_mctx(context), attr));
	case MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS:
		return verbs_result(set_allocators(context, attr));
	}
	verbs_warn("mlx4dv_set_context_attr: attr_type is %d, which is unknown", (int)attr_type);
	return verbs_result(EOPNOTSUPP);
}
