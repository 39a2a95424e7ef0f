/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_async.c - asynchronous DevX queries: their answers are read from a descriptor.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx5/dv/devx.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

DV_EXPORT struct mlx5dv_devx_cmd_comp *mlx5dv_devx_create_cmd_comp(struct ibv_context *context)
{
	int ret = mlx5_devx_check("mlx5dv_devx_create_cmd_comp", context, 0, 0);
	struct mlx5dv_devx_cmd_comp *comp;
	struct verbs_short cmd;

	if (ret)
		return dv_fail(ret);
	comp = malloc_for("mlx5dv_devx_create_cmd_comp", sizeof(*comp));
	if (!comp)
		return dv_fail(ENOMEM);
	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
				  MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, &cmd, 1);
	comp->fd = (int)cmd.attrs[0].value;
	if (!ret)
		return comp;
	verbs_warn("mlx5dv_devx_create_cmd_comp: the kernel gives no descriptor: %s%s",
		   strerror(ret), mlx5_devx_hint(context));
	free(comp);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_devx_destroy_cmd_comp(struct mlx5dv_devx_cmd_comp *comp)
{
	close(comp->fd);
	free(comp);
}

DV_EXPORT int mlx5dv_devx_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
					  size_t outlen, uint64_t wr_id,
					  struct mlx5dv_devx_cmd_comp *comp)
{
	int ret = mlx5_devx_check("mlx5dv_devx_obj_query_async", obj->context, inlen, outlen);
	struct verbs_short cmd;

	if (ret)
		return verbs_result(ret);
	cmd.attrs[0] = verbs_short_handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, obj->handle);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, inlen);
	cmd.attrs[2] = verbs_short_u64(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, outlen);
	cmd.attrs[3] = verbs_short_u64(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, wr_id);
	cmd.attrs[4] = verbs_short_fd(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, comp->fd);
	ret = verbs_cmd_run_short(obj->context, MLX5_IB_OBJECT_DEVX_OBJ,
				  MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, &cmd, 5);
	if (ret)
		verbs_warn("mlx5dv_devx_obj_query_async: the kernel refuses: %s", strerror(ret));
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_devx_get_async_cmd_comp(struct mlx5dv_devx_cmd_comp *comp,
					     struct mlx5dv_devx_async_cmd_hdr *cmd_resp,
					     size_t cmd_resp_len)
{
	ssize_t bytes = read(comp->fd, cmd_resp, cmd_resp_len);

	if (bytes < 0)
		return verbs_result(errno);
	return verbs_result((size_t)bytes < sizeof(*cmd_resp) ? EINVAL : 0);
}
