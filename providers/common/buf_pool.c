/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool.c - chunks of pages, with a mark for each 32nd of a page that is in use. Chunks are in
 * lists by their longest free run, so that one with room is found without a look at those that have
 * none. Chunks that become empty are given back to the system, but for one, so that a queue that
 * comes and goes maps nothing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memrchr() */
#endif
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
#define MUCH        (4 * PAGE_GRAINS) /* longer runs are one class */
#define TRIES       3 /* chunks that may have no place, before one that does is taken */

struct buf_chunk {
	TAILQ_ENTRY(buf_chunk) entry;
	struct buf_pool *pool;
	struct hwbuf buf;
	unsigned int used;  /* grains */
	unsigned int run;   /* the longest free one, in grains; of more than MUCH it is a part */
	unsigned int fresh; /* those from here on were never used, and are zero */
	bool is_used[GRAINS];
};

/* Up to a page each length of a run is a class, then each page up to four, and all above. */
static unsigned int class_of(unsigned int run)
{
	if (run <= PAGE_GRAINS)
		return run;
	return min_of(PAGE_GRAINS + 1 + (run - PAGE_GRAINS - 1) / PAGE_GRAINS, BUF_CLASSES - 1u);
}

/* Returns the first class whose chunks all have a run of NEED. */
static unsigned int class_with(unsigned int need)
{
	return need ? min_of(class_of(need - 1) + 1, BUF_CLASSES - 1u) : 0;
}

static void chunk_file(struct buf_chunk *chunk)
{
	unsigned int class = class_of(chunk->run);

	TAILQ_INSERT_HEAD(&chunk->pool->chunks[class], chunk, entry);
	chunk->pool->classes |= 1ULL << class;
}

static void chunk_unfile(struct buf_chunk *chunk)
{
	unsigned int class = class_of(chunk->run);

	TAILQ_REMOVE(&chunk->pool->chunks[class], chunk, entry);
	if (TAILQ_EMPTY(&chunk->pool->chunks[class]))
		chunk->pool->classes &= ~(1ULL << class);
}

void provider_buf_pool_init(struct buf_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	for (unsigned int i = 0; i < BUF_CLASSES; i++)
		TAILQ_INIT(&pool->chunks[i]);
	pool->classes = 0;
	pool->empty = 0;
	pool->looks = 0;
	pool->page = (size_t)sysconf(_SC_PAGESIZE);
}

static void chunk_release(struct buf_chunk *chunk)
{
	provider_hwbuf_free(&chunk->buf);
	free(chunk);
}

void provider_buf_pool_destroy(struct buf_pool *pool)
{
	struct buf_chunk *chunk;

	while (pool->classes) {
		chunk = TAILQ_FIRST(&pool->chunks[__builtin_ctzll(pool->classes)]);
		chunk_unfile(chunk);
		chunk_release(chunk);
	}
	pthread_mutex_destroy(&pool->lock);
}

static int chunk_add(struct buf_pool *pool, struct buf_chunk **out)
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
	chunk->pool = pool;
	chunk->run = GRAINS;
	chunk_file(chunk);
	pool->empty++;
	*out = chunk;
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

/* Returns the first of COUNT grains from FROM on that is in use, or the one behind them. */
static unsigned int chunk_used_in(const struct buf_chunk *chunk, unsigned int from,
				  unsigned int count)
{
	const bool *used = memchr(&chunk->is_used[from], true, count);

	return used ? (unsigned int)(used - chunk->is_used) : from + count;
}

/* Returns the first grain from FROM on that is in use, or GRAINS. */
static unsigned int chunk_next_used(const struct buf_chunk *chunk, unsigned int from)
{
	return chunk_used_in(chunk, from, GRAINS - from);
}

static unsigned int chunk_longest_run(const struct buf_chunk *chunk)
{
	unsigned int longest = 0, end;

	for (unsigned int first = chunk_next_free(chunk, 0, 1); first < GRAINS;
	     first = chunk_next_free(chunk, end, 1)) {
		end = chunk_next_used(chunk, first);
		longest = max_of(longest, end - first);
	}
	return longest;
}

