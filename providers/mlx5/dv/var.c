/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var.c - doorbell pages of devices that the program emulates (VAR), and handing one to a process
 * that has the same descriptor of the device.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/dv/export.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

struct dv_var {
	struct mlx5dv_var var; /* first */
	struct ibv_context *context;
	uint32_t handle;
	uint64_t mmap_offset; /* whole; off_t may be too short for it */
};

static int var_run_alloc(uint32_t flags, struct dv_var *var)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_new_handle(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, &var->handle),
		verbs_attr_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, &var->mmap_offset,
			       sizeof(var->mmap_offset)),
		verbs_attr_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, &var->var.length,
			       sizeof(var->var.length)),
		verbs_attr_out(MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, &var->var.page_id,
			       sizeof(var->var.page_id)),
		/* Kernels that do not know the attribute know no flags. */
		flags ? verbs_attr_flags(MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS, flags)
		      : verbs_attr_skip(),
	};
	int ret = verbs_cmd_run(var->context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC,
				attrs, ARRAY_SIZE(attrs));

	if (ret)
		verbs_warn("mlx5dv_alloc_var: the kernel gives no doorbell page: errno %d", ret);
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
	var = malloc_for("mlx5dv_alloc_var", sizeof(*var));
	if (!var)
		return dv_fail(ENOMEM);
	*var = (struct dv_var){ .context = context };
	ret = var_run_alloc(flags, var);
	if (!ret)
		return &var->var;
	free(var);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_free_var(struct mlx5dv_var *dv_var)
{
	struct dv_var *var = (struct dv_var *)dv_var;
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, var->handle),
	};

	verbs_cmd_run(var->context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_DESTROY, attrs,
		      ARRAY_SIZE(attrs));
	free(var);
}

/* ---- other processes ---- */

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
	int ret = dv_check_context("mlx5dv_var_import", context);
	struct dv_export_var in;
	struct dv_var *var;

	if (ret)
		return dv_fail(ret);
	var = calloc_for("mlx5dv_var_import", 1, sizeof(*var));
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

/* The page stays with whoever allocated it. */
DV_EXPORT void mlx5dv_var_unimport(struct mlx5dv_var *dv_var)
{
	free((struct dv_var *)dv_var);
}
