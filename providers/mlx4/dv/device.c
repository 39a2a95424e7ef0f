/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - mlx4dv_query_device(), and what mlx4dv_set_context_attr() may set: nothing yet.
 */
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

/* Ranges are of WQs, which this provider does not make. */
DV_EXPORT int mlx4dv_set_context_attr(struct ibv_context *context,
				      enum mlx4dv_set_ctx_attr_type attr_type, void *attr)
{
	int ret = dv_check_context(context, "mlx4dv_set_context_attr");

	(void)attr;
	if (ret)
		return ret;
	verbs_warn("mlx4dv_set_context_attr: attr_type is %d: no attribute is supported",
		   (int)attr_type);
	return EOPNOTSUPP;
}
