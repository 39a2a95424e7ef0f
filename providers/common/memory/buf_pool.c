/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buf_pool.c - chunks of pages, with a bit for each 32nd of a page. Chunks are in lists by their
 * longest free run, so that one with room is found without searching full ones. An empty chunk is
 * unmapped, except one, so that repeatedly creating and destroying a queue maps nothing. Rings of
 * more than a page are mapped separately; a few freed ones are kept for reuse at the same size, and
 * the oldest is unmapped first.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/memory/buf_pool.h"
#include "providers/common/memory/hwbuf.h"
#include "util/bits.h"
#include "util/mutex.h"

#define PAGES       16
#define PAGE_GRAINS 32
#define GRAINS      (PAGES * PAGE_GRAINS)
#define MUCH        (4 * PAGE_GRAINS) /* in grains; longer runs share one class */
#define TRIES       3 /* chunks to try without success before taking one that surely has a place */

struct buf_chunk {
	TAILQ_ENTRY(buf_chunk) entry;
	struct buf_pool *pool;
	struct hwbuf buf;
	unsigned int used;
	/* Upper limit of the longest free run, exact when last measured (at most MUCH). Allocation
	 * does not update it, because measuring costs more than the allocation; a failed search
	 * measures it again. */
	unsigned int run;
	/* grains from here on were never used, and are zero, so they need no clearing */
	unsigned int fresh;
	uint32_t free[PAGES];
};

/* Returns the class of a run: one for each length up to a page, then one for each page up to four,
 * and one for all longer runs. Short buffers are the most frequent, so their classes are exact. */
static unsigned int class_of(unsigned int run)
{
	if (run <= PAGE_GRAINS)
		return run;
	return min_of(PAGE_GRAINS + 1 + (run - PAGE_GRAINS - 1) / PAGE_GRAINS, BUF_CLASSES - 1u);
}

/* Returns the first class whose chunks all have a run of NEED grains: a chunk from it fits without
 * a look at its bits. */
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
	mutex_init(&pool->lock);
	for (unsigned int i = 0; i < BUF_CLASSES; i++)
		TAILQ_INIT(&pool->chunks[i]);
	pool->classes = 0;
	pool->empty = 0;
	pool->looks = 0;
	pool->kept_first = 0;
	pool->kept_count = 0;
	pool->kept_bytes = 0;
	pool->page = (size_t)sysconf(_SC_PAGESIZE);
	pool->grain_log = log2_floor(pool->page / PAGE_GRAINS);
	pool->in_pages = false;
}

void provider_buf_pool_give_pages(struct buf_pool *pool)
{
	pool->in_pages = true;
}

static void chunk_release(struct buf_chunk *chunk)
{
	provider_hwbuf_free(&chunk->buf);
	free(chunk);
}

static struct hwbuf *kept_at(struct buf_pool *pool, unsigned int i)
{
	return &pool->kept[(pool->kept_first + i) % BUF_KEPT];
}

static struct hwbuf kept_take_oldest(struct buf_pool *pool)
{
	const struct hwbuf buf = *kept_at(pool, 0);

	pool->kept_bytes -= buf.size;
	pool->kept_first = (pool->kept_first + 1) % BUF_KEPT;
	pool->kept_count--;
	return buf;
}

static struct hwbuf kept_take(struct buf_pool *pool, unsigned int i)
{
	const struct hwbuf buf = *kept_at(pool, i);

	pool->kept_bytes -= buf.size;
	pool->kept_count--;
	for (; i < pool->kept_count; i++)
		*kept_at(pool, i) = *kept_at(pool, i + 1);
	return buf;
}

static bool kept_find(struct buf_pool *pool, size_t size, struct hwbuf *buf)
{
	for (unsigned int i = pool->kept_count; i--;) {
		if (kept_at(pool, i)->size != size)
			continue;
		*buf = kept_take(pool, i);
		return true;
	}
	return false;
}

int provider_buf_pool_map(struct buf_pool *pool, size_t size, bool keeps_bytes, struct hwbuf *buf)
{
	const size_t pages = (size + pool->page - 1) & ~(pool->page - 1);
	bool locked = mutex_enter(&pool->lock);
	bool found = kept_find(pool, pages, buf);

	mutex_leave(&pool->lock, locked);
	if (!found)
		return provider_hwbuf_alloc(size, buf);
	if (!keeps_bytes)
		memset(buf->addr, 0, buf->size);
	return 0;
}

