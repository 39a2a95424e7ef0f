/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp.c - packet pacing as an object: an entry of the device's rate table, for queues that the
 * program creates by DevX commands.
 */

#include "providers/mlx5/dv/devx.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

struct dv_pp {
	struct mlx5dv_pp pp; /* first, because programs get its address */
	uint32_t handle;
	struct ibv_context *context;
};

static int pp_run_alloc(const void *rate, size_t size, uint32_t flags, struct dv_pp *pp)
{
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, rate, size);
	cmd.attrs[2] = verbs_short_u64(MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, flags);
	cmd.attrs[3] = verbs_short_out(MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, &pp->pp.index,
				       sizeof(pp->pp.index));
	ret = verbs_cmd_run_short(pp->context, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_ALLOC, &cmd,
				  4);
	pp->handle = (uint32_t)cmd.attrs[0].value;
	if (ret)
		verbs_warn("mlx5dv_pp_alloc: the kernel refuses a rate of %zu bytes with flags "
			   "%#x: errno %d%s",
			   size, flags, ret, mlx5_devx_hint(pp->context));
	return ret;
}

DV_EXPORT struct mlx5dv_pp *mlx5dv_pp_alloc(struct ibv_context *context, size_t pp_context_sz,
					    const void *pp_context, uint32_t flags)
{
	int ret = dv_check_context("mlx5dv_pp_alloc", context);
	struct dv_pp *pp;

	if (!ret && pp_context_sz > UINT16_MAX) {
		verbs_warn("mlx5dv_pp_alloc: pp_context_sz is %zu, limit %u", pp_context_sz,
			   UINT16_MAX);
		ret = EINVAL;
	}
	if (!ret && flags & ~(uint32_t)MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX) {
		verbs_warn("mlx5dv_pp_alloc: flags is %#x, known are %#x", flags,
			   MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX);
		ret = EOPNOTSUPP;
	}
	if (ret)
		return dv_fail(ret);
	pp = dv_take("mlx5dv_pp_alloc", context, pp);
	if (!pp)
		return dv_fail(ENOMEM);
	*pp = (struct dv_pp){ .context = context };
	ret = pp_run_alloc(pp_context, pp_context_sz, flags, pp);
	if (!ret)
		return &pp->pp;
	dv_give(context, pp);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_pp_free(struct mlx5dv_pp *dv_pp)
{
	struct dv_pp *pp = (struct dv_pp *)dv_pp;

	verbs_cmd_run_destroy(pp->context, MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY,
			      MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, pp->handle);
	dv_give(pp->context, pp);
}
