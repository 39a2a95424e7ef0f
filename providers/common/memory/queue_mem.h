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
	size_t size;               /* bytes that are there */
	struct provider_pd *owner; /* the parent domain whose allocator gave it; NULL: none did */
	struct buf_chunk *chunk;   /* of the pool where it comes from; NULL: mapped */
	struct buf_pool *pool;     /* what was mapped goes back to it; NULL: to the system */
	uint64_t type;             /* what the allocator was told */
};

struct queue_mem_request {
	size_t size;
	struct buf_place place; /* in the pool, when SIZE fits into a page of it */
	uint64_t type;          /* resource type passed to the allocator of a parent domain */
	enum env_alloc alloc;
};

/* PD may be NULL. */
int provider_queue_mem_alloc(struct buf_pool *pool, struct ibv_pd *pd,
			     const struct queue_mem_request *request, struct queue_mem *mem);
void provider_queue_mem_free(struct queue_mem *mem);

struct queue_rec {
	__be32 *words; /* zero */
	/* The parent domain that the queue counts in; NULL: none. A record is freed last, as the
	 * domain's allocator takes back the rings. */
	struct provider_pd *domain;
	struct dbrec_page *page; /* of the pool; NULL: the domain's allocator gave the record */
};

/* PD may be NULL. TYPE is what the allocator is told. */
int provider_queue_rec_alloc(struct dbrec_pool *pool, struct ibv_pd *pd, uint64_t type,
			     struct queue_rec *rec);
void provider_queue_rec_free(struct dbrec_pool *pool, uint64_t type, struct queue_rec *rec);

#endif
