/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv.h - features of a QP that only direct verbs have: memory copies, and a send queue that
 * stops at a signature error.
 */
#ifndef PROVIDERS_MLX5_QP_DV_H
#define PROVIDERS_MLX5_QP_DV_H

#include "providers/mlx5/qp/qp.h"

int mlx5_qp_dv_take(struct mlx5_context *ctx, struct ibv_pd *pd, const struct mlx5_qp_dv *dv,
		    struct mlx5_qp *qp);
/* Frees the memory of copies. Returns 0, or the kernel's errno; then it may be called again. */
int mlx5_qp_dv_release(struct mlx5_qp *qp);

/* Enables the features in the device, for a QP in state INIT. */
int mlx5_qp_dv_init(struct mlx5_qp *qp);

uint32_t mlx5_qp_dv_head(const struct mlx5_qp_dv *dv);

uint32_t mlx5_qp_dv_room(const struct mlx5_qp_dv *dv);

#endif
