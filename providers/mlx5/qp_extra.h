/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_extra.h - what may be asked of a QP beyond its states.
 */
#ifndef PROVIDERS_MLX5_QP_EXTRA_H
#define PROVIDERS_MLX5_QP_EXTRA_H

#include "libibverbs/driver.h"

/* These are about connection establishment options. */
int mlx5_qp_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int mlx5_qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);

/* This one is about packet pacing. */
int mlx5_qp_modify_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);

#endif
