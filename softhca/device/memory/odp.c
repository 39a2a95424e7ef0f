/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odp.c - the list of present pages of an on-demand region; see odp.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/memory/mkey.h"

/* A fault makes the first 64 pages of each buffer of the message present. Before the list would
 * exceed PAGES_MAX it is emptied; the pages in it just fault again. */
enum { PAGE_LOG = 12, PAGES_AT_ONCE = 64, PAGES_MAX = 1 << 16 };

/* Returns the index of PAGE in the list, or where to insert it. */
static uint32_t page_find(const struct odp *odp, uint64_t page)
{
	uint32_t low = 0, high = odp->count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (odp->pages[mid] < page)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool page_is_there(const struct odp *odp, uint64_t page)
{
	uint32_t at = page_find(odp, page);

	return at < odp->count && odp->pages[at] == page;
}

static int page_add(struct odp *odp, uint64_t page)
{
	uint32_t at = page_find(odp, page);
	uint64_t *pages;

	if (at < odp->count && odp->pages[at] == page)
		return 0;
	if (odp->count == PAGES_MAX)
		at = odp->count = 0;
	/* Doubles the array whenever its count is a power of two, so that no field for its capacity
	 * is needed. */
	if ((odp->count & (odp->count - 1)) == 0) {
		pages = reallocarray(odp->pages, odp->count ? 2 * (size_t)odp->count : 1,
				     sizeof(*pages));
		if (!pages)
			return ENOMEM;
		odp->pages = pages;
	}
	memmove(&odp->pages[at + 1], &odp->pages[at], (odp->count - at) * sizeof(*odp->pages));
	odp->pages[at] = page;
	odp->count++;
	return 0;
}

/* Returns how many pages of LEN bytes at ADDR one fault makes present. */
static uint64_t page_count(uint64_t addr, uint64_t len)
{
	uint64_t count = len ? ((addr + len - 1) >> PAGE_LOG) - (addr >> PAGE_LOG) + 1 : 0;

	return count < PAGES_AT_ONCE ? count : PAGES_AT_ONCE;
}

bool odp_has(const struct mkey *mkey, uint64_t addr, uint64_t len)
{
	uint64_t count = mkey->on_demand ? page_count(addr, len) : 0;

	for (uint64_t i = 0; i < count; i++)
		if (!page_is_there(&mkey->odp, (addr >> PAGE_LOG) + i))
			return false;
	return true;
}

int odp_bring(struct mkey *mkey, uint64_t addr, uint64_t len)
{
	uint64_t count = mkey->on_demand ? page_count(addr, len) : 0;
	int ret = 0;

	for (uint64_t i = 0; !ret && i < count; i++)
		ret = page_add(&mkey->odp, (addr >> PAGE_LOG) + i);
	return ret;
}

void odp_free(struct mkey *mkey)
{
	free(mkey->odp.pages);
}
