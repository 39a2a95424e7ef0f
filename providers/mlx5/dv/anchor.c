/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anchor.c - steering anchors: a table of the kernel that leads to the flows of one priority. Rules
 * that a program makes by DevX can forward packets to it by its number.
 */
#include "providers/mlx5/dv/dv.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

struct dv_anchor {
	struct mlx5dv_steering_anchor anchor; /* first, because programs get its address */
	uint32_t handle;
	struct ibv_context *context;
};

enum { PRIORITIES = 16 }; /* for programs' flows: MLX5_IB_FLOW_LAST_PRIO of Linux + 1 */

/* Checks the priority because Linux (6.1 to 7.2) does not, and would index an array with it. */
static int anchor_check(const char *call, struct ibv_context *context,
			const struct mlx5dv_steering_anchor_attr *attr)
{
	int ret = dv_check_context(call, context);

	if (!ret && attr->comp_mask) {
		verbs_warn("%s: comp_mask is %#llx, must be 0", call,
			   (unsigned long long)attr->comp_mask);
		ret = EOPNOTSUPP;
	}
	if (!ret && attr->priority >= PRIORITIES) {
		verbs_warn("%s: priority is %u, limit %d", call, attr->priority, PRIORITIES - 1);
		ret = EINVAL;
	}
	return ret;
}

static int anchor_run_create(const char *call, const struct mlx5dv_steering_anchor_attr *attr,
			     struct dv_anchor *anchor)
{
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE);
	cmd.attrs[1] = verbs_short_u64(MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, attr->ft_type);
	cmd.attrs[2] = verbs_short_in(MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, &attr->priority,
				      sizeof(attr->priority));
	cmd.attrs[3] = verbs_short_out(MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, &anchor->anchor.id,
				       sizeof(anchor->anchor.id));
	ret = verbs_cmd_run_short(anchor->context, MLX5_IB_OBJECT_STEERING_ANCHOR,
				  MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, &cmd, 4);
	anchor->handle = (uint32_t)cmd.attrs[0].value;
	if (ret)
		verbs_warn("%s: the kernel refuses an anchor of ft_type %d, priority %u: errno %d",
			   call, (int)attr->ft_type, attr->priority, ret);
	return ret;
}

DV_EXPORT struct mlx5dv_steering_anchor *
mlx5dv_create_steering_anchor(struct ibv_context *context, struct mlx5dv_steering_anchor_attr *attr)
{
	static const char call[] = "mlx5dv_create_steering_anchor";
	int ret = anchor_check(call, context, attr);
	struct dv_anchor *anchor;

	if (ret)
		return dv_fail(ret);
	anchor = dv_take(call, context, anchor);
	if (!anchor)
		return dv_fail(ENOMEM);
	*anchor = (struct dv_anchor){ .context = context };
	ret = anchor_run_create(call, attr, anchor);
	if (!ret)
		return &anchor->anchor;
	dv_give(context, anchor);
	return dv_fail(ret);
}

DV_EXPORT int mlx5dv_destroy_steering_anchor(struct mlx5dv_steering_anchor *sa)
{
	struct dv_anchor *anchor = (struct dv_anchor *)sa;
	int ret =
		verbs_cmd_run_destroy(anchor->context, MLX5_IB_OBJECT_STEERING_ANCHOR,
				      MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY,
				      MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE, anchor->handle);

	if (ret) {
		verbs_warn("mlx5dv_destroy_steering_anchor: the kernel keeps anchor %u: errno %d",
			   sa->id, ret);
		return verbs_result(ret);
	}
	dv_give(anchor->context, anchor);
	return 0;
}
