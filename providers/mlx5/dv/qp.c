/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - direct verbs on queue pairs.
 */
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/data/post.h"
#include "providers/mlx5/qp.h"

#define CREATE_FLAGS_SUPPORTED \
	(MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE | MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE)
#define CREATE_FLAGS_KNOWN ((MLX5DV_QP_CREATE_SIG_PIPELINING << 1) - 1)
#define ATTR_MASK_KNOWN                                                           \
	(MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DC | \
	 MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS)

#define SEND_OPS_SUPPORTED MLX5DV_QP_EX_WITH_RAW_WQE

static uint64_t dv_send_ops(const struct mlx5dv_qp_init_attr *attr)
{
	return attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
}

static int qp_check_attr(const struct mlx5dv_qp_init_attr *attr, uint32_t *flags)
{
	*flags =
		attr->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS ? attr->create_flags : 0;
	if (attr->comp_mask & ~(uint64_t)ATTR_MASK_KNOWN) {
		verbs_warn("mlx5dv_create_qp: comp_mask is %#llx, known are %#x",
			   (unsigned long long)attr->comp_mask, ATTR_MASK_KNOWN);
		return EINVAL;
	}
	if (attr->comp_mask & (MLX5DV_QP_INIT_ATTR_MASK_DC | MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS))
		return dv_unsupported("mlx5dv_create_qp with DC attributes");
	if (dv_send_ops(attr) & ~(uint64_t)SEND_OPS_SUPPORTED)
		return dv_unsupported("mlx5dv_create_qp with send_ops_flags other than RAW_WQE");
	if ((*flags & CREATE_FLAGS_SUPPORTED) == CREATE_FLAGS_SUPPORTED) {
		verbs_warn("mlx5dv_create_qp: create_flags both allow and disable scatter to CQE");
		return EINVAL;
	}
	if (*flags & ~(uint32_t)CREATE_FLAGS_SUPPORTED) {
		verbs_warn("mlx5dv_create_qp: create_flags is %#x, supported are %#x", *flags,
			   CREATE_FLAGS_SUPPORTED);
		return *flags & ~(uint32_t)CREATE_FLAGS_KNOWN ? EINVAL : EOPNOTSUPP;
	}
	return 0;
}

DV_EXPORT struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr,
					  struct mlx5dv_qp_init_attr *dv_attr)
{
	uint32_t flags = 0;
	struct verbs_qp *vqp;
	int ret = dv_check_context("mlx5dv_create_qp", context);

	if (!ret && dv_attr)
		ret = qp_check_attr(dv_attr, &flags);
	if (!ret)
		ret = mlx5_qp_create_with_flags(context, attr, flags, &vqp);
	if (ret)
		return dv_fail(ret);
	/* As with the distribution's library, a QP without the builders of verbs has none of direct
	 * verbs. */
	if (dv_attr && dv_send_ops(dv_attr) && vqp->has_ex)
		mlx5_send_wr_fill_raw_wqe(to_mqp(&vqp->qp));
	return &vqp->qp;
}

DV_EXPORT struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qpx)
{
	return &to_mqp_ex(qpx)->dv_qp;
}
