/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * matcher.c - matchers of flows in the device's format: a mask, a table and a priority. A program
 * creates one before any flow; the device does not see it until then. Source:
 * drivers/infiniband/hw/mlx5/fs.c of Linux 6.1.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/flow/flow.h"

enum { FLAG_EGRESS = 1 << 2, FLOW_TYPES = MLX5_IB_FLOW_TYPE_MC_DEFAULT + 1 };

static int matcher_destroy(struct object *object, pid_t tid)
{
	(void)object;
	(void)tid;
	return 0;
}

/* Checks the table type. The FDB is refused, as there is no switch whose driver offers it. */
static int check_table_type(uint64_t type)
{
	switch (type) {
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX:
	case MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX:
		return 0;
	default:
		return EINVAL;
	}
}

static int read_table_type(struct uverbs_call *uc, struct uverbs_matcher *matcher)
{
	uint64_t type, flags;
	int ret;

	if (!uc_attr(uc, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE)) {
		ret = uc_flags(uc, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, FLAG_EGRESS, &flags);
		matcher->table_type = flags ? MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX
					    : MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX;
		return ret;
	}
	if (uc_attr(uc, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS))
		return EINVAL;
	if (uc_in(uc, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, &type, sizeof(type)))
		return EFAULT;
	matcher->table_type = (uint32_t)type;
	return check_table_type(type);
}

static int matcher_read(struct uverbs_call *uc, struct uverbs_matcher *matcher)
{
	if (uc_in(uc, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, matcher->match.mask,
		  sizeof(matcher->match.mask)) ||
	    uc_in(uc, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &matcher->priority,
		  sizeof(matcher->priority)) ||
	    uc_in(uc, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &matcher->match.criteria,
		  sizeof(matcher->match.criteria)))
		return EFAULT;
	matcher->type =
		uc_attr(uc, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE)->attr_data.enum_data.elem_id;
	return read_table_type(uc, matcher);
}

static int matcher_create(struct uverbs_call *uc)
{
	struct uverbs_matcher *matcher;
	int ret = object_new(sizeof(*matcher), uc->file, MLX5_IB_OBJECT_FLOW_MATCHER,
			     matcher_destroy, &matcher);

	return ret ? ret
		   : uc_return_made(uc, matcher_read(uc, matcher),
				    MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, &matcher->base);
}

static int matcher_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE), uc->tid);
}

static const struct uverbs_attr create_attrs[] = {
	{ MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, ATTR_NEW, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_FLOW_MATCHER },
	{ MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, ATTR_IN, MANDATORY, 1,
	  sizeof(struct mlx5_ib_match_params), 0 },
	{ MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, ATTR_ENUM, MANDATORY, 2, 2, FLOW_TYPES },
	{ MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, ATTR_IN, MANDATORY, 1, 1, 0 },
	{ MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, ATTR_CONST, OPTIONAL, 8, 8, 0 },
};

static const struct uverbs_attr destroy_attrs[] = {
	{ MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_FLOW_MATCHER },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_FLOW_MATCHER", MLX5_IB_OBJECT_FLOW_MATCHER,
	       MLX5_IB_METHOD_FLOW_MATCHER_CREATE, matcher_create, create_attrs),
	METHOD("DESTROY_FLOW_MATCHER", MLX5_IB_OBJECT_FLOW_MATCHER,
	       MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, matcher_remove, destroy_attrs),
};

const struct uverbs_methods flow_matcher_methods = METHODS(method_table);
