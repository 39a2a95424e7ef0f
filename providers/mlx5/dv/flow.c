/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - matchers and flows in the device's format, for tables that the kernel maintains. Kernel
 * and device check masks and values, not this file.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/flow.h"
#include "providers/mlx5/flow.h"
#include "util/alloc.h"
#include "util/bits.h"
#include "util/log.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

/* mlx5dv.h defines mlx5dv_create_flow() as a macro that passes the size of an action, so the
 * function's own name must be undefined here. */
#undef mlx5dv_create_flow

struct mlx5dv_flow_matcher {
	struct ibv_context *context;
	uint32_t handle;
};

static int check_size(const char *call, const struct mlx5dv_flow_match_parameters *match)
{
	if (match->match_sz <= UINT16_MAX)
		return 0;
	verbs_warn("%s: match_sz is %zu, limit %u", call, match->match_sz, UINT16_MAX);
	return EINVAL;
}

#define KNOWN_MASK (MLX5DV_FLOW_MATCHER_MASK_FT_TYPE | MLX5DV_FLOW_MATCHER_MASK_IB_PORT)

static int matcher_check(const char *call, struct ibv_context *context,
			 const struct mlx5dv_flow_matcher_attr *attr)
{
	int ret = dv_check_context(call, context);

	if (ret)
		return ret;
	if (attr->comp_mask & ~(uint64_t)KNOWN_MASK) {
		verbs_warn("%s: comp_mask is %#llx, known are %#x", call,
			   (unsigned long long)attr->comp_mask, KNOWN_MASK);
		return EOPNOTSUPP;
	}
	if (attr->type != IBV_FLOW_ATTR_NORMAL) {
		verbs_warn("%s: type is %d, must be IBV_FLOW_ATTR_NORMAL", call, (int)attr->type);
		return EOPNOTSUPP;
	}
	return check_size(call, attr->match_mask);
}

static int matcher_run_create(const struct mlx5dv_flow_matcher_attr *attr,
			      struct mlx5dv_flow_matcher *matcher)
{
	const struct mlx5dv_flow_match_parameters *mask = attr->match_mask;
	unsigned int n = 4;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	cmd.attrs[1] = verbs_short_in(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask->match_buf,
				      mask->match_sz);
	cmd.attrs[2] =
		verbs_short_in(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA,
			       &attr->match_criteria_enable, sizeof(attr->match_criteria_enable));
	cmd.attrs[3] = verbs_short_in(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &attr->priority,
				      sizeof(attr->priority));
	if (attr->comp_mask & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE)
		cmd.attrs[n++] = verbs_short_u64(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, attr->ft_type);
	if (attr->comp_mask & MLX5DV_FLOW_MATCHER_MASK_IB_PORT)
		cmd.attrs[n++] = verbs_short_u32(MLX5_IB_ATTR_FLOW_MATCHER_IB_PORT, attr->ib_port);
	if (attr->flags)
		cmd.attrs[n++] = verbs_short_u64(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, attr->flags);
	ret = verbs_cmd_run_short(matcher->context, MLX5_IB_OBJECT_FLOW_MATCHER,
				  MLX5_IB_METHOD_FLOW_MATCHER_CREATE, &cmd, n);
	matcher->handle = (uint32_t)cmd.attrs[0].value;
	return ret;
}

struct mlx5dv_flow_matcher *mlx5_dv_matcher_create(const char *call, struct ibv_context *context,
						   const struct mlx5dv_flow_matcher_attr *attr)
{
	int ret = matcher_check(call, context, attr);
	struct mlx5dv_flow_matcher *matcher;

	if (ret)
		return dv_fail(ret);
	matcher = dv_take(call, context, matcher);
	if (!matcher)
		return dv_fail(ENOMEM);
	matcher->context = context;
	ret = matcher_run_create(attr, matcher);
	if (!ret)
		return matcher;
	verbs_warn("%s: the kernel refuses a mask of %zu bytes, flags %#x, "
		   "comp_mask %#llx, ft_type %d: errno %d",
		   call, attr->match_mask->match_sz, attr->flags,
		   (unsigned long long)attr->comp_mask, (int)attr->ft_type, ret);
	dv_give(context, matcher);
	return dv_fail(ret);
}

int mlx5_dv_matcher_destroy(const char *call, struct mlx5dv_flow_matcher *matcher)
{
	int ret = verbs_cmd_run_destroy(matcher->context, MLX5_IB_OBJECT_FLOW_MATCHER,
					MLX5_IB_METHOD_FLOW_MATCHER_DESTROY,
					MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, matcher->handle);

	if (ret) {
		verbs_warn("%s: matcher %u: %s%s", call, matcher->handle, strerror(ret),
			   ret == EBUSY ? ": destroy the flows that name it first" : "");
		return verbs_result(ret);
	}
	dv_give(matcher->context, matcher);
	return 0;
}

