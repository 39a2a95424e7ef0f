/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_memory.c - memory on the adapter for table entries that software writes itself (PRM: SW ICM).
 *
 * The driver chooses the place of each block, as with MEMIC. A program allocates much more than it
 * writes (64 MiB at a time), so a page exists only once it is written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

static bool is_within(const struct ste_block *block, uint64_t addr, uint64_t len)
{
	return addr >= block->addr && len <= block->len && addr - block->addr <= block->len - len;
}

static struct ste_block *find_block(const struct hca *hca, uint64_t addr, uint64_t len)
{
	struct ste_block *block;

	for (uint32_t at = 0; (block = res_next(&hca->ste_blocks, &at)) != NULL;)
		if (is_within(block, addr, len))
			return block;
	return NULL;
}

static bool is_free(const struct hca *hca, uint64_t addr, uint64_t len)
{
	const struct ste_block *block;

	for (uint32_t at = 0; (block = res_next(&hca->ste_blocks, &at)) != NULL;)
		if (addr < block->addr + block->len && block->addr < addr + len)
			return false;
	return true;
}

static bool is_in_area(uint64_t start, unsigned int log_area, uint64_t addr, uint64_t log_size)
{
	return addr >= start && log_size <= log_area &&
	       addr - start <= (1ull << log_area) - (1ull << log_size);
}

const char *ste_memory_check(const struct hca *hca, uint64_t addr, uint64_t log_size)
{
	if (log_size < STE_MEMORY_LOG_UNIT || log_size > STE_MEMORY_LOG_BLOCK_MAX)
		return "icm: size of a block";
	if (addr & ((1u << STE_MEMORY_LOG_UNIT) - 1))
		return "icm: place of a block";
	if (!is_in_area(STE_MEMORY_START, STE_MEMORY_LOG_SIZE, addr, log_size) &&
	    !is_in_area(STE_MEMORY_CHANGE, STE_MEMORY_LOG_CHANGE, addr, log_size) &&
	    !is_in_area(STE_MEMORY_PATTERN, STE_MEMORY_LOG_PATTERN, addr, log_size))
		return "icm: the block is not in the adapter's memory";
	return is_free(hca, addr, 1ull << log_size) ? NULL : "icm: another block is there";
}

int ste_memory_add(struct hca *hca, uint64_t addr, uint64_t log_size, struct ste_block **out)
{
	struct ste_block *block = calloc(1, sizeof(*block));
	int ret;

	if (!block)
		return ENOMEM;
	block->memory = &hca->ste_memory;
	block->addr = addr;
	block->len = 1ull << log_size;
	block->page = calloc(block->len / STE_MEMORY_PAGE, sizeof(*block->page));
	ret = block->page ? res_add(&hca->ste_blocks, block, &block->n) : ENOMEM;
	if (ret)
		ste_memory_free(block);
	else
		*out = block;
	return ret;
}

void ste_memory_free(struct ste_block *block)
{
	for (uint64_t i = 0; block->page && i < block->len / STE_MEMORY_PAGE; i++) {
		if (!block->page[i])
			continue;
		free(block->page[i]);
		block->memory->pages--;
	}
	free(block->page);
	free(block);
}

void ste_memory_remove(struct hca *hca, struct ste_block *block)
{
	res_remove(&hca->ste_blocks, block->n);
	ste_memory_free(block);
}

struct ste_block *ste_memory_get(struct hca *hca, uint64_t addr, uint64_t len)
{
	struct ste_block *block = find_block(hca, addr, len);

	if (!block || !res_find(&hca->ste_blocks, block->n))
		return NULL;
	block->users++;
	return block;
}

void ste_memory_put(struct ste_block *block)
{
	if (block)
		block->users--;
}

/* Returns the page at OFFSET, which it allocates if none was written. Returns NULL if the host has
 * no memory, or the adapter has STE_MEMORY_PAGES_MAX pages. */
static uint8_t *page_to_write(struct ste_block *block, uint64_t offset)
{
	uint8_t **page = &block->page[offset / STE_MEMORY_PAGE];

	if (*page || block->memory->pages == STE_MEMORY_PAGES_MAX)
		return *page;
	*page = calloc(1, STE_MEMORY_PAGE);
	block->memory->pages += *page != NULL;
	return *page;
}

static bool move_part(struct dma_batch *batch, struct ste_block *block, uint64_t offset,
		      uint64_t len)
{
	uint8_t *page;

	if (batch->write) {
		page = page_to_write(block, offset);
		if (!page)
			return false;
		memcpy(page + offset % STE_MEMORY_PAGE, batch->buf, len);
		return true;
	}
	page = block->page[offset / STE_MEMORY_PAGE];
	if (page)
		memcpy(batch->buf, page + offset % STE_MEMORY_PAGE, len);
	else
		memset(batch->buf, 0, len);
	return true;
}

int ste_memory_dma(struct dma_batch *batch, struct ste_block *block, uint64_t addr, uint64_t len)
{
	int ret = dma_finish(batch);
	uint64_t part;

	if (!ret && !is_within(block, addr, len))
		ret = EFAULT;
	for (; !ret && len; addr += part, len -= part) {
		uint64_t offset = addr - block->addr,
			 room = STE_MEMORY_PAGE - offset % STE_MEMORY_PAGE;

		part = room < len ? room : len;
		if (!move_part(batch, block, offset, part))
			return ENOMEM;
		batch->buf += part;
	}
	return ret;
}

bool ste_memory_read(const struct hca *hca, uint64_t addr, void *bytes, uint32_t len)
{
	const struct ste_block *block = find_block(hca, addr, len);
	const uint8_t *page;

	if (!block)
		return false;
	page = block->page[(addr - block->addr) / STE_MEMORY_PAGE];
	if (page)
		memcpy(bytes, page + addr % STE_MEMORY_PAGE, len);
	else
		memset(bytes, 0, len);
	return true;
}
