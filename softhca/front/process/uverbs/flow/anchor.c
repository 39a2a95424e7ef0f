/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anchor.c - steering anchors: a table that leads to the flows of one priority. Rules that a
 * program makes by commands of its own can send frames on to it.
 *
 * Arguments are refused as by fs.c of Linux 6.1's mlx5_ib, and so are priorities that no flow has,
 * which Linux does not check. The anchors of a priority share one table, which stays until the
 * device goes.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "softhca/front/process/uverbs/flow/flow.h"

static bool anchor_exists(const struct adapter *adapter)
{
	return adapter_is_mlx5(adapter) &&
	       adapter_cap(adapter, HCA_CAP_SHARED_OBJECT_TO_USER_OBJECT_ALLOWED);
}

static int anchor_destroy(struct object *object, pid_t tid)
{
	(void)object;
	(void)tid;
	return 0;
}

/* Returns 0 and the level of the priority's flows, or a positive errno. */
static int anchor_level(uint64_t type, uint16_t priority, unsigned int *level)
{
	switch (type) {
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX:
		*level = 0;
		break;
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX:
		*level = STEERING_TRANSMIT;
		break;
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX:
		return EOPNOTSUPP; /* the device has no such tables */
	default:
		return EINVAL;
	}
	if (priority >= STEERING_PRIORITIES)
		return EINVAL;
	*level += 2u * priority + 1;
	return 0;
}

static int anchor_make(struct uverbs_call *uc, uint32_t *table)
{
	unsigned int level;
	uint16_t priority;
	uint64_t type;
	int ret;

	if (uc_in(uc, MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, &type, sizeof(type)) ||
	    uc_in(uc, MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, &priority, sizeof(priority)))
		return EFAULT;
	ret = anchor_level(type, priority, &level);
	if (ret)
		return ret;
	if (!adapter_cap(uc->adapter, HCA_CAP_NIC_FLOW_TABLE))
		return EOPNOTSUPP;
	return steering_anchor(uc->adapter, level, table);
}

static int anchor_create(struct uverbs_call *uc)
{
	struct object *anchor;
	uint32_t table;
	int ret;

	if (!client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return EPERM;
	ret = anchor_make(uc, &table);
	if (!ret)
		ret = object_new(sizeof(*anchor), uc->file, MLX5_IB_OBJECT_STEERING_ANCHOR,
				 anchor_destroy, &anchor);
	if (!ret)
		ret = uc_return_made(uc, 0, MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, anchor);
	if (ret)
		return ret;
	ret = uc_out(uc, MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, &table, sizeof(table));
	return uc_answered(uc, ret ? EFAULT : 0, anchor);
}

static int anchor_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE), uc->tid);
}

static const struct uverbs_attr create_attrs[] = {
	{ MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, ATTR_NEW, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_STEERING_ANCHOR },
	{ MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, ATTR_IN, MANDATORY, 2, 2, 0 },
	/* Linux declares it as input, but writes the number where its data points, so this does the
	 * same. */
	{ MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, ATTR_IN, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_STEERING_ANCHOR },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(anchor_exists, "CREATE_STEERING_ANCHOR", MLX5_IB_OBJECT_STEERING_ANCHOR,
		  MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, anchor_create, create_attrs),
	METHOD_IF(anchor_exists, "DESTROY_STEERING_ANCHOR", MLX5_IB_OBJECT_STEERING_ANCHOR,
		  MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY, anchor_remove, destroy_attrs),
};

const struct uverbs_methods steering_anchor_methods = METHODS(method_table);
