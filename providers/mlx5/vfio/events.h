/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.h - the library's own event queue: requests for pages, and changes of ports.
 */
#ifndef PROVIDERS_MLX5_VFIO_EVENTS_H
#define PROVIDERS_MLX5_VFIO_EVENTS_H

#include "providers/mlx5/vfio/eq.h"
#include "providers/mlx5/vfio/pages.h"

struct vfio_events {
	struct vfio_cmdq *cmdq;
	struct vfio_pages *pages;
	pthread_mutex_t lock;
	struct vfio_ring ring;
	uint32_t uar, eqn;
	int fd; /* of vector 0 */
};

/* Gets a UAR and creates the queue, armed. */
int mlx5_vfio_events_start(struct vfio_events *events, struct vfio_cmdq *cmdq,
			   struct vfio_pages *pages, uint64_t bar_size, int fd);
/* Destroys both. The ring stays allocated until mlx5_vfio_events_free(), as the adapter may write
 * there until its reset. */
void mlx5_vfio_events_stop(struct vfio_events *events);
void mlx5_vfio_events_free(struct vfio_events *events);
/* Handles what is in the queue now, at most one round of it. Returns the first error. */
int mlx5_vfio_events_process(struct vfio_events *events);

/* Allocates a page of doorbells that lies in the BAR. */
int mlx5_vfio_uar_number_alloc(struct vfio_cmdq *cmdq, uint64_t bar_size, uint32_t *uar);
int mlx5_vfio_uar_number_dealloc(struct vfio_cmdq *cmdq, uint32_t uar);

#endif
