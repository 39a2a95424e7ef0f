/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.h - memory of queues as this adapter wants it.
 */
#ifndef PROVIDERS_MLX5_QUEUE_MEM_H
#define PROVIDERS_MLX5_QUEUE_MEM_H

#include "providers/common/queue_mem.h"

struct mlx5_context;

/* TYPE is a MLX5DV_RES_TYPE_*; PD may be NULL. The memory starts with WQEs of STRIDE bytes (a power
 * of two), or with CQEs. */
int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 size_t stride, struct queue_mem *mem);

/* Allocates a doorbell record; PD may be NULL. */
int mlx5_queue_rec_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, struct queue_rec *rec);
void mlx5_queue_rec_free(struct mlx5_context *ctx, struct queue_rec *rec);

#endif
