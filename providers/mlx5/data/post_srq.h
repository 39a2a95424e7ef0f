/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_srq.h - posting to an SRQ. srq.c chooses the routine when the SRQ is created, through the
 * table in datapath.h.
 *
 * PRM: Shared Receive Queue, Receive WQE format
 */
#ifndef PROVIDERS_MLX5_DATA_POST_SRQ_H
#define PROVIDERS_MLX5_DATA_POST_SRQ_H

#include "providers/mlx5/srq.h"
#include "providers/mlx5/data/variant.h"

int mlx5_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

typedef int post_srq_fn(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* Returns the instance of srq.post for MAX_SGE, with the lock if SHARED. */
post_srq_fn *mlx5_post_srq_routine(uint32_t max_sge, bool shared);

void mlx5_srq_put_back(struct mlx5_srq *srq, uint32_t index);

#endif
