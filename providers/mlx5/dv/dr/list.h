/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list.h - lists of header changes in the adapter's memory, to which an action of an entry leads.
 * PRM: STE, modify action list
 *
 * A list belongs to one action of the program, and several rules may use it. Freed lists keep their
 * bytes until the adapter has dropped its copies. The caller has the lock of dr_soft.
 */
#ifndef PROVIDERS_MLX5_DV_DR_LIST_H
#define PROVIDERS_MLX5_DV_DR_LIST_H

#include "providers/mlx5/dv/dr/ring.h"

enum { DR_LIST_ACTION_SIZE = 8 };

struct dr_list {
	uint32_t place;
	uint32_t number; /* index of its first unit in the adapter's memory for lists */
	uint8_t log;     /* log2 of the number of units */
	uint8_t count;   /* number of actions; 0: there is no list */
	bool is_wide;    /* its action takes two words in an entry: dr_lists.is_wide */
};

struct dr_lists {
	uint64_t start; /* ICM address at which the adapter's memory for lists begins */
	/* Whether the adapter has memory for patterns. Release 65.0 then takes room for a pattern,
	 * and writes an empty second word. */
	bool is_wide;
	struct dr_memory memory;
	struct dr_ring ring;
	struct dr_places freed; /* of destroyed lists: frames may reach these until a sync */
};

int mlx5_dr_lists_open(struct ibv_context *context, struct ibv_pd *pd, struct dr_lists **lists);
/* Frees LISTS. The caller has run SYNC_STEERING before, so that the adapter has dropped its
 * copies. */
void mlx5_dr_lists_close(struct dr_lists *lists);

/* Writes COUNT actions of DR_LIST_ACTION_SIZE bytes to the adapter's memory, and sets *LIST.
 * Returns 0 or an errno. */
int mlx5_dr_list_create(struct dr_lists *lists, const uint8_t *actions, unsigned int count,
			struct dr_list *list);
/* Marks the list's memory to be freed at the next hardware sync, because frames may still reach
 * it. */
void mlx5_dr_list_destroy(struct dr_lists *lists, const struct dr_list *list);

/* Returns the 4-byte action by which an entry executes the list. */
uint32_t mlx5_dr_list_word(const struct dr_list *list);

#endif
