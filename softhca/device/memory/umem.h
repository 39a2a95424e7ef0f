/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.h - user memory (UMEM): registered memory of a program, as an object that holds the
 * program's own queues, doorbell records and memory keys (DEVX).
 */
#ifndef SOFTHCA_DEVICE_MEMORY_UMEM_H
#define SOFTHCA_DEVICE_MEMORY_UMEM_H

#include <stdint.h>

#include "softhca/device/memory/dma.h"

struct hca;

enum { UMEM_LOG_MAX = 20 };

struct umem {
	uint32_t n;
	/* number of queues, records and keys in this memory; the UMEM cannot be destroyed before
	 * them */
	uint32_t users;
	unsigned int page_shift;
	uint32_t page_offset; /* offset of the first byte in its page */
	struct dma_map map;
};

/* The UMEMs of a queue that its program placed itself; NULL for a queue whose pages the driver
 * listed. */
struct queue_umems {
	struct umem *ring, *record;
};

/* Adds UMEM, whose map and page fields are set. Returns 0, ENOSPC or ENOMEM. */
int umem_add(struct hca *hca, struct umem *umem);
void umem_remove(struct hca *hca, struct umem *umem);
void umem_free(struct umem *umem);

/* Maps LEN bytes of UMEM at OFFSET. Returns 0, EINVAL if UMEM ends earlier, or ENOMEM. */
int umem_map(const struct umem *umem, uint64_t offset, uint64_t len, struct dma_map *map);

/* Counts a queue in (BY is 1) or out (-1) as a user of its UMEMs. */
void queue_umems_use(const struct queue_umems *umems, int by);

#endif
