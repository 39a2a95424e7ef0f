/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - mlx4dv_create_qp(): creates a QP with attributes specific to mlx4.
 */
#include "providers/mlx4/dv/dv.h"

static int check_attr(const struct mlx4dv_qp_init_attr *attr)
{
	if (attr->comp_mask & ~(uint64_t)(MLX4DV_QP_INIT_ATTR_MASK_RESERVED - 1)) {
		verbs_warn("mlx4dv_create_qp: comp_mask is %#llx, supported are %#x",
			   (unsigned long long)attr->comp_mask,
			   MLX4DV_QP_INIT_ATTR_MASK_RESERVED - 1);
		return EINVAL;
	}
	if (!(attr->comp_mask & MLX4DV_QP_INIT_ATTR_MASK_INL_RECV) || !attr->inl_recv_sz)
		return 0;
	verbs_warn("mlx4dv_create_qp: inl_recv_sz is %u: received data does not come inline",
		   attr->inl_recv_sz);
	return EOPNOTSUPP;
}

DV_EXPORT struct ibv_qp *mlx4dv_create_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  struct mlx4dv_qp_init_attr *mlx4_qp_attr)
{
	int ret = dv_check_context(context, "mlx4dv_create_qp");

	if (!ret && mlx4_qp_attr)
		ret = check_attr(mlx4_qp_attr);
	if (!ret)
		return ibv_create_qp_ex(context, attr);
	errno = ret;
	return NULL;
}
