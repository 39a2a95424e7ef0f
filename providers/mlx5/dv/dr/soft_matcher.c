/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_matcher.c - matchers of tables below the root. See soft_matcher.h.
 */
#include "providers/mlx5/dv/dr/soft_matcher.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "providers/mlx5/dv/dr/soft.h"
#include "util/alloc.h"

/* Writes the first, empty slot by the ring of the anchors, which executes writes in order: the slot
 * is there before frames are led to it, and nobody waits. */
static int top_write(struct dr_soft_matcher *matcher)
{
	uint8_t entry[PRM_STE_SIZE];

	mlx5_dr_htable_compose_empty(matcher->top, entry);
	return dr_anchors_write(&matcher->table->soft->anchors, matcher->top->place, entry);
}

static int top_make(struct dr_soft_matcher *matcher)
{
	struct dr_lane *lane = matcher->end.lane;
	int ret = ENOMEM;

	pthread_mutex_lock(&lane->lock);
	matcher->is_fresh = true;
	matcher->top = mlx5_dr_htable_new(&matcher->end, &matcher->match.steps[0], NULL);
	if (matcher->top) {
		matcher->led = mlx5_dr_htable_target(matcher->top);
		ret = top_write(matcher);
	}
	pthread_mutex_unlock(&lane->lock);
	return ret;
}

int mlx5_dr_soft_matcher_settle(struct dr_soft_matcher *matcher)
{
	int ret = dr_anchors_drain(&matcher->table->soft->anchors);

	matcher->is_fresh = ret != 0;
	return ret;
}

static void top_delete(struct dr_soft_matcher *matcher)
{
	pthread_mutex_lock(&matcher->end.lane->lock);
	if (matcher->top)
		mlx5_dr_htable_delete(matcher->top);
	mlx5_dr_lane_free(matcher->end.lane, 0, matcher->end_place);
	pthread_mutex_unlock(&matcher->end.lane->lock);
}

/* Frees the host's memory of the matcher's first table. Frames may still pass the table's entries,
 * so their places stay allocated until the domain is destroyed. */
static void top_leave(struct dr_soft_matcher *matcher)
{
	pthread_mutex_lock(&matcher->end.lane->lock);
	mlx5_dr_htable_leave(matcher->top);
	pthread_mutex_unlock(&matcher->end.lane->lock);
}

static int end_alloc(struct dr_soft_matcher *matcher)
{
	struct dr_soft *soft = matcher->table->soft;
	int ret;

	matcher->end.lane = mlx5_dr_soft_lane(soft);
	if (!matcher->end.lane)
		return errno;
	matcher->end.gvmi = soft->caps.gvmi;
	pthread_mutex_lock(&matcher->end.lane->lock);
	ret = mlx5_dr_lane_alloc(matcher->end.lane, 0, &matcher->end_place);
	pthread_mutex_unlock(&matcher->end.lane->lock);
	if (ret)
		return ret;
	matcher->end.miss = dr_place_address(&soft->memory, matcher->end_place);
	return 0;
}

static int places_alloc(struct dr_soft_matcher *matcher)
{
	int ret = end_alloc(matcher);

	if (ret)
		return ret;
	ret = top_make(matcher);
	if (ret)
		top_delete(matcher);
	return ret;
}

static int matcher_place(struct dr_soft_matcher *matcher)
{
	int ret = places_alloc(matcher);

	if (ret == ENOMEM && mlx5_dr_soft_reclaim(matcher->table->soft))
		ret = places_alloc(matcher);
	if (ret)
		return ret;
	ret = mlx5_dr_soft_table_link(matcher->table, matcher);
	if (ret)
		top_leave(matcher);
	return ret;
}

int mlx5_dr_soft_matcher_create(const char *call, struct dr_soft_table *table, uint16_t priority,
				uint8_t criteria, const struct mlx5dv_flow_match_parameters *mask,
				struct dr_soft_matcher **out)
{
	struct dr_soft_matcher *matcher = calloc_for(call, 1, sizeof(*matcher));
	int ret;

	if (!matcher)
		return ENOMEM;
	matcher->table = table;
	matcher->priority = priority;
	ret = mlx5_dr_match_plan(call, mask->match_buf, mask->match_sz, criteria, &matcher->match);
	if (!ret)
		ret = matcher_place(matcher);
	if (ret)
		free(matcher);
	else
		*out = matcher;
	return ret;
}

int mlx5_dr_soft_matcher_destroy(struct dr_soft_matcher *matcher)
{
	int ret = mlx5_dr_soft_table_unlink(matcher->table, matcher);

	if (ret)
		top_leave(matcher);
	else
		top_delete(matcher);
	free(matcher);
	return ret;
}
