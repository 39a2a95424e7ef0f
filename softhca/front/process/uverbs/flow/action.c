/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * action.c - flow actions: modification of headers, and the headers of tunnels that come or go.
 *
 * Refusals follow fs.c of Linux 6.1's mlx5_ib and mlx5_core in order and errno.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/packet_reformat.h"
#include "softhca/front/process/uverbs/flow/flow.h"

/* Frees the device's object of an action. The device refuses if an entry that was made by DevX uses
 * the object. Linux ignores the refusal, so the object then stays until the adapter's end. */
static void action_release(struct adapter *adapter, unsigned int action, uint32_t number)
{
	if (action == PRM_FLOW_MODIFY_HEADER)
		adapter_release(adapter, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT, number);
	else if (action == PRM_FLOW_PACKET_REFORMAT)
		adapter_release(adapter, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT, number);
}

static int action_destroy(struct object *object, pid_t tid)
{
	const struct uverbs_flow_action *action = (struct uverbs_flow_action *)object;

	(void)tid;
	action_release(object->file->adapter, action->action, action->number);
	return 0;
}

static int action_return(struct uverbs_call *uc, uint16_t id, unsigned int what, uint32_t number)
{
	struct uverbs_flow_action *action;
	int ret = object_new(sizeof(*action), uc->file, UVERBS_OBJECT_FLOW_ACTION, action_destroy,
			     &action);

	if (ret) {
		action_release(uc->adapter, what, number);
		return ret;
	}
	action->action = what;
	action->number = number;
	return uc_return_object(uc, id, &action->base);
}

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

/* Checks the list, and makes it on the device. Linux counts actions in a byte, so a longer list is
 * refused. */
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
	uint32_t number;
	int ret = change_make(uc, &number);

	return ret ? ret
		   : action_return(uc, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE,
				   PRM_FLOW_MODIFY_HEADER, number);
}

static bool table_has(const struct adapter *adapter, uint32_t properties, uint32_t field)
{
	return fld_get(fld_at(adapter->flow_caps, properties), field);
}

/* Returns whether the device has reformats of TYPE in tables of type TABLE: received frames leave
 * tunnels, sent ones enter them. */
static bool reformat_is_valid(const struct adapter *adapter, uint64_t type, uint64_t table)
{
	const bool is_received = table == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX;
	const bool is_sent = table == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;

	switch (type) {
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2:
		return is_received &&
		       table_has(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE,
				 FT_PROP_DECAP);
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
		return is_sent && fld_get(adapter->flow_caps, FLOW_NIC_CAP_ENCAP_GENERAL_HEADER);
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		return is_received &&
		       table_has(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE,
				 FT_PROP_REFORMAT_L3_TUNNEL_TO_L2);
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL:
		return is_sent &&
		       table_has(adapter, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT,
				 FT_PROP_REFORMAT_L2_TO_L3_TUNNEL);
	default:
		return false;
	}
}

static enum prm_reformat reformat_type(uint64_t type)
{
	switch (type) {
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL:
		return PRM_REFORMAT_L2_TO_L2_TUNNEL;
	case MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2:
		return PRM_REFORMAT_L3_TUNNEL_TO_L2;
	default:
		return PRM_REFORMAT_L2_TO_L3_TUNNEL;
	}
}

/* Runs the command with the program's headers. */
static int reformat_alloc(struct uverbs_call *uc, enum prm_reformat type, uint32_t *number)
{
	const size_t size = uc_len(uc, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF);
	uint8_t out[PRM_CMD_OUT_SIZE], *in;
	size_t len;
	int ret;

	if (!uc_attr(uc, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF))
		return ENOENT;
	if (size > fld_get(uc->adapter->flow_caps, FLOW_NIC_CAP_MAX_ENCAP_HEADER_SIZE))
		return EINVAL;
	in = calloc(1, PRM_ALLOC_REFORMAT_IN_SIZE + size);
	if (!in)
		return ENOMEM;
	len = (size_t)((uint8_t *)fld_at(in, ALLOC_REFORMAT_IN_DATA) - in) + size;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	fld_set(in, ALLOC_REFORMAT_IN_TYPE, type);
	fld_set(in, ALLOC_REFORMAT_IN_DATA_SIZE, size);
	ret = uc_in(uc, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF,
		    fld_at(in, ALLOC_REFORMAT_IN_DATA), size);
	if (!ret)
		ret = adapter_command(uc->adapter, in, len, out, sizeof(out));
	if (!ret)
		*number = (uint32_t)fld_get(out, ALLOC_REFORMAT_OUT_ID);
	free(in);
	return ret;
}

static int packet_reformat(struct uverbs_call *uc)
{
	const uint16_t handle = MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE;
	uint64_t table, type;
	uint32_t number;
	int ret;

	if (uc_in(uc, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, &table, sizeof(table)) ||
	    uc_in(uc, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, &type, sizeof(type)))
		return EFAULT;
	if (!reformat_is_valid(uc->adapter, type, table))
		return EOPNOTSUPP;
	if (type == MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2)
		return action_return(uc, handle, PRM_FLOW_DECAP, 0);
	ret = reformat_alloc(uc, reformat_type(type), &number);
	return ret ? ret : action_return(uc, handle, PRM_FLOW_PACKET_REFORMAT, number);
}

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
