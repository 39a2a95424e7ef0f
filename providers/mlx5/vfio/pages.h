/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pages.h - memory that firmware asks for, and gives back.
 */
#ifndef PROVIDERS_MLX5_VFIO_PAGES_H
#define PROVIDERS_MLX5_VFIO_PAGES_H

#include "providers/mlx5/vfio/cmdq.h"

/* Pages of one allocation. The IOMMU maps them as one range, so they are freed together, when the
 * adapter has returned all of them. */
struct page_bunch {
	struct vfio_dma dma;
	uint32_t with_adapter;
	uint64_t given[VFIO_MAX_PAGES / 64]; /* a bit for each page that the adapter has */
	struct page_bunch *next;
};

struct vfio_pages {
	struct vfio_cmdq *cmdq;
	pthread_mutex_t lock;
	struct page_bunch *bunches;
};

void mlx5_vfio_pages_init(struct vfio_pages *pages, struct vfio_cmdq *cmdq);
/* Asks firmware how many pages STEP of the start needs (PRM_PAGES_BOOT or PRM_PAGES_INIT), and
 * gives it that many. */
int mlx5_vfio_pages_give_for(struct vfio_pages *pages, unsigned int step);
/* Gives firmware COUNT pages, or takes -COUNT pages back if COUNT is negative. */
int mlx5_vfio_pages_change(struct vfio_pages *pages, int32_t count);
/* Tells firmware that it gets no pages for FUNCTION, so that it does not wait for them. */
void mlx5_vfio_pages_refuse(struct vfio_pages *pages, uint32_t function);
/* Takes all pages back from the adapter after its teardown. */
int mlx5_vfio_pages_reclaim(struct vfio_pages *pages);
/* Frees all pages. The device must have been closed or reset, so that it no longer accesses
 * them. */
void mlx5_vfio_pages_destroy(struct vfio_pages *pages);

#endif
