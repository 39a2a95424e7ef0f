/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.c - memory on the adapter that software allocates, maps and registers (PRM: MEMIC).
 *
 * The driver chooses the pages of the BAR for each block, so that no page has blocks of two
 * programs. The front owns the bytes, as programs map them; it reports the address of each page. A
 * block cannot be freed while memory keys use it or it has operation addresses. Each operation has
 * a window, a second image of MEMIC's part of the BAR, in which only blocks that opened the
 * operation respond.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/memory/memic.h"
#include "softhca/trace.h"

struct memic_block {
	LIST_ENTRY(memic_block) entry;
	uint64_t addr, size;
	uint32_t users;
	bool is_open[HCA_MEMIC_OPERATIONS];
};

struct memic {
	uint64_t base, bar_size; /* MEMIC's part of the BAR */
	uint64_t windows;        /* address of the operations' windows; 0: none */
	uint64_t size, used;     /* bytes in all, and allocated */
	LIST_HEAD(, memic_block) blocks;
	/* owned by the front, see hca_place_memic(); NULL: the front has not placed the page, so
	 * accesses fail */
	uint8_t *page[];
};

int memic_create(struct hca *hca)
{
	const struct hca_config *config = &hca->config;
	uint64_t pages = config->memic_bar_size / MEMIC_PAGE;

	if (!config->memic_size)
		return 0;
	hca->memic = calloc(1, sizeof(*hca->memic) + pages * sizeof(hca->memic->page[0]));
	if (!hca->memic)
		return ENOMEM;
	hca->memic->base = config->memic_bar;
	hca->memic->bar_size = pages * MEMIC_PAGE;
	hca->memic->windows = config->memic_windows;
	hca->memic->size = config->memic_size;
	LIST_INIT(&hca->memic->blocks);
	return 0;
}

void memic_destroy(struct hca *hca)
{
	struct memic_block *block;

	if (!hca->memic)
		return;
	while ((block = LIST_FIRST(&hca->memic->blocks)) != NULL) {
		LIST_REMOVE(block, entry);
		free(block);
	}
	free(hca->memic);
}

static bool is_within(uint64_t start, uint64_t size, uint64_t addr, uint64_t len)
{
	return addr >= start && len <= size && addr - start <= size - len;
}

void hca_place_memic(struct hca *hca, uint64_t addr, void *page)
{
	struct memic *memic = hca->memic;

	fabric_lock(hca->fabric);
	if (memic && is_within(memic->base, memic->bar_size, addr, 1))
		memic->page[(addr - memic->base) / MEMIC_PAGE] = page;
	fabric_unlock(hca->fabric);
}

static const struct memic_block *block_overlapping(const struct memic *memic, uint64_t addr,
						   uint64_t len)
{
	const struct memic_block *block;

	LIST_FOREACH(block, &memic->blocks, entry)
		if (addr < block->addr + block->size && block->addr < addr + len)
			return block;
	return NULL;
}

/* Finds the first free place of SIZE bytes in a range. ALIGN is a power of two. */
static bool find_place(const struct memic *memic, uint64_t start, uint64_t end, uint64_t size,
		       uint64_t align, uint64_t *addr)
{
	const struct memic_block *block;
	uint64_t at = (start + align - 1) & ~(align - 1);

	while (at < end && size <= end - at) {
		block = block_overlapping(memic, at, size);
		if (!block) {
			*addr = at;
			return true;
		}
		at = (block->addr + block->size + align - 1) & ~(align - 1);
	}
	return false;
}

const char *memic_check(const struct memic *memic, const struct memic_request *request)
{
	if (!request->size || request->size & ((1u << MEMIC_UNIT_LOG) - 1))
		return "memic: size is no multiple of 64";
	if (request->align_log > MEMIC_ALIGN_LOG)
		return "memic: alignment";
	if (!is_within(memic->base, memic->bar_size, request->start, request->len))
		return "memic: the range is not in the BAR's part";
	return NULL;
}

int memic_take(struct memic *memic, const struct memic_request *request, uint64_t *addr)
{
	uint64_t end = request->start + request->len;
	struct memic_block *block;

	if (request->size > memic->size - memic->used ||
	    !find_place(memic, request->start, end, request->size, 1ull << request->align_log,
			addr))
		return ENOSPC;
	block = calloc(1, sizeof(*block));
	if (!block)
		return ENOMEM;
	block->addr = *addr;
	block->size = request->size;
	memic->used += request->size;
	LIST_INSERT_HEAD(&memic->blocks, block, entry);
	return 0;
}

static struct memic_block *block_at(const struct memic *memic, uint64_t addr)
{
	struct memic_block *block;

