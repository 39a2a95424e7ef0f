/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_action.c - flow actions in the device's format: changing, adding and removing headers, and
 * IPsec. ibv_destroy_flow_action() destroys all of them.
 */
#include <stdlib.h>

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/flow.h"
#include "util/alloc.h"
#include "util/log.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

static int check_size(const char *call, const char *name, size_t size)
{
	if (size <= UINT16_MAX)
		return 0;
	verbs_warn("%s: %s is %zu, limit %u", call, name, size, UINT16_MAX);
	return EINVAL;
}

/* Creates an action with METHOD. The first of CMD's NATTRS attributes is the new handle. */
static struct ibv_flow_action *action_create(const char *call, struct ibv_context *context,
					     uint16_t method, struct verbs_short *cmd,
					     unsigned int nattrs)
{
	struct verbs_flow_action *action = calloc_for(call, 1, sizeof(*action));
	int ret = action ? verbs_cmd_run_short(context, UVERBS_OBJECT_FLOW_ACTION, method, cmd,
					       nattrs)
			 : ENOMEM;

	if (ret) {
		if (action)
			verbs_warn("%s: the kernel refuses it: errno %d%s", call, ret,
				   ret == EOPNOTSUPP ? ", as the device does not do this" : "");
		free(action);
		return dv_fail(ret);
	}
	action->action.context = context;
	action->handle = (uint32_t)cmd->attrs[0].value;
	return &action->action;
}

DV_EXPORT struct ibv_flow_action *
mlx5dv_create_flow_action_modify_header(struct ibv_context *context, size_t actions_sz,
					uint64_t actions[], enum mlx5dv_flow_table_type ft_type)
{
	static const char call[] = "mlx5dv_create_flow_action_modify_header";
	int ret = dv_check_context(call, context);
	struct verbs_short cmd;

	if (!ret && !actions) {
		verbs_warn("%s: actions is NULL", call);
		ret = EINVAL;
	}
	if (!ret)
		ret = check_size(call, "actions_sz", actions_sz);
	if (ret)
		return dv_fail(ret);
	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE);
	cmd.attrs[1] =
		verbs_short_in(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, actions, actions_sz);
	cmd.attrs[2] = verbs_short_u64(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, ft_type);
	return action_create(call, context, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, &cmd,
			     3);
}

DV_EXPORT struct ibv_flow_action *
mlx5dv_create_flow_action_packet_reformat(struct ibv_context *context, size_t data_sz, void *data,
					  enum mlx5dv_flow_action_packet_reformat_type type,
					  enum mlx5dv_flow_table_type ft_type)
{
	static const char call[] = "mlx5dv_create_flow_action_packet_reformat";
	int ret = dv_check_context(call, context);
	unsigned int n = 1;
	struct verbs_short cmd;

	if (!ret && !data != !data_sz) {
		verbs_warn("%s: data_sz is %zu, data is %p", call, data_sz, data);
		ret = EINVAL;
	}
	if (!ret)
		ret = check_size(call, "data_sz", data_sz);
	if (ret)
		return dv_fail(ret);
	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE);
	if (data_sz)
		cmd.attrs[n++] =
			verbs_short_in(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, data, data_sz);
	cmd.attrs[n++] = verbs_short_u64(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, type);
	cmd.attrs[n++] = verbs_short_u64(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, ft_type);
	return action_create(call, context, MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, &cmd,
			     n);
}

DV_EXPORT struct ibv_flow_action *
mlx5dv_create_flow_action_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *esp,
			      struct mlx5dv_flow_action_esp *attr)
{
	const struct verbs_attr flags =
		attr && attr->comp_mask & MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS
			? verbs_attr_flags(MLX5_IB_ATTR_CREATE_FLOW_ACTION_FLAGS,
					   attr->action_flags)
			: verbs_attr_skip();
	const struct verbs_udata udata = { .attrs = &flags, .nattrs = 1 };
	int ret = dv_check_context("mlx5dv_create_flow_action_esp", context);

	if (ret)
		return dv_fail(ret);
	if (attr && attr->comp_mask & ~(uint64_t)MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS) {
		verbs_warn("mlx5dv_create_flow_action_esp: comp_mask is %#llx, known are %#x",
			   (unsigned long long)attr->comp_mask, MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS);
		return dv_fail(EOPNOTSUPP);
	}
	return mlx5_flow_action_create_esp_with(context, esp, &udata);
}
