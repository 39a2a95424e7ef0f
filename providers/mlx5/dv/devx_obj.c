/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx_obj.c - objects that a program makes by the device's own commands, and such commands about
 * objects of verbs.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/export.h"
#include "util/alloc.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

/* ---- objects ---- */

DV_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context,
							 const void *in, size_t inlen, void *out,
							 size_t outlen)
{
	int ret = mlx5_devx_check("mlx5dv_devx_obj_create", context, inlen, outlen);
	struct mlx5dv_devx_obj *obj;

	if (ret)
		return dv_fail(ret);
	obj = malloc_for("mlx5dv_devx_obj_create", sizeof(*obj));
	if (!obj)
		return dv_fail(ENOMEM);
	obj->context = context;
	ret = verbs_cmd_run(
		context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE,
		(const struct verbs_attr[]){
			verbs_attr_new_handle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, &obj->handle),
			verbs_attr_in(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, inlen),
			verbs_attr_out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, outlen),
		},
		3);
	if (!ret)
		return obj;
	mlx5_devx_log_refusal("mlx5dv_devx_obj_create", context, in, inlen, out, outlen, ret);
	free(obj);
	return dv_fail(ret);
}

static int run_destroy(const struct mlx5dv_devx_obj *obj)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, obj->handle),
	};

	return verbs_cmd_run(obj->context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
			     attrs, ARRAY_SIZE(attrs));
}

/* DPDK 22.11 destroys a queue that it could not make. */
DV_EXPORT int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	int ret;

	if (!obj) {
		verbs_warn("mlx5dv_devx_obj_destroy: obj is NULL");
		return EINVAL;
	}
	ret = run_destroy(obj);
	if (ret) {
		verbs_warn("mlx5dv_devx_obj_destroy: object %u is not destroyed: %s", obj->handle,
			   strerror(ret));
		return ret;
	}
	free(obj);
	return 0;
}

/* ---- commands about what is there ---- */

static int run_query(const char *call, struct ibv_context *context, uint32_t handle, const void *in,
		     size_t inlen, void *out, size_t outlen)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle),
		verbs_attr_in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, inlen),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, outlen),
	};
	int ret = mlx5_devx_check(call, context, inlen, outlen);

	if (ret)
		return ret;
	ret = verbs_cmd_run(context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, attrs,
			    ARRAY_SIZE(attrs));
	mlx5_devx_log_refusal(call, context, in, inlen, out, outlen, ret);
	return ret;
}

static int run_modify(const char *call, struct ibv_context *context, uint32_t handle,
		      const void *in, size_t inlen, void *out, size_t outlen)
{
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle),
		verbs_attr_in(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in, inlen),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, outlen),
	};
	int ret = mlx5_devx_check(call, context, inlen, outlen);

	if (ret)
		return ret;
	ret = verbs_cmd_run(context, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, attrs,
			    ARRAY_SIZE(attrs));
	mlx5_devx_log_refusal(call, context, in, inlen, out, outlen, ret);
	return ret;
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
	const struct dv_export_obj export = { .handle = obj->handle };

	memcpy(attrs, &export, sizeof(export));
	return 0;
}

DV_EXPORT struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *attrs)
{
	int ret = dv_check_context("mlx5dv_devx_obj_import", context);
	struct dv_export_obj export;
	struct mlx5dv_devx_obj *obj;

	if (ret)
		return dv_fail(ret);
	memcpy(&export, attrs, sizeof(export));
	obj = calloc_for("mlx5dv_devx_obj_import", 1, sizeof(*obj));
	if (!obj)
		return dv_fail(ENOMEM);
	obj->context = context;
	obj->handle = export.handle;
	return obj;
}

DV_EXPORT void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj)
{
	free(obj);
}