/* Keeps a freed buffer for reuse. Unmaps the oldest kept ones if there are too many, so that sizes
 * no longer in use do not stay. */
void provider_buf_pool_unmap(struct buf_pool *pool, struct hwbuf *buf)
{
	struct hwbuf over[BUF_KEPT];
	unsigned int count = 0;
	bool locked;

	if (buf->size > BUF_KEPT_BYTES) {
		provider_hwbuf_free(buf);
		return;
	}
	locked = mutex_enter(&pool->lock);
	while (pool->kept_count == BUF_KEPT || pool->kept_bytes + buf->size > BUF_KEPT_BYTES)
		over[count++] = kept_take_oldest(pool);
	*kept_at(pool, pool->kept_count++) = *buf;
	pool->kept_bytes += buf->size;
	mutex_leave(&pool->lock, locked);
	while (count)
		provider_hwbuf_free(&over[--count]);
}

void provider_buf_pool_destroy(struct buf_pool *pool)
{
	struct buf_chunk *chunk;
	struct hwbuf buf;

	while (pool->kept_count) {
		buf = kept_take_oldest(pool);
		provider_hwbuf_free(&buf);
	}

	while (pool->classes) {
		chunk = TAILQ_FIRST(&pool->chunks[__builtin_ctzll(pool->classes)]);
		chunk_unfile(chunk);
		chunk_release(chunk);
	}
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
	memset(chunk->free, 0xff, sizeof(chunk->free));
	chunk_file(chunk);
	pool->empty++;
	*out = chunk;
	return 0;
}

static unsigned int grains_of(const struct buf_pool *pool, size_t size)
{
	if (pool->in_pages)
		return PAGE_GRAINS;
	return (unsigned int)((size + ((size_t)1 << pool->grain_log) - 1) >> pool->grain_log);
}

