/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue_mem.h - memory of a queue, zeroed unless its place keeps bytes: from the allocator of a
 * parent domain, from the context's pool when it is small (buf_pool.h), or mapped (hwbuf.h); and
 * its doorbell record, from that allocator or the context's pool (dbrec.h).
 */
#ifndef PROVIDERS_COMMON_MEMORY_QUEUE_MEM_H
#define PROVIDERS_COMMON_MEMORY_QUEUE_MEM_H

#include "providers/common/memory/buf_pool.h"
#include "providers/common/memory/dbrec.h"
#include "providers/common/env.h"
#include "providers/common/pd.h"

struct queue_mem {
	void *addr;
	size_t size;
	struct provider_pd *owner; /* parent domain whose allocator provided it, or NULL */
	struct buf_chunk *chunk;   /* chunk of the pool; NULL: mapped */
	struct buf_pool *pool;     /* pool that reuses mapped memory; NULL: unmap */
	uint64_t type;
};

struct queue_mem_request {
	size_t size;
	struct buf_place place; /* place within a page, if SIZE fits into one */
	uint64_t type;          /* resource type for the allocator of a parent domain */
	enum env_alloc alloc;
};

int provider_queue_mem_alloc(struct buf_pool *pool, struct ibv_pd *pd,
			     const struct queue_mem_request *request, struct queue_mem *mem);
void provider_queue_mem_free(struct queue_mem *mem);

struct queue_rec {
	/* zeroed at allocation, because the adapter reads them from the first command on */
	__be32 *words;
	/* Parent domain that counts the queue, or NULL. Free the record last, because the domain's
	 * allocator frees the rings. */
	struct provider_pd *domain;
	/* page of the pool; NULL: the domain's allocator provided the record */
	struct dbrec_page *page;
};

int provider_queue_rec_alloc(struct dbrec_pool *pool, struct ibv_pd *pd, uint64_t type,
			     struct queue_rec *rec);
void provider_queue_rec_free(struct dbrec_pool *pool, uint64_t type, struct queue_rec *rec);

#endif
