/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query.c - queries the kernel for the device, addresses and paths of an id.
 *
 * Programs read id->verbs and id->route directly, so they must be up to date when an event is
 * returned; the kernel's events do not contain them. For IP addresses, a single command
 * (QUERY_ROUTE) returns everything. AF_IB addresses do not fit into its answer and need one command
 * for each kind (QUERY).
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

int rdmacm_id_query(struct cm_id *cm, uint32_t what, void *resp, size_t size)
{
	struct cm_cmd cmd;

	cmd.query = (struct rdma_ucm_query){ .response = (uintptr_t)resp,
					     .id = cm->number,
					     .option = what };
	return CM_RUN_ID(cm, &cmd, QUERY, query, size);
}

static int bind_device(struct cm_id *cm, uint64_t guid, uint32_t index, uint8_t port)
{
	int ret = rdmacm_device_find(guid, (int)index, &cm->device);

	if (ret)
		return ret;
	cm->id.verbs = cm->device->verbs;
	cm->id.port_num = port;
	return rdmacm_device_get_pd(cm->device, &cm->id.pd);
}

/* Returns whether the answer names a device. A virtual function may not have a GUID yet; then the
 * index identifies it. Without a device, the kernel returns port 0 and an index of 0 without
 * meaning. */
static inline bool names_device(uint64_t guid, uint32_t index, uint8_t port)
{
	return guid || (index != -1u && port);
}

/* ---- one command for each kind: AF_IB ---- */

static int query_addr(struct cm_id *cm)
{
	struct rdma_ucm_query_addr_resp resp = { .ibdev_index = -1u };
	struct rdma_addr *addr = &cm->id.route.addr;
	int ret = rdmacm_id_query(cm, RDMA_USER_CM_QUERY_ADDR, &resp, sizeof(resp));

	if (ret)
		return ret;
	memcpy(&addr->src_storage, &resp.src_addr, sizeof(addr->src_storage));
	memcpy(&addr->dst_storage, &resp.dst_addr, sizeof(addr->dst_storage));
	if (cm->device || !names_device(resp.node_guid, resp.ibdev_index, resp.port_num))
		return 0;
	return bind_device(cm, resp.node_guid, resp.ibdev_index, resp.port_num);
}

