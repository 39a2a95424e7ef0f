/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool.h - small zeroed buffers that the adapter reads and writes, cut from chunks of pages.
 *
 * The rings of a small queue need a part of a page only. The context of a QP names the start of its
 * rings within their page in 64ths of it (PRM: page_offset), so they can start at any of those, and
 * at every other one if they go on into the next page, as kernels may take two pages for one of
 * twice the size. So buffers of a page and less come from here: several QPs share pages, and a
 * chunk costs one mmap() for many.
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

enum { BUF_KEPT = 8, BUF_KEPT_BYTES = 1 << 20 }; /* mapped rings that are kept, at most */

enum { BUF_CLASSES = 37 }; /* of chunks, by the longest run that is free in them: buf_pool.c */

struct buf_pool {
	pthread_mutex_t lock;
	TAILQ_HEAD(, buf_chunk) chunks[BUF_CLASSES];
	uint64_t classes;            /* a bit for each class that has chunks */
	unsigned int empty;          /* chunks, 1 at most */
	unsigned int looks;          /* at chunks, so far: what an allocation costs */
	size_t page;                 /* bytes */
	unsigned int grain_log;      /* of what a chunk has marks for */
	bool in_pages;               /* each buffer has a page of its own */
	struct hwbuf kept[BUF_KEPT]; /* rings of more than a page that were freed, */
	unsigned int kept_first;     /* the oldest of them here, and later ones behind it */
	unsigned int kept_count;
	size_t kept_bytes;
};

void provider_buf_pool_init(struct buf_pool *pool);
/* Buffers will start with a page, whatever their place: finding one takes no search then. */
void provider_buf_pool_give_pages(struct buf_pool *pool);
/* Frees the chunks; every buffer must have been returned. */
void provider_buf_pool_destroy(struct buf_pool *pool);

/* A buf_place says where in its page a buffer may start. */
struct buf_place {
	size_t align; /* a multiple of this, a power of two up to a page; 0: of any part */
	size_t clear; /* bits that the offset of the start must not have */
	/* Bytes that a former buffer left may stay: the caller writes what matters. */
	bool keeps_bytes;
};

/* SIZE is 1 to pool->page; a buffer of a whole page starts with one. PLACE may be NULL. *CHUNK is
 * what the buffer is given back to. What it costs does not grow with the number of buffers. */
int provider_buf_pool_alloc(struct buf_pool *pool, size_t size, const struct buf_place *place,
			    void **addr, struct buf_chunk **chunk);
/* SIZE is what was asked for. */
void provider_buf_pool_free(struct buf_chunk *chunk, void *addr, size_t size);

/* Larger buffers are mapped, and some are kept for the next queue of the same size: mapping, and
 * the first touch of each page, take longer than clearing. KEEPS_BYTES is as in a buf_place. */
int provider_buf_pool_map(struct buf_pool *pool, size_t size, bool keeps_bytes, struct hwbuf *buf);
void provider_buf_pool_unmap(struct buf_pool *pool, struct hwbuf *buf);

#endif
