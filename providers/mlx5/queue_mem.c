/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory of queues: from the program's allocator, when the parent domain that the
 * queue is created in has one, else from the context's pool or mapped.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/env.h"
#include "prm/mlx5/queue.h"
#include "providers/mlx5/pd.h"

static enum env_alloc alloc_type(uint64_t type)
{
	switch (type) {
	case MLX5DV_RES_TYPE_QP:
		return mlx5_env_alloc_type("MLX_QP_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_CQ:
		return mlx5_env_alloc_type("MLX_CQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_SRQ:
		return mlx5_env_alloc_type("MLX_SRQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_RWQ:
		return mlx5_env_alloc_type("MLX_RWQ_ALLOC_TYPE");
	default:
		return ENV_ALLOC_ANON;
	}
}

static int map_as(enum env_alloc alloc, size_t size, struct hwbuf *buf)
{
	int ret = ENOMEM;

	if (alloc == ENV_ALLOC_HUGE || alloc == ENV_ALLOC_PREFER_HUGE)
		ret = provider_hwbuf_alloc_huge(size, buf);
	if (ret && (alloc == ENV_ALLOC_ANON || alloc == ENV_ALLOC_PREFER_HUGE))
		ret = provider_hwbuf_alloc(size, buf);
	if (ret)
		verbs_warn("no memory for a queue of %zu bytes%s", size,
			   alloc == ENV_ALLOC_ANON
				   ? ""
				   : ", as the environment's MLX_*_ALLOC_TYPE wants it");
	return ret;
}

static int map(enum env_alloc alloc, size_t size, struct queue_mem *mem)
{
	struct hwbuf buf;
	int ret = map_as(alloc, size, &buf);

	if (ret)
		return ret;
	mem->addr = buf.addr;
	mem->size = buf.size;
	return 0;
}

static int take_from(struct buf_pool *pool, size_t size, struct queue_mem *mem)
{
	/* Contexts of other queues than QPs have fewer bits for the offset in a page, or kernels before
	 * 5.12 leave it 0. */
	size_t bytes = mem->type == MLX5DV_RES_TYPE_QP ? size : pool->page;
	int ret = provider_buf_pool_alloc(pool, bytes, &mem->addr);

	if (ret) {
		verbs_warn("no memory for a queue of %zu bytes", size);
		return ret;
	}
	mem->size = bytes;
	mem->pool = pool;
	return 0;
}

static int take_or_map(struct mlx5_context *ctx, size_t size, struct queue_mem *mem)
{
	enum env_alloc alloc = alloc_type(mem->type);

	if (alloc == ENV_ALLOC_ANON && size <= ctx->queue_bufs.page)
		return take_from(&ctx->queue_bufs, size, mem);
	return map(alloc, size, mem);
}

int mlx5_queue_mem_alloc(struct mlx5_context *ctx, struct ibv_pd *pd, uint64_t type, size_t size,
			 struct queue_mem *mem)
{
	struct mlx5_pd *mpd = pd ? to_mpd(pd) : NULL;
	void *addr;

	*mem = (struct queue_mem){ .type = type };
	if (!mpd || !mpd->alloc)
		return take_or_map(ctx, size, mem);
	addr = mpd->alloc(pd, mpd->pd_context, size, (size_t)sysconf(_SC_PAGESIZE), type);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return take_or_map(ctx, size, mem);
	if (!addr) {
		verbs_warn("the allocator of the parent domain has no %zu bytes for a queue", size);
		return ENOMEM;
	}
	memset(addr, 0, size);
	mem->addr = addr;
	mem->size = size;
	mem->owner = mpd;
	return 0;
}

void mlx5_queue_mem_free(struct queue_mem *mem)
{
	struct hwbuf buf = { mem->addr, mem->size };

	if (mem->owner)
		mem->owner->free(&mem->owner->pd, mem->owner->pd_context, mem->addr, mem->type);
	else if (mem->pool)
		provider_buf_pool_free(mem->pool, mem->addr, mem->size);
	else
		provider_hwbuf_free(&buf);
	mem->addr = NULL;
	mem->owner = NULL;
	mem->pool = NULL;
}
