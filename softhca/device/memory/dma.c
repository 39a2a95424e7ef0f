/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.c - the device's access to host memory: page lists and transfers.
 *
 * A page list is stored as a few extents, because neighbouring pages usually have neighbouring bus
 * addresses; a huge region then costs as little as a small one. A batch collects the pieces of a
 * transfer, because each bus call costs the front a system call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

#define PAS_ADDR_MASK (~0xfffull) /* the low bits of an entry are permissions */

static int map_append(struct dma_map *map, uint64_t addr, uint64_t len)
{
	struct dma_extent *last = map->count ? &map->extent[map->count - 1] : NULL;
	struct dma_extent *extent;

	if (last && last->addr + last->len == addr) {
		last->len += len;
		map->len += len;
		return 0;
	}
	/* Doubles the array whenever its count is a power of two, so that no field for its capacity
	 * is needed. */
	if ((map->count & (map->count - 1)) == 0) {
		extent =
			reallocarray(map->extent, map->count ? map->count * 2 : 1, sizeof(*extent));
		if (!extent)
			return ENOMEM;
		map->extent = extent;
	}
	map->extent[map->count++] = (struct dma_extent){ map->len, addr, len };
	map->len += len;
	return 0;
}

int dma_map_pages(struct dma_map *map, const void *pas, size_t npas, unsigned int page_shift,
		  uint64_t skip, uint64_t len)
{
	uint64_t page = 1ull << page_shift;
	int ret;

	memset(map, 0, sizeof(*map));
	for (size_t i = 0; len && i < npas; i++) {
		uint64_t addr = fld_get64(pas, i * 8) & PAS_ADDR_MASK;
		uint64_t part = page - skip < len ? page - skip : len;

		ret = map_append(map, addr + skip, part);
		if (ret)
			goto unmap;
		len -= part;
		skip = 0;
	}
	ret = len ? EINVAL : 0;
unmap:
	if (ret)
		dma_unmap(map);
	return ret;
}

void dma_unmap(struct dma_map *map)
{
	free(map->extent);
	free(map->pins);
	memset(map, 0, sizeof(*map));
}

static const struct dma_extent *map_find(const struct dma_map *map, uint64_t offset)
{
	uint32_t low = 0, high = map->count;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (map->extent[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	return &map->extent[low];
}

int dma_map_part(struct dma_map *map, const struct dma_map *whole, uint64_t offset, uint64_t len)
{
	const struct dma_extent *extent;
	int ret = 0;

	memset(map, 0, sizeof(*map));
	if (len > whole->len || offset > whole->len - len)
		return EINVAL;
	for (extent = map_find(whole, offset); !ret && len; extent++) {
		uint64_t skip = offset - extent->offset;
		uint64_t part = extent->len - skip < len ? extent->len - skip : len;

		ret = map_append(map, extent->addr + skip, part);
		offset += part;
		len -= part;
	}
	if (ret)
		dma_unmap(map);
	return ret;
}

uint64_t dma_map_addr(const struct dma_map *map, uint64_t offset)
{
	const struct dma_extent *extent = map_find(map, offset);

	return extent->addr + (offset - extent->offset);
}

static void batch_begin(struct dma_batch *batch, struct hca *hca, uint8_t *buf, bool write)
{
	batch->hca = hca;
	batch->write = write;
	batch->buf = buf;
	batch->bytes = 0;
	batch->nsegs = 0;
}

void dma_begin_read(struct dma_batch *batch, struct hca *hca, void *buf)
{
	batch_begin(batch, hca, buf, false);
}

void dma_begin_write(struct dma_batch *batch, struct hca *hca, const void *buf)
{
	batch_begin(batch, hca, (uint8_t *)(uintptr_t)buf, true);
}

/* Performs each transfer of the device. If the bus returns ESRCH, the program that owns the
 * memory has ended: sets hca->owner_gone, which the responder checks before it answers, and returns
 * EFAULT. */
static int bus_transfer(struct hca *hca, bool write, const struct hca_bus_seg *segs,
			unsigned int nsegs, void *buf)
{
	const struct hca_config *config = &hca->config;
	int ret = write ? config->bus_ops->write(config->bus, segs, nsegs, buf)
			: config->bus_ops->read(config->bus, segs, nsegs, buf);

	if (ret == ESRCH) {
		hca->owner_gone = true;
		ret = EFAULT;
	}
	return ret;
}

int dma_finish(struct dma_batch *batch)
{
	int ret;

	if (!batch->nsegs)
		return 0;
	ret = bus_transfer(batch->hca, batch->write, batch->seg, batch->nsegs, batch->buf);
	batch->buf += batch->bytes;
	batch->bytes = 0;
	batch->nsegs = 0;
	return ret;
}

int dma_add(struct dma_batch *batch, uint64_t addr, uint64_t len)
{
	int ret;

	if (!len)
		return 0;
	if (batch->nsegs == DMA_BATCH_SEGS) {
		ret = dma_finish(batch);
		if (ret)
			return ret;
	}
	batch->seg[batch->nsegs++] = (struct hca_bus_seg){ addr, len };
	batch->bytes += len;
	return 0;
}

int dma_add_map(struct dma_batch *batch, const struct dma_map *map, uint64_t offset, uint64_t len)
{
	const struct dma_extent *extent;
	int ret;

	if (!len)
		return 0;
	if (len > map->len || offset > map->len - len)
		return EFAULT;
	for (extent = map_find(map, offset); len; extent++) {
		uint64_t skip = offset - extent->offset;
		uint64_t part = extent->len - skip < len ? extent->len - skip : len;

		ret = dma_add(batch, extent->addr + skip, part);
		if (ret)
			return ret;
		offset += part;
		len -= part;
	}
	return 0;
}

int dma_read(struct hca *hca, uint64_t addr, void *buf, size_t len)
{
	struct hca_bus_seg seg = { addr, len };

	return bus_transfer(hca, false, &seg, 1, buf);
}

int dma_write(struct hca *hca, uint64_t addr, const void *buf, size_t len)
{
	struct hca_bus_seg seg = { addr, len };

	return bus_transfer(hca, true, &seg, 1, (void *)(uintptr_t)buf);
}

int dma_write_map(struct hca *hca, const struct dma_map *map, uint64_t offset, const void *buf,
		  size_t len)
{
	struct dma_batch batch;
	int ret;

	dma_begin_write(&batch, hca, buf);
	ret = dma_add_map(&batch, map, offset, len);
	return ret ? ret : dma_finish(&batch);
}
