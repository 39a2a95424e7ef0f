/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iova.h - hands out addresses of an IOMMU's address space.
 *
 * The space consists of holes: ranges that the IOMMU can translate and that are not in use. The
 * kernel lists them (VFIO_IOMMU_GET_INFO); reserved ranges, as those of interrupt messages, are in
 * no hole. The caller locks.
 */
#ifndef PROVIDERS_MLX5_VFIO_IOVA_H
#define PROVIDERS_MLX5_VFIO_IOVA_H

#include <stddef.h>
#include <stdint.h>

struct iova_hole {
	uint64_t first, last;
	struct iova_hole *next;
};

struct vfio_iova {
	struct iova_hole *holes; /* by rising address; two of them neither overlap nor touch */
};

/* Adds a range, which must be in no hole: at the start, or when a use of it has ended. */
int mlx5_vfio_iova_give(struct vfio_iova *iova, uint64_t first, uint64_t last);
/* Takes SIZE bytes at a multiple of ALIGN, a power of two. Returns 0, ENOMEM or ENOSPC. */
int mlx5_vfio_iova_take(struct vfio_iova *iova, uint64_t size, uint64_t align, uint64_t *first);
void mlx5_vfio_iova_clear(struct vfio_iova *iova);

/* How the adapter sees memory: COUNT pages of 2^LOG_PAGE bytes, of which the first and the last may
 * lie partly outside of the memory. Addresses are those in the object that the memory is for. */
struct vfio_shape {
	uint64_t base;          /* address of the first page */
	uint64_t start, length; /* the memory in whole units of mapping */
	unsigned int log_page;
	uint32_t count;
};

enum { VFIO_LOG_PAGE = 12, VFIO_MAX_PAGES = 256, VFIO_MAX_LOG_PAGE = 31 };

/* Chooses the smallest page size with which few pages suffice. A unit of mapping has 2^LOG_UNIT
 * bytes, and a page no less. Returns 0 or EINVAL. */
int mlx5_vfio_shape_find(uint64_t addr, uint64_t length, unsigned int log_unit,
			 struct vfio_shape *shape);

#endif
