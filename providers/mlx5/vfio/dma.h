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
	unsigned int log_unit; /* log2 of the unit of mappings, the IOMMU's smallest page */
	pthread_mutex_t lock;  /* guards iova and kept */
	struct vfio_iova iova;
	bool is_lost;           /* atomic: set by vfio_space_lose() */
	struct vfio_kept *kept; /* mappings that were freed after that */
};

/* Asks the kernel which addresses the IOMMU of CONTAINER can translate. */
int mlx5_vfio_space_init(struct vfio_space *space, int container);
/* Frees the space and all kept memory. The device must have been reset, or must never have been
 * given an address of this space, so that it no longer accesses the memory. */
void mlx5_vfio_space_destroy(struct vfio_space *space);

/* Marks the space as lost: the device does not answer, and may access mapped memory until its
 * reset. From now on no memory is mapped, and freed memory of mlx5_vfio_dma_alloc() is kept until
 * the space is destroyed. */
static inline void vfio_space_lose(struct vfio_space *space)
{
	__atomic_store_n(&space->is_lost, true, __ATOMIC_RELEASE);
}

/* Maps memory for an object of the adapter, in which the memory starts at address AS. Returns
 * EINVAL if AS and ADDR have different offsets in a unit of mapping, and EIO if the space is
 * lost. */
int mlx5_vfio_dma_map(struct vfio_space *space, const void *addr, uint64_t as, uint64_t length,
		      bool writable, struct vfio_dma *dma);
/* Allocates zeroed memory and maps it for the device. The memory starts at the start of a page. */
int mlx5_vfio_dma_alloc(struct vfio_space *space, uint64_t length, struct vfio_dma *dma);
/* Unmaps memory, and frees it if mlx5_vfio_dma_alloc() allocated it. In a lost space, memory of the
 * program is unmapped as well, so that the device no longer writes there. Does nothing if *DMA is
 * zeroed. */
void mlx5_vfio_dma_free(struct vfio_space *space, struct vfio_dma *dma);
/* Writes the device's addresses of the pages to the array PAS, in big-endian order. */
void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas);

/* Returns the device's address of the first unit of the mapping. */
static inline uint64_t vfio_dma_start(const struct vfio_dma *dma)
{
	return dma->iova + (dma->shape.start - dma->shape.base);
}

/* Returns the offset of ADDR in its unit of mapping. */
static inline uint64_t vfio_in_unit(const struct vfio_space *space, uint64_t addr)
{
	return addr & ((UINT64_C(1) << space->log_unit) - 1);
}

#endif
