/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - allocates memory and doorbell records of queues: the environment variable of each
 * type, and the alignment that the adapter requires.
 */
#include "providers/mlx5/queue_mem.h"

#include <infiniband/mlx5dv.h>

#include "providers/common/memory/allocators.h"
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

/* smallest page size of the adapter */
#define ADAPTER_PAGE ((size_t)4096)

/* Chooses the place of a ring. A WQE must not cross a page, so a ring starts at a multiple of its
 * WQE size.
 *
 * PRM: the context of a QP has six bits for the ring's offset in a page, in units of page / 64. The
 * context of a WQ (also of basic and tagged SRQs) has five bits, so its ring starts in the first
 * half of a page. The page is the host's in kernels before 5.12. Later kernels use the smallest
 * page of the adapter that contains the ring, or a smaller one
 * (mlx5_umem_find_best_quantized_pgoff()): a ring of more than 2 KiB then starts a page, and a
 * shorter one must be in the first half of its 4 KiB.
 *
 * The context of a CQ has six bits as well, but kernels before 5.12 leave them 0, and later ones
 * refuse a ring that needs them (mlx5_umem_find_best_cq_quantized_pgoff()). */
static struct queue_mem_request queue_request(const struct buf_pool *pool, uint64_t type,
					      size_t size, size_t stride)
{
	struct queue_mem_request request = {
		.size = size,
		.type = type,
		.alloc = queue_alloc_type(type),
		.place.align = stride,
	};

	if (type == MLX5DV_RES_TYPE_CQ)
		request.place.align = pool->page;
	if (type == MLX5DV_RES_TYPE_SRQ || type == MLX5DV_RES_TYPE_RWQ)
		/* The ring's size is a power of two, so alignment to its size keeps it within one
		 * page. */
		request.place = (struct buf_place){ .align = size,
						    .clear = pool->page / 2 | ADAPTER_PAGE / 2 };
	return request;
}

int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 size_t stride, struct queue_mem *mem)
{
	struct buf_pool *pool = &ctx->common.queue_bufs;
	const struct queue_mem_request request = queue_request(pool, type, size, stride);

	pd = provider_allocators_domain(ctx->common.allocators, pd);
	return provider_queue_mem_alloc(pool, pd, &request, mem);
}

int mlx5_queue_rec_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, struct queue_rec *rec)
{
	return provider_queue_rec_alloc(&ctx->common.dbrecs, pd, MLX5DV_RES_TYPE_DBR, rec);
}

void mlx5_queue_rec_free(struct mlx5_context *ctx, struct queue_rec *rec)
{
	provider_queue_rec_free(&ctx->common.dbrecs, MLX5DV_RES_TYPE_DBR, rec);
}
