/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_obj.c - objects that a program creates by DevX commands, and DevX commands on objects of
 * verbs.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/tir.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/export.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

/* ---- objects ---- */

static uint64_t tir_icm(const void *out)
{
	return (uint64_t)fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_63_40) << 40 |
	       (uint64_t)fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_39_32) << 32 |
	       fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_31_0);
}

/* Stores the numbers of OBJ that exports and direct rules need. The command at IN has created
 * OBJ. */
static void obj_name(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, const void *out,
		     size_t outlen)
{
	obj->type = DV_EXPORT_OTHER;
	obj->id = 0;
	obj->opcode = 0;
	obj->icm = 0;
	if (inlen < PRM_CMD_IN_SIZE || outlen < PRM_CMD_OUT_SIZE)
		return;
	obj->opcode = (uint16_t)fld_get(in, CMD_IN_OPCODE);
	switch (obj->opcode) {
	case PRM_OP_CREATE_TIR:
		obj->icm = tir_icm(out);
		break;
	case PRM_OP_CREATE_FLOW_TABLE:
		obj->type = DV_EXPORT_FLOW_TABLE;
		obj->id = (uint32_t)fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
		break;
	case PRM_OP_ALLOC_FLOW_COUNTER:
		obj->type = DV_EXPORT_FLOW_COUNTER;
		obj->id = (uint32_t)fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID);
		break;
	default:
		break;
	}
}

DV_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context,
							 const void *in, size_t inlen, void *out,
							 size_t outlen)
{
	int ret = mlx5_devx_check("mlx5dv_devx_obj_create", context, inlen, outlen);
	struct mlx5dv_devx_obj *obj;
	struct verbs_short cmd;

	if (ret)
		return dv_fail(ret);
	obj = dv_take("mlx5dv_devx_obj_create", context, obj);
	if (!obj)
		return dv_fail(ENOMEM);
	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, inlen);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, outlen);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE,
				  &cmd, 3);
	if (ret) {
		mlx5_devx_log_refusal("mlx5dv_devx_obj_create", context, in, inlen, out, outlen,
				      ret);
		dv_give(context, obj);
		return dv_fail(ret);
	}
	obj->context = context;
	obj->handle = (uint32_t)cmd.attrs[0].value;
	obj_name(obj, in, inlen, out, outlen);
	return obj;
}

static int run_destroy(const struct mlx5dv_devx_obj *obj)
{
	return verbs_cmd_run_destroy(obj->context, MLX5_IB_OBJECT_DEVX_OBJ,
				     MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
				     MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, obj->handle);
}

/* Accepts NULL: DPDK 22.11 destroys a queue whose creation failed. */
DV_EXPORT int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	int ret;

	if (!obj) {
		verbs_warn("mlx5dv_devx_obj_destroy: obj is NULL");
		return verbs_result(EINVAL);
	}
	ret = run_destroy(obj);
	if (ret) {
		verbs_warn("mlx5dv_devx_obj_destroy: object %u is not destroyed: %s", obj->handle,
			   strerror(ret));
		return ret;
	}
	dv_give(obj->context, obj);
	return 0;
}

/* ---- commands on existing objects ---- */

static int run_query(const char *call, struct ibv_context *context, uint32_t handle, const void *in,
		     size_t inlen, void *out, size_t outlen)
{
	int ret = mlx5_devx_check(call, context, inlen, outlen);
	struct verbs_short cmd;

	if (ret)
		return verbs_result(ret);
	cmd.attrs[0] = verbs_short_handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, inlen);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, outlen);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
				  &cmd, 3);
	if (ret)
		mlx5_devx_log_refusal(call, context, in, inlen, out, outlen, ret);
	return verbs_result(ret);
}

