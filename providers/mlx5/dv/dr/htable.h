/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * htable.h - a hash table of entries in the adapter's memory, and its shadow: the entries of one
 * step of a matcher behind one entry of the step before.
 *
 * An entry in a slot's chain leads to the next one by its miss address, the last one to the end of
 * the matcher. README.md has a drawing. The caller has the lock of the matcher's lane.
 */
#ifndef PROVIDERS_MLX5_DV_DR_HTABLE_H
#define PROVIDERS_MLX5_DV_DR_HTABLE_H

#include "providers/mlx5/dv/dr/lane.h"
#include "providers/mlx5/dv/dr/match.h"

enum { DR_HTABLE_LOG_MAX = 18, DR_HTABLE_GROWTH = 2 };

struct dr_chain_end {
	struct dr_lane *lane;
	uint16_t gvmi;
	uint64_t miss; /* address to which a frame goes if no entry hits */
};

struct dr_htable {
	const struct dr_chain_end *end;
	const struct dr_step *step;
	struct dr_entry *above; /* entry that leads to this table; NULL: an anchor does */
	uint32_t place;
	uint8_t log;
	uint32_t entries,
		collisions; /* entries in all, and those that are not first in their slot */
	uint32_t scarce;    /* does not grow with fewer entries, after a lack of memory */
	struct dr_entry **slots;
	/* slots of a table with one slot, which needs no further allocation */
	struct dr_entry *only;
};

struct dr_htable *mlx5_dr_htable_new(const struct dr_chain_end *end, const struct dr_step *step,
				     struct dr_entry *above);
/* Frees the table, and its place after the next SYNC_STEERING, because frames may have reached it.
 * The caller frees the entries. */
void mlx5_dr_htable_delete(struct dr_htable *table);
/* Frees the host's memory of the table only. Its place stays allocated, because frames may reach it
 * until the domain is destroyed. */
void mlx5_dr_htable_leave(struct dr_htable *table);

/* Composes an entry of TABLE that no frame hits. */
void mlx5_dr_htable_compose_empty(const struct dr_htable *table, uint8_t bytes[PRM_STE_SIZE]);
int mlx5_dr_htable_write(struct dr_htable *table);
struct dr_target mlx5_dr_htable_target(const struct dr_htable *table);

struct dr_entry *mlx5_dr_htable_find(const struct dr_htable *table, const uint8_t *tag);
/* Adds ENTRY and writes it to the adapter's memory. The caller has set its tag, and its control
 * part except for the miss address. Returns 0, or an errno with the table unchanged. */
int mlx5_dr_htable_add(struct dr_htable *table, struct dr_entry *entry);
/* Removes ENTRY, so that no frame finds it, and frees its place unless that is a slot. Returns 0 or
 * an errno. */
int mlx5_dr_htable_remove(struct dr_htable *table, struct dr_entry *entry);

/* Returns whether the table should grow before the next entry. */
bool mlx5_dr_htable_is_crowded(const struct dr_htable *table);
/* Places of a table before it grew. Frames reach them until the caller leads frames to the larger
 * table. */
struct dr_old_htable {
	uint32_t place;
	uint8_t log;
	struct dr_places collisions;
};
/* Replaces the table by a larger one, and writes it. The caller leads frames to it, and then
 * mlx5_dr_htable_grown() frees OLD. Returns 0 or an errno: without memory, the table is unchanged,
 * and is not crowded until it has twice as many entries; after a failed write, the lane writes no
 * more. */
int mlx5_dr_htable_grow(struct dr_htable *table, struct dr_old_htable *old);
void mlx5_dr_htable_grown(struct dr_htable *table, struct dr_old_htable *old);

int mlx5_dr_entry_write(struct dr_lane *lane, const struct dr_entry *entry,
			const struct dr_step *step);

#endif
