/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query.c - queries of an id: its addresses, as IP addresses or GIDs, and its path.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"

static void put_device(const struct ucma_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	const struct adapter *adapter = ucma_id_adapter(id);

	if (!adapter)
		return;
	resp->node_guid = htobe64(adapter->node_guid);
	resp->port_num = id->src.port;
	resp->pkey = htobe16(PKEY_DEFAULT);
	resp->ibdev_index = adapter->index;
}

static int query_addr(struct ucma_call *uc, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp resp = { 0 };

	if (uc->hdr.out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return ENOSPC;
	resp.src_size = ucma_addr_size(id->src.addr.ss_family);
	memcpy(&resp.src_addr, &id->src.addr, sizeof(id->src.addr));
	resp.dst_size = ucma_addr_size(id->dst.addr.ss_family);
	memcpy(&resp.dst_addr, &id->dst.addr, sizeof(id->dst.addr));
	put_device(id, &resp);
	return caller_write(uc->call, uc->query.response, &resp,
			    uc->hdr.out < sizeof(resp) ? uc->hdr.out : sizeof(resp));
}

static void put_sockaddr_ib(const struct ucma_id *id, const struct ucma_end *end,
			    struct __kernel_sockaddr_storage *to, uint16_t *size)
{
	struct sockaddr_storage addr;

	ucma_addr_put(&addr, AF_IB_FAMILY, end->gid, id->ps, ucma_addr_port(&end->addr));
	memcpy(to, &addr, sizeof(addr));
	*size = ucma_addr_size(AF_IB_FAMILY);
}

static int query_gid(struct ucma_call *uc, const struct ucma_id *id)
{
	struct rdma_ucm_query_addr_resp resp = { 0 };

	if (uc->hdr.out < offsetof(struct rdma_ucm_query_addr_resp, ibdev_index))
		return ENOSPC;
	put_sockaddr_ib(id, &id->src, &resp.src_addr, &resp.src_size);
	put_sockaddr_ib(id, &id->dst, &resp.dst_addr, &resp.dst_size);
	put_device(id, &resp);
	return caller_write(uc->call, uc->query.response, &resp,
			    uc->hdr.out < sizeof(resp) ? uc->hdr.out : sizeof(resp));
}

static void put_path(const struct ucma_id *id, struct ib_path_rec_data *data)
{
	const struct cm_path *path = &id->path;
	uint8_t *record = (uint8_t *)data->path_rec;

	data->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	memcpy(fld_at(record, PATH_DGID), path->dgid, 16);
	memcpy(fld_at(record, PATH_SGID), path->sgid, 16);
	fld_set(record, PATH_DLID, path->dlid);
	fld_set(record, PATH_SLID, path->slid);
	fld_set(record, PATH_FLOW_LABEL, path->flow_label);
	fld_set(record, PATH_HOP_LIMIT, path->hop_limit);
	fld_set(record, PATH_TCLASS, path->traffic_class);
	fld_set(record, PATH_REVERSIBLE, 1);
	fld_set(record, PATH_NUMBER, 1);
	fld_set(record, PATH_PKEY, PKEY_DEFAULT);
	fld_set(record, PATH_SL, path->sl);
	fld_set(record, PATH_MTU_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_MTU, path->mtu);
	fld_set(record, PATH_RATE_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_RATE, path->rate);
	fld_set(record, PATH_LIFETIME_SELECTOR, SELECT_EXACTLY);
	fld_set(record, PATH_LIFETIME, path->lifetime);
}

static bool has_route(const struct ucma_id *id)
{
	return id->has_src && id->src.adapter && id->has_dst && id->state >= UCMA_ROUTE_RESOLVED;
}

/* Answers QUERY_PATH with the id's only path, if the response has room for it. */
static int query_path(struct ucma_call *uc, const struct ucma_id *id)
{
	struct rdma_ucm_query_path_resp resp = { .num_paths = has_route(id) };
	struct ib_path_rec_data path = { 0 };
	int ret = ucma_respond(uc, uc->query.response, &resp, sizeof(resp));

	if (ret || !resp.num_paths || uc->hdr.out < sizeof(resp) + sizeof(path))
		return ret;
	put_path(id, &path);
	return caller_write(uc->call, uc->query.response + sizeof(resp), &path, sizeof(path));
}

int ucma_id_query(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->query.id, &id);

	if (ret)
		return ret;
	switch (uc->query.option) {
	case RDMA_USER_CM_QUERY_ADDR:
		return query_addr(uc, id);
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(uc, id);
	case RDMA_USER_CM_QUERY_GID:
		return query_gid(uc, id);
	case RDMA_USER_CM_QUERY_IB_SERVICE:
		return ucma_service_query(uc, id);
	default:
		return ENOSYS;
	}
}

static void put_user_path(const struct cm_path *path, struct ib_user_path_rec *record)
{
	memcpy(record->dgid, path->dgid, 16);
	memcpy(record->sgid, path->sgid, 16);
	record->dlid = htobe16(path->dlid);
	record->slid = htobe16(path->slid);
	record->flow_label = htobe32(path->flow_label);
	record->reversible = 1;
	record->mtu = path->mtu;
	record->pkey = htobe16(PKEY_DEFAULT);
	record->hop_limit = path->hop_limit;
	record->traffic_class = path->traffic_class;
	record->numb_path = 1;
	record->sl = path->sl;
	record->mtu_selector = SELECT_EXACTLY;
	record->rate_selector = SELECT_EXACTLY;
	record->rate = path->rate;
	record->packet_life_time_selector = SELECT_EXACTLY;
	record->packet_life_time = path->lifetime;
}

/* Fills in the GIDs and the P_Key that are known before the route is resolved. */
static void put_user_route(const struct ucma_id *id, struct rdma_ucm_query_route_resp *resp)
{
	const struct adapter *adapter = ucma_id_adapter(id);

	if (!adapter)
		return;
	resp->node_guid = htobe64(adapter->node_guid);
	resp->port_num = id->src.port;
	resp->ibdev_index = adapter->index;
	resp->num_paths = has_route(id);
	if (has_route(id)) {
		put_user_path(&id->path, &resp->ib_route[0]);
		return;
	}
	memcpy(resp->ib_route[0].sgid, id->src.gid, 16);
	memcpy(resp->ib_route[0].dgid, id->dst.gid, 16);
	resp->ib_route[0].pkey = htobe16(PKEY_DEFAULT);
}

/* Executes QUERY_ROUTE, the older form of QUERY, for IP only. */
int ucma_id_query_route(struct ucma_call *uc)
{
	struct rdma_ucm_query_route_resp resp = { 0 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->query.id, &id);

	if (uc->hdr.out < offsetof(struct rdma_ucm_query_route_resp, ibdev_index))
		return ENOSPC;
	if (ret)
		return ret;
	memcpy(resp.src_addr, &id->src.addr, sizeof(resp.src_addr));
	memcpy(resp.dst_addr, &id->dst.addr, sizeof(resp.dst_addr));
	put_user_route(id, &resp);
	return caller_write(uc->call, uc->query.response, &resp,
			    uc->hdr.out < sizeof(resp) ? uc->hdr.out : sizeof(resp));
}
