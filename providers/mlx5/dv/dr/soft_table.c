/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_table.c - tables below the root. See soft_table.h.
 *
 * An entry at the start, and one at the end of each matcher, lead all frames to the next matcher,
 * or past the last one. One ring writes them, so lanes drain theirs before frames are led to what
 * they wrote.
 */
#include "providers/mlx5/dv/dr/soft_table.h"

#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/dr/soft_matcher.h"
#include "util/alloc.h"

/* Writes an anchor that leads all frames to TARGET, or past the last matcher if TARGET is NULL. */
static int anchor_write(struct dr_soft *soft, uint32_t place, const struct dr_target *target)
{
	uint8_t entry[PRM_STE_SIZE];

	mlx5_dr_entry_begin(entry, PRM_STE_NOTHING, soft->caps.gvmi);
	if (target) {
		mlx5_dr_entry_set_hit(entry, target);
		mlx5_dr_entry_always_hit(entry);
	} else {
		mlx5_dr_entry_set_miss(entry, soft->miss);
		mlx5_dr_entry_always_miss(entry);
	}
	return dr_anchors_write(&soft->anchors, place, entry);
}

static int run_create(struct dr_soft_table *table, enum prm_flow_table_type type)
{
	uint8_t in[FLD_BYTE(CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT) +
		   PRM_FLOW_TABLE_CONTEXT_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 };
	uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_FLOW_TABLE);
	fld_set(in, CREATE_FLOW_TABLE_IN_TABLE_TYPE, type);
	fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER, 1);
	fld_set(context, FLOW_TABLE_CONTEXT_LEVEL, table->soft->level);
	fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0, mlx5_dr_soft_table_address(table));
	table->obj = mlx5dv_devx_obj_create(table->soft->context, in, sizeof(in), out, sizeof(out));
	if (!table->obj)
		return errno;
	table->number = (uint32_t)fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
	return 0;
}

static int table_make(struct dr_soft_table *table, enum prm_flow_table_type type)
{
	struct dr_memory *memory = &table->soft->memory;
	int ret = mlx5_dr_memory_alloc(memory, 0, &table->start);

	if (ret == ENOMEM && mlx5_dr_soft_reclaim(table->soft))
		ret = mlx5_dr_memory_alloc(memory, 0, &table->start);
	if (ret)
		return ret;
	ret = anchor_write(table->soft, table->start, NULL);
	if (!ret)
		ret = dr_anchors_drain(&table->soft->anchors);
	if (ret) /* the adapter may still write the place, so nobody else gets it */
		return ret;
	ret = run_create(table, type);
	if (ret)
		mlx5_dr_memory_free(memory, 0, table->start);
	return ret;
}

int mlx5_dr_soft_table_create(const char *call, struct dr_soft *soft, enum prm_flow_table_type type,
			      struct dr_soft_table **out)
{
	struct dr_soft_table *table = calloc_for(call, 1, sizeof(*table));
	int ret;

	if (!table)
		return ENOMEM;
	table->soft = soft;
	TAILQ_INIT(&table->matchers);
	ret = table_make(table, type);
	if (ret) {
		free(table);
		return ret;
	}
	pthread_mutex_init(&table->lock, NULL);
	*out = table;
	return 0;
}

/* Destroys the adapter's object. Keeps the place of the first entry until the domain's next sync,
 * because a frame may be on its way to that entry. */
int mlx5_dr_soft_table_destroy(struct dr_soft_table *table)
{
	int ret = mlx5dv_devx_obj_destroy(table->obj);

	if (ret)
		return ret;
	mlx5_dr_soft_free_start(table->soft, table->start);
	pthread_mutex_destroy(&table->lock);
	free(table);
	return 0;
}

uint64_t mlx5_dr_soft_table_address(const struct dr_soft_table *table)
{
	return dr_place_address(&table->soft->memory, table->start);
}

static uint32_t place_before(const struct dr_soft_table *table,
			     const struct dr_soft_matcher *matcher)
{
	const struct dr_soft_matcher *before = TAILQ_PREV(matcher, dr_soft_matchers, link);

	return before ? before->end_place : table->start;
}

static void matcher_insert(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	struct dr_soft_matcher *later;

	TAILQ_FOREACH(later, &table->matchers, link)
		if (later->priority >= matcher->priority) {
			TAILQ_INSERT_BEFORE(later, matcher, link);
			return;
		}
	TAILQ_INSERT_TAIL(&table->matchers, matcher, link);
}

static int anchor_lead(struct dr_soft_table *table, uint32_t place,
		       const struct dr_soft_matcher *next)
{
	return anchor_write(table->soft, place, next ? &next->led : NULL);
}

int mlx5_dr_soft_table_link(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	int ret;

	pthread_mutex_lock(&table->lock);
	matcher_insert(table, matcher);
	ret = anchor_lead(table, matcher->end_place, TAILQ_NEXT(matcher, link));
	if (!ret)
		ret = anchor_lead(table, place_before(table, matcher), matcher);
	if (ret)
		TAILQ_REMOVE(&table->matchers, matcher, link);
	pthread_mutex_unlock(&table->lock);
	return ret;
}

int mlx5_dr_soft_table_unlink(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	int ret;

	pthread_mutex_lock(&table->lock);
	ret = anchor_lead(table, place_before(table, matcher), TAILQ_NEXT(matcher, link));
	TAILQ_REMOVE(&table->matchers, matcher, link);
	pthread_mutex_unlock(&table->lock);
	return ret;
}

/* Leads frames to the larger table, and frees the old one. If the anchor cannot be written, makes
 * the lane's ring fail, because frames would never reach entries of the larger table. */
static int top_lead(struct dr_soft_table *table, struct dr_soft_matcher *matcher,
		    struct dr_old_htable *old)
{
	const struct dr_target larger = mlx5_dr_htable_target(matcher->top);
	struct dr_ring *ring = &matcher->end.lane->ring;
	int ret = mlx5_dr_ring_drain(ring);

	if (!ret)
		ret = anchor_write(table->soft, place_before(table, matcher), &larger);
	if (!ret) {
		matcher->led = larger;
		mlx5_dr_htable_grown(matcher->top, old);
		return 0;
	}
	dr_ring_set_error(ring, ret);
	dr_places_free(&old->collisions);
	return ret;
}

static int top_grow(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	struct dr_old_htable old;
	int ret = mlx5_dr_htable_grow(matcher->top, &old);

	return ret ? ret : top_lead(table, matcher, &old);
}

int mlx5_dr_soft_table_grow(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	int ret;

	pthread_mutex_lock(&table->lock);
	ret = top_grow(table, matcher);
	pthread_mutex_unlock(&table->lock);
	return ret;
}
