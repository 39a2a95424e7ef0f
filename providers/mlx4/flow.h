/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - flows, which direct frames to a QP: plain kernel commands.
 */
#ifndef PROVIDERS_MLX4_FLOW_H
#define PROVIDERS_MLX4_FLOW_H

#include "libibverbs/driver.h"

struct ibv_flow *mlx4_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int mlx4_flow_destroy(struct ibv_flow *flow);

#endif
