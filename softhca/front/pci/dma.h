/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.h - guest memory as the client has mapped it for the device.
 */
#ifndef SOFTHCA_FRONT_PCI_DMA_H
#define SOFTHCA_FRONT_PCI_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"

struct dma_region {
	uint64_t addr, size; /* guest-physical */
	uint8_t *memory;     /* NULL: mapped without a file, so unreachable */
	bool readable, writable;
};

enum { DMA_MAX_REGIONS = 256 };

struct dma_table {
	struct dma_region region[DMA_MAX_REGIONS]; /* by rising address; they do not overlap */
	unsigned int count;
	bool enabled; /* the guest has enabled bus mastering; else all accesses fail */
};

/*
 * Maps SIZE bytes of FD from OFFSET on at guest address ADDR, for access as PROT (PROT_READ,
 * PROT_WRITE). The caller still owns FD. FD -1: the region exists, and each access fails. Regions
 * with a file must consist of whole pages within the file. Returns 0, EINVAL, EEXIST on overlap,
 * ENOSPC, or mmap()'s errno.
 */
int dma_table_map(struct dma_table *table, uint64_t addr, uint64_t size, int prot, int fd,
		  uint64_t offset);
/* Unmaps exactly one region, or returns ENOENT. */
int dma_table_unmap(struct dma_table *table, uint64_t addr, uint64_t size);
void dma_table_clear(struct dma_table *table);

/* Return 0, or EFAULT if a byte is not mapped for that access; earlier bytes may have been
 * copied. */
int dma_table_read(const struct dma_table *table, uint64_t addr, void *buf, uint64_t len);
int dma_table_write(const struct dma_table *table, uint64_t addr, const void *buf, uint64_t len);

/* The device core's bus; its cookie is a struct dma_table. */
extern const struct hca_bus_ops dma_bus_ops;

#endif
