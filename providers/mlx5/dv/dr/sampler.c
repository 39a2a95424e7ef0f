/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.c - samplers. See sampler.h.
 */
#include "providers/mlx5/dv/dr/sampler.h"

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/dv/dr/owner.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "util/alloc.h"

static const char call[] = "mlx5dv_dr_action_create_flow_sampler";

static int refuse(int err, const char *why)
{
	verbs_warn("%s: %s", call, why);
	return err;
}

static int attr_check(const struct mlx5dv_dr_flow_sampler_attr *attr)
{
	if (!attr->default_next_table->soft)
		return refuse(EINVAL, "default_next_table is a root table");
	if (attr->default_next_table->domain->type != MLX5DV_DR_DOMAIN_TYPE_NIC_RX)
		return refuse(EOPNOTSUPP, "samplers are for domains of NIC_RX");
	if (!attr->sample_ratio)
		return refuse(EINVAL, "sample_ratio is 0");
	if (attr->action)
		return refuse(EOPNOTSUPP, "action is set, which needs vports");
	return 0;
}

/* Checks an action for sampled copies, and stores it as the destination or the counter. Returns 0
 * or an errno. */
static int action_take(struct dr_sampler *sampler, struct mlx5dv_dr_action *action)
{
	struct mlx5dv_dr_action **place =
		action->kind == DR_ACTION_COUNTER ? &sampler->counter : &sampler->destination;

	if (action->kind != DR_ACTION_COUNTER && action->kind != DR_ACTION_QP &&
	    action->kind != DR_ACTION_TIR)
		return refuse(EOPNOTSUPP, "a sample action is no counter, QP or TIR");
	if (action_is_foreign(sampler->next->domain, action))
		return refuse(EINVAL, "a sample action belongs to another device");
	if (*place)
		return refuse(EINVAL, "sample_actions have two counters or destinations");
	*place = action;
	return 0;
}

static int actions_take(struct dr_sampler *sampler, const struct mlx5dv_dr_flow_sampler_attr *attr)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < attr->num_sample_actions; i++)
		ret = action_take(sampler, attr->sample_actions[i]);
	if (!ret && !sampler->destination)
		ret = refuse(EINVAL, "sample_actions have no destination");
	return ret;
}

/* Creates the sampler's object. It ignores levels, because the object's two tables are both on the
 * level of tables below the root. */
static int obj_create(struct dr_sampler *sampler, uint32_t ratio)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_SAMPLER_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 }, *object = fld_at(in, GENERAL_OBJ_OBJECT);
	const struct dr_soft_table *next = sampler->next->soft;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SAMPLER);
	fld_set(object, SAMPLER_TABLE_TYPE, PRM_FLOW_NIC_RX);
	fld_set(object, SAMPLER_LEVEL, next->soft->level);
	fld_set(object, SAMPLER_IGNORE_FLOW_LEVEL, 1);
	fld_set(object, SAMPLER_SAMPLE_RATIO, ratio);
	fld_set(object, SAMPLER_SAMPLE_TABLE_ID, sampler->forward.number);
	fld_set(object, SAMPLER_DEFAULT_TABLE_ID, next->number);
	sampler->obj = mlx5dv_devx_obj_create(sampler->next->domain->context, in, sizeof(in), out,
					      sizeof(out));
	return sampler->obj ? 0 : errno;
}

static int obj_query(struct dr_sampler *sampler)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE] = { 0 };
	uint8_t out[PRM_GENERAL_OBJ_HDR_SIZE + PRM_SAMPLER_SIZE] = { 0 };
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SAMPLER);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, sampler->obj->id);
	ret = mlx5dv_devx_obj_query(sampler->obj, in, sizeof(in), out, sizeof(out));
	if (!ret)
		sampler->address = fld_get(fld_at(out, GENERAL_OBJ_OBJECT), SAMPLER_ICM_ADDRESS_RX);
	return ret;
}

/* Destroys the adapter's objects of the sampler. After a failure, the caller may try again. */
static int parts_end(struct dr_sampler *sampler)
{
	int ret = sampler->obj ? mlx5dv_devx_obj_destroy(sampler->obj) : 0;

	if (ret)
		return ret;
	sampler->obj = NULL;
	return mlx5_dr_forward_destroy(&sampler->forward);
}

static int parts_make(struct dr_sampler *sampler, uint32_t ratio)
{
	const struct dr_forward_attr attr = {
		.type = PRM_FLOW_NIC_RX,
		.level = sampler->next->soft->soft->level,
		.is_last = true,
		.count = 1,
		.destinations = &sampler->destination,
		.counter = sampler->counter,
	};
	int ret = mlx5_dr_forward_create(sampler->next->domain->context, &attr, &sampler->forward);

	if (ret)
		return ret;
	ret = obj_create(sampler, ratio);
	if (!ret)
		ret = obj_query(sampler);
	if (ret)
		parts_end(sampler);
	return ret;
}

static void sampler_use(struct dr_sampler *sampler, void (*use)(unsigned int *users))
{
	(*use)(&sampler->next->domain->users);
	(*use)(&sampler->next->users);
	(*use)(&sampler->destination->users);
	if (sampler->counter)
		(*use)(&sampler->counter->users);
}

static int sampler_make(struct dr_sampler *sampler, const struct mlx5dv_dr_flow_sampler_attr *attr)
{
	int ret = actions_take(sampler, attr);

	return ret ? ret : parts_make(sampler, attr->sample_ratio);
}

static struct mlx5dv_dr_action *action_make(const struct mlx5dv_dr_flow_sampler_attr *attr)
{
	struct mlx5dv_dr_action *action = calloc_for(call, 1, sizeof(*action));
	struct dr_sampler *sampler = calloc_for(call, 1, sizeof(*sampler));
	int ret = ENOMEM;

	if (action && sampler) {
		sampler->next = attr->default_next_table;
		ret = sampler_make(sampler, attr);
	}
	if (ret) {
		free(sampler);
		free(action);
		return dv_fail(ret);
	}
	action->kind = DR_ACTION_SAMPLER;
	action->domain = sampler->next->domain;
	action->sampler = sampler;
	sampler_use(sampler, dr_use);
	return action;
}

DV_EXPORT struct mlx5dv_dr_action *
mlx5dv_dr_action_create_flow_sampler(struct mlx5dv_dr_flow_sampler_attr *attr)
{
	int ret = attr_check(attr);

	return ret ? dv_fail(ret) : action_make(attr);
}

int mlx5_dr_sampler_destroy(struct mlx5dv_dr_action *action)
{
	struct dr_sampler *sampler = action->sampler;
	int ret = parts_end(sampler);

	if (ret)
		return ret;
	sampler_use(sampler, dr_unuse);
	free(sampler);
	return 0;
}
