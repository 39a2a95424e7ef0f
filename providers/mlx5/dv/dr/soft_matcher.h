/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_matcher.h - a matcher of a table below the root: its steps, and the table of its first step.
 */
#ifndef PROVIDERS_MLX5_DV_DR_SOFT_MATCHER_H
#define PROVIDERS_MLX5_DV_DR_SOFT_MATCHER_H

#include "providers/mlx5/dv/dr/soft_table.h"

struct mlx5dv_flow_match_parameters;

struct dr_soft_matcher {
	struct dr_soft_table *table;
	TAILQ_ENTRY(dr_soft_matcher) link;
	uint16_t priority;
	uint32_t end_place; /* place of the entry that leads to the next matcher */
	struct dr_chain_end end;
	/* table of the first step, and whether the write of its empty slot may not have ended;
	 * guarded by the lane's lock */
	struct dr_htable *top;
	bool is_fresh;
	/* table to which anchors lead frames: top, or the smaller table before a growth that has
	 * not ended, or that failed; guarded by table->lock */
	struct dr_target led;
	struct dr_match match;
};

int mlx5_dr_soft_matcher_create(const char *call, struct dr_soft_table *table, uint16_t priority,
				uint8_t criteria, const struct mlx5dv_flow_match_parameters *mask,
				struct dr_soft_matcher **matcher);
/* Waits for the writes that have made the matcher, before its first rule. The caller holds the lock
 * of its lane. Returns 0 or an errno. */
int mlx5_dr_soft_matcher_settle(struct dr_soft_matcher *matcher);
int mlx5_dr_soft_matcher_destroy(struct dr_soft_matcher *matcher);

#endif
