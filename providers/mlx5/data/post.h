/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post.h - the doors of the data path on the QP: operations for context->ops, and the instances
 * among which a QP chooses when it is created.
 */
#ifndef PROVIDERS_MLX5_DATA_POST_H
#define PROVIDERS_MLX5_DATA_POST_H

#include "providers/mlx5/qp.h"
#include "providers/mlx5/qp_rules.h"
#include "providers/mlx5/data/variant.h"

int mlx5_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

typedef int post_send_fn(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);

post_send_fn *mlx5_post_send_routine(enum send_kind kind, bool shared);

int mlx5_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* Fill the wr_* table, as rules and lock of the QP say. */
void mlx5_send_wr_fill(struct mlx5_qp *qp);
/* mlx5dv_wr_raw_wqe(), for a QP that has those (send_wr_dv.c) */
void mlx5_send_wr_fill_raw_wqe(struct mlx5_qp *qp);

#endif
