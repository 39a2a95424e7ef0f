/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - ids and channels: made, bound to a device, moved to another channel, destroyed.
 *
 * The kernel counts the events of an id that were read; its memory may go when as many were
 * acknowledged. An id without a channel has one of its own and its calls wait (cm_id.waits).
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- channels ---- */

static int channel_create(struct rdma_event_channel **out)
{
	struct rdma_event_channel *channel = malloc(sizeof(*channel));
	int ret;

	if (!channel)
		return ENOMEM;
	ret = cm_open(&channel->fd);
	if (ret) {
		free(channel);
		return ret;
	}
	*out = channel;
	return 0;
}

CMA_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = NULL;

	cma_return(channel_create(&channel));
	return channel;
}

CMA_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

/* ---- ids ---- */

int id_alloc(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
	     enum ibv_qp_type qp_type, struct cm_id **out)
{
	struct cm_id *cm = calloc(1, sizeof(*cm));
	int ret = 0;

	if (!cm)
		return ENOMEM;
	cm->id.channel = channel;
	cm->id.context = context;
	cm->id.ps = ps;
	cm->id.qp_type = qp_type;
	cm->waits = !channel;
	if (cm->waits)
		ret = channel_create(&cm->id.channel);
	if (ret) {
		free(cm);
		return ret;
	}
	LIST_INIT(&cm->multicasts);
	pthread_mutex_init(&cm->lock, NULL);
	pthread_cond_init(&cm->acked, NULL);
	*out = cm;
	return 0;
}

void id_free(struct cm_id *cm)
{
	struct cm_multicast *multicast;

	while ((multicast = LIST_FIRST(&cm->multicasts)) != NULL) {
		LIST_REMOVE(multicast, entry);
		free(multicast);
	}
	if (cm->waits)
		rdma_destroy_event_channel(cm->id.channel);
	if (cm->has_default_pd)
		device_put_pd(cm->device);
	rdma_freeaddrinfo(cm->found);
	free(cm->id.route.path_rec);
	free(cm->connect_data);
	free(cm->request_qp);
	pthread_cond_destroy(&cm->acked);
	pthread_mutex_destroy(&cm->lock);
	free(cm);
}

int id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
	      enum ibv_qp_type qp_type, struct cm_id **out)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct cm_cmd cmd = {
		.create_id = { .response = (uintptr_t)&resp, .ps = ps, .qp_type = qp_type }
	};
	struct cm_id *cm;
	int ret = id_alloc(channel, context, ps, qp_type, &cm);

	if (ret)
		return ret;
	cmd.create_id.uid = (uintptr_t)cm;
	ret = CM_RUN_ID(cm, &cmd, CREATE_ID, create_id, sizeof(resp));
	if (ret) {
		id_free(cm);
		return ret;
	}
	cm->number = resp.id;
	*out = cm;
	return 0;
}

CMA_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			      void *context, enum rdma_port_space ps)
{
	bool datagrams = ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP;
	struct cm_id *cm;
	int ret = id_create(channel, context, ps, datagrams ? IBV_QPT_UD : IBV_QPT_RC, &cm);

	if (!ret)
		*id = &cm->id;
	return cma_return(ret);
}

void id_await_acks(struct cm_id *cm, const uint32_t *counter, uint32_t reported)
{
	pthread_mutex_lock(&cm->lock);
	while (*counter < reported)
		pthread_cond_wait(&cm->acked, &cm->lock);
	pthread_mutex_unlock(&cm->lock);
}

int id_destroy_in_kernel(struct cm_id *cm)
{
	struct rdma_ucm_destroy_id_resp resp = { 0 };
	struct cm_cmd cmd = { .destroy_id = { .response = (uintptr_t)&resp, .id = cm->number } };
	int ret = CM_RUN_ID(cm, &cmd, DESTROY_ID, destroy_id, sizeof(resp));

	if (ret)
		return ret;
	event_release(cm);
	id_await_acks(cm, &cm->events_acked, resp.events_reported);
	return 0;
}

CMA_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	int ret = id_destroy_in_kernel(to_cm_id(id));

	if (!ret)
		id_free(to_cm_id(id));
	return cma_return(ret);
}

/* ---- what the kernel knows of it ---- */

int id_query(struct cm_id *cm, uint32_t what, void *resp, size_t size)
{
	struct cm_cmd cmd = {
		.query = { .response = (uintptr_t)resp, .id = cm->number, .option = what }
	};

	return CM_RUN_ID(cm, &cmd, QUERY, query, size);
}

static int bind_device(struct cm_id *cm, const struct rdma_ucm_query_addr_resp *resp)
{
	int ret;

	if (cm->device || !resp->node_guid)
		return 0;
	ret = device_find(resp->node_guid, (int)resp->ibdev_index, &cm->device);
	if (ret)
		return ret;
	cm->id.verbs = cm->device->verbs;
	cm->id.port_num = resp->port_num;
	ret = device_get_pd(cm->device, &cm->id.pd);
	cm->has_default_pd = !ret;
	return ret;
}

