/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring.h - writes table entries into the adapter's memory, by RDMA WRITEs of an RC QP that is
 * connected to itself.
 *
 * The adapter executes the writes of a ring in order. Each is followed by a READ of the same
 * entries, so that the entry a write leads to is in the memory before the write. The caller locks.
 */
#ifndef PROVIDERS_MLX5_DV_DR_RING_H
#define PROVIDERS_MLX5_DV_DR_RING_H

#include <infiniband/verbs.h>

#include "providers/common/memory/hwbuf.h"
#include "providers/mlx5/dv/dr/memory.h"

enum {
	DR_RING_WRITES = 64,  /* most writes in flight */
	DR_RING_STAGED = 256, /* most entries in a write from the staging buffer */
};

struct dr_ring {
	const struct dr_memory *memory;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct hwbuf buffer;
	uint8_t *staged; /* in buffer: data of long writes, followed by the data of READs */
	unsigned int unsignaled, in_flight;
	int error; /* errno of the first failure; the ring then writes no more; see dr_ring_error */
};

/* Makes the ring write no more. The caller locks; readers without a lock may look meanwhile. */
static inline void dr_ring_set_error(struct dr_ring *ring, int error)
{
	__atomic_store_n(&ring->error, error, __ATOMIC_RELAXED);
}

/* Returns the errno of the ring's first failure, or 0. Needs no lock. */
static inline int dr_ring_error(const struct dr_ring *ring)
{
	return __atomic_load_n(&ring->error, __ATOMIC_RELAXED);
}

int mlx5_dr_ring_open(struct dr_ring *ring, const struct dr_memory *memory);
void mlx5_dr_ring_close(struct dr_ring *ring);

int mlx5_dr_ring_write(struct dr_ring *ring, uint32_t place, const uint8_t entry[PRM_STE_SIZE]);
int mlx5_dr_ring_fill(struct dr_ring *ring, uint32_t place, uint32_t count,
		      void (*fill)(const void *arg, uint32_t i, uint8_t *entry), const void *arg);
int mlx5_dr_ring_drain(struct dr_ring *ring);

#endif
