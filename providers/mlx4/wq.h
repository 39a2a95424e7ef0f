/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - receive work queues, indirection tables, and RSS QPs, which spread frames over a table.
 */
#ifndef PROVIDERS_MLX4_WQ_H
#define PROVIDERS_MLX4_WQ_H

#include "libibverbs/driver.h"

struct mlx4_qp;

struct ibv_wq *mlx4_wq_create(struct ibv_context *context, struct ibv_wq_init_attr *attr);
int mlx4_wq_modify(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int mlx4_wq_destroy(struct ibv_wq *wq);
const struct mlx4_qp *mlx4_wq_queue(struct ibv_wq *wq);

int mlx4_qp_create_spreading(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			     struct verbs_qp *qp);

#endif
