/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.h - memory as the client has mapped it for the device: a guest's, or a program's.
 */
#ifndef SOFTHCA_FRONT_PCI_DMA_H
#define SOFTHCA_FRONT_PCI_DMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"

/* Operations on memory that softhca copies instead of mapping, such as a process's memory. */
struct dma_remote_ops {
	/* Copies LEN bytes between BUF and remote address ADDR; WRITE: to ADDR. Returns 0 or a
	 * positive errno. */
	int (*copy)(void *remote, uint64_t addr, void *buf, uint64_t len, bool write);
	void (*drop)(void *remote); /* the region is gone */
};

struct dma_region {
	uint64_t addr, size; /* guest-physical address, or the IOVA that a VFIO program chose */
	/* Mapping of the memory in this process. NULL: OPS copies the memory; or the client sent no
	 * file, and each access fails, as the loop may not wait for an answer of the client. */
	uint8_t *memory;
	const struct dma_remote_ops *ops; /* NULL: not remote */
	void *remote;
	uint64_t remote_addr;
	bool readable, writable;
};

enum { DMA_MAX_REGIONS = 65535 };

struct dma_table {
	/* regions, which do not overlap, by rising address: range_find() does a binary search */
	struct dma_region *region;
	unsigned int count, room;
	/* the driver has enabled bus mastering; else all accesses fail, as on a real bus */
	bool enabled;
	pthread_mutex_t lock; /* guards the regions, as the device reads in any thread */
};

/*
 * Maps SIZE bytes of FD from OFFSET on at guest address ADDR, for access as PROT (PROT_READ,
 * PROT_WRITE). The caller still owns FD. FD -1: the region exists, and each access fails. Regions
 * with a file must consist of whole pages within the file. Returns 0, EINVAL, EEXIST on overlap,
 * ENOSPC, or mmap()'s errno.
 */
int dma_table_map(struct dma_table *table, uint64_t addr, uint64_t size, int prot, int fd,
		  uint64_t offset);
/* Adds a region whose memory, at REMOTE_ADDR of REMOTE, OPS copies. Returns 0, EINVAL, EEXIST on
 * overlap, ENOSPC or ENOMEM. */
int dma_table_map_remote(struct dma_table *table, uint64_t addr, uint64_t size, int prot,
			 const struct dma_remote_ops *ops, void *remote, uint64_t remote_addr);
/* Unmaps all regions within a range, and adds their sizes up. Returns EINVAL, and unmaps none, if
 * one lies across an end of the range. */
int dma_table_unmap_range(struct dma_table *table, uint64_t addr, uint64_t size,
			  uint64_t *unmapped);
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
