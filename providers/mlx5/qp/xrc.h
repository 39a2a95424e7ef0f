/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc.h - further handles of XRC receive QPs.
 */
#ifndef PROVIDERS_MLX5_QP_XRC_H
#define PROVIDERS_MLX5_QP_XRC_H

#include "libibverbs/driver.h"

struct ibv_qp *mlx5_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
