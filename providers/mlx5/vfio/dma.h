/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dma.h - the address space of a device: memory of the program, mapped for the device, and memory
 * that the library allocates for it.
 */
#ifndef PROVIDERS_MLX5_VFIO_DMA_H
#define PROVIDERS_MLX5_VFIO_DMA_H

#include <pthread.h>
#include <stdbool.h>

#include "providers/mlx5/vfio/iova.h"

/* A mapping. Page I of its shape is at IOVA + (I << shape.log_page). */
struct vfio_dma {
	struct vfio_shape shape;
	uint64_t iova;
	void *memory; /* allocated by mlx5_vfio_dma_alloc(); else NULL */
};

struct vfio_kept {
	struct vfio_dma dma;
	struct vfio_kept *next;
};

struct vfio_space {
	int container;
	unsigned int log_unit; /* of a mapping: as large as the kernel's pages, at least 4 KiB */
	pthread_mutex_t lock;  /* guards iova */
	struct vfio_iova iova;
	bool is_lost;           /* atomic: what is freed may be in use still */
	struct vfio_kept *kept; /* what was freed since */
};

/* Learns the usable addresses. */
int mlx5_vfio_space_init(struct vfio_space *space, int container);
/* The device must be reset, or never had an address. */
void mlx5_vfio_space_destroy(struct vfio_space *space);

/* The device does not answer, and may use what it was told of until it is reset: from now on no
 * memory is mapped, and what is freed is kept until the space is destroyed. */
static inline void vfio_space_lose(struct vfio_space *space)
{
	__atomic_store_n(&space->is_lost, true, __ATOMIC_RELAXED);
}

/* Maps memory for an object of the adapter, in which the first byte has the address AS. It differs
 * from ADDR by whole units; else the answer is EINVAL. EIO: the device is lost. */
int mlx5_vfio_dma_map(struct vfio_space *space, const void *addr, uint64_t as, uint64_t length,
		      bool writable, struct vfio_dma *dma);
/* Allocates zeroed memory for the device, which starts where its first page does. */
int mlx5_vfio_dma_alloc(struct vfio_space *space, uint64_t length, struct vfio_dma *dma);
/* Undoes either. Does nothing to a mapping of zeros. */
void mlx5_vfio_dma_free(struct vfio_space *space, struct vfio_dma *dma);
/* Writes the addresses of the pages to PAS, big-endian. */
void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas);

/* Returns the device's address of the first unit. */
static inline uint64_t vfio_dma_start(const struct vfio_dma *dma)
{
	return dma->iova + (dma->shape.start - dma->shape.base);
}

/* Returns where an address lies in its unit of mapping. */
static inline uint64_t vfio_in_unit(const struct vfio_space *space, uint64_t addr)
{
	return addr & ((UINT64_C(1) << space->log_unit) - 1);
}

#endif
