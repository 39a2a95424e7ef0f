/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * list.c - lists of header changes. See list.h.
 *
 * A list begins at a unit of eight actions, and so does a place in dr_memory.
 */
#include "providers/mlx5/dv/dr/list.h"

#include <assert.h>
#include <errno.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/dr/caps.h"
#include "util/alloc.h"
#include "util/log.h"

enum {
	POOL_LOG = 9, /* 32 KiB, the size of a pool in release 65.0 */
	UNIT_ACTIONS = PRM_STE_LIST_UNIT / DR_LIST_ACTION_SIZE,
};
static_assert((int)PRM_STE_LIST_UNIT == (int)PRM_STE_SIZE, "memory.h counts in entries");
static_assert((int)DR_LIST_ACTION_SIZE == (int)PRM_STE_LIST_ACTION, "PRM: STE, list");

static int lists_begin(struct dr_lists *lists, struct ibv_context *context, struct ibv_pd *pd)
{
	int ret = mlx5_dr_caps_query_lists(context, &lists->start, &lists->is_wide);

	if (ret)
		return ret;
	mlx5_dr_memory_init(&lists->memory, context, pd, MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM,
			    POOL_LOG);
	ret = mlx5_dr_ring_open(&lists->ring, &lists->memory);
	if (ret)
		mlx5_dr_memory_destroy(&lists->memory);
	return ret;
}

int mlx5_dr_lists_open(struct ibv_context *context, struct ibv_pd *pd, struct dr_lists **out)
{
	struct dr_lists *lists = calloc_for("mlx5dv_dr_action_create", 1, sizeof(*lists));
	int ret = lists ? lists_begin(lists, context, pd) : ENOMEM;

	if (!ret)
		*out = lists;
	else
		free(lists);
	return ret;
}

void mlx5_dr_lists_close(struct dr_lists *lists)
{
	mlx5_dr_ring_close(&lists->ring);
	dr_places_free(&lists->freed);
	mlx5_dr_memory_destroy(&lists->memory);
	free(lists);
}

static uint8_t log_of_units(unsigned int count)
{
	uint8_t log = 0;

	while ((unsigned int)UNIT_ACTIONS << log < count)
		log++;
	return log;
}

/* Writes the list in whole units, and waits for the writes. The adapter executes only list->count
 * actions, so it ignores the rest of the last unit. */
static int list_write(struct dr_lists *lists, const uint8_t *actions, const struct dr_list *list)
{
	const size_t size = (size_t)list->count * DR_LIST_ACTION_SIZE;
	int ret = 0;

	for (size_t at = 0; !ret && at < size; at += PRM_STE_LIST_UNIT) {
		uint8_t unit[PRM_STE_LIST_UNIT] = { 0 };

		memcpy(unit, actions + at, size - at < sizeof(unit) ? size - at : sizeof(unit));
		ret = mlx5_dr_ring_write(&lists->ring,
					 list->place + (uint32_t)(at / PRM_STE_LIST_UNIT), unit);
	}
	return ret ? ret : mlx5_dr_ring_drain(&lists->ring);
}

/* Allocates memory for the list and computes its number. Fails if the number exceeds the 16 bits
 * that an entry's action has for it. */
static int list_place(struct dr_lists *lists, struct dr_list *list)
{
	uint64_t number;
	int ret = mlx5_dr_memory_alloc(&lists->memory, list->log, &list->place);

	if (ret)
		return ret;
	number = (dr_place_address(&lists->memory, list->place) - lists->start) / PRM_STE_LIST_UNIT;
	list->number = (uint32_t)number;
	if (number <= FLD_MASK(STE_LIST_POINTER))
		return 0;
	verbs_warn("direct rules: a list of header changes is at %#llx, too far from the start of "
		   "the memory for lists",
		   (unsigned long long)number);
	mlx5_dr_memory_free(&lists->memory, list->log, list->place);
	return ENOMEM;
}

int mlx5_dr_list_create(struct dr_lists *lists, const uint8_t *actions, unsigned int count,
			struct dr_list *out)
{
	struct dr_list list = { .count = (uint8_t)count,
				.log = log_of_units(count),
				.is_wide = lists->is_wide };
	int ret = list_place(lists, &list);

	if (ret)
		return ret;
	ret = list_write(lists, actions, &list);
	if (ret)
		mlx5_dr_memory_free(&lists->memory, list.log, list.place);
	else
		*out = list;
	return ret;
}

void mlx5_dr_list_destroy(struct dr_lists *lists, const struct dr_list *list)
{
	dr_places_push(&lists->freed, list->place, list->log);
}

uint32_t mlx5_dr_list_word(const struct dr_list *list)
{
	uint8_t word[sizeof(uint32_t)] = { 0 };

	fld_set(word, STE_ACTION_ID, PRM_STE_ACTION_LIST);
	fld_set(word, STE_LIST_COUNT, list->count);
	fld_set(word, STE_LIST_POINTER, list->number);
	return (uint32_t)fld_get(word, FLD(0x0, 31, 0));
}
