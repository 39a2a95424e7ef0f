/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var.c - doorbell pages of devices that the program emulates (VAR), and sharing one with a process
 * that has the same device descriptor.
 */
#include <string.h>

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/dv/export.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

struct dv_var {
	struct mlx5dv_var var; /* first, because programs get its address */
	struct ibv_context *context;
	uint32_t handle;
	uint64_t mmap_offset; /* 64 bits, because off_t may be shorter */
};

static int var_run_alloc(uint32_t flags, struct dv_var *var)
{
	/* sent only if set, because old kernels refuse the attribute */
	const bool has_flags = flags;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE);
	cmd.attrs[1] = verbs_short_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, &var->mmap_offset,
				       sizeof(var->mmap_offset));
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, &var->var.length,
				       sizeof(var->var.length));
	cmd.attrs[3] = verbs_short_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, &var->var.page_id,
				       sizeof(var->var.page_id));
	cmd.attrs[4] = verbs_short_u64(MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS, flags);
	ret = verbs_cmd_run_short(var->context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC,
				  &cmd, 4 + has_flags);
	if (ret)
		verbs_warn("mlx5dv_alloc_var: the kernel gives no doorbell page: errno %d", ret);
	var->handle = (uint32_t)cmd.attrs[0].value;
	var->var.mmap_off = (off_t)var->mmap_offset;
	return ret;
}

DV_EXPORT struct mlx5dv_var *mlx5dv_alloc_var(struct ibv_context *context, uint32_t flags)
{
	int ret = dv_check_context("mlx5dv_alloc_var", context);
	struct dv_var *var;

	if (!ret && flags & ~(uint32_t)MLX5DV_VAR_ALLOC_FLAG_TLP) {
		verbs_warn("mlx5dv_alloc_var: flags is %#x, known are %#x", flags,
			   MLX5DV_VAR_ALLOC_FLAG_TLP);
		ret = EOPNOTSUPP;
	}
	if (ret)
		return dv_fail(ret);
	var = dv_take("mlx5dv_alloc_var", context, var);
	if (!var)
		return dv_fail(ENOMEM);
	*var = (struct dv_var){ .context = context };
	ret = var_run_alloc(flags, var);
	if (!ret)
		return &var->var;
	dv_give(context, var);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_free_var(struct mlx5dv_var *dv_var)
{
	struct dv_var *var = (struct dv_var *)dv_var;

	verbs_cmd_run_destroy(var->context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_DESTROY,
			      MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, var->handle);
	dv_give(var->context, var);
}

DV_EXPORT int mlx5dv_var_export(struct mlx5dv_var *dv_var, void *attrs)
{
	const struct dv_export_var out = {
		.handle = ((struct dv_var *)dv_var)->handle,
		.page_id = dv_var->page_id,
		.length = dv_var->length,
		.mmap_off = ((struct dv_var *)dv_var)->mmap_offset,
	};

	memcpy(attrs, &out, sizeof(out));
	return 0;
}

DV_EXPORT struct mlx5dv_var *mlx5dv_var_import(struct ibv_context *context, void *attrs)
{
	int ret = dv_check_import("mlx5dv_var_import", context, attrs);
	struct dv_export_var in;
	struct dv_var *var;

	if (ret)
		return dv_fail(ret);
	var = dv_take("mlx5dv_var_import", context, var);
	if (!var)
		return dv_fail(ENOMEM);
	memcpy(&in, attrs, sizeof(in));
	*var = (struct dv_var){
		.var = { .page_id = in.page_id,
			 .length = in.length,
			 .mmap_off = (off_t)in.mmap_off },
		.context = context,
		.handle = in.handle,
		.mmap_offset = in.mmap_off,
	};
	return &var->var;
}

/* Frees the local object. The page stays, because the process that allocated it keeps it. */
DV_EXPORT void mlx5dv_var_unimport(struct mlx5dv_var *dv_var)
{
	struct dv_var *var = (struct dv_var *)dv_var;

	if (var)
		dv_give(var->context, var);
}
