/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dbrec.c - pages of doorbell records, with a bit for each free record. Pages with room and full
 * pages are in two lists, so no call searches. An empty page is unmapped, except one, so that
 * repeatedly creating and destroying a queue maps nothing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "providers/common/memory/dbrec.h"
#include "providers/common/memory/hwbuf.h"
#include "util/alloc.h"
#include "util/mutex.h"

#define RECORD_SPACING   64
#define RECORDS_PER_PAGE 64 /* a bit each in a 64-bit word */
#define ALL_FREE         UINT64_MAX

struct dbrec_page {
	LIST_ENTRY(dbrec_page) entry;
	struct hwbuf buf;
	const struct hwbuf_source *source;
	uint64_t free;
};

void provider_dbrec_pool_init(struct dbrec_pool *pool)
{
	mutex_init(&pool->lock);
	LIST_INIT(&pool->room);
	LIST_INIT(&pool->full);
	pool->empty = 0;
	pool->source = NULL;
}

/* Takes the lock, unless the process has one thread. With a program's source it takes the lock
 * always, because the program's allocator may create a thread. */
static bool pool_enter(struct dbrec_pool *pool)
{
	if (process_has_one_thread() && !pool->source)
		return false;
	pthread_mutex_lock(&pool->lock);
	return true;
}

static void page_release(struct dbrec_page *page)
{
	if (page->source)
		page->source->free(page->buf.addr, page->source->arg);
	else
		provider_hwbuf_free(&page->buf);
	free(page);
}

static void page_file(struct dbrec_pool *pool, struct dbrec_page *page)
{
	if (page->free && page->source == pool->source)
		LIST_INSERT_HEAD(&pool->room, page, entry);
	else
		LIST_INSERT_HEAD(&pool->full, page, entry);
}

static void page_file_again(struct dbrec_pool *pool, struct dbrec_page *page)
{
	LIST_REMOVE(page, entry);
	page_file(pool, page);
}

static struct dbrec_page *pages_take_all(struct dbrec_pool *pool, struct dbrec_page *last)
{
	struct dbrec_page *page;

	while ((page = LIST_FIRST(&pool->room)) || (page = LIST_FIRST(&pool->full))) {
		LIST_REMOVE(page, entry);
		page->entry.le_next = last;
		last = page;
	}
	return last;
}

/* Changes the source. Pages of the former source stay while their records are in use, as the
 * adapter reads them, but provide no new records; its empty page is freed. */
void provider_dbrec_pool_set_source(struct dbrec_pool *pool, const struct hwbuf_source *source)
{
	struct dbrec_page *page, *next;

	pthread_mutex_lock(&pool->lock);
	pool->source = source;
	for (page = pages_take_all(pool, NULL); page; page = next) {
		next = page->entry.le_next;
		if (page->free != ALL_FREE || page->source == source) {
			page_file(pool, page);
			continue;
		}
		pool->empty--;
		page_release(page);
	}
	pthread_mutex_unlock(&pool->lock);
}

void provider_dbrec_pool_destroy(struct dbrec_pool *pool)
{
	struct dbrec_page *next;

	for (struct dbrec_page *page = pages_take_all(pool, NULL); page; page = next) {
		next = page->entry.le_next;
		page_release(page);
	}
}

#define PAGE_BYTES (RECORD_SPACING * RECORDS_PER_PAGE)

static int page_fill(struct dbrec_page *page)
{
	if (!page->source)
		return provider_hwbuf_alloc(PAGE_BYTES, &page->buf);
	page->buf.addr = page->source->alloc(PAGE_BYTES, page->source->arg);
	page->buf.size = PAGE_BYTES;
	return page->buf.addr ? 0 : ENOMEM;
}

static int page_add(struct dbrec_pool *pool)
{
	struct dbrec_page *page = calloc_for("doorbell record", 1, sizeof(*page));
	int ret;

	if (!page)
		return ENOMEM;
	page->source = pool->source;
	ret = page_fill(page);
	if (ret) {
		verbs_warn("doorbell record: there is no page for it: errno %d", ret);
		free(page);
		return ret;
	}
	page->free = ALL_FREE;
	page_file(pool, page);
	pool->empty++;
	return 0;
}

static __be32 *record_take(struct dbrec_pool *pool, struct dbrec_page *page)
{
	unsigned int n = (unsigned int)__builtin_ctzll(page->free);
	__be32 *dbrec = (__be32 *)((char *)page->buf.addr + n * RECORD_SPACING);

	pool->empty -= page->free == ALL_FREE;
	page->free &= ~(1ULL << n);
	if (!page->free)
		page_file_again(pool, page);
	dbrec[0] = 0;
	dbrec[1] = 0;
	return dbrec;
}

int provider_dbrec_alloc(struct dbrec_pool *pool, __be32 **dbrec, struct dbrec_page **page)
{
	bool locked = pool_enter(pool);
	int ret = 0;

	if (LIST_EMPTY(&pool->room))
		ret = page_add(pool);
	if (!ret) {
		*page = LIST_FIRST(&pool->room);
		*dbrec = record_take(pool, *page);
	}
	mutex_leave(&pool->lock, locked);
	return ret;
}

static void page_emptied(struct dbrec_pool *pool, struct dbrec_page *page)
{
	if (!pool->empty && page->source == pool->source) {
		pool->empty = 1;
		return;
	}
	LIST_REMOVE(page, entry);
	page_release(page);
}

void provider_dbrec_free(struct dbrec_pool *pool, struct dbrec_page *page, const __be32 *dbrec)
{
	bool locked = pool_enter(pool);
	bool was_full = !page->free;

	page->free |= 1ULL << ((const char *)dbrec - (char *)page->buf.addr) / RECORD_SPACING;
	if (was_full)
		page_file_again(pool, page);
	if (page->free == ALL_FREE)
		page_emptied(pool, page);
	mutex_leave(&pool->lock, locked);
}