int id_query_addr(struct cm_id *cm)
{
	struct rdma_ucm_query_addr_resp resp = { .ibdev_index = -1u };
	struct rdma_addr *addr = &cm->id.route.addr;
	int ret = id_query(cm, RDMA_USER_CM_QUERY_ADDR, &resp, sizeof(resp));

	if (ret)
		return ret;
	memcpy(&addr->src_storage, &resp.src_addr, sizeof(addr->src_storage));
	memcpy(&addr->dst_storage, &resp.dst_addr, sizeof(addr->dst_storage));
	return bind_device(cm, &resp);
}

/* The GIDs come as addresses of AF_IB. */
int id_query_gid(struct cm_id *cm)
{
	struct rdma_ucm_query_addr_resp resp = { .ibdev_index = -1u };
	struct rdma_ib_addr *ib = &cm->id.route.addr.addr.ibaddr;
	struct sockaddr_ib sib;
	int ret = id_query(cm, RDMA_USER_CM_QUERY_GID, &resp, sizeof(resp));

	if (ret)
		return ret;
	memcpy(&sib, &resp.src_addr, sizeof(sib));
	memcpy(&ib->sgid, sib.sib_addr.sib_raw, sizeof(ib->sgid));
	memcpy(&sib, &resp.dst_addr, sizeof(sib));
	memcpy(&ib->dgid, sib.sib_addr.sib_raw, sizeof(ib->dgid));
	ib->pkey = resp.pkey;
	return 0;
}

enum { MAX_PATHS = 6 };

static void unpack_path(struct ibv_sa_path_rec *path, const struct ib_path_rec_data *data)
{
	struct ibv_path_record record;
	uint32_t flow;
	uint16_t qos;

	memcpy(&record, data->path_rec, sizeof(record));
	flow = be32toh(record.flowlabel_hoplimit);
	qos = be16toh(record.qosclass_sl);
	*path = (struct ibv_sa_path_rec){
		.dgid = record.dgid,
		.sgid = record.sgid,
		.dlid = record.dlid,
		.slid = record.slid,
		.flow_label = htobe32(flow >> 8 & 0xfffff),
		.hop_limit = flow & 0xff,
		.traffic_class = record.tclass,
		.reversible = record.reversible_numpath >> 7,
		.numb_path = 1,
		.pkey = record.pkey,
		.sl = qos & 0xf,
		.mtu_selector = 2,
		.mtu = record.mtu & 0x3f,
		.rate_selector = 2,
		.rate = record.rate & 0x3f,
		.packet_life_time_selector = 2,
		.packet_life_time = record.packetlifetime & 0x3f,
		.preference = record.preference,
	};
}

int id_query_path(struct cm_id *cm)
{
	union {
		struct rdma_ucm_query_path_resp resp;
		uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
			     MAX_PATHS * sizeof(struct ib_path_rec_data)];
	} answer = { .resp = { 0 } };
	struct ibv_sa_path_rec *paths = NULL;
	uint32_t i;
	int ret = id_query(cm, RDMA_USER_CM_QUERY_PATH, &answer, sizeof(answer));

	if (ret)
		return ret;
	if (answer.resp.num_paths > MAX_PATHS)
		answer.resp.num_paths = MAX_PATHS;
	if (answer.resp.num_paths) {
		paths = calloc(answer.resp.num_paths, sizeof(*paths));
		if (!paths)
			return ENOMEM;
	}
	for (i = 0; i < answer.resp.num_paths; i++)
		unpack_path(&paths[i], &answer.resp.path_data[i]);
	free(cm->id.route.path_rec);
	cm->id.route.path_rec = paths;
	cm->id.route.num_paths = answer.resp.num_paths;
	return 0;
}

/* ---- options ---- */

CMA_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			       size_t optlen)
{
	struct cm_cmd cmd = { .set_option = { .optval = (uintptr_t)optval,
					      .id = to_cm_id(id)->number,
					      .level = level,
					      .optname = optname,
					      .optlen = optlen } };

	return cma_return(CM_RUN_ID(to_cm_id(id), &cmd, SET_OPTION, set_option, 0));
}

/* ---- another channel ---- */

/* The kernel moves the events that nobody has read, too. */
static int move(struct cm_id *cm, struct rdma_event_channel *channel, uint32_t *reported)
{
	struct rdma_ucm_migrate_resp resp = { 0 };
	struct cm_cmd cmd = { .migrate_id = { .response = (uintptr_t)&resp,
					      .id = cm->number,
					      .fd = cm->id.channel->fd } };
	int ret = CM_RUN(channel->fd, &cmd, MIGRATE_ID, migrate_id, sizeof(resp));

	*reported = resp.events_reported;
	return ret;
}

CMA_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *old = id->channel;
	struct cm_id *cm = to_cm_id(id);
	bool waits = !channel;
	uint32_t reported;
	int ret = 0;

	if (cm->waits && waits)
		return 0;
	if (waits)
		ret = channel_create(&channel);
	if (ret)
		return cma_return(ret);
	ret = move(cm, channel, &reported);
	if (ret) {
		if (waits)
			rdma_destroy_event_channel(channel);
		return cma_return(ret);
	}
	/* events of the old channel are acknowledged before anybody reads on the new one */
	event_release(cm);
	id_await_acks(cm, &cm->events_acked, reported);
	if (cm->waits)
		rdma_destroy_event_channel(old);
	cm->waits = waits;
	id->channel = channel;
	return 0;
}
