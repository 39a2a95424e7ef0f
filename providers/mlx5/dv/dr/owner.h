/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner.h - the domain and the device that an action belongs to. Numbers and addresses of an action
 * mean something else elsewhere.
 */
#ifndef PROVIDERS_MLX5_DV_DR_OWNER_H
#define PROVIDERS_MLX5_DV_DR_OWNER_H

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"

/* Returns the context of the action's QP, TIR or counter, or NULL for other kinds of actions. */
static inline const struct ibv_context *action_context(const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_QP:
		return action->qp->context;
	case DR_ACTION_TIR:
		return action->tir->context;
	case DR_ACTION_COUNTER:
		return action->counter.obj->context;
	default:
		return NULL;
	}
}

static inline const struct mlx5dv_dr_domain *action_domain(const struct mlx5dv_dr_action *action)
{
	return action->kind == DR_ACTION_TABLE ? action->table->domain : action->domain;
}

/* Returns whether ACTION belongs to a domain other than DOMAIN, or to another device. */
static inline bool action_is_foreign(const struct mlx5dv_dr_domain *domain,
				     const struct mlx5dv_dr_action *action)
{
	const struct mlx5dv_dr_domain *own = action_domain(action);
	const struct ibv_context *context = action_context(action);

	return (own && own != domain) || (context && context != domain->context &&
					  context->device != domain->context->device);
}

#endif
