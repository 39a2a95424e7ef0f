/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory of queues: from the program's allocator, when the parent domain that the
 * queue is created in has one, else from the context's pool or mapped.
 */
#include "providers/common/queue_mem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/hwbuf.h"

static int buf_map(enum env_alloc alloc, size_t size, struct hwbuf *buf)
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

static int mem_map(const struct queue_mem_request *request, struct queue_mem *mem)
{
	struct hwbuf buf;
	int ret = buf_map(request->alloc, request->size, &buf);

	if (ret)
		return ret;
	mem->addr = buf.addr;
	mem->size = buf.size;
	return 0;
}

static int mem_take(struct buf_pool *pool, const struct queue_mem_request *request,
		    struct queue_mem *mem)
{
	int ret = provider_buf_pool_alloc(pool, request->pooled, &mem->addr);

	if (ret) {
		verbs_warn("no memory for a queue of %zu bytes", request->size);
		return ret;
	}
	mem->size = request->pooled;
	mem->pool = pool;
	return 0;
}

static int mem_take_or_map(struct buf_pool *pool, const struct queue_mem_request *request,
			   struct queue_mem *mem)
{
	if (request->alloc == ENV_ALLOC_ANON && request->size <= pool->page)
		return mem_take(pool, request, mem);
	return mem_map(request, mem);
}

int provider_queue_mem_alloc(struct buf_pool *pool, struct ibv_pd *pd,
			     const struct queue_mem_request *request, struct queue_mem *mem)
{
	struct provider_pd *ppd = pd ? to_ppd(pd) : NULL;
	void *addr;

	*mem = (struct queue_mem){ .type = request->type };
	if (!ppd || !ppd->alloc)
		return mem_take_or_map(pool, request, mem);
	addr = ppd->alloc(pd, ppd->pd_context, request->size, (size_t)sysconf(_SC_PAGESIZE),
			  request->type);
	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return mem_take_or_map(pool, request, mem);
	if (!addr) {
		verbs_warn("the allocator of the parent domain has no %zu bytes for a queue",
			   request->size);
		return ENOMEM;
	}
	memset(addr, 0, request->size);
	mem->addr = addr;
	mem->size = request->size;
	mem->owner = ppd;
	return 0;
}

void provider_queue_mem_free(struct queue_mem *mem)
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