	LIST_FOREACH(block, &memic->blocks, entry)
		if (block->addr == addr)
			break;
	return block;
}

static bool block_is_open(const struct memic_block *block)
{
	return block->is_open[MEMIC_INCREMENT] || block->is_open[MEMIC_TEST_AND_SET];
}

int memic_give_back(struct memic *memic, uint64_t addr, uint64_t size)
{
	struct memic_block *block = block_at(memic, addr);

	if (!block || block->size != size)
		return ENOENT;
	if (block->users || block_is_open(block))
		return EBUSY;
	memic->used -= block->size;
	LIST_REMOVE(block, entry);
	free(block);
	return 0;
}

static uint64_t window_of(const struct memic *memic, uint32_t operation)
{
	return memic->windows + operation * memic->bar_size;
}

const char *memic_open_operation(struct memic *memic, uint64_t addr, uint32_t operation,
				 uint64_t *window)
{
	struct memic_block *block = block_at(memic, addr);

	if (!memic->windows || operation >= HCA_MEMIC_OPERATIONS)
		return "memic: no such operation";
	if (!block)
		return "memic: no block begins there";
	if (block->is_open[operation])
		return "memic: the operation has an address";
	block->is_open[operation] = true;
	*window = window_of(memic, operation) + (addr - memic->base);
	return NULL;
}

const char *memic_close_operation(struct memic *memic, uint64_t addr, uint32_t operation)
{
	struct memic_block *block = block_at(memic, addr);

	if (!block || operation >= HCA_MEMIC_OPERATIONS || !block->is_open[operation])
		return "memic: the operation has no address";
	block->is_open[operation] = false;
	return NULL;
}

/* Returns the byte that an access at ADDR of the operation's window reaches. Returns NULL if ADDR
 * is not in that window, no block there has opened the operation, the front has not placed the
 * page, or LEN is not 1. */
static uint8_t *operation_byte(struct hca *hca, uint64_t addr, enum memic_operation operation,
			       size_t len)
{
	const struct memic *memic = hca->memic;
	uint64_t at = addr - window_of(memic, operation);
	const struct memic_block *block;
	uint8_t *page = NULL;

	LIST_FOREACH(block, &memic->blocks, entry)
		if (at < memic->bar_size && block->is_open[operation] &&
		    is_within(block->addr, block->size, memic->base + at, len))
			page = memic->page[at / MEMIC_PAGE];
	if (page && len == 1)
		return page + at % MEMIC_PAGE;
	trace_line(hca->config.trace, "memic: no operation on %zu bytes at %#llx", len,
		   (unsigned long long)addr);
	return NULL;
}

void hca_memic_read(struct hca *hca, uint64_t addr, uint8_t *data, size_t len)
{
	uint8_t *byte;

	fabric_lock(hca->fabric);
	memset(data, 0xff, len);
	byte = operation_byte(hca, addr, MEMIC_TEST_AND_SET, len);
	if (byte) {
		*data = *byte;
		*byte = 0xff;
	}
	fabric_unlock(hca->fabric);
}

void hca_memic_write(struct hca *hca, uint64_t addr, const uint8_t *data, size_t len)
{
	uint8_t *byte;

	fabric_lock(hca->fabric);
	byte = operation_byte(hca, addr, MEMIC_INCREMENT, len);
	if (byte)
		*byte += *data;
	fabric_unlock(hca->fabric);
}

struct memic_block *memic_get(struct hca *hca, uint64_t addr, uint64_t len)
{
	struct memic_block *block;

	if (!hca->memic)
		return NULL;
	LIST_FOREACH(block, &hca->memic->blocks, entry) {
		if (is_within(block->addr, block->size, addr, len)) {
			block->users++;
			return block;
		}
	}
	return NULL;
}

void memic_put(struct memic_block *block)
{
	if (block)
		block->users--;
}

int memic_dma(struct dma_batch *batch, uint64_t addr, uint64_t len)
{
	const struct memic *memic = batch->hca->memic;
	int ret = dma_finish(batch);
	uint64_t part;

	for (; !ret && len; addr += part, len -= part) {
		uint64_t offset = addr - memic->base, skip = offset % MEMIC_PAGE;
		uint8_t *page = memic->page[offset / MEMIC_PAGE];

		part = MEMIC_PAGE - skip < len ? MEMIC_PAGE - skip : len;
		if (!page)
			return EFAULT;
		if (batch->write)
			memcpy(page + skip, batch->buf, part);
		else
			memcpy(batch->buf, page + skip, part);
		batch->buf += part;
	}
	return ret;
}
