/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lane.c - stocks of a lane. See lane.h.
 */
#include "providers/mlx5/dv/dr/lane.h"

#include "prm/mlx5/cmd.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "util/alloc.h"
#include "util/mutex.h"

enum {
	/* log2 of the places taken from dr_memory at once, because each call takes its lock */
	SINGLES_LOG = 6,
	/* freed entries that start a SYNC_STEERING, because each one costs a system call */
	FREED_ENTRIES = 1 << 16,
	SYNC_STEERING_IN_SIZE = 32,
};

int mlx5_dr_lane_open(struct dr_lane *lane, struct dr_memory *memory, struct dr_anchors *anchors)
{
	int ret;

	memset(lane, 0, sizeof(*lane));
	lane->memory = memory;
	lane->anchors = anchors;
	ret = mlx5_dr_ring_open(&lane->ring, memory);
	if (!ret)
		pthread_mutex_init(&lane->lock, NULL);
	return ret;
}

void mlx5_dr_lane_close(struct dr_lane *lane)
{
	mlx5_dr_ring_close(&lane->ring);
	dr_places_free(&lane->singles);
	dr_places_free(&lane->freed);
	for (struct dr_slab *slab = lane->slabs, *next; slab; slab = next) {
		next = slab->next;
		free(slab);
	}
	pthread_mutex_destroy(&lane->lock);
}

static void slab_add(struct dr_lane *lane)
{
	struct dr_slab *slab = malloc_for("mlx5dv_dr_rule_create", sizeof(*slab));

	if (!slab)
		return;
	slab->next = lane->slabs;
	lane->slabs = slab;
	for (size_t i = 0; i < sizeof(slab->entries) / sizeof(slab->entries[0]); i++)
		mlx5_dr_lane_give_entry(lane, &slab->entries[i]);
}

struct dr_entry *mlx5_dr_lane_entry(struct dr_lane *lane)
{
	struct dr_entry *entry;

	if (!lane->unused)
		slab_add(lane);
	entry = lane->unused;
	if (!entry)
		return NULL;
	lane->unused = entry->next;
	entry->next = NULL;
	entry->table = entry->below = NULL;
	entry->users = 0;
	return entry;
}

void mlx5_dr_lane_give_entry(struct dr_lane *lane, struct dr_entry *entry)
{
	entry->next = lane->unused;
	lane->unused = entry;
}

static int block_add(struct dr_lane *lane)
{
	uint32_t place, count = 1u << SINGLES_LOG;
	int ret = mlx5_dr_memory_alloc(lane->memory, SINGLES_LOG, &place);

	if (ret) {
		count = 1;
		ret = mlx5_dr_memory_alloc(lane->memory, 0, &place);
	}
	if (ret)
		return ret;
	for (uint32_t i = count; i-- > 0;)
		dr_places_push(&lane->singles, place + i, 0); /* has room */
	return 0;
}

/* Refills the stock with freed places first, because a new block may need a new pool of device
 * memory. */
static int singles_add(struct dr_lane *lane)
{
	const size_t count = (size_t)1 << SINGLES_LOG;

	if (!dr_places_reserve(&lane->singles, count))
		return ENOMEM;
	mlx5_dr_memory_take_singles(lane->memory, count, &lane->singles);
	return lane->singles.count ? 0 : block_add(lane);
}

int mlx5_dr_lane_alloc(struct dr_lane *lane, unsigned int log, uint32_t *place)
{
	struct dr_block block = { 0, 0 };
	int ret = 0;

	if (log)
		return mlx5_dr_memory_alloc(lane->memory, log, place);
	if (!lane->singles.count)
		ret = singles_add(lane);
	if (ret || !dr_places_pop(&lane->singles, &block))
		return ret ? ret : ENOMEM;
	*place = block.place;
	return 0;
}

void mlx5_dr_lane_give_place(struct dr_lane *lane, uint32_t place)
{
	dr_places_push(&lane->singles, place, 0);
}

void mlx5_dr_lane_free(struct dr_lane *lane, unsigned int log, uint32_t place)
{
	dr_places_push(&lane->freed, place, log);
	lane->freed_entries += (size_t)1 << log;
	if (lane->freed_entries >= FREED_ENTRIES)
		mlx5_dr_lane_sync(lane);
}

int mlx5_dr_steering_sync(struct ibv_context *context)
{
	uint8_t in[SYNC_STEERING_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SYNC_STEERING);
	return mlx5_devx_run(to_mctx(context), in, sizeof(in), out, sizeof(out));
}

static void places_release(struct dr_lane *lane, struct dr_places *freed)
{
	struct dr_block block;

	while (dr_places_pop(freed, &block))
		if (block.log)
			mlx5_dr_memory_free(lane->memory, block.log, block.place);
		else
			dr_places_push(&lane->singles, block.place, 0);
}

int mlx5_dr_lane_sync(struct dr_lane *lane)
{
	int ret = mlx5_dr_ring_drain(&lane->ring);

	if (!ret)
		ret = dr_anchors_drain(lane->anchors);
	if (!ret)
		ret = mlx5_dr_steering_sync(lane->memory->context);
	if (ret)
		return ret;
	places_release(lane, &lane->freed);
	lane->freed_entries = 0;
	return 0;
}

int mlx5_dr_lane_take_freed(struct dr_lane *lane, struct dr_places *freed)
{
	const bool taken = mutex_enter(&lane->lock);
	int ret = mlx5_dr_ring_drain(&lane->ring);

	if (!ret && lane->freed.count) {
		*freed = lane->freed;
		lane->freed = (struct dr_places){ NULL, 0, 0 };
		lane->freed_entries = 0;
	}
	mutex_leave(&lane->lock, taken);
	return ret;
}

void mlx5_dr_lane_release(struct dr_lane *lane, struct dr_places *freed)
{
	if (!freed->count)
		return;
	pthread_mutex_lock(&lane->lock);
	places_release(lane, freed);
	pthread_mutex_unlock(&lane->lock);
}

void mlx5_dr_lane_return(struct dr_lane *lane, struct dr_places *freed)
{
	pthread_mutex_lock(&lane->lock);
	for (size_t i = 0; i < freed->count; i++)
		lane->freed_entries += (size_t)1 << freed->blocks[i].log;
	dr_places_move(&lane->freed, freed);
	pthread_mutex_unlock(&lane->lock);
}

bool mlx5_dr_lane_reclaim(struct dr_lane *lane)
{
	struct dr_block block;
	bool any = lane->freed_entries;

	if (any && mlx5_dr_lane_sync(lane))
		return false;
	any |= lane->singles.count > 0;
	while (dr_places_pop(&lane->singles, &block))
		mlx5_dr_memory_free(lane->memory, 0, block.place);
	return any;
}
