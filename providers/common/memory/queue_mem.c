/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.c - memory and doorbell records of queues: from the allocator of the queue's parent
 * domain, if it has one, else from the context's pools or mmap().
 */
#include "providers/common/memory/queue_mem.h"

#include <errno.h>

#include "providers/common/memory/hwbuf.h"

static int buf_map(struct buf_pool *pool, const struct queue_mem_request *request,
		   struct hwbuf *buf)
{
	const enum env_alloc alloc = request->alloc;
	const size_t size = request->size;
	int ret = ENOMEM;

	if (alloc == ENV_ALLOC_ANON)
		ret = provider_buf_pool_map(pool, size, request->place.keeps_bytes, buf);
	if (alloc == ENV_ALLOC_HUGE || alloc == ENV_ALLOC_PREFER_HUGE)
		ret = provider_hwbuf_alloc_huge(size, buf);
	if (ret && alloc == ENV_ALLOC_PREFER_HUGE)
		ret = provider_hwbuf_alloc(size, buf);
	if (ret)
		verbs_warn("no memory for a queue of %zu bytes%s", size,
			   alloc == ENV_ALLOC_ANON
				   ? ""
				   : ", as the environment's MLX_*_ALLOC_TYPE wants it");
	return ret;
}

static int mem_map(struct buf_pool *pool, const struct queue_mem_request *request,
		   struct queue_mem *mem)
{
	struct hwbuf buf;
	int ret = buf_map(pool, request, &buf);

	if (ret)
		return ret;
	mem->addr = buf.addr;
	mem->size = buf.size;
	mem->pool = request->alloc == ENV_ALLOC_ANON ? pool : NULL;
	return 0;
}

static int mem_take(struct buf_pool *pool, const struct queue_mem_request *request,
		    struct queue_mem *mem)
{
	int ret = provider_buf_pool_alloc(pool, request->size, &request->place, &mem->addr,
					  &mem->chunk);

	if (ret) {
		verbs_warn("no memory for a queue of %zu bytes", request->size);
		return ret;
	}
	mem->size = request->size;
	return 0;
}

static int mem_take_or_map(struct buf_pool *pool, const struct queue_mem_request *request,
			   struct queue_mem *mem)
{
	if (request->alloc == ENV_ALLOC_ANON && request->size <= pool->page)
		return mem_take(pool, request, mem);
	return mem_map(pool, request, mem);
}

/* Calls the allocator of PPD, if there is one. Sets *ADDR to NULL if the default allocation is
 * wanted. The allocator's memory must be zero already, and is not accessed here, since the CPU may
 * be unable to. (ibv_alloc_parent_domain(3): the callback initializes the buffer, and handles
 * fork().) */
static int domain_alloc(struct provider_pd *ppd, size_t size, size_t alignment, uint64_t type,
			void **addr)
{
	*addr = NULL;
	if (!ppd || !ppd->alloc)
		return 0;
	*addr = ppd->alloc(&ppd->pd, ppd->pd_context, size, alignment, type);
	if (*addr == IBV_ALLOCATOR_USE_DEFAULT) {
		*addr = NULL;
		return 0;
	}
	if (*addr)
		return 0;
	verbs_warn("the allocator of the parent domain has no %zu bytes of type %#llx", size,
		   (unsigned long long)type);
	return ENOMEM;
}

int provider_queue_mem_alloc(struct buf_pool *pool, struct ibv_pd *pd,
			     const struct queue_mem_request *request, struct queue_mem *mem)
{
	struct provider_pd *ppd = pd ? to_ppd(pd) : NULL;
	void *addr;
	int ret = domain_alloc(ppd, request->size, pool->page, request->type, &addr);

	*mem = (struct queue_mem){ .type = request->type };
	if (ret)
		return ret;
	if (!addr)
		return mem_take_or_map(pool, request, mem);
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
	else if (mem->chunk)
		provider_buf_pool_free(mem->chunk, mem->addr, mem->size);
	else if (mem->pool && mem->addr)
		provider_buf_pool_unmap(mem->pool, &buf);
	else
		provider_hwbuf_free(&buf);
	mem->addr = NULL;
	mem->owner = NULL;
	mem->chunk = NULL;
	mem->pool = NULL;
}

#define RECORD_SIZE      8
#define RECORD_ALIGNMENT 8

int provider_queue_rec_alloc(struct dbrec_pool *pool, struct ibv_pd *pd, uint64_t type,
			     struct queue_rec *rec)
{
	struct provider_pd *ppd = pd ? to_ppd(pd) : NULL;
	void *addr;
	int ret = domain_alloc(ppd, RECORD_SIZE, RECORD_ALIGNMENT, type, &addr);

	if (ret)
		return ret;
	if ((uintptr_t)addr % RECORD_ALIGNMENT) {
		verbs_warn("the allocator of the parent domain gave %p for a doorbell record: it "
			   "must be a multiple of %d",
			   addr, RECORD_ALIGNMENT);
		ppd->free(pd, ppd->pd_context, addr, type);
		return EINVAL;
	}
	*rec = (struct queue_rec){ .words = addr };
	if (!addr)
		ret = provider_dbrec_alloc(pool, &rec->words, &rec->page);
	if (!ret)
		rec->domain = provider_pd_use(pd);
	return ret;
}

void provider_queue_rec_free(struct dbrec_pool *pool, uint64_t type, struct queue_rec *rec)
{
	struct provider_pd *domain = rec->domain;

	if (rec->page)
		provider_dbrec_free(pool, rec->page, rec->words);
	else if (rec->words)
		domain->free(&domain->pd, domain->pd_context, rec->words, type);
	provider_pd_leave(domain);
}
