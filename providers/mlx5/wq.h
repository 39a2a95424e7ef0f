/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - receive work queues, and the tables of them that RSS spreads packets over.
 */
#ifndef PROVIDERS_MLX5_WQ_H
#define PROVIDERS_MLX5_WQ_H

#include <infiniband/mlx5dv.h>
#include "libibverbs/driver.h"

struct ibv_wq *mlx5_wq_create(struct ibv_context *context, struct ibv_wq_init_attr *attr);
/* Creates a WQ with the options of direct verbs. With STRIDES NULL, creates an ordinary WQ. Returns
 * 0 or an errno. */
int mlx5_wq_create_with(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			const struct mlx5dv_striding_rq_init_attr *strides, struct ibv_wq **out);
int mlx5_wq_modify(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int mlx5_wq_destroy(struct ibv_wq *wq);
void mlx5_wq_describe(struct ibv_wq *wq, struct mlx5dv_rwq *out);

#endif
