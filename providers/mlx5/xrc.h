/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrc.h - XRC domains, and further handles of XRC receive QPs.
 */
#ifndef PROVIDERS_MLX5_XRC_H
#define PROVIDERS_MLX5_XRC_H

#include "libibverbs/driver.h"

struct ibv_xrcd *mlx5_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int mlx5_xrcd_close(struct ibv_xrcd *xrcd);
struct ibv_qp *mlx5_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
