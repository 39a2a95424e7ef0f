/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * matcher.c - matchers: of root tables, each backed by a flow matcher of the kernel, and of others
 * (soft_matcher.h).
 */
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/flow.h"
#include "util/alloc.h"

static struct mlx5dv_flow_matcher *flow_matcher_create(const char *call,
						       const struct mlx5dv_dr_domain *domain,
						       uint16_t priority, uint8_t criteria,
						       struct mlx5dv_flow_match_parameters *mask)
{
	const struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.priority = priority,
		.match_criteria_enable = criteria,
		.match_mask = mask,
		.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
		.ft_type = mlx5_dr_table_type(domain),
	};

	return mlx5_dv_matcher_create(call, domain->context, &attr);
}

static int matcher_make(const char *call, struct mlx5dv_dr_matcher *matcher, uint8_t criteria,
			struct mlx5dv_flow_match_parameters *mask)
{
	struct mlx5dv_dr_table *table = matcher->table;

	if (table->soft)
		return mlx5_dr_soft_matcher_create(call, table->soft, matcher->priority, criteria,
						   mask, &matcher->soft);
	matcher->flow_matcher =
		flow_matcher_create(call, table->domain, matcher->priority, criteria, mask);
	return matcher->flow_matcher ? 0 : errno;
}

DV_EXPORT struct mlx5dv_dr_matcher *
mlx5dv_dr_matcher_create(struct mlx5dv_dr_table *table, uint16_t priority,
			 uint8_t match_criteria_enable, struct mlx5dv_flow_match_parameters *mask)
{
	static const char call[] = "mlx5dv_dr_matcher_create";
	struct mlx5dv_dr_matcher *matcher = calloc_for(call, 1, sizeof(*matcher));
	int ret;

	if (!matcher)
		return dv_fail(ENOMEM);
	matcher->table = table;
	matcher->priority = priority;
	ret = matcher_make(call, matcher, match_criteria_enable, mask);
	if (ret) {
		free(matcher);
		return dv_fail(ret);
	}
	dr_use(&table->users);
	return matcher;
}

/* Destroys the matcher even if the adapter's entries could not be changed. Frames may then still
 * pass its entries, whose places stay allocated. */
static int __attribute__((noinline)) soft_destroy(struct mlx5dv_dr_matcher *matcher)
{
	int ret = mlx5_dr_soft_matcher_destroy(matcher->soft);

	dr_unuse(&matcher->table->users);
	free(matcher);
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_dr_matcher_destroy(struct mlx5dv_dr_matcher *matcher)
{
	static const char call[] = "mlx5dv_dr_matcher_destroy";
	int ret = dr_check_unused(call, &matcher->users, "rules");

	if (ret)
		return ret;
	if (unlikely(matcher->soft != NULL))
		return soft_destroy(matcher);
	ret = mlx5_dv_matcher_destroy(call, matcher->flow_matcher);
	if (ret)
		return ret;
	dr_unuse(&matcher->table->users);
	free(matcher);
	return 0;
}

/* Returns EOPNOTSUPP: the kernel chooses the layout of root tables, and other tables grow as
 * needed. */
DV_EXPORT int mlx5dv_dr_matcher_set_layout(struct mlx5dv_dr_matcher *matcher,
					   struct mlx5dv_dr_matcher_layout *layout)
{
	verbs_warn("mlx5dv_dr_matcher_set_layout: flags are %#x, but %s", layout->flags,
		   matcher->soft ? "layouts are not supported yet"
				 : "the matcher is one of the root table, whose layout is the "
				   "kernel's");
	return verbs_result(EOPNOTSUPP);
}
