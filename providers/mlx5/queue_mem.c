/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory of queues: from the program's allocator, when the parent domain that the
 * queue is created in has one, else mapped.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"
#include "providers/mlx5/env.h"
#include "providers/mlx5/mlx5_prm.h"
#include "providers/mlx5/pd.h"

static enum env_alloc alloc_type(uint64_t type)
{
	switch (type) {
	case MLX5DV_RES_TYPE_QP:
		return env_alloc_type("MLX_QP_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_CQ:
		return env_alloc_type("MLX_CQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_SRQ:
		return env_alloc_type("MLX_SRQ_ALLOC_TYPE");
	case MLX5DV_RES_TYPE_RWQ:
		return env_alloc_type("MLX_RWQ_ALLOC_TYPE");
	default:
		return ENV_ALLOC_ANON;
	}
}

static int map_as(enum env_alloc alloc, size_t size, struct hwbuf *buf)
{
	int ret = ENOMEM;

	if (alloc == ENV_ALLOC_HUGE || alloc == ENV_ALLOC_PREFER_HUGE)
		ret = hwbuf_alloc_huge(size, buf);
	if (ret && (alloc == ENV_ALLOC_ANON || alloc == ENV_ALLOC_PREFER_HUGE))
		ret = hwbuf_alloc(size, buf);
	if (ret)
		verbs_warn("no memory for a queue of %zu bytes%s", size,
			   alloc == ENV_ALLOC_ANON
				   ? ""
				   : ", as the environment's MLX_*_ALLOC_TYPE wants it");
	return ret;
}

static int map(size_t size, struct queue_mem *mem)
{
	struct hwbuf buf;
	int ret = map_as(alloc_type(mem->type), size, &buf);

	if (ret)
		return ret;
	mem->addr = buf.addr;
	mem->size = buf.size;
	mem->owner = NULL;
	return 0;
}

int queue_mem_alloc(struct ibv_pd *pd, uint64_t type, size_t size, struct queue_mem *mem)
{
	struct mlx5_pd *mpd = pd ? to_mpd(pd) : NULL;
	void *addr;

	mem->type = type;
	if (!mpd || !mpd->alloc)
		return map(size, mem);
	addr = mpd->alloc(pd, mpd->pd_context, size, (size_t)sysconf(_SC_PAGESIZE), type);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return map(size, mem);
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

void queue_mem_free(struct queue_mem *mem)
{
	struct hwbuf buf = { mem->addr, mem->size };

	if (mem->owner)
		mem->owner->free(&mem->owner->pd, mem->owner->pd_context, mem->addr, mem->type);
	else
		hwbuf_free(&buf);
	mem->addr = NULL;
	mem->owner = NULL;
}
