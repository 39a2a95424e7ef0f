/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.h - user memory: memory of a user's as an object, in which that user's queues, doorbell
 * records and memory keys may lie.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_UMEM_H
#define SOFTHCA_DEVICE_MEMORY_UMEM_H

#include <stdint.h>

#include "softhca/device/memory/dma.h"

struct hca;

enum { UMEM_LOG_MAX = 20 };

struct umem {
	uint32_t n;
	uint32_t users; /* queues, records and keys in it */
	unsigned int page_shift;
	uint32_t page_offset; /* of its first byte, in its first page */
	struct dma_map map;
};

/* The memory that a queue has from its user; NULL where the driver has listed pages. */
struct queue_umems {
	struct umem *ring, *record;
};

/* Adds UMEM, whose map and page are filled in. The result is 0, ENOSPC or ENOMEM. */
int umem_add(struct hca *hca, struct umem *umem);
void umem_remove(struct hca *hca, struct umem *umem);
void umem_free(struct umem *umem);
void umem_free_all(struct hca *hca);

/* Maps LEN bytes from OFFSET of UMEM. It returns 0, EINVAL beyond its end, or when OFFSET is not
 * where a page begins, or ENOMEM. */
int umem_map(const struct umem *umem, uint64_t offset, uint64_t len, struct dma_map *map);

/* BY is 1 for a new queue, -1 for one that goes. */
void queue_umems_use(const struct queue_umems *umems, int by);

#endif
