/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_rule.h - a rule of a table below the root: a path of entries, one of each step.
 */
#ifndef PROVIDERS_MLX5_DV_DR_SOFT_RULE_H
#define PROVIDERS_MLX5_DV_DR_SOFT_RULE_H

#include "providers/mlx5/dv/dr/plan.h"
#include "providers/mlx5/dv/dr/soft_matcher.h"

struct dr_soft_rule {
	struct dr_entry *last;
	struct dr_entry *actions;
};

/* Inserts a rule. Returns 0 or an errno: EINVAL if VALUE has bits outside of the mask, EEXIST for a
 * duplicate if REFUSES_DUPLICATES. */
int mlx5_dr_soft_rule_create(struct dr_soft_matcher *matcher, const void *value, size_t size,
			     const struct dr_plan *plan, bool refuses_duplicates,
			     struct dr_soft_rule *rule);
int mlx5_dr_soft_rule_destroy(struct dr_soft_matcher *matcher, struct dr_soft_rule *rule);

#endif