static int query_gid(struct cm_id *cm)
{
	struct rdma_ucm_query_addr_resp resp = { .ibdev_index = -1u };
	struct rdma_ib_addr *ib = &cm->id.route.addr.addr.ibaddr;
	struct sockaddr_ib sib;
	int ret = rdmacm_id_query(cm, RDMA_USER_CM_QUERY_GID, &resp, sizeof(resp));

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

/* Leaves the paths unset: the caller sets every field. */
static int make_paths(struct cm_id *cm, uint32_t count)
{
	struct ibv_sa_path_rec *paths;

	if (!count && !cm->id.route.path_rec)
		return 0;
	paths = count ? malloc(count * sizeof(*paths)) : NULL;
	if (count && !paths)
		return ENOMEM;
	free(cm->id.route.path_rec);
	cm->id.route.path_rec = paths;
	cm->id.route.num_paths = (int)count;
	return 0;
}

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

int rdmacm_id_query_path(struct cm_id *cm)
{
	union {
		struct rdma_ucm_query_path_resp resp;
		uint8_t room[sizeof(struct rdma_ucm_query_path_resp) +
			     MAX_PATHS * sizeof(struct ib_path_rec_data)];
	} answer;
	int ret;

	answer.resp = (struct rdma_ucm_query_path_resp){ 0 };
	ret = rdmacm_id_query(cm, RDMA_USER_CM_QUERY_PATH, &answer, sizeof(answer));
	if (ret)
		return ret;
	if (answer.resp.num_paths > MAX_PATHS)
		answer.resp.num_paths = MAX_PATHS;
	ret = make_paths(cm, answer.resp.num_paths);
	for (uint32_t i = 0; !ret && i < answer.resp.num_paths; i++)
		unpack_path(&cm->id.route.path_rec[i], &answer.resp.path_data[i]);
	return ret;
}

static int query_by_kind(struct cm_id *cm)
{
	int ret = query_addr(cm);

	if (!ret)
		ret = query_gid(cm);
	return ret ? ret : rdmacm_id_query_path(cm);
}

/* ---- a single command: IP ---- */

enum { ROUTE_PATHS = 2 };

/* Copies an IP address. Zeroes an AF_IB address that was there before, because it is longer. */
static void take_ip(struct sockaddr_storage *to, const uint32_t from[7])
{
	if (to->ss_family == AF_IB)
		memset(to, 0, sizeof(*to));
	memcpy(to, from, sizeof(struct sockaddr_in6));
}

/* Converts a path, so that the result does not depend on the command: in QUERY's format there is no
 * raw_traffic, a reversible path is 1, each path counts as one, and all selectors are 2, "exactly"
 * (IBTA vol 1, PathRecord). */
static void take_path(struct ibv_sa_path_rec *path, const struct ib_user_path_rec *from)
{
	*path = (struct ibv_sa_path_rec){
		.dlid = from->dlid,
		.slid = from->slid,
		.flow_label = from->flow_label,
		.hop_limit = from->hop_limit,
		.traffic_class = from->traffic_class,
		.reversible = !!from->reversible,
		.numb_path = 1,
		.pkey = from->pkey,
		.sl = from->sl,
		.mtu_selector = 2,
		.mtu = (uint8_t)from->mtu,
		.rate_selector = 2,
		.rate = from->rate,
		.packet_life_time_selector = 2,
		.packet_life_time = from->packet_life_time,
		.preference = from->preference,
	};
	memcpy(&path->dgid, from->dgid, sizeof(path->dgid));
	memcpy(&path->sgid, from->sgid, sizeof(path->sgid));
}

/* Sets addresses and paths. Before the route is resolved, the first path only has the id's GIDs and
 * P_Key. */
static int take_route(struct cm_id *cm, const struct rdma_ucm_query_route_resp *resp)
{
	struct rdma_addr *addr = &cm->id.route.addr;
	struct rdma_ib_addr *ib = &addr->addr.ibaddr;
	int ret;

	take_ip(&addr->src_storage, resp->src_addr);
	take_ip(&addr->dst_storage, resp->dst_addr);
	memcpy(&ib->sgid, resp->ib_route[0].sgid, sizeof(ib->sgid));
	memcpy(&ib->dgid, resp->ib_route[0].dgid, sizeof(ib->dgid));
	ib->pkey = resp->ib_route[0].pkey;
	ret = make_paths(cm, resp->num_paths);
	for (uint32_t i = 0; !ret && i < resp->num_paths; i++)
		take_path(&cm->id.route.path_rec[i], &resp->ib_route[i]);
	if (ret || cm->device || !names_device(resp->node_guid, resp->ibdev_index, resp->port_num))
		return ret;
	return bind_device(cm, resp->node_guid, resp->ibdev_index, resp->port_num);
}

static bool is_ip(const uint32_t addr[7])
{
	sa_family_t family;

	memcpy(&family, addr, sizeof(family));
	return family == AF_INET || family == AF_INET6;
}

int rdmacm_id_query_route(struct cm_id *cm)
{
	struct rdma_ucm_query_route_resp resp = { .ibdev_index = -1u };
	struct cm_cmd cmd;
	int ret;

	if (cm->id.route.addr.dst_addr.sa_family == AF_IB)
		return query_by_kind(cm);
	cmd.query = (struct rdma_ucm_query){ .response = (uintptr_t)&resp, .id = cm->number };
	ret = CM_RUN_ID(cm, &cmd, QUERY_ROUTE, query, sizeof(resp));
	if (ret)
		return ret;
	if (!is_ip(resp.src_addr) || resp.num_paths > ROUTE_PATHS)
		return query_by_kind(cm);
	return take_route(cm, &resp);
}
