/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_dv.h - what a QP of direct verbs has beyond those of verbs: copies of memory, and a
 * send queue that stops when a signature is wrong.
 */
#ifndef PROVIDERS_MLX5_QP_DV_H
#define PROVIDERS_MLX5_QP_DV_H

#include "providers/mlx5/qp.h"

/* Makes what the builders of DV need, for a QP in PD, and returns 0 or an errno, logged. */
int mlx5_qp_dv_take(struct mlx5_context *ctx, struct ibv_pd *pd, const struct mlx5_qp_dv *dv,
		    struct mlx5_qp *qp);
/* Returns 0, or the errno with which the kernel keeps what there is: then it may be called
 * again. */
int mlx5_qp_dv_release(struct mlx5_qp *qp);

/* Tells the device what the QP, which is in state INIT now, does beyond verbs. */
int mlx5_qp_dv_init(struct mlx5_qp *qp);

/* Returns how many bytes come before the payload in the longest WQE of these builders; the payload
 * is as long as inline data. */
uint32_t mlx5_qp_dv_head(const struct mlx5_qp_dv *dv);

/* Returns how many bytes of room in the send queue a request may take beyond the longest WQE. */
uint32_t mlx5_qp_dv_room(const struct mlx5_qp_dv *dv);

#endif