/* Returns the length of the free run that FIRST is in. */
static unsigned int chunk_run_around(const struct buf_chunk *chunk, unsigned int first)
{
	const bool *before = memrchr(chunk->is_used, true, first);
	unsigned int start = before ? (unsigned int)(before - chunk->is_used) + 1 : 0;

	return chunk_next_used(chunk, first) - start;
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

/* Returns how long a run must be so that there is a place in it, wherever it begins. The bits of
 * CLEAR are below a power of two, in whose first part they are 0. */
static unsigned int place_need(const struct grain_place *at)
{
	unsigned int slack = at->clear ? (unsigned int)pow2_ceil(at->clear + 1u) : 0;

	return at->grains + at->step - 1 + slack;
}

static void chunk_use(struct buf_chunk *chunk, const struct grain_place *at, unsigned int first,
		      void **addr)
{
	const size_t grain = chunk->pool->page / PAGE_GRAINS;

	chunk->pool->empty -= !chunk->used;
	chunk_mark(chunk, first, at->grains, true);
	if (chunk->run > MUCH + place_need(at)) {
		chunk->run -= place_need(at); /* so much is left at least, and nobody asks more */
	} else {
		chunk_unfile(chunk);
		chunk->run = chunk_longest_run(chunk);
		chunk_file(chunk);
	}
	*addr = (char *)chunk->buf.addr + first * grain;
	chunk_clean(chunk, first, at->grains, *addr, grain);
}

static bool chunk_take(struct buf_chunk *chunk, const struct grain_place *at, void **addr)
{
	unsigned int first = chunk_next_free(chunk, 0, at->step), used;

	while (first + at->grains <= GRAINS) {
		chunk->pool->looks++;
		used = first & at->clear ? first : chunk_used_in(chunk, first, at->grains);
		if (used >= first + at->grains) {
			chunk_use(chunk, at, first, addr);
			return true;
		}
		first = chunk_next_free(chunk, used + 1, at->step);
	}
	return false;
}

/* A chunk of these classes may have a place, which depends on where its runs begin. One that has
 * none goes behind the others of its class. */
static struct buf_chunk *try_classes(struct buf_pool *pool, uint64_t classes,
				     const struct grain_place *at, void **addr)
{
	struct buf_chunk *chunk;
	unsigned int class;

	for (int tries = 0; classes && tries < TRIES; tries++) {
		class = (unsigned int)__builtin_ctzll(classes);
		chunk = TAILQ_FIRST(&pool->chunks[class]);
		if (chunk_take(chunk, at, addr))
			return chunk;
		TAILQ_REMOVE(&pool->chunks[class], chunk, entry);
		TAILQ_INSERT_TAIL(&pool->chunks[class], chunk, entry);
		classes &= classes - 1;
	}
	return NULL;
}

static int pool_take(struct buf_pool *pool, const struct grain_place *at, void **addr,
		     struct buf_chunk **chunk)
{
	uint64_t enough = UINT64_MAX << class_of(at->grains);
	uint64_t sure = UINT64_MAX << class_with(place_need(at));
	int ret;

	*chunk = try_classes(pool, pool->classes & enough & ~sure, at, addr);
	if (!*chunk)
		*chunk = try_classes(pool, pool->classes & sure, at, addr);
	if (*chunk)
		return 0;
	ret = chunk_add(pool, chunk);
	if (!ret)
		chunk_take(*chunk, at, addr);
	return ret;
}

int provider_buf_pool_alloc(struct buf_pool *pool, size_t size, const struct buf_place *place,
			    void **addr, struct buf_chunk **chunk)
{
	const struct grain_place at = grain_place_of(pool, size, place);
	int ret;

	pthread_mutex_lock(&pool->lock);
	ret = pool_take(pool, &at, addr, chunk);
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

/* Takes account of what became free around FIRST. */
static void chunk_grow(struct buf_chunk *chunk, unsigned int first)
{
	chunk_unfile(chunk);
	chunk->run = max_of(chunk->run, chunk_run_around(chunk, first));
	chunk_file(chunk);
}

void provider_buf_pool_free(struct buf_chunk *chunk, void *addr, size_t size)
{
	struct buf_pool *pool = chunk->pool;
	unsigned int first;

	pthread_mutex_lock(&pool->lock);
	first = (unsigned int)((size_t)((char *)addr - (char *)chunk->buf.addr) /
			       (pool->page / PAGE_GRAINS));
	chunk_mark(chunk, first, grains_of(pool, size), false);
	if (!chunk->used && pool->empty) {
		chunk_unfile(chunk);
		chunk_release(chunk);
	} else {
		pool->empty += !chunk->used;
		if (chunk->run <= MUCH)
			chunk_grow(chunk, first);
	}
	pthread_mutex_unlock(&pool->lock);
}
