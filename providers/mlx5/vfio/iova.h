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
	struct iova_hole *holes; /* sorted by address; holes neither overlap nor touch each other */
};

/* Adds a range to the holes: at the start, or when the range is no longer in use. No hole may
 * contain a part of it. Returns 0 or ENOMEM. */
int mlx5_vfio_iova_give(struct vfio_iova *iova, uint64_t first, uint64_t last);
/* Takes SIZE bytes out of a hole. Sets *FIRST to their address, a multiple of ALIGN, which is a
 * power of two. Returns 0, ENOMEM or ENOSPC. */
int mlx5_vfio_iova_take(struct vfio_iova *iova, uint64_t size, uint64_t align, uint64_t *first);
void mlx5_vfio_iova_clear(struct vfio_iova *iova);

/* Layout of memory for the adapter: COUNT pages of 2^LOG_PAGE bytes. The memory may start inside
 * the first page and end inside the last one. Addresses are those that the adapter's object (a
 * memory key, for instance) gives to the memory. */
struct vfio_shape {
	uint64_t base;          /* address of the first page */
	uint64_t start, length; /* the memory, extended to whole units of mapping */
	unsigned int log_page;
	uint32_t count;
};

enum { VFIO_LOG_PAGE = 12, VFIO_MAX_PAGES = 256, VFIO_MAX_LOG_PAGE = 31 };

/* Chooses the smallest page size with which VFIO_MAX_PAGES pages suffice, at least one unit of
 * mapping (2^LOG_UNIT bytes). Returns EINVAL for a range that is empty, wraps around or is too
 * long. */
int mlx5_vfio_shape_find(uint64_t addr, uint64_t length, unsigned int log_unit,
			 struct vfio_shape *shape);

#endif
