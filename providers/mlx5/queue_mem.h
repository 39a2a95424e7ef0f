/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.h - allocates memory and doorbell records of queues.
 */
#ifndef PROVIDERS_MLX5_QUEUE_MEM_H
#define PROVIDERS_MLX5_QUEUE_MEM_H

#include "providers/common/memory/queue_mem.h"

struct mlx5_context;

/* Allocates a ring for TYPE, a MLX5DV_RES_TYPE_*. STRIDE is the size of its WQEs (a power of two),
 * or of its CQEs. PD may be NULL. */
int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 size_t stride, struct queue_mem *mem);

int mlx5_queue_rec_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, struct queue_rec *rec);
void mlx5_queue_rec_free(struct mlx5_context *ctx, struct queue_rec *rec);

#endif
