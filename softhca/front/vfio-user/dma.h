/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.h - guest memory as the client has mapped it for the device.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_DMA_H
#define SOFTHCA_FRONT_VFIO_USER_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"

struct dma_region {
	uint64_t addr, size; /* guest-physical */
	uint8_t *memory;     /* NULL: mapped without a file, not reachable */
	bool readable, writable;
};

enum { DMA_MAX_REGIONS = 256 };

struct dma_table {
	struct dma_region region[DMA_MAX_REGIONS]; /* by rising address, none overlaps another */
	unsigned int count;
	bool enabled; /* the guest has made the device a bus master; else every access fails */
};

/*
 * Map SIZE bytes of FD from OFFSET on at guest address ADDR, for the device to access as PROT
 * (PROT_READ, PROT_WRITE) says. FD stays the caller's; -1: the region is known, and every access to
 * it fails. Regions with a file have to be of pages, in a file that is long enough.
 * 0, EINVAL, EEXIST on overlap, ENOSPC, or what mmap says.
 */
int dma_table_map(struct dma_table *table, uint64_t addr, uint64_t size, int prot, int fd,
		  uint64_t offset);
/* Forgets exactly one region, or returns ENOENT. */
int dma_table_unmap(struct dma_table *table, uint64_t addr, uint64_t size);
void dma_table_clear(struct dma_table *table);

/* Return 0, or EFAULT when a byte is not mapped that way; bytes before it may have been moved. */
int dma_table_read(const struct dma_table *table, uint64_t addr, void *buf, uint64_t len);
int dma_table_write(const struct dma_table *table, uint64_t addr, const void *buf, uint64_t len);

/* The bus of the device core; its cookie is a struct dma_table. */
extern const struct hca_bus_ops dma_bus_ops;

#endif
