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
	uint64_t miss; /* address that a frame goes to if no entry hits */
};

struct dr_htable {
	const struct dr_chain_end *end;
	const struct dr_step *step;
	struct dr_entry *above; /* the entry that leads here; NULL: an anchor does */
	uint32_t place;
	uint8_t log;
	uint32_t entries,
		collisions; /* entries in all, and those that are not first in their slot */
	uint32_t scarce;    /* with fewer entries it does not grow: it found no memory */
	struct dr_entry **slots;
	/* the slot of a table of one, which needs no further allocation */
	struct dr_entry *only;
};

struct dr_htable *mlx5_dr_htable_new(const struct dr_chain_end *end, const struct dr_step *step,
				     struct dr_entry *above);
/* Frees the table, which frames may have met, and its memory. It has no entries. */
void mlx5_dr_htable_delete(struct dr_htable *table);
/* Frees the shadow only: frames may meet the table for ever. */
void mlx5_dr_htable_leave(struct dr_htable *table);

int mlx5_dr_htable_write(struct dr_htable *table);
struct dr_target mlx5_dr_htable_target(const struct dr_htable *table);

struct dr_entry *mlx5_dr_htable_find(const struct dr_htable *table, const uint8_t *tag);
/* Adds ENTRY, whose control and tag are set but for its miss address, and writes it. Returns 0 or
 * an errno; then the table is as before. */
int mlx5_dr_htable_add(struct dr_htable *table, struct dr_entry *entry);
/* Takes ENTRY out, so that no frame finds it, and frees its place. */
int mlx5_dr_htable_remove(struct dr_htable *table, struct dr_entry *entry);

/* Returns whether the table should grow before the next entry. */
bool mlx5_dr_htable_is_crowded(const struct dr_htable *table);
/* The entries that frames meet until the caller leads them to the larger table. */
struct dr_old_htable {
	uint32_t place;
	uint8_t log;
	struct dr_places collisions;
};
/* Makes the table larger, and writes it. mlx5_dr_htable_grown() frees OLD. Returns 0 or an errno:
 * without memory, the table is as before, but is not crowded until it has twice as many entries;
 * after a failed write, the lane writes no more. */
int mlx5_dr_htable_grow(struct dr_htable *table, struct dr_old_htable *old);
void mlx5_dr_htable_grown(struct dr_htable *table, struct dr_old_htable *old);

int mlx5_dr_entry_write(struct dr_lane *lane, const struct dr_entry *entry,
			const struct dr_step *step);

#endif
