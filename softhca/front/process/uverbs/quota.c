/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota.c - see quota.h.
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/uverbs/quota.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/log.h"

enum object_kind quota_kind(const struct adapter *adapter, uint16_t type)
{
	switch (type) {
	case UVERBS_OBJECT_QP:
		return OBJECT_QP;
	case UVERBS_OBJECT_WQ: /* mlx4 has QPs in the place of RQs, so they count as QPs */
		return adapter_is_mlx4(adapter) ? OBJECT_QP : OBJECT_RQ;
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

static const char *const kind_names[] = {
	[OBJECT_QP] = "QPs",          [OBJECT_DCT] = "DCTs",   [OBJECT_RQ] = "RQs",
	[OBJECT_SQ] = "SQs",          [OBJECT_CQ] = "CQs",     [OBJECT_SRQ] = "SRQs",
	[OBJECT_KEY] = "memory keys", [OBJECT_PD] = "domains", [OBJECT_OTHER] = "other objects",
};

static uint32_t limit_of(const struct adapter *adapter, enum object_kind kind)
{
	switch (kind) {
	case OBJECT_QP:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_QP);
	case OBJECT_DCT:
		return QUOTA_DCTS;
	case OBJECT_RQ:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_RQ);
	case OBJECT_SQ:
		return 1u << adapter_cap(adapter, HCA_CAP_LOG_MAX_SQ);
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

/* Each says only once for a kind why calls fail, as a program may try again without end. */
static int share_refuse(const struct adapter *adapter, struct client *client, enum object_kind kind,
			uint32_t has)
{
	if (!(client->refused_kinds & 1u << kind))
		log_note("%s: process %d has its share of %s (%u) and gets no more", adapter->name,
			 (int)client->pid, kind_names[kind], has);
	client->refused_kinds |= 1u << kind;
	return ENOMEM;
}

static int users_share_refuse(const struct adapter *adapter, struct account *account,
			      enum object_kind kind, uint32_t has)
{
	if (!(account->refused_kinds & 1u << kind))
		log_note("%s: the processes of user %u have their share of %s (%u)", adapter->name,
			 account->uid, kind_names[kind], has);
	account->refused_kinds |= 1u << kind;
	return ENOMEM;
}

static int shares_check(const struct adapter *adapter, struct client *client, enum object_kind kind)
{
	const uint32_t all = adapter->objects.of[kind], limit = limit_of(adapter, kind);
	const uint32_t own = client->objects[adapter->index].of[kind];
	const uint32_t users = client->account->objects[adapter->index].of[kind];

	if (!client->account->is_ours && (all >= limit || users >= limit - all))
		return users_share_refuse(adapter, client->account, kind, users);
	if (all >= limit || own >= limit - all - (client->account->is_ours ? 0 : users))
		return share_refuse(adapter, client, kind, own);
	return 0;
}

int quota_take(const struct object *object)
{
	struct adapter *adapter = object->file->adapter;
	const enum object_kind kind = object->kind;
	struct client *maker = object->maker;
	int ret = maker && adapter->shared ? shares_check(adapter, maker, kind) : 0;

	if (ret)
		return ret;
	if (maker) {
		maker->objects[adapter->index].of[kind]++;
		maker->account->objects[adapter->index].of[kind]++;
	}
	adapter->objects.of[kind]++;
	return 0;
}

void quota_give(const struct object *object)
{
	struct adapter *adapter = object->file->adapter;
	const enum object_kind kind = object->kind;

	if (object->maker) {
		object->maker->objects[adapter->index].of[kind]--;
		object->maker->account->objects[adapter->index].of[kind]--;
	}
	adapter->objects.of[kind]--;
}