static int run_modify(const char *call, struct ibv_context *context, uint32_t handle,
		      const void *in, size_t inlen, void *out, size_t outlen)
{
	int ret = mlx5_devx_check(call, context, inlen, outlen);
	struct verbs_short cmd;

	if (ret)
		return verbs_result(ret);
	cmd.attrs[0] = verbs_short_handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, inlen);
	cmd.attrs[2] = verbs_short_out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, outlen);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
				  &cmd, 3);
	if (ret)
		mlx5_devx_log_refusal(call, context, in, inlen, out, outlen, ret);
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
				    void *out, size_t outlen)
{
	return run_query("mlx5dv_devx_obj_query", obj->context, obj->handle, in, inlen, out,
			 outlen);
}

DV_EXPORT int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
				     void *out, size_t outlen)
{
	return run_modify("mlx5dv_devx_obj_modify", obj->context, obj->handle, in, inlen, out,
			  outlen);
}

DV_EXPORT int mlx5dv_devx_cq_query(struct ibv_cq *cq, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return run_query("mlx5dv_devx_cq_query", cq->context, cq->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_cq_modify(struct ibv_cq *cq, const void *in, size_t inlen, void *out,
				    size_t outlen)
{
	return run_modify("mlx5dv_devx_cq_modify", cq->context, cq->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_qp_query(struct ibv_qp *qp, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return run_query("mlx5dv_devx_qp_query", qp->context, qp->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t inlen, void *out,
				    size_t outlen)
{
	return run_modify("mlx5dv_devx_qp_modify", qp->context, qp->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_srq_query(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
				    size_t outlen)
{
	return run_query("mlx5dv_devx_srq_query", srq->context, srq->handle, in, inlen, out,
			 outlen);
}

DV_EXPORT int mlx5dv_devx_srq_modify(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
				     size_t outlen)
{
	return run_modify("mlx5dv_devx_srq_modify", srq->context, srq->handle, in, inlen, out,
			  outlen);
}

DV_EXPORT int mlx5dv_devx_wq_query(struct ibv_wq *wq, const void *in, size_t inlen, void *out,
				   size_t outlen)
{
	return run_query("mlx5dv_devx_wq_query", wq->context, wq->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_wq_modify(struct ibv_wq *wq, const void *in, size_t inlen, void *out,
				    size_t outlen)
{
	return run_modify("mlx5dv_devx_wq_modify", wq->context, wq->handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_ind_tbl_query(struct ibv_rwq_ind_table *ind_tbl, const void *in,
					size_t inlen, void *out, size_t outlen)
{
	return run_query("mlx5dv_devx_ind_tbl_query", ind_tbl->context,
			 (uint32_t)ind_tbl->ind_tbl_handle, in, inlen, out, outlen);
}

DV_EXPORT int mlx5dv_devx_ind_tbl_modify(struct ibv_rwq_ind_table *ind_tbl, const void *in,
					 size_t inlen, void *out, size_t outlen)
{
	return run_modify("mlx5dv_devx_ind_tbl_modify", ind_tbl->context,
			  (uint32_t)ind_tbl->ind_tbl_handle, in, inlen, out, outlen);
}

/* ---- in other processes ---- */

DV_EXPORT int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *attrs)
{
	const struct dv_export_obj export = {
		.handle = obj->handle,
		.type = obj->type,
		.id = obj->id,
	};

	memcpy(attrs, &export, sizeof(export));
	return 0;
}

DV_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *attrs)
{
	int ret = dv_check_import("mlx5dv_devx_obj_import", context, attrs);
	struct dv_export_obj export;
	struct mlx5dv_devx_obj *obj;

	if (ret)
		return dv_fail(ret);
	memcpy(&export, attrs, sizeof(export));
	obj = dv_take("mlx5dv_devx_obj_import", context, obj);
	if (!obj)
		return dv_fail(ENOMEM);
	obj->context = context;
	obj->handle = export.handle;
	obj->type = export.type;
	obj->id = export.id;
	obj->opcode = 0;
	obj->icm = 0;
	return obj;
}

DV_EXPORT void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj)
{
	if (obj)
		dv_give(obj->context, obj);
}
