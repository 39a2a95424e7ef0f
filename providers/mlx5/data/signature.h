/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signature.h - signatures of WQEs, which the adapter checks before it executes a WQE.
 * MLX5_QP_SIGNATURE enables them. QPs with signatures post through separate routines, so that
 * others do not test for signatures; these are not optimised, as signatures only help to find
 * faults.
 *
 * PRM: Control Segment, signature
 */
#ifndef PROVIDERS_MLX5_DATA_SIGNATURE_H
#define PROVIDERS_MLX5_DATA_SIGNATURE_H

#include "providers/mlx5/qp/qp.h"

/* Signs the WQE at CTRL. The WQE must be complete, with 0 as its signature. */
void mlx5_sign_send(const struct mlx5_sq *sq, uint8_t *ctrl);
void mlx5_sign_sends(const struct mlx5_sq *sq, uint32_t pi, uint32_t end);
void mlx5_sign_recv(const struct mlx5_rq *rq, uint32_t head);

#endif