DV_EXPORT struct mlx5dv_flow_matcher *
mlx5dv_create_flow_matcher(struct ibv_context *context, struct mlx5dv_flow_matcher_attr *attr)
{
	return mlx5_dv_matcher_create("mlx5dv_create_flow_matcher", context, attr);
}

DV_EXPORT int mlx5dv_destroy_flow_matcher(struct mlx5dv_flow_matcher *matcher)
{
	return mlx5_dv_matcher_destroy("mlx5dv_destroy_flow_matcher", matcher);
}

/* Size of an action in old releases: a type and a pointer. Programs built with them call the
 * function with this size. */
enum { OLD_ACTION_SIZE = 2 * (int)sizeof(void *) };

static_assert((int)DV_FLOW_ATTRS == VERBS_SHORT_MAX_ATTRS, "a flow's command is a short one");

struct flow_plan {
	const char *call;
	struct verbs_short cmd;
	unsigned int count;
	bool has_target, has_tag, has_counter;
	uint32_t flow_actions[DV_FLOW_ACTIONS];
	unsigned int num_flow_actions;
};

static int action_refuse(const struct flow_plan *plan, const struct mlx5dv_flow_action_attr *action,
			 int err, const char *why)
{
	verbs_warn("%s: an action of type %d: %s", plan->call, (int)action->type, why);
	return err;
}

static void plan_add(struct flow_plan *plan, struct verbs_attr attr)
{
	plan->cmd.attrs[plan->count++] = attr;
}

/* Sets the destination. A flow forwards frames to one destination, drops them, or leaves them to
 * the next table. */
static int plan_target(struct flow_plan *plan, struct verbs_attr attr)
{
	plan->has_target = true;
	plan_add(plan, attr);
	return 0;
}

static bool is_target(const struct mlx5dv_flow_action_attr *action)
{
	switch (action->type) {
	case MLX5DV_FLOW_ACTION_DEST_IBV_QP:
	case MLX5DV_FLOW_ACTION_DEST_DEVX:
	case MLX5DV_FLOW_ACTION_DROP:
	case MLX5DV_FLOW_ACTION_DEFAULT_MISS:
		return true;
	default:
		return false;
	}
}

static int plan_tag(struct flow_plan *plan, const struct mlx5dv_flow_action_attr *action)
{
	if (plan->has_tag)
		return action_refuse(plan, action, EINVAL, "the flow has a tag already");
	plan->has_tag = true;
	plan_add(plan, verbs_short_u32(MLX5_IB_ATTR_CREATE_FLOW_TAG, action->tag_value));
	return 0;
}

static int plan_counter(struct flow_plan *plan, const struct mlx5dv_flow_action_attr *action)
{
	if (plan->has_counter)
		return action_refuse(plan, action, EOPNOTSUPP, "the flow has a counter already");
	plan->has_counter = true;
	plan_add(plan,
		 verbs_short_u32(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX, action->obj->handle));
	if (action->type == MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET)
		plan_add(plan, verbs_short_u32(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET,
					       action->bulk_obj.offset));
	return 0;
}

static int plan_flow_action(struct flow_plan *plan, const struct mlx5dv_flow_action_attr *action)
{
	if (plan->num_flow_actions == DV_FLOW_ACTIONS)
		return action_refuse(plan, action, EOPNOTSUPP, "the flow has 8 of them already");
	plan->flow_actions[plan->num_flow_actions++] = to_vaction(action->action)->handle;
	return 0;
}

static int plan_action(struct flow_plan *plan, const struct mlx5dv_flow_action_attr *action)
{
	if (plan->has_target && is_target(action))
		return action_refuse(plan, action, EOPNOTSUPP,
				     "the flow has a destination already");
	switch (action->type) {
	case MLX5DV_FLOW_ACTION_DEST_IBV_QP:
		return plan_target(plan, verbs_short_handle(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP,
							    action->qp->handle));
	case MLX5DV_FLOW_ACTION_DEST_DEVX:
		return plan_target(plan, verbs_short_handle(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX,
							    action->obj->handle));
	case MLX5DV_FLOW_ACTION_DROP:
		return plan_target(plan, verbs_short_u32(MLX5_IB_ATTR_CREATE_FLOW_FLAGS,
							 MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP));
	case MLX5DV_FLOW_ACTION_DEFAULT_MISS:
		return plan_target(plan,
				   verbs_short_u32(MLX5_IB_ATTR_CREATE_FLOW_FLAGS,
						   MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS));
	case MLX5DV_FLOW_ACTION_TAG:
		return plan_tag(plan, action);
	case MLX5DV_FLOW_ACTION_COUNTERS_DEVX:
	case MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET:
		return plan_counter(plan, action);
	case MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION:
		return plan_flow_action(plan, action);
	case MLX5DV_FLOW_ACTION_IBV_COUNTER:
		return action_refuse(plan, action, EOPNOTSUPP,
				     "the kernel takes counters of DevX here, and no others");
	default:
		return action_refuse(plan, action, EOPNOTSUPP, "unknown");
	}
}

