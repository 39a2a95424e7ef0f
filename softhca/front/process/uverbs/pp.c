/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp.c - packet pacing objects: an entry of the adapter's rate table, which a program's own queues
 * may name.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/pacing.h"
#include "softhca/front/process/driver/rate_limits.h"
#include "softhca/front/process/uverbs/objects.h"

struct uverbs_pp {
	struct object base;
	uint32_t index;
};

static bool pp_exists(const struct adapter *adapter)
{
	return fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING) &&
	       fld_get(adapter->qos_caps, QOS_CAP_PACKET_PACING_UID);
}

static int pp_destroy(struct object *object, pid_t tid)
{
	(void)tid;
	rate_limit_put(object->file->adapter, ((struct uverbs_pp *)object)->index);
	return 0;
}

static int pp_make(struct uverbs_call *uc, struct uverbs_pp *pp)
{
	struct rate_entry entry = { .uid = PRM_SHARED_UID };
	uint64_t flags;

	if (uc_in(uc, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, entry.context, sizeof(entry.context)) ||
	    uc_in(uc, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags & ~(uint64_t)MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX)
		return EINVAL;
	entry.dedicated = flags & MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX;
	if (entry.dedicated)
		entry.uid = uc->file->uid;
	return rate_entry_get(uc->adapter, &entry, &pp->index);
}

static int pp_alloc(struct uverbs_call *uc)
{
	struct uverbs_pp *pp;
	uint16_t index;
	int ret;

	if (!uc->file->uid)
		return EINVAL;
	ret = object_new(sizeof(*pp), uc->file, MLX5_IB_OBJECT_PP, pp_destroy, &pp);
	if (ret)
		return ret;
	ret = uc_return_made(uc, pp_make(uc, pp), MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, &pp->base);
	if (ret)
		return ret;
	index = pp->index;
	return uc_answered(uc, uc_out(uc, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, &index, sizeof(index)),
			   &pp->base);
}

static int pp_free(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE), uc->tid);
}

static const struct uverbs_attr alloc_attrs[] = {
	{ MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, ATTR_NEW, MANDATORY, 0, 0, MLX5_IB_OBJECT_PP },
	{ MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, ATTR_IN, MANDATORY, 1, PRM_PP_CONTEXT_SIZE, 0 },
	{ MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
	{ MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, ATTR_OUT, MANDATORY, 2, 2, 0 },
};

static const struct uverbs_attr free_attrs[] = {
	{ MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, MLX5_IB_OBJECT_PP },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(pp_exists, "PP_ALLOC", MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_ALLOC, pp_alloc,
		  alloc_attrs),
	METHOD_IF(pp_exists, "PP_DESTROY", MLX5_IB_OBJECT_PP, MLX5_IB_METHOD_PP_OBJ_DESTROY,
		  pp_free, free_attrs),
};

const struct uverbs_methods pp_methods = METHODS(method_table);
