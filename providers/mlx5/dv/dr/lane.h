/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lane.h - what a thread needs to change entries: a ring, places for single entries, and shadows of
 * entries. A matcher belongs to one lane, whose lock guards it.
 *
 * Freed places wait in the lane until the adapter has dropped its copies (SYNC_STEERING), many at
 * once. So insertion and deletion take the lane's lock only, and run no system call unless a stock
 * of places is empty. The rule itself and tables of later steps come from malloc().
 */
#ifndef PROVIDERS_MLX5_DV_DR_LANE_H
#define PROVIDERS_MLX5_DV_DR_LANE_H

#include "providers/mlx5/dv/dr/anchors.h"
#include "providers/mlx5/dv/dr/entry.h"
#include "providers/mlx5/dv/dr/memory.h"
#include "providers/mlx5/dv/dr/ring.h"

struct dr_htable;

struct dr_entry {
	struct dr_entry *next;   /* next in a slot's chain, a rule's actions, or dr_lane.unused */
	struct dr_htable *table; /* table that contains the entry; NULL: an entry of actions only */
	struct dr_htable *below;
	uint32_t place;
	uint32_t users;
	uint8_t control[DR_CONTROL_SIZE];
	uint8_t tag[PRM_STE_TAG_SIZE];
};

struct dr_slab {
	struct dr_slab *next;
	struct dr_entry entries[63];
};

struct dr_lane {
	pthread_mutex_t lock;
	struct dr_memory *memory;
	struct dr_anchors *anchors; /* of the domain */
	struct dr_ring ring;
	struct dr_places singles;
	struct dr_places freed; /* freed places, of which the adapter may have copies */
	size_t freed_entries;
	struct dr_entry *unused;
	struct dr_slab *slabs;
};

int mlx5_dr_lane_open(struct dr_lane *lane, struct dr_memory *memory, struct dr_anchors *anchors);
void mlx5_dr_lane_close(struct dr_lane *lane);

/* Runs SYNC_STEERING: the adapter drops its copies of entries. Needs no lock. Returns 0 or an
 * errno. */
int mlx5_dr_steering_sync(struct ibv_context *context);

struct dr_entry *mlx5_dr_lane_entry(struct dr_lane *lane);
void mlx5_dr_lane_give_entry(struct dr_lane *lane, struct dr_entry *entry);

int mlx5_dr_lane_alloc(struct dr_lane *lane, unsigned int log, uint32_t *place);
/* Returns the place of one entry to LANE for reuse at once. No frame may have reached the entry. */
void mlx5_dr_lane_give_place(struct dr_lane *lane, uint32_t place);
/* Frees the 1 << LOG entries at PLACE, which frames may have reached. The block is reused after the
 * next SYNC_STEERING. */
void mlx5_dr_lane_free(struct dr_lane *lane, unsigned int log, uint32_t place);
/* Waits for the writes of the lane and of anchors, and runs SYNC_STEERING, so that freed places can
 * be reused. Returns 0 or an errno. */
int mlx5_dr_lane_sync(struct dr_lane *lane);

/* The same in parts, for a SYNC_STEERING that several lanes share. */
/* Waits for the lane's writes, and moves its freed places to FREED, which is empty. Returns 0 or an
 * errno. Takes the lane's lock, as the next two do. */
int mlx5_dr_lane_take_freed(struct dr_lane *lane, struct dr_places *freed);
/* Makes FREED places of the lane usable, after a SYNC_STEERING. */
void mlx5_dr_lane_release(struct dr_lane *lane, struct dr_places *freed);
/* Puts FREED places back, to wait for the next SYNC_STEERING. */
void mlx5_dr_lane_return(struct dr_lane *lane, struct dr_places *freed);

/* Gives the lane's unused and freed places back to lane->memory, for other lanes. Returns whether
 * there were any. */
bool mlx5_dr_lane_reclaim(struct dr_lane *lane);

#endif