/* Checks the list of actions. Each action is an attribute of its own, except flow actions, of which
 * there may be 8. */
static int check_actions(const char *call, size_t count, const void *actions, size_t size)
{
	if (size >= OLD_ACTION_SIZE && count <= DV_FLOW_ATTRS + DV_FLOW_ACTIONS &&
	    (actions || !count))
		return 0;
	verbs_warn("%s: %zu actions of %zu bytes at %p: at most %d of at least %d", call, count,
		   size, actions, DV_FLOW_ATTRS + DV_FLOW_ACTIONS, OLD_ACTION_SIZE);
	return count > DV_FLOW_ATTRS + DV_FLOW_ACTIONS ? EOPNOTSUPP : EINVAL;
}

/* Converts the actions, which are SIZE bytes apart. With an old SIZE, the type that needs a longer
 * action is refused; the others have all that they need in the old size. */
static int plan_actions(struct flow_plan *plan, size_t count, const void *actions, size_t size)
{
	const uint8_t *at = actions;
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++, at += size) {
		struct mlx5dv_flow_action_attr action;

		memcpy(&action, at, OLD_ACTION_SIZE);
		if (action.type == MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET) {
			if (size < sizeof(action))
				return action_refuse(plan, &action, EOPNOTSUPP,
						     "the program's actions have no offset");
			memcpy(&action, at, sizeof(action));
		}
		ret = plan_action(plan, &action);
	}
	if (!ret && plan->num_flow_actions)
		plan_add(plan, verbs_short_in(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS,
					      plan->flow_actions,
					      plan->num_flow_actions * sizeof(uint32_t)));
	return ret;
}

static int flow_run_create(const char *call, const struct mlx5dv_flow_matcher *matcher,
			   const struct mlx5dv_flow_match_parameters *value, size_t num_actions,
			   const void *actions, size_t action_size, uint32_t *handle)
{
	/* its arrays stay uninitialised behind their counts, because clearing them costs time */
	struct flow_plan plan;
	int ret = check_actions(call, num_actions, actions, action_size);

	if (ret)
		return ret;
	plan.call = call;
	plan.count = plan.num_flow_actions = 0;
	plan.has_target = plan.has_tag = plan.has_counter = false;
	plan_add(&plan, verbs_short_new(MLX5_IB_ATTR_CREATE_FLOW_HANDLE));
	plan_add(&plan, verbs_short_in(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value->match_buf,
				       value->match_sz));
	plan_add(&plan, verbs_short_handle(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, matcher->handle));
	ret = plan_actions(&plan, num_actions, actions, action_size);
	if (!ret)
		ret = check_size(call, value);
	if (ret)
		return ret;
	ret = verbs_cmd_run_short(matcher->context, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW,
				  &plan.cmd, plan.count);
	*handle = (uint32_t)plan.cmd.attrs[0].value;
	if (ret)
		verbs_warn("%s: the kernel refuses %zu actions on matcher %u: errno %d", call,
			   num_actions, matcher->handle, ret);
	return ret;
}

struct ibv_flow *mlx5_dv_flow_create(const char *call, struct mlx5dv_flow_matcher *matcher,
				     const struct mlx5dv_flow_match_parameters *value, size_t count,
				     const void *actions, size_t size)
{
	struct ibv_flow *flow = dv_take(call, matcher->context, flow);
	int ret;

	if (!flow)
		return dv_fail(ENOMEM);
	*flow = (struct ibv_flow){ .context = matcher->context };
	ret = flow_run_create(call, matcher, value, count, actions, size, &flow->handle);
	if (!ret)
		return flow;
	dv_give(matcher->context, flow);
	return dv_fail(ret);
}

DV_EXPORT struct ibv_flow *__mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
						struct mlx5dv_flow_match_parameters *value,
						size_t num_actions,
						struct mlx5dv_flow_action_attr actions[],
						size_t action_attr_size)
{
	return mlx5_dv_flow_create("mlx5dv_create_flow", matcher, value, num_actions, actions,
				   action_attr_size);
}

struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
				    struct mlx5dv_flow_match_parameters *value, size_t num_actions,
				    struct mlx5dv_flow_action_attr actions[]);

DV_EXPORT struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
					      struct mlx5dv_flow_match_parameters *value,
					      size_t num_actions,
					      struct mlx5dv_flow_action_attr actions[])
{
	return __mlx5dv_create_flow(matcher, value, num_actions, actions, OLD_ACTION_SIZE);
}
