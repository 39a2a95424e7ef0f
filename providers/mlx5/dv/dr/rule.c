/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule.c - rules: of root tables, each backed by a flow of the kernel, and of others (soft_rule.h).
 */
#include "providers/mlx5/dv/dr/array.h"
#include "providers/mlx5/dv/dr/owner.h"
#include "providers/mlx5/dv/flow.h"
#include "util/alloc.h"
#include "util/bits.h"

/* Most actions that are converted for a flow. The first MAX_ACTIONS of a longer list repeat an
 * action that a flow may have only once, so the flow is refused anyway. */
enum { MAX_ACTIONS = DV_FLOW_ATTRS + DV_FLOW_ACTIONS };

/* Uses the attribute with an offset only if needed: Linux before 5.5 does not know it. */
static void counter_translate(const struct mlx5dv_dr_action *action,
			      struct mlx5dv_flow_action_attr *attr)
{
	if (!action->counter.offset) {
		attr->type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX;
		attr->obj = action->counter.obj;
		return;
	}
	attr->type = MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET;
	attr->bulk_obj.obj = action->counter.obj;
	attr->bulk_obj.offset = action->counter.offset;
}

/* Converts the action for a flow. Returns EOPNOTSUPP if the kernel's flows do not have it. */
static int action_translate(const struct mlx5dv_dr_action *action,
			    struct mlx5dv_flow_action_attr *attr)
{
	switch (action->kind) {
	case DR_ACTION_QP:
		attr->type = MLX5DV_FLOW_ACTION_DEST_IBV_QP;
		attr->qp = action->qp;
		return 0;
	case DR_ACTION_TIR:
		attr->type = MLX5DV_FLOW_ACTION_DEST_DEVX;
		attr->obj = action->tir;
		return 0;
	case DR_ACTION_TABLE:
		attr->type = MLX5DV_FLOW_ACTION_DEST_DEVX;
		attr->obj = action->table->soft->obj;
		return 0;
	case DR_ACTION_ARRAY:
		attr->type = MLX5DV_FLOW_ACTION_DEST_DEVX;
		attr->obj = action->array->forward.table;
		return 0;
	case DR_ACTION_DROP:
		attr->type = MLX5DV_FLOW_ACTION_DROP;
		return 0;
	case DR_ACTION_DEFAULT_MISS:
		attr->type = MLX5DV_FLOW_ACTION_DEFAULT_MISS;
		return 0;
	case DR_ACTION_TAG:
		attr->type = MLX5DV_FLOW_ACTION_TAG;
		attr->tag_value = action->tag;
		return 0;
	case DR_ACTION_COUNTER:
		counter_translate(action, attr);
		return 0;
	case DR_ACTION_REFORMAT:
	case DR_ACTION_MODIFY_HEADER:
		if (!action->change.action)
			return EOPNOTSUPP;
		attr->type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION;
		attr->action = action->change.action;
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

static int actions_check(const char *call, const struct mlx5dv_dr_domain *domain, size_t count,
			 struct mlx5dv_dr_action *const actions[])
{
	for (size_t i = 0; i < count; i++)
		if (action_is_foreign(domain, actions[i])) {
			verbs_warn("%s: action %zu belongs to another domain or device", call, i);
			return EINVAL;
		}
	return 0;
}

static struct ibv_flow *flow_create(const char *call, struct mlx5dv_dr_matcher *matcher,
				    const struct mlx5dv_flow_match_parameters *value, size_t count,
				    struct mlx5dv_dr_action *const actions[])
{
	struct mlx5dv_flow_action_attr attrs[MAX_ACTIONS] = { { .tag_value = 0 } };

	count = count < MAX_ACTIONS ? count : MAX_ACTIONS;
	for (size_t i = 0; i < count; i++)
		if (action_translate(actions[i], &attrs[i])) {
			verbs_warn("%s: action %zu is for tables below the root", call, i);
			return dv_fail(EOPNOTSUPP);
		}
	return mlx5_dv_flow_create(call, matcher->flow_matcher, value, count, attrs,
				   sizeof(attrs[0]));
}

static void rule_use(struct mlx5dv_dr_rule *rule, void (*use)(unsigned int *users))
{
	(*use)(&rule->matcher->users);
	for (size_t i = 0; i < rule->num_actions; i++)
		(*use)(&rule->actions[i]->users);
}

static int soft_rule_make(const char *call, struct mlx5dv_dr_rule *rule,
			  const struct mlx5dv_flow_match_parameters *value)
{
	struct dr_soft_matcher *matcher = rule->matcher->soft;
	const struct mlx5dv_dr_domain *domain = rule->matcher->table->domain;
	const struct dr_match *match = &matcher->match;
	const bool is_tx = domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	/* its entries are set as far as they are used, because clearing all of it costs time */
	struct dr_plan plan;
	int ret = mlx5_dr_plan(call, matcher->table->soft, is_tx,
			       match->steps[match->num_steps - 1].lookup.type, rule->num_actions,
			       rule->actions, &plan);

	if (ret)
		return ret;
	return mlx5_dr_soft_rule_create(matcher, value->match_buf, value->match_sz, &plan,
					__atomic_load_n(&domain->flags, __ATOMIC_RELAXED) &
						DR_REFUSES_DUPLICATES,
					&rule->soft);
}

static int rule_make(const char *call, struct mlx5dv_dr_rule *rule,
		     const struct mlx5dv_flow_match_parameters *value)
{
	int ret =
		actions_check(call, rule->matcher->table->domain, rule->num_actions, rule->actions);

	if (ret)
		return ret;
	if (rule->matcher->soft)
		return soft_rule_make(call, rule, value);
	rule->flow = flow_create(call, rule->matcher, value, rule->num_actions, rule->actions);
	return rule->flow ? 0 : errno;
}

DV_EXPORT struct mlx5dv_dr_rule *mlx5dv_dr_rule_create(struct mlx5dv_dr_matcher *matcher,
						       struct mlx5dv_flow_match_parameters *value,
						       size_t num_actions,
						       struct mlx5dv_dr_action *actions[])
{
	static const char call[] = "mlx5dv_dr_rule_create";
	struct mlx5dv_dr_rule *rule =
		malloc_for(call, sizeof(*rule) + num_actions * sizeof(rule->actions[0]));
	int ret;

	if (!rule)
		return dv_fail(ENOMEM);
	rule->matcher = matcher;
	rule->flow = NULL;
	rule->num_actions = num_actions;
	for (size_t i = 0; i < num_actions; i++)
		rule->actions[i] = actions[i];
	ret = rule_make(call, rule, value);
	if (ret) {
		free(rule);
		return dv_fail(ret);
	}
	rule_use(rule, dr_use);
	return rule;
}

DV_EXPORT int mlx5dv_dr_rule_destroy(struct mlx5dv_dr_rule *rule)
{
	int ret = rule->flow ? ibv_destroy_flow(rule->flow)
			     : mlx5_dr_soft_rule_destroy(rule->matcher->soft, &rule->soft);

	if (ret)
		verbs_warn("mlx5dv_dr_rule_destroy: %s: errno %d",
			   rule->flow ? "the kernel keeps the flow"
				      : "frames may still find the rule",
			   ret);
	if (ret && rule->flow)
		return ret;
	rule_use(rule, dr_unuse);
	free(rule);
	return verbs_result(ret);
}
