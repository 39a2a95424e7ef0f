/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast.c - multicast groups of datagram ids. The group's GID derives from its address; the library
 * attaches the program's QP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/packet.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"
#include "softhca/net/subnet.h"

static uint32_t next_number = 1;

/* Makes the group's GID. On RoCE that is the address itself; on InfiniBand it contains address and
 * default partition (RFC 4391, section 4). */
static void group_gid(const struct ucma_id *id, const struct sockaddr_storage *addr,
		      uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t ipoib[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff };
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
	bool roce = adapter_is_roce(id->src.adapter);

	if (addr->ss_family == AF_INET6) {
		memcpy(gid, &v6->sin6_addr, 16);
		return;
	}
	memcpy(gid, ipoib, 16);
	if (roce)
		memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + 12, &v4->sin_addr, 4);
	if (!roce)
		gid[12] &= 0x0f;
}

static void tell_join(struct ucma_mcast *mcast, const struct sockaddr_storage *addr)
{
	struct ucma_id *id = mcast->id;
	struct ucma_event *event = ucma_event_new(id, EV_MULTICAST_JOIN, 0);
	struct rdma_ucm_ud_param *param;

	if (!event)
		return;
	event->mcast = mcast;
	event->resp.uid = mcast->uid;
	event->resp.id = mcast->number;
	param = &event->resp.param.ud;
	param->qp_num = QPN_MULTICAST;
	param->qkey = UCMA_QKEY;
	param->ah_attr.port_num = id->src.port;
	param->ah_attr.is_global = 1;
	group_gid(id, addr, param->ah_attr.grh.dgid);
	param->ah_attr.grh.sgid_index = id->src.gid_index;
	param->ah_attr.grh.hop_limit = 1;
	if (!adapter_is_roce(id->src.adapter))
		param->ah_attr.dlid = subnet_mlid(param->ah_attr.grh.dgid);
	ucma_event_send(event);
}

static void free_one(struct ucma_mcast *mcast)
{
	ucma_events_drop(mcast->id, mcast);
	LIST_REMOVE(mcast, in_id);
	free(mcast);
}

static int check_join(struct ucma_id *id, const struct sockaddr_storage *addr)
{
	if (!ucma_addr_is_multicast(addr) || !ucma_id_adapter(id) || !id->datagram)
		return EINVAL;
	return 0;
}

static int join_group(struct ucma_call *uc, struct ucma_id *id, const struct sockaddr_storage *addr,
		      uint64_t uid, uint64_t response)
{
	struct rdma_ucm_create_id_resp resp;
	struct ucma_mcast *mcast;
	int ret = check_join(id, addr);

	if (ret)
		return ret;
	mcast = calloc(1, sizeof(*mcast));
	if (!mcast)
		return ENOMEM;
	mcast->id = id;
	mcast->uid = uid;
	mcast->number = next_number++;
	LIST_INSERT_HEAD(&id->mcasts, mcast, in_id);
	resp.id = mcast->number;
	ret = ucma_respond(uc, response, &resp, sizeof(resp));
	if (ret) {
		free_one(mcast);
		return ret;
	}
	log_note("rdma_cm: a multicast group is joined");
	tell_join(mcast, addr);
	return 0;
}

/* Checks a group's address and then the room for the answer, in Linux' order. */
static int check_group(const struct ucma_call *uc, const struct sockaddr_storage *addr)
{
	if (!ucma_addr_size(addr->ss_family))
		return EINVAL;
	return uc->hdr.out < sizeof(struct rdma_ucm_create_id_resp) ? ENOSPC : 0;
}

/* Executes JOIN_MCAST. By the command's flags, joins as a full member (0) or to send only (1). */
int ucma_mcast_join(struct ucma_call *uc)
{
	const struct rdma_ucm_join_mcast *cmd = &uc->join_mcast;
	struct sockaddr_storage addr = { 0 };
	struct ucma_id *id;
	int ret;

	memcpy(&addr, &cmd->addr, sizeof(addr));
	ret = check_group(uc, &addr);
	if (ret)
		return ret;
	if (cmd->addr_size != ucma_addr_size(addr.ss_family) || cmd->join_flags > 1)
		return EINVAL;
	ret = ucma_id_find(uc, cmd->id, &id);
	if (ret)
		return ret;
	return join_group(uc, id, &addr, cmd->uid, cmd->response);
}

/* Executes JOIN_IP_MCAST, the older form of JOIN_MCAST, for IP only. */
int ucma_mcast_join_ip(struct ucma_call *uc)
{
	const struct rdma_ucm_join_ip_mcast *cmd = &uc->join_ip_mcast;
	struct sockaddr_storage addr = { 0 };
	struct ucma_id *id;
	int ret;

	memcpy(&addr, &cmd->addr, sizeof(cmd->addr));
	ret = check_group(uc, &addr);
	if (!ret)
		ret = ucma_id_find(uc, cmd->id, &id);
	return ret ? ret : join_group(uc, id, &addr, cmd->uid, cmd->response);
}

static struct ucma_mcast *mcast_find(struct ucma_file *file, uint32_t number)
{
	struct ucma_mcast *mcast;
	struct ucma_id *id;

	LIST_FOREACH(id, &file->ids, in_file)
		LIST_FOREACH(mcast, &id->mcasts, in_id)
			if (mcast->number == number)
				return mcast;
	return NULL;
}

int ucma_mcast_leave(struct ucma_call *uc)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_mcast *mcast = mcast_find(uc->file, uc->destroy_id.id);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!mcast)
		return ENOENT;
	resp.events_reported = mcast->events_reported;
	free_one(mcast);
	return ucma_respond(uc, uc->destroy_id.response, &resp, sizeof(resp));
}

void ucma_mcast_free_all(struct ucma_id *id)
{
	struct ucma_mcast *mcast;

	while ((mcast = LIST_FIRST(&id->mcasts)))
		free_one(mcast);
}
