/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory of queues as this adapter wants it: which variable of the environment each
 * type has, and which types may share a page.
 */
#include "providers/mlx5/queue_mem.h"

#include <infiniband/mlx5dv.h>

#include "providers/mlx5/context.h"

static enum env_alloc queue_alloc_type(uint64_t type)
{
	switch (type) {
	case MLX5DV_RES_TYPE_QP:
		return provider_env_alloc_type("MLX_QP_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_CQ:
		return provider_env_alloc_type("MLX_CQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_SRQ:
		return provider_env_alloc_type("MLX_SRQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_RWQ:
		return provider_env_alloc_type("MLX_RWQ_ALLOC_TYPE");
	default:
		return ENV_ALLOC_ANON;
	}
}

int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 struct queue_mem *mem)
{
	struct buf_pool *pool = &ctx->queue_bufs;
	/* Contexts of other queues than QPs have fewer bits for the offset in a page, or kernels
	 * before 5.12 leave it 0. */
	const struct queue_mem_request request = {
		.size = size,
		.pooled = type == MLX5DV_RES_TYPE_QP ? size : pool->page,
		.type = type,
		.alloc = queue_alloc_type(type),
	};

	return provider_queue_mem_alloc(pool, pd, &request, mem);
}
