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
	int fd;         /* eventfd of vector 0 */
	int request_fd; /* see struct vfio_vectors */
	int shown_fd;   /* the program's descriptor: both eventfds, by epoll */
};

/* Allocates a UAR, creates the event queue and arms it. */
int mlx5_vfio_events_start(struct vfio_events *events, struct vfio_cmdq *cmdq,
			   struct vfio_pages *pages, uint64_t bar_size, int fd, int request_fd);
/* Destroys the event queue and the UAR. The ring stays allocated until mlx5_vfio_events_free(),
 * because the adapter may write to it until its reset. */
void mlx5_vfio_events_stop(struct vfio_events *events);
void mlx5_vfio_events_free(struct vfio_events *events);
/* Handles the events in the queue, at most as many as the ring has entries, and then checks the
 * adapter's health, and whether the host wants it back. Returns EIO of a lost adapter, or else the
 * first error. */
int mlx5_vfio_events_process(struct vfio_events *events);

/* Allocates a UAR and sets *UAR to its number. Returns EIO if the UAR lies outside the BAR. */
int mlx5_vfio_uar_number_alloc(struct vfio_cmdq *cmdq, uint64_t bar_size, uint32_t *uar);
int mlx5_vfio_uar_number_dealloc(struct vfio_cmdq *cmdq, uint32_t uar);

#endif
