/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action.c - flow actions: modification, insertion and removal of headers.
 *
 * The adapter supports none of these, so Linux refuses their creation (fs.c of its mlx5_ib, 6.1),
 * and no action ever exists.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/flow/flow.h"

static int modify_header(struct uverbs_call *uc)
{
	(void)uc;
	return EOPNOTSUPP;
}

static int packet_reformat(struct uverbs_call *uc)
{
	(void)uc;
	return EOPNOTSUPP;
}

/* The attribute check has failed before this, as no action exists. */
static int action_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE), uc->tid);
}

static const struct uverbs_attr modify_attrs[] = {
	{ MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, ATTR_NEW, MANDATORY, 0, 0,
	  UVERBS_OBJECT_FLOW_ACTION },
	{ MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, ATTR_IN, MANDATORY, 8, ANY_SIZE, 0 },
	{ MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_attr reformat_attrs[] = {
	{ MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, ATTR_NEW, MANDATORY, 0, 0,
	  UVERBS_OBJECT_FLOW_ACTION },
	{ MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, ATTR_IN, OPTIONAL, 1, ANY_SIZE, 0 },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  UVERBS_OBJECT_FLOW_ACTION },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_MODIFY_HEADER", UVERBS_OBJECT_FLOW_ACTION,
	       MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, modify_header, modify_attrs),
	METHOD("CREATE_PACKET_REFORMAT", UVERBS_OBJECT_FLOW_ACTION,
	       MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, packet_reformat, reformat_attrs),
	METHOD_IF(adapter_is_mlx5, "DESTROY_FLOW_ACTION", UVERBS_OBJECT_FLOW_ACTION,
		  UVERBS_METHOD_FLOW_ACTION_DESTROY, action_remove, destroy_attrs),
};

const struct uverbs_methods flow_action_methods = METHODS(method_table);
