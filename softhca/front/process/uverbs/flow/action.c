/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action.c - flow actions: modification, insertion and removal of headers.
 *
 * Refusals follow fs.c of Linux 6.1's mlx5_ib and mlx5_core in order and errno. The adapter inserts
 * and removes no headers, so those are refused.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/modify_header.h"
#include "softhca/front/process/uverbs/flow/flow.h"

/* ---- modification ---- */

static uint64_t max_changes(const struct adapter *adapter, uint32_t properties)
{
	return fld_get(fld_at(adapter->flow_caps, properties), FT_PROP_MAX_MODIFY_HEADER_ACTIONS);
}

/* Returns 0, the device's type of the table and the number of changes that it allows, or a positive
 * errno. Other tables do not exist on this device. */
static int change_table(const struct adapter *adapter, uint64_t type,
			enum prm_flow_table_type *table, uint64_t *most)
{
	switch (type) {
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX:
		*table = PRM_FLOW_NIC_RX;
		*most = max_changes(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
		return 0;
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX:
		*table = PRM_FLOW_NIC_TX;
		*most = max_changes(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);
		return 0;
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static bool has_changes(const struct adapter *adapter)
{
	return max_changes(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE) ||
	       max_changes(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);
}

static int change_destroy(struct object *object, pid_t tid)
{
	const struct uverbs_flow_action *action = (struct uverbs_flow_action *)object;

	(void)tid;
	if (!object->file->adapter->dead)
		adapter_release(object->file->adapter, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT,
				action->number);
	return 0;
}

/* Runs the command with COUNT actions, which the program has written. */
static int change_alloc(struct uverbs_call *uc, enum prm_flow_table_type table, unsigned int count,
			uint32_t *number)
{
	const size_t size = (size_t)count * PRM_HEADER_ACTION_SIZE;
	uint8_t out[PRM_CMD_OUT_SIZE], *in = calloc(1, PRM_CMD_IN_SIZE + size);
	int ret;

	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	fld_set(in, ALLOC_MODIFY_HEADER_IN_TABLE_TYPE, table);
	fld_set(in, ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS, count);
	ret = uc_in(uc, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM,
		    fld_at(in, ALLOC_MODIFY_HEADER_IN_ACTIONS), size);
	if (!ret)
		ret = adapter_command(uc->adapter, in, PRM_CMD_IN_SIZE + size, out, sizeof(out));
	if (!ret)
		*number = (uint32_t)fld_get(out, ALLOC_MODIFY_HEADER_OUT_ID);
	free(in);
	return ret;
}

/* Checks the list, and makes it on the device. Linux counts actions in a byte. */
static int change_make(struct uverbs_call *uc, uint32_t *number)
{
	const size_t size = uc_len(uc, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM);
	const unsigned int count = (uint8_t)(size / PRM_HEADER_ACTION_SIZE);
	enum prm_flow_table_type table;
	uint64_t type, most;
	int ret;

	if (!has_changes(uc->adapter))
		return EOPNOTSUPP;
	if (size % PRM_HEADER_ACTION_SIZE)
		return EINVAL;
	if (uc_in(uc, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, &type, sizeof(type)))
		return EFAULT;
	ret = change_table(uc->adapter, type, &table, &most);
	if (!ret && count > most)
		ret = EOPNOTSUPP;
	return ret ? ret : change_alloc(uc, table, count, number);
}

static int modify_header(struct uverbs_call *uc)
{
	struct uverbs_flow_action *action;
	uint32_t number;
	int ret = change_make(uc, &number);

	if (ret)
		return ret;
	ret = object_new(sizeof(*action), uc->file, UVERBS_OBJECT_FLOW_ACTION, change_destroy,
			 &action);
	if (ret) {
		adapter_release(uc->adapter, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, number);
		return ret;
	}
	action->number = number;
	return uc_return_object(uc, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, &action->base);
}

/* ---- insertion and removal ---- */

static int packet_reformat(struct uverbs_call *uc)
{
	(void)uc;
	return EOPNOTSUPP;
}

/* ---- the calls ---- */

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