/* Counts ones by sums of pairs, of fours and of bytes, as old CPUs have no instruction for it. */
static unsigned int ones_count(uint32_t bits)
{
	bits -= bits >> 1 & 0x55555555;
	bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
	return ((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

static unsigned int ones_longest(uint32_t bits)
{
	unsigned int count = 0;

	for (; bits; bits &= bits << 1)
		count++;
	return count;
}

/* Returns the chunk's longest free run, which may span pages. */
static unsigned int chunk_longest_run(const struct buf_chunk *chunk)
{
	unsigned int longest = 0, open = 0;

	for (unsigned int page = 0; page < PAGES && longest <= MUCH; page++) {
		uint32_t free = chunk->free[page];

		if (free == UINT32_MAX) {
			open += PAGE_GRAINS;
		} else {
			longest = max_of(longest, open + (unsigned int)__builtin_ctz(~free));
			if (ones_count(free) > longest)
				longest = max_of(longest, ones_longest(free));
			open = (unsigned int)__builtin_clz(~free);
		}
		longest = max_of(longest, open);
	}
	return longest;
}

/* Returns the number of free grains before END, up to MUCH plus a page: all longer runs are of one
 * class, so counting further would change nothing. */
static unsigned int chunk_free_before(const struct buf_chunk *chunk, unsigned int end)
{
	unsigned int count = 0, page = end / PAGE_GRAINS, in_page = end % PAGE_GRAINS;
	uint32_t used;

	if (in_page) {
		used = ~chunk->free[page] << (PAGE_GRAINS - in_page);
		if (used)
			return (unsigned int)__builtin_clz(used);
		count = in_page;
	}
	for (; page && count <= MUCH; count += PAGE_GRAINS) {
		used = ~chunk->free[--page];
		if (used)
			return count + (unsigned int)__builtin_clz(used);
	}
	return count;
}

static unsigned int chunk_free_from(const struct buf_chunk *chunk, unsigned int first)
{
	unsigned int page = first / PAGE_GRAINS, in_page = first % PAGE_GRAINS;
	uint32_t used = ~chunk->free[page] >> in_page;
	unsigned int count = PAGE_GRAINS - in_page;

	if (used)
		return (unsigned int)__builtin_ctz(used);
	for (page++; page < PAGES && count <= MUCH; count += PAGE_GRAINS) {
		used = ~chunk->free[page++];
		if (used)
			return count + (unsigned int)__builtin_ctz(used);
	}
	return count;
}

static unsigned int chunk_run_around(const struct buf_chunk *chunk, unsigned int first)
{
	return chunk_free_before(chunk, first) + chunk_free_from(chunk, first);
}

/* Flips the bits of GRAINS grains, the first of which is FIRST. They span at most two pages. */
static void chunk_mark(struct buf_chunk *chunk, unsigned int first, unsigned int grains, bool used)
{
	uint64_t bits = ((1ULL << grains) - 1) << first % PAGE_GRAINS;
	unsigned int page = first / PAGE_GRAINS;

	chunk->free[page] ^= (uint32_t)bits;
	if (bits >> PAGE_GRAINS)
		chunk->free[page + 1] ^= (uint32_t)(bits >> PAGE_GRAINS);
	chunk->used += used ? grains : -grains;
}

struct grain_place {
	unsigned int grains, step;
	unsigned int clear;
	uint32_t starts; /* a bit for each grain of a page at which the buffer may start */
	size_t clean;
};

/* Element N has bit I set if bit N of I is 0, for each number I below PAGE_GRAINS. */
static const uint32_t without_bit[] = { 0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff,
					0x0000ffff };

static uint32_t place_starts(const struct grain_place *at)
{
	uint32_t starts =
		at->step < PAGE_GRAINS ? UINT32_MAX / (uint32_t)((1ULL << at->step) - 1) : 1;

	for (unsigned int bits = at->clear; bits; bits &= bits - 1)
		starts &= without_bit[__builtin_ctz(bits)];
	return starts;
}

static struct grain_place grain_place_of(const struct buf_pool *pool, size_t size,
					 const struct buf_place *place)
{
	struct grain_place at = { .grains = grains_of(pool, size), .step = 1, .clean = size };

	if (at.grains == PAGE_GRAINS)
		at.step = PAGE_GRAINS;
	else if (place && place->align)
		at.step = max_of(grains_of(pool, place->align), 1u);
	if (place) {
		at.clear = (unsigned int)(place->clear >> pool->grain_log);
		at.clean = place->keeps_bytes ? 0 : size;
	}
	at.starts = place_starts(&at);
	return at;
}

/* Returns the length of a free run that surely contains a place, wherever the run begins. at->clear
 * needs as much slack as the power of two above its bits, because they are 0 in the first part of
 * each unit of that length. */
static unsigned int place_need(const struct grain_place *at)
{
	unsigned int slack = at->clear ? (unsigned int)pow2_ceil(at->clear + 1u) : 0;

	return at->grains + at->step - 1 + slack;
}

/* Clears memory that may have been used before. Fresh memory is zero, and clearing it would
 * allocate its pages. */
static void chunk_clean(struct buf_chunk *chunk, const struct grain_place *at, unsigned int first,
			void *addr)
{
	if (first < chunk->fresh && at->clean)
		memset(addr, 0, at->clean);
	chunk->fresh = max_of(chunk->fresh, first + at->grains);
}

static void chunk_use(struct buf_chunk *chunk, const struct grain_place *at, unsigned int first,
		      void **addr)
{
	chunk->pool->empty -= !chunk->used;
	chunk_mark(chunk, first, at->grains, true);
	if (chunk->used == GRAINS) {
		chunk_unfile(chunk);
		chunk->run = 0;
		chunk_file(chunk);
	}
	*addr = (char *)chunk->buf.addr + ((size_t)first << chunk->pool->grain_log);
	chunk_clean(chunk, at, first, *addr);
}

static uint64_t runs_of(uint64_t free, unsigned int count)
{
	for (unsigned int step; count > 1; count -= step) {
		step = count / 2;
		free &= free >> step;
	}
	return free;
}

static bool chunk_take(struct buf_chunk *chunk, const struct grain_place *at, void **addr)
{
	chunk->pool->looks++;
	for (unsigned int page = 0; page < PAGES; page++) {
		uint32_t starts = chunk->free[page] & at->starts;
		uint64_t free = chunk->free[page];

		if (!starts)
			continue;
		if (page + 1 < PAGES)
			free |= (uint64_t)chunk->free[page + 1] << PAGE_GRAINS;
		starts &= (uint32_t)runs_of(free, at->grains);
		if (!starts)
			continue;
		chunk_use(chunk, at, page * PAGE_GRAINS + (unsigned int)__builtin_ctz(starts),
			  addr);
		return true;
	}
	return false;
}

/* Measures a chunk in which no place was found, and moves it to the end of its class, so that the
 * next search begins with other chunks. */
static void chunk_measure(struct buf_chunk *chunk)
{
	unsigned int class;

	chunk->pool->looks++;
	chunk_unfile(chunk);
	chunk->run = chunk_longest_run(chunk);
	class = class_of(chunk->run);
	TAILQ_INSERT_TAIL(&chunk->pool->chunks[class], chunk, entry);
	chunk->pool->classes |= 1ULL << class;
}

/* Searches chunks of CLASSES for a place. Whether a chunk has one depends on where its runs begin,
 * and on what was allocated since it was last measured. Leaves a class if a chunk without a place
 * is still in that class when measured. */
static struct buf_chunk *take_of_classes(struct buf_pool *pool, uint64_t classes,
					 const struct grain_place *at, int tries, void **addr)
{
	struct buf_chunk *chunk;
	unsigned int class;

	for (; classes & pool->classes && tries; tries--) {
		class = (unsigned int)__builtin_ctzll(classes & pool->classes);
		chunk = TAILQ_FIRST(&pool->chunks[class]);
		if (chunk_take(chunk, at, addr))
			return chunk;
		chunk_measure(chunk);
		if (class_of(chunk->run) == class)
			classes &= ~(1ULL << class);
	}
	return NULL;
}

static int pool_take(struct buf_pool *pool, const struct grain_place *at, void **addr,
		     struct buf_chunk **chunk)
{
	uint64_t enough = UINT64_MAX << class_of(at->grains);
	uint64_t sure = UINT64_MAX << class_with(place_need(at));
	int ret;

	*chunk = take_of_classes(pool, enough & ~sure, at, TRIES, addr);
	if (!*chunk)
		*chunk = take_of_classes(pool, sure, at, INT_MAX, addr);
	if (*chunk)
		return 0;
	ret = chunk_add(pool, chunk);
	if (!ret)
		chunk_take(*chunk, at, addr);
	return ret;
}

/* Allocates a whole page. Whole pages leave no gaps, so a chunk that is not full has a place. */
static int pool_take_page(struct buf_pool *pool, size_t clean, void **addr,
			  struct buf_chunk **chunk)
{
	const struct grain_place at = { .grains = PAGE_GRAINS, .clean = clean };
	const uint64_t not_full = pool->classes & ~UINT64_C(1);
	unsigned int page = 0;
	int ret = 0;

	if (not_full)
		*chunk = TAILQ_FIRST(&pool->chunks[__builtin_ctzll(not_full)]);
	else
		ret = chunk_add(pool, chunk);
	if (ret)
		return ret;
	while (!(*chunk)->free[page])
		page++;
	chunk_use(*chunk, &at, page * PAGE_GRAINS, addr);
	return 0;
}

static int pool_take_place(struct buf_pool *pool, size_t size, const struct buf_place *place,
			   void **addr, struct buf_chunk **chunk)
{
	const struct grain_place at = grain_place_of(pool, size, place);

	return pool_take(pool, &at, addr, chunk);
}

int provider_buf_pool_alloc(struct buf_pool *pool, size_t size, const struct buf_place *place,
			    void **addr, struct buf_chunk **chunk)
{
	const size_t clean = place && place->keeps_bytes ? 0 : size;
	bool locked = mutex_enter(&pool->lock);
	int ret = pool->in_pages ? pool_take_page(pool, clean, addr, chunk)
				 : pool_take_place(pool, size, place, addr, chunk);

	mutex_leave(&pool->lock, locked);
	return ret;
}

/* Updates the longest run after grains around FIRST became free. With whole pages, all runs are
 * equal. */
static void chunk_grow(struct buf_chunk *chunk, unsigned int first)
{
	unsigned int run = chunk->pool->in_pages ? PAGE_GRAINS : chunk_run_around(chunk, first);

	if (run <= chunk->run)
		return;
	chunk_unfile(chunk);
	chunk->run = run;
	chunk_file(chunk);
}

void provider_buf_pool_free(struct buf_chunk *chunk, void *addr, size_t size)
{
	struct buf_pool *pool = chunk->pool;
	bool locked = mutex_enter(&pool->lock);
	unsigned int first =
		(unsigned int)((size_t)((char *)addr - (char *)chunk->buf.addr) >> pool->grain_log);

	chunk_mark(chunk, first, grains_of(pool, size), false);
	if (!chunk->used && pool->empty) {
		chunk_unfile(chunk);
		chunk_release(chunk);
	} else {
		pool->empty += !chunk->used;
		if (chunk->run <= MUCH)
			chunk_grow(chunk, first);
	}
	mutex_leave(&pool->lock, locked);
}
