/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * extra.h - attributes of a QP beyond its states.
 */
#ifndef PROVIDERS_MLX5_QP_EXTRA_H
#define PROVIDERS_MLX5_QP_EXTRA_H

#include "libibverbs/driver.h"

int mlx5_qp_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int mlx5_qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);

int mlx5_qp_query_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);

int mlx5_qp_modify_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);

/* The uppermost 4 bits of options of version 1. */
#define ECE_VERSION_1 0x10000000u

#endif
