/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_obj.c - objects that a program creates by DevX commands, and DevX commands on objects of
 * verbs.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/packet_reformat.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/tir.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/export.h"
#include "providers/mlx5/vfio/vfio.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

static uint64_t tir_icm(const void *out)
{
	return (uint64_t)fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_63_40) << 40 |
	       (uint64_t)fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_39_32) << 32 |
	       fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_31_0);
}

static enum dv_export_type general_type(uint16_t type)
{
	switch (type) {
	case PRM_OBJ_TYPE_FLOW_METER:
		return DV_EXPORT_FLOW_METER;
	case PRM_OBJ_TYPE_SAMPLER:
		return DV_EXPORT_FLOW_SAMPLER;
	case PRM_OBJ_TYPE_ASO_FLOW_METER:
		return DV_EXPORT_ASO_FLOW_METER;
	case PRM_OBJ_TYPE_ASO_FIRST_HIT:
		return DV_EXPORT_ASO_FIRST_HIT;
	case PRM_OBJ_TYPE_ASO_CONNECTIONS:
		return DV_EXPORT_ASO_CONNECTIONS;
	default:
		return DV_EXPORT_OTHER;
	}
}

static void obj_set_name(struct mlx5dv_devx_obj *obj, enum dv_export_type type, uint64_t id)
{
	obj->type = type;
	obj->id = (uint32_t)id;
}

static uint64_t fte_index(const void *in, size_t inlen)
{
	enum { INDEX_END = 0x24 };

	return inlen < INDEX_END ? 0 : fld_get(in, SET_FTE_IN_FLOW_INDEX);
}

/* Stores the numbers of OBJ that exports and direct rules need. The command at IN has created
 * OBJ. */
static void obj_name(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, const void *out,
		     size_t outlen)
{
	obj_set_name(obj, DV_EXPORT_OTHER, 0);
	obj->icm = 0;
	obj->log_range = 0;
	if (inlen < PRM_CMD_IN_SIZE || outlen < PRM_CMD_OUT_SIZE)
		return;
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_CREATE_QP:
		obj_set_name(obj, DV_EXPORT_QP, fld_get(out, CREATE_QP_OUT_QPN));
		break;
	case PRM_OP_CREATE_TIR:
		obj_set_name(obj, DV_EXPORT_TIR, fld_get(out, CREATE_TIR_OUT_TIRN));
		obj->icm = tir_icm(out);
		break;
	case PRM_OP_CREATE_FLOW_TABLE:
		obj_set_name(obj, DV_EXPORT_FLOW_TABLE,
			     fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID));
		break;
	case PRM_OP_CREATE_FLOW_GROUP:
		obj_set_name(obj, DV_EXPORT_FLOW_GROUP,
			     fld_get(out, CREATE_FLOW_GROUP_OUT_GROUP_ID));
		break;
	case PRM_OP_SET_FLOW_TABLE_ENTRY:
		obj_set_name(obj, DV_EXPORT_FLOW_ENTRY, fte_index(in, inlen));
		break;
	case PRM_OP_ALLOC_FLOW_COUNTER:
		obj_set_name(obj, DV_EXPORT_FLOW_COUNTER,
			     fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID));
		break;
	case PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT:
		obj_set_name(obj, DV_EXPORT_PACKET_REFORMAT, fld_get(out, ALLOC_REFORMAT_OUT_ID));
		break;
	case PRM_OP_CREATE_GENERAL_OBJECT:
		obj_set_name(obj, general_type((uint16_t)fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE)),
			     fld_get(out, GENERAL_OBJ_OUT_OBJ_ID));
		obj->log_range = (uint8_t)fld_get(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE);
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
		return context_is_vfio(context)
			       ? mlx5_vfio_obj_create(context, in, inlen, out, outlen)
			       : dv_fail(ret);
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

/* Refuses NULL instead of crashing: DPDK 22.11 destroys a queue whose creation failed. */
DV_EXPORT int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	int ret;

	if (!obj) {
		verbs_warn("mlx5dv_devx_obj_destroy: obj is NULL");
		return verbs_result(EINVAL);
	}
	if (unlikely(!context_is_mlx5(obj->context)))
		return mlx5_vfio_obj_destroy(obj);
	ret = run_destroy(obj);
	if (ret) {
		verbs_warn("mlx5dv_devx_obj_destroy: object %u is not destroyed: %s", obj->handle,
			   strerror(ret));
		return ret;
	}
	dv_give(obj->context, obj);
	return 0;
}

static int run_query(const char *call, struct ibv_context *context, uint32_t handle, const void *in,
		     size_t inlen, void *out, size_t outlen)
{
	int ret = mlx5_devx_check(call, context, inlen, outlen);
	struct verbs_short cmd;

	if (ret)
		return context_is_vfio(context)
			       ? mlx5_vfio_command(call, context, in, inlen, out, outlen)
			       : verbs_result(ret);
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
		return context_is_vfio(context)
			       ? mlx5_vfio_command(call, context, in, inlen, out, outlen)
			       : verbs_result(ret);
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

DV_EXPORT int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *attrs)
{
	const struct dv_export_obj export = {
		.handle = obj->handle,
		.type = obj->type,
		.id = obj->id,
		.icm = obj->icm,
		.log_range = obj->log_range,
	};

	memcpy(attrs, &export, sizeof(export));
	return 0;
}

/* The field of a command has 5 bits. */
enum { MAX_LOG_RANGE = 31 };

DV_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *attrs)
{
	int ret = dv_check_import("mlx5dv_devx_obj_import", context, attrs);
	struct dv_export_obj export;
	struct mlx5dv_devx_obj *obj;

	if (ret)
		return dv_fail(ret);
	memcpy(&export, attrs, sizeof(export));
	if (unlikely(export.log_range > MAX_LOG_RANGE)) {
		verbs_warn("mlx5dv_devx_obj_import: attrs is of a range of 2^%u objects",
			   export.log_range);
		return dv_fail(EINVAL);
	}
	obj = dv_take("mlx5dv_devx_obj_import", context, obj);
	if (!obj)
		return dv_fail(ENOMEM);
	obj->context = context;
	obj->handle = export.handle;
	obj->type = export.type;
	obj->id = export.id;
	obj->icm = export.icm;
	obj->log_range = export.log_range;
	return obj;
}

DV_EXPORT void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj)
{
	if (obj)
		dv_give(obj->context, obj);
}
