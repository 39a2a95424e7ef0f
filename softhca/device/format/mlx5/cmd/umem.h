/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.h - user memory as commands on queues and keys name it: a number and an offset.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_UMEM_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_UMEM_H

#include <stdbool.h>

#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"

/* Where software says which memory; the layouts of the fields differ between commands. */
struct umem_place {
	bool valid; /* else pages are listed, or the record has an address */
	uint32_t id;
	uint64_t offset;
};

/* Finds the memory of a ring of LEN bytes, and maps it. It returns 0, ENOENT when there is no such
 * memory, EINVAL or ENOMEM. */
int umem_place_ring(struct hca *hca, const struct umem_place *place, uint64_t len,
		    struct dma_map *map, struct umem **umem);
/* Finds the bus address of a doorbell record of 8 bytes, with the same results. For a place that is
 * not valid the offset is the address. */
int umem_place_record(struct hca *hca, const struct umem_place *place, uint64_t *addr,
		      struct umem **umem);

#endif
