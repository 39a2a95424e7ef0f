/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool.c - chunks of pages, with a mark for each 32nd of a page that is in use. Chunks that
 * become empty are given back to the system, but for one, so that a queue that comes and goes maps
 * nothing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/buf_pool.h"
#include "providers/common/hwbuf.h"
#include "util/bits.h"

#define PAGES       16 /* of a chunk */
#define PAGE_GRAINS 32
#define GRAINS      (PAGES * PAGE_GRAINS)

struct buf_chunk {
	struct buf_chunk *next;
	struct hwbuf buf;
	unsigned int used;  /* grains */
	unsigned int fresh; /* those from here on were never used, and are zero */
	bool is_used[GRAINS];
};

void provider_buf_pool_init(struct buf_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	pool->chunks = NULL;
	pool->empty = 0;
	pool->page = (size_t)sysconf(_SC_PAGESIZE);
}

static void chunk_release(struct buf_chunk *chunk)
{
	provider_hwbuf_free(&chunk->buf);
	free(chunk);
}

void provider_buf_pool_destroy(struct buf_pool *pool)
{
	struct buf_chunk *next;

	for (struct buf_chunk *chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->next;
		chunk_release(chunk);
	}
	pthread_mutex_destroy(&pool->lock);
}

static int chunk_add(struct buf_pool *pool)
{
	struct buf_chunk *chunk = calloc(1, sizeof(*chunk));
	int ret;

	if (!chunk)
		return ENOMEM;
	ret = provider_hwbuf_alloc(PAGES * pool->page, &chunk->buf);
	if (ret) {
		free(chunk);
		return ret;
	}
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	pool->empty++;
	return 0;
}

static unsigned int grains_of(const struct buf_pool *pool, size_t size)
{
	size_t grain = pool->page / PAGE_GRAINS;

	return (unsigned int)((size + grain - 1) / grain);
}

/* Returns the first free grain from FROM on, rounded up to a multiple of STEP. A result of GRAINS
 * or more says that there is none. */
static unsigned int chunk_next_free(const struct buf_chunk *chunk, unsigned int from,
				    unsigned int step)
{
	const bool *free =
		from < GRAINS ? memchr(&chunk->is_used[from], false, GRAINS - from) : NULL;
	unsigned int first = free ? (unsigned int)(free - chunk->is_used) : GRAINS;

	return (first + step - 1) / step * step;
}

static bool chunk_is_free(const struct buf_chunk *chunk, unsigned int first, unsigned int grains)
{
	return !memchr(&chunk->is_used[first], true, grains);
}

static void chunk_mark(struct buf_chunk *chunk, unsigned int first, unsigned int grains, bool used)
{
	memset(&chunk->is_used[first], used, grains);
	chunk->used += used ? grains : -grains;
}

/* Fresh memory is zero, and pages that nobody has touched do not exist yet: only what may have been
 * used before is cleared. */
static void chunk_clean(struct buf_chunk *chunk, unsigned int first, unsigned int grains,
			void *addr, size_t grain)
{
	if (first < chunk->fresh)
		memset(addr, 0, grains * grain);
	chunk->fresh = max_of(chunk->fresh, first + grains);
}

/* A grain_place is what a struct buf_place means for a buffer, in grains. */
struct grain_place {
	unsigned int grains, step;
	unsigned int clear; /* as in struct buf_place */
};

static struct grain_place grain_place_of(const struct buf_pool *pool, size_t size,
					 const struct buf_place *place)
{
	struct grain_place at = { .grains = grains_of(pool, size), .step = 1 };

	if (at.grains == PAGE_GRAINS)
		at.step = PAGE_GRAINS;
	else if (place && place->align)
		at.step = max_of(grains_of(pool, place->align), 1u);
	if (place)
		at.clear = (unsigned int)(place->clear / (pool->page / PAGE_GRAINS));
	return at;
}

static bool chunk_take(struct buf_pool *pool, struct buf_chunk *chunk, const struct grain_place *at,
		       void **addr)
{
	const size_t grain = pool->page / PAGE_GRAINS;

	if (GRAINS - chunk->used < at->grains)
		return false;
	for (unsigned int first = chunk_next_free(chunk, 0, at->step); first + at->grains <= GRAINS;
	     first = chunk_next_free(chunk, first + 1, at->step)) {
		if (first & at->clear || !chunk_is_free(chunk, first, at->grains))
			continue;
		pool->empty -= !chunk->used;
		chunk_mark(chunk, first, at->grains, true);
		*addr = (char *)chunk->buf.addr + first * grain;
		chunk_clean(chunk, first, at->grains, *addr, grain);
		return true;
	}
	return false;
}

static int pool_take(struct buf_pool *pool, const struct grain_place *at, void **addr)
{
	struct buf_chunk *chunk = pool->chunks;
	int ret;

	while (chunk && !chunk_take(pool, chunk, at, addr))
		chunk = chunk->next;
	if (chunk)
		return 0;
	ret = chunk_add(pool);
	if (!ret)
		chunk_take(pool, pool->chunks, at, addr);
	return ret;
}

int provider_buf_pool_alloc(struct buf_pool *pool, size_t size, const struct buf_place *place,
			    void **addr)
{
	const struct grain_place at = grain_place_of(pool, size, place);
	int ret;

	pthread_mutex_lock(&pool->lock);
	ret = pool_take(pool, &at, addr);
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

void provider_buf_pool_free(struct buf_pool *pool, void *addr, size_t size)
{
	struct buf_chunk **link = &pool->chunks, *chunk;
	size_t at;

	pthread_mutex_lock(&pool->lock);
	while ((uintptr_t)addr - (uintptr_t)(*link)->buf.addr >= PAGES * pool->page)
		link = &(*link)->next;
	chunk = *link;
	at = (size_t)((char *)addr - (char *)chunk->buf.addr);
	chunk_mark(chunk, (unsigned int)(at / (pool->page / PAGE_GRAINS)), grains_of(pool, size),
		   false);
	*link = chunk->next;
	if (!chunk->used && pool->empty) {
		chunk_release(chunk);
	} else {
		pool->empty += !chunk->used;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
	}
	pthread_mutex_unlock(&pool->lock);
}
