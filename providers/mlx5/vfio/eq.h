/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.h - event queues: rings that the adapter writes and software reads.
 *
 * The owner bit of an entry changes with each round of the ring. It starts as 1, and the adapter
 * writes 0 in the first round. PRM: Event Queue
 */
#ifndef PROVIDERS_MLX5_VFIO_EQ_H
#define PROVIDERS_MLX5_VFIO_EQ_H

#include "providers/mlx5/vfio/cmdq.h"

struct vfio_ring {
	struct vfio_dma dma;
	unsigned int log_size;
	uint32_t ci; /* entries read; free-running */
};

/* Allocates a ring of 2^LOG_SIZE entries, all of them owned by the adapter. */
int mlx5_vfio_ring_alloc(struct vfio_space *space, unsigned int log_size, struct vfio_ring *ring);
bool mlx5_vfio_ring_has_next(const struct vfio_ring *ring);
/* Returns the next entry and advances ci past it. Returns NULL if the adapter has not written
 * it. */
const uint8_t *mlx5_vfio_ring_next(struct vfio_ring *ring);

int mlx5_vfio_eq_create(struct vfio_cmdq *cmdq, const struct vfio_ring *ring, const void *in,
			uint32_t inlen, void *out, uint32_t outlen, bool *is_answered);
int mlx5_vfio_eq_destroy(struct vfio_cmdq *cmdq, uint32_t eqn);

#endif
