/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota.c - see quota.h.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/uverbs/quota.h"
#include "softhca/front/process/uverbs/uverbs.h"

static enum object_kind kind_of(const struct object *object)
{
	switch (object->type) {
	case UVERBS_OBJECT_QP:
	case UVERBS_OBJECT_WQ:
	case MLX5_IB_OBJECT_DEVX_OBJ: /* may be a QP */
		return OBJECT_QP;
	case UVERBS_OBJECT_CQ:
		return OBJECT_CQ;
	case UVERBS_OBJECT_SRQ:
		return OBJECT_SRQ;
	case UVERBS_OBJECT_MR:
	case UVERBS_OBJECT_MW:
		return OBJECT_KEY;
	case UVERBS_OBJECT_PD:
		return OBJECT_PD;
	default:
		return OBJECT_OTHER;
	}
}

static uint32_t limit_of(const struct adapter *adapter, enum object_kind kind)
{
	switch (kind) {
	case OBJECT_QP:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_QP);
	case OBJECT_CQ:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_CQ);
	case OBJECT_SRQ:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_SRQ);
	case OBJECT_KEY:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_MKEY);
	case OBJECT_PD:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_PD);
	default:
		return QUOTA_OTHER_OBJECTS;
	}
}

int quota_take(const struct object *object)
{
	struct adapter *adapter = object->file->adapter;
	enum object_kind kind = kind_of(object);
	uint32_t *all = &adapter->objects.of[kind], *own, limit;

	if (object->maker) {
		own = &object->maker->objects[adapter->index].of[kind];
		limit = limit_of(adapter, kind);
		if (adapter->shared && (*all >= limit || *own >= limit - *all))
			return ENOMEM;
		++*own;
	}
	++*all;
	return 0;
}

void quota_give(const struct object *object)
{
	struct adapter *adapter = object->file->adapter;
	enum object_kind kind = kind_of(object);

	if (object->maker)
		object->maker->objects[adapter->index].of[kind]--;
	adapter->objects.of[kind]--;
}
