/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anchors.h - the ring that writes anchors: the entries at the start of a table and at the end of
 * each matcher, and the first, empty slot of a matcher.
 *
 * Writes are not waited for. Whoever reuses a place to which an anchor has led, or writes a slot by
 * another ring, drains first. Any thread may call these functions.
 */
#ifndef PROVIDERS_MLX5_DV_DR_ANCHORS_H
#define PROVIDERS_MLX5_DV_DR_ANCHORS_H

#include <pthread.h>

#include "providers/mlx5/dv/dr/ring.h"

struct dr_anchors {
	pthread_mutex_t lock;
	struct dr_ring ring; /* guarded by lock */
};

static inline int dr_anchors_write(struct dr_anchors *anchors, uint32_t place,
				   const uint8_t entry[PRM_STE_SIZE])
{
	int ret;

	pthread_mutex_lock(&anchors->lock);
	ret = mlx5_dr_ring_write(&anchors->ring, place, entry);
	pthread_mutex_unlock(&anchors->lock);
	return ret;
}

/* Waits for all writes. Returns 0, or the errno of a failed one. */
static inline int dr_anchors_drain(struct dr_anchors *anchors)
{
	int ret;

	pthread_mutex_lock(&anchors->lock);
	ret = mlx5_dr_ring_drain(&anchors->ring);
	pthread_mutex_unlock(&anchors->lock);
	return ret;
}

#endif
