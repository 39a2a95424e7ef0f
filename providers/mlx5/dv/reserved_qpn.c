/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.c - direct verbs that reserve QP numbers, for connections that another object
 * serves.
 */
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/qp/reserved_qpn.h"

DV_EXPORT int mlx5dv_reserved_qpn_alloc(struct ibv_context *ctx, uint32_t *qpn)
{
	int ret = dv_check_context("mlx5dv_reserved_qpn_alloc", ctx);

	return verbs_result(ret ? ret : mlx5_qpn_reserve(to_mctx(ctx), qpn));
}

DV_EXPORT int mlx5dv_reserved_qpn_dealloc(struct ibv_context *ctx, uint32_t qpn)
{
	int ret = dv_check_context("mlx5dv_reserved_qpn_dealloc", ctx);

	return verbs_result(ret ? ret : mlx5_qpn_release(to_mctx(ctx), qpn));
}
