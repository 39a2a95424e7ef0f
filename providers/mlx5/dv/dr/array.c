/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * array.c - arrays of destinations. See array.h.
 */
#include "providers/mlx5/dv/dr/array.h"

#include "providers/mlx5/dv/dr/caps.h"
#include "providers/mlx5/dv/dr/owner.h"
#include "util/alloc.h"

static const char call[] = "mlx5dv_dr_action_create_dest_array";

static int domain_check(const struct mlx5dv_dr_domain *domain, size_t count)
{
	if (count < 2 || count > DR_FORWARD_MAX) {
		verbs_warn("%s: num_dest is %zu, must be 2 to %d", call, count, DR_FORWARD_MAX);
		return EINVAL;
	}
	if (domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX) {
		verbs_warn("%s: the domain is of type %d; arrays are for NIC_RX", call,
			   (int)domain->type);
		return EOPNOTSUPP;
	}
	return 0;
}

/* Checks one destination: a QP, TIR or table. Header changes for a single destination are not
 * supported, because they need vports. */
static int destination_check(const struct mlx5dv_dr_domain *domain,
			     const struct mlx5dv_dr_action_dest_attr *dest)
{
	if (dest->type != MLX5DV_DR_ACTION_DEST) {
		verbs_warn("%s: a destination is of type %d, known is DEST", call, (int)dest->type);
		return EOPNOTSUPP;
	}
	if (dest->dest->kind > DR_ACTION_TABLE) {
		verbs_warn("%s: a destination is no QP, TIR or table", call);
		return EOPNOTSUPP;
	}
	if (action_is_foreign(domain, dest->dest)) {
		verbs_warn("%s: a destination belongs to another domain or device", call);
		return EINVAL;
	}
	return 0;
}

static int destinations_take(const struct mlx5dv_dr_domain *domain,
			     struct mlx5dv_dr_action_dest_attr *const dests[],
			     struct dr_array *array)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < array->count; i++) {
		ret = destination_check(domain, dests[i]);
		array->destinations[i] = dests[i]->dest;
	}
	return ret;
}

/* Creates the array's table on the level before software's tables. These may be destinations of the
 * array, and a table leads to higher levels only. */
static int forward_make(struct ibv_context *context, struct dr_array *array)
{
	struct dr_forward_attr attr = {
		.type = PRM_FLOW_NIC_RX,
		.count = array->count,
		.destinations = array->destinations,
	};
	struct dr_caps caps;
	int ret = mlx5_dr_caps_query(context, &caps);

	if (ret)
		return ret;
	if (caps.rx_levels < 2) {
		verbs_warn("%s: the adapter has no level for the table of an array", call);
		return EOPNOTSUPP;
	}
	attr.level = (uint8_t)(caps.rx_levels - 2);
	return mlx5_dr_forward_create(context, &attr, &array->forward);
}

static struct mlx5dv_dr_action *action_make(struct mlx5dv_dr_domain *domain, struct dr_array *array)
{
	struct mlx5dv_dr_action *action = calloc_for(call, 1, sizeof(*action));

	if (!action)
		return NULL;
	action->kind = DR_ACTION_ARRAY;
	action->domain = domain;
	action->array = array;
	dr_use(&domain->users);
	for (size_t i = 0; i < array->count; i++)
		dr_use(&array->destinations[i]->users);
	return action;
}

static int array_make(struct mlx5dv_dr_domain *domain,
		      struct mlx5dv_dr_action_dest_attr *const dests[], struct dr_array *array,
		      struct mlx5dv_dr_action **action)
{
	int ret = destinations_take(domain, dests, array);

	if (!ret)
		ret = forward_make(domain->context, array);
	if (ret)
		return ret;
	*action = action_make(domain, array);
	if (*action)
		return 0;
	mlx5_dr_forward_destroy(&array->forward);
	return ENOMEM;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_array(struct mlx5dv_dr_domain *domain, size_t num_dest,
				   struct mlx5dv_dr_action_dest_attr *dests[])
{
	int ret = domain_check(domain, num_dest);
	struct mlx5dv_dr_action *action;
	struct dr_array *array;

	if (ret)
		return dv_fail(ret);
	array = calloc_for(call, 1, sizeof(*array) + num_dest * sizeof(array->destinations[0]));
	if (!array)
		return dv_fail(ENOMEM);
	array->count = num_dest;
	ret = array_make(domain, dests, array, &action);
	if (!ret)
		return action;
	free(array);
	return dv_fail(ret);
}

int mlx5_dr_array_destroy(struct mlx5dv_dr_action *action)
{
	struct dr_array *array = action->array;
	int ret = mlx5_dr_forward_destroy(&array->forward);

	if (ret)
		return ret;
	for (size_t i = 0; i < array->count; i++)
		dr_unuse(&array->destinations[i]->users);
	dr_unuse(&action->domain->users);
	free(array);
	return 0;
}
