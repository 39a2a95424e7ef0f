/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_cmd.c - runs commands in the device's own format. See devx_cmd.h.
 */
#include "providers/mlx5/devx_cmd.h"

#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

int mlx5_devx_status_errno(uint32_t status)
{
	switch (status) {
	case PRM_STAT_OK:
		return 0;
	case PRM_STAT_RES_BUSY:
		return EBUSY;
	case PRM_STAT_LIM_ERR:
		return ENOMEM;
	case PRM_STAT_NO_RES_ERR:
		return EAGAIN;
	case PRM_STAT_BAD_OP_ERR:
	case PRM_STAT_BAD_PARAM_ERR:
	case PRM_STAT_BAD_RES_ERR:
	case PRM_STAT_BAD_RES_STATE_ERR:
	case PRM_STAT_IX_ERR:
	case PRM_STAT_BAD_QP_STATE_ERR:
		return EINVAL;
	default:
		return EIO;
	}
}

static int devx_finish(int ret, const void *in, const void *out)
{
	uint32_t status = (uint32_t)fld_get(out, CMD_OUT_STATUS);

	if (ret || status)
		verbs_warn("the device's command 0x%x fails: errno %d, status 0x%x, syndrome 0x%x",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE), ret, status,
			   (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	return ret == EREMOTEIO || !ret ? mlx5_devx_status_errno(status) : ret;
}

int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_in(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, in_len);
	cmd.attrs[1] = verbs_short_out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_len);
	return devx_finish(verbs_cmd_run_short(&ctx->vctx.context, MLX5_IB_OBJECT_DEVX,
					       MLX5_IB_METHOD_DEVX_OTHER, &cmd, 2),
			   in, out);
}

int mlx5_devx_object_create_out(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
				size_t out_len, struct devx_object *object)
{
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, in_len);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, out_len);
	ret = devx_finish(verbs_cmd_run_short(&ctx->vctx.context, MLX5_IB_OBJECT_DEVX_OBJ,
					      MLX5_IB_METHOD_DEVX_OBJ_CREATE, &cmd, 3),
			  in, out);
	if (ret)
		return ret;
	object->handle = (uint32_t)cmd.attrs[0].value;
	object->id = (uint32_t)fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
	return 0;
}

int mlx5_devx_object_create(struct mlx5_context *ctx, const void *in, size_t in_len,
			    struct devx_object *object)
{
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };

	return mlx5_devx_object_create_out(ctx, in, in_len, out, sizeof(out), object);
}

static int devx_modify(struct ibv_context *context, uint32_t handle, const void *in, size_t in_len)
{
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, in_len);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, sizeof(out));
	return devx_finish(verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_OBJ,
					       MLX5_IB_METHOD_DEVX_OBJ_MODIFY, &cmd, 3),
			   in, out);
}

int mlx5_devx_object_modify(struct mlx5_context *ctx, const struct devx_object *object,
			    const void *in, size_t in_len)
{
	return devx_modify(&ctx->vctx.context, object->handle, in, in_len);
}

static int devx_query(struct ibv_context *context, uint32_t handle, const void *in, size_t in_len,
		      void *out, size_t out_len)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, in_len);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, out_len);
	return devx_finish(verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_OBJ,
					       MLX5_IB_METHOD_DEVX_OBJ_QUERY, &cmd, 3),
			   in, out);
}

int mlx5_devx_object_query(struct mlx5_context *ctx, const struct devx_object *object,
			   const void *in, size_t in_len, void *out, size_t out_len)
{
	return devx_query(&ctx->vctx.context, object->handle, in, in_len, out, out_len);
}

int mlx5_devx_object_destroy(struct mlx5_context *ctx, const struct devx_object *object)
{
	int ret = verbs_cmd_run_destroy(&ctx->vctx.context, MLX5_IB_OBJECT_DEVX_OBJ,
					MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
					MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, object->handle);

	if (ret)
		verbs_warn("the device's object 0x%x is not destroyed: errno %d", object->id, ret);
	return ret;
}

int mlx5_devx_qp_query(struct ibv_qp *qp, const void *in, size_t in_len, void *out, size_t out_len)
{
	return devx_query(qp->context, qp->handle, in, in_len, out, out_len);
}

int mlx5_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t in_len)
{
	return devx_modify(qp->context, qp->handle, in, in_len);
}
