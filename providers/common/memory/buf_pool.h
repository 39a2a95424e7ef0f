/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool.h - small zeroed buffers for the adapter, cut from chunks of pages.
 *
 * The rings of a small queue need only a part of a page. The context of a QP has the offset of its
 * rings in units of page / 64 (PRM: page_offset), so they can start at any multiple of that; if
 * they continue in the next page, only at every second one, as kernels may treat two pages as one
 * of twice the size. So buffers of up to a page come from this pool: several QPs share pages, and
 * one mmap() serves many.
 */
#ifndef PROVIDERS_COMMON_MEMORY_BUF_POOL_H
#define PROVIDERS_COMMON_MEMORY_BUF_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "providers/common/memory/hwbuf.h"

struct buf_chunk;

enum { BUF_KEPT = 8, BUF_KEPT_BYTES = 1 << 20 }; /* limits of kept rings */

enum { BUF_CLASSES = 37 }; /* classes of chunks, by their longest free run: buf_pool.c */

struct buf_pool {
	pthread_mutex_t lock;
	TAILQ_HEAD(, buf_chunk) chunks[BUF_CLASSES];
	uint64_t classes;
	/* number of empty chunks: at most 1 is kept, so that memory goes back */
	unsigned int empty;
	unsigned int looks; /* number of chunks examined, a measure of the cost of allocations */
	size_t page;
	unsigned int grain_log; /* log2 of the bytes that one bit of a chunk stands for */
	bool in_pages;
	struct hwbuf kept[BUF_KEPT]; /* ring buffer of freed buffers of more than a page */
	unsigned int kept_first;
	unsigned int kept_count;
	size_t kept_bytes;
};

void provider_buf_pool_init(struct buf_pool *pool);
/* Makes every buffer start at a page, whatever its place, so that allocation needs no search. */
void provider_buf_pool_give_pages(struct buf_pool *pool);
/* Frees the chunks; every buffer must have been returned. */
void provider_buf_pool_destroy(struct buf_pool *pool);

struct buf_place {
	size_t align; /* start at a multiple of this, a power of two up to a page; 0: anywhere */
	size_t clear; /* bits that must be 0 in the offset of the start */
	/* Do not clear the memory: the caller initialises what matters, so clearing all of it would
	 * be wasted. */
	bool keeps_bytes;
};

/* Allocates SIZE bytes, 1 to pool->page; a buffer of a whole page starts at a page. PLACE may be
 * NULL. Pass *CHUNK to provider_buf_pool_free(). The cost does not grow with the number of
 * buffers. */
int provider_buf_pool_alloc(struct buf_pool *pool, size_t size, const struct buf_place *place,
			    void **addr, struct buf_chunk **chunk);
/* Frees a buffer. SIZE is the size passed to provider_buf_pool_alloc(), because the chunk does not
 * store it. */
void provider_buf_pool_free(struct buf_chunk *chunk, void *addr, size_t size);

/* Map and unmap larger buffers. Some are kept for reuse at the same size, because mmap() and the
 * first access to each page take longer than clearing. KEEPS_BYTES: see struct buf_place. */
int provider_buf_pool_map(struct buf_pool *pool, size_t size, bool keeps_bytes, struct hwbuf *buf);
void provider_buf_pool_unmap(struct buf_pool *pool, struct hwbuf *buf);

#endif
