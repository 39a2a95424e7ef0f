/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.h - access to host memory: page lists, and transfers in as few bus calls as possible.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_DMA_H
#define SOFTHCA_DEVICE_MEMORY_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/hca.h"

struct dma_extent {
	uint64_t offset; /* from the start of the map */
	uint64_t addr;
	uint64_t len;
};

/* A page list with adjacent pages joined. Translates an offset in an object to a bus address. */
struct dma_map {
	struct dma_extent *extent;
	uint32_t count;
	uint64_t len;
	struct pins *pins; /* identities of the pages; NULL: none were noted. See pins.h */
};

/* Maps LEN bytes that begin SKIP bytes into the first page of the big-endian list PAS[]. Returns 0,
 * EINVAL if there are too few pages, or ENOMEM. */
int dma_map_pages(struct dma_map *map, const void *pas, size_t npas, unsigned int page_shift,
		  uint64_t skip, uint64_t len);
/* Maps LEN bytes of WHOLE from OFFSET on. Returns 0, EINVAL if WHOLE ends earlier, or ENOMEM. */
int dma_map_part(struct dma_map *map, const struct dma_map *whole, uint64_t offset, uint64_t len);
void dma_unmap(struct dma_map *map);
/* Returns the bus address of OFFSET, which must be within the map. */
uint64_t dma_map_addr(const struct dma_map *map, uint64_t offset);

enum { DMA_BATCH_SEGS = 64 };

/* Collects pieces of host memory that are contiguous in BUF, and moves them in as few bus calls as
 * possible, as a bus call is a system call in some fronts. */
struct dma_batch {
	struct hca *hca;
	bool write;
	uint8_t *buf;
	size_t bytes;
	unsigned int nsegs;
	struct hca_bus_seg seg[DMA_BATCH_SEGS];
};

void dma_begin_read(struct dma_batch *batch, struct hca *hca, void *buf);
void dma_begin_write(struct dma_batch *batch, struct hca *hca, const void *buf);
int dma_add(struct dma_batch *batch, uint64_t addr, uint64_t len);
int dma_add_map(struct dma_batch *batch, const struct dma_map *map, uint64_t offset, uint64_t len);
int dma_finish(struct dma_batch *batch);

int dma_read(struct hca *hca, uint64_t addr, void *buf, size_t len);
int dma_write(struct hca *hca, uint64_t addr, const void *buf, size_t len);
int dma_write_map(struct hca *hca, const struct dma_map *map, uint64_t offset, const void *buf,
		  size_t len);

#endif
