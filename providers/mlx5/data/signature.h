/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.h - signatures of WQEs, which the adapter checks before it executes them. QPs have them
 * when MLX5_QP_SIGNATURE is set, and then post by routines of their own, that nobody is to be fast
 * with.
 */
#ifndef PROVIDERS_MLX5_DATA_SIGNATURE_H
#define PROVIDERS_MLX5_DATA_SIGNATURE_H

#include "providers/mlx5/qp.h"

/* Signs the WQE at CTRL, which is complete but for its signature, that is 0. */
void mlx5_sign_send(const struct mlx5_sq *sq, uint8_t *ctrl);
/* Signs the WQEs from WQEBB PI on up to END. */
void mlx5_sign_sends(const struct mlx5_sq *sq, uint32_t pi, uint32_t end);
/* Signs receive HEAD, whose list of buffers is complete. */
void mlx5_sign_recv(const struct mlx5_rq *rq, uint32_t head);

#endif
