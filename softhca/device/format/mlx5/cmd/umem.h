/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.h - places in user memory, as commands on queues and keys name them: number and offset.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_UMEM_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_UMEM_H

#include <stdbool.h>

#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"

/* A place in user memory, decoded, as the fields' layouts differ between commands. */
struct umem_place {
	bool valid; /* else the command lists pages, or has the record's address */
	uint32_t id;
	uint64_t offset;
};

/* Finds and maps the memory of a ring of LEN bytes. Returns 0, ENOENT if there is no such memory,
 * EINVAL or ENOMEM. */
int umem_place_ring(struct hca *hca, const struct umem_place *place, uint64_t len,
		    struct dma_map *map, struct umem **umem);
/* Finds the bus address of an 8-byte doorbell record. If the place is not valid, its offset is the
 * address. Returns as umem_place_ring() does. */
int umem_place_record(struct hca *hca, const struct umem_place *place, uint64_t *addr,
		      struct umem **umem);

#endif
