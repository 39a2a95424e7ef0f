/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - ids: numbers, binding to addresses and ports, resolving, what can be asked of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

enum {
	QPT_RC = 2, /* enum ibv_qp_type */
	QPT_UD = 4,
	FIRST_EPHEMERAL = 32768,
	LAST_EPHEMERAL = 60999,
	DEFAULT_PKEY = 0xffff,
};

static LIST_HEAD(, ucma_id) ids = LIST_HEAD_INITIALIZER(ids);
static uint32_t next_number = 1;

/* ---- life ---- */

static struct ucma_id *find_number(uint32_t number)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &ids, in_all)
	if (id->number == number)
		return id;
	return NULL;
}

int ucma_id_new(struct ucma_file *file, struct ucma_id **out)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return ENOMEM;
	while (find_number(next_number))
		next_number++;
	id->number = next_number++;
	id->file = file;
	id->psn = (uint32_t)random() & 0xffffff;
	LIST_INIT(&id->mcasts);
	LIST_INSERT_HEAD(&file->ids, id, in_file);
	LIST_INSERT_HEAD(&ids, id, in_all);
	*out = id;
	return 0;
}

void ucma_id_destroy(struct ucma_id *id)
{
	ucma_conn_end(id);
	ucma_mcast_free_all(id);
	ucma_events_drop(id, NULL);
	LIST_REMOVE(id, in_file);
	LIST_REMOVE(id, in_all);
	free(id);
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	*id = find_number(number);
	return *id && (*id)->file == uc->file ? 0 : ENOENT;
}

static int type_of_port_space(const struct rdma_ucm_create_id *cmd, uint8_t *qp_type)
{
	switch (cmd->ps) {
	case PS_TCP:
		*qp_type = QPT_RC;
		return 0;
	case PS_UDP:
	case PS_IPOIB:
		*qp_type = QPT_UD;
		return 0;
	case PS_IB:
		*qp_type = cmd->qp_type;
		return 0;
	default:
		return EINVAL;
	}
}

int ucma_id_create(struct ucma_call *uc)
{
	struct rdma_ucm_create_id_resp resp;
	struct ucma_id *id;
	uint8_t qp_type;
	int ret = type_of_port_space(&uc->create_id, &qp_type);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!ret)
		ret = ucma_id_new(uc->file, &id);
	if (ret)
		return ret;
	id->uid = uc->create_id.uid;
	id->ps = uc->create_id.ps;
	id->qp_type = qp_type;
	id->datagram = qp_type == QPT_UD;
	resp.id = id->number;
	ret = ucma_respond(uc, uc->create_id.response, &resp, sizeof(resp));
	if (ret)
		ucma_id_destroy(id);
	return ret;
}

int ucma_id_remove(struct ucma_call *uc)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->destroy_id.id, &id);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (ret)
		return ret;
	resp.events_reported = id->events_reported;
	ucma_id_destroy(id);
	return ucma_respond(uc, uc->destroy_id.response, &resp, sizeof(resp));
}

/* ---- addresses and ports ---- */

static bool in_conflict(const struct ucma_id *id, const struct ucma_id *other, uint16_t port)
{
	if (other == id || other->ps != id->ps || other->state == UCMA_IDLE || !other->has_src ||
	    other->passive || ucma_addr_port(&other->src.addr) != port)
		return false;
	if (id->reuse_addr && other->reuse_addr && other->state != UCMA_LISTENS)
		return false;
	return ucma_addr_is_any(&id->src.addr) || ucma_addr_is_any(&other->src.addr) ||
	       ucma_addr_same_host(&id->src.addr, &other->src.addr);
}

static bool port_is_free(const struct ucma_id *id, uint16_t port)
{
	const struct ucma_id *other;

	LIST_FOREACH(other, &ids, in_all)
	if (in_conflict(id, other, port))
		return false;
	return true;
}

static int take_port(struct ucma_id *id)
{
	uint16_t port = ucma_addr_port(&id->src.addr);
	unsigned int tries, span = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;

	if (port)
		return port_is_free(id, port) ? 0 : EADDRINUSE;
	for (tries = 0; tries < span; tries++) {
		port = FIRST_EPHEMERAL + (uint32_t)random() % span;
		if (!port_is_free(id, port))
			continue;
		ucma_addr_set_port(&id->src.addr, port);
		return 0;
	}
	return EADDRNOTAVAIL;
}

static int bind_to(struct ucma_id *id, const struct sockaddr_storage *addr)
{
	int ret = 0;

	if (id->state != UCMA_IDLE)
		return EINVAL;
	if (ucma_addr_is_any(addr))
		id->src.addr = *addr;
	else
		ret = ucma_addr_find(id->file->daemon, addr, &id->src);
	id->has_src = true;
	if (!ret)
		ret = take_port(id);
	if (ret) {
		memset(&id->src, 0, sizeof(id->src));
		id->has_src = false;
		return ret;
	}
	id->state = UCMA_BOUND;
	return 0;
}

static int get_addr(const struct __kernel_sockaddr_storage *from, uint16_t size,
		    struct sockaddr_storage *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sizeof(to->ss_family));
	if (!size || size != ucma_addr_size(to->ss_family))
		return EINVAL;
	memcpy(to, from, size);
	return 0;
}

int ucma_id_bind(struct ucma_call *uc)
{
	struct sockaddr_storage addr;
	struct ucma_id *id;
	int ret = get_addr(&uc->bind.addr, uc->bind.addr_size, &addr);

	if (uc->bind.reserved)
		ret = EINVAL;
	if (!ret)
		ret = ucma_id_find(uc, uc->bind.id, &id);
	return ret ? ret : bind_to(id, &addr);
}

/* The adapter it is bound to, or NULL. */
struct adapter *ucma_id_adapter(const struct ucma_id *id)
{
	return id->has_src ? id->src.adapter : NULL;
}

static bool listens_for(const struct ucma_id *listener, const struct ucma_id *from)
{
	const struct sockaddr_storage *at = &listener->src.addr, *dst = &from->dst.addr;

	if (listener->state != UCMA_LISTENS || listener->ps != from->ps ||
	    ucma_addr_port(at) != ucma_addr_port(dst))
		return false;
	if (ucma_addr_is_any(at))
		return at->ss_family == dst->ss_family ||
		       (at->ss_family == AF_INET6 && dst->ss_family == AF_INET &&
			!listener->af_only);
	return ucma_addr_same_host(at, dst);
}

struct ucma_id *ucma_id_find_listener(const struct ucma_id *from)
{
	struct ucma_id *listener;

	LIST_FOREACH(listener, &ids, in_all)
	if (listens_for(listener, from))
		return listener;
	return NULL;
}

/* ---- resolving: known at once, told by an event ---- */

static int bind_any(struct ucma_id *id, unsigned int family)
{
	struct sockaddr_storage any = { .ss_family = family };

	return bind_to(id, &any);
}

/* The source was bound to any address: it is now the one that reaches the destination. */
static int choose_source(struct ucma_id *id)
{
	uint16_t port = ucma_addr_port(&id->src.addr);
	int ret;

	if (id->src.adapter)
		return 0;
	ret = ucma_addr_source(id->file->daemon, &id->dst, &id->src);
	if (!ret)
		ucma_addr_set_port(&id->src.addr, port);
	return ret;
}

static void resolve(struct ucma_id *id, const struct sockaddr_storage *dst)
{
	int ret = ucma_addr_find(id->file->daemon, dst, &id->dst);

	if (!ret)
		ret = choose_source(id);
	if (ret) {
		ucma_event_simple(id, EV_ADDR_ERROR, -ENODEV);
		return;
	}
	id->has_dst = true;
	id->state = UCMA_ADDR_RESOLVED;
	ucma_event_simple(id, EV_ADDR_RESOLVED, 0);
}

int ucma_id_resolve_addr(struct ucma_call *uc)
{
	const struct rdma_ucm_resolve_addr *cmd = &uc->resolve_addr;
	struct sockaddr_storage src = { 0 }, dst;
	struct ucma_id *id;
	int ret = get_addr(&cmd->dst_addr, cmd->dst_size, &dst);

	if (!ret && cmd->src_size)
		ret = get_addr(&cmd->src_addr, cmd->src_size, &src);
	if (cmd->reserved)
		ret = EINVAL;
	if (!ret)
		ret = ucma_id_find(uc, cmd->id, &id);
	if (!ret && id->state == UCMA_IDLE)
		ret = cmd->src_size ? bind_to(id, &src) : bind_any(id, dst.ss_family);
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND || id->src.addr.ss_family != dst.ss_family)
		return EINVAL;
	resolve(id, &dst);
	return 0;
}

int ucma_id_resolve_route(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->resolve_route.id, &id);

	if (ret)
		return ret;
	if (id->state != UCMA_ADDR_RESOLVED)
		return EINVAL;
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, EV_ROUTE_RESOLVED, 0);
	return 0;
}

/* ---- queries ---- */

static void put_device(const struct ucma_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	const struct adapter *adapter = ucma_id_adapter(id);

	if (!adapter)
		return;
	resp->node_guid = htobe64(adapter->node_guid);
	resp->port_num = id->src.port;
	resp->pkey = htobe16(DEFAULT_PKEY);
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
	return client_write(uc->call->tid, uc->query.response, &resp,
			    uc->hdr.out < sizeof(resp) ? uc->hdr.out : sizeof(resp));
}

/* struct sockaddr_ib: family, P_Key, flow, GID, service ID and its mask */
static void put_sockaddr_ib(const struct ucma_id *id, const struct ucma_end *end,
			    struct __kernel_sockaddr_storage *to, uint16_t *size)
{
	uint64_t sid = htobe64((uint64_t)id->ps << 16 | ucma_addr_port(&end->addr));
	uint64_t mask = ~0ull;
	uint16_t family = AF_IB_FAMILY, pkey = htobe16(DEFAULT_PKEY);
	uint8_t *bytes = (uint8_t *)to;

	memcpy(bytes, &family, sizeof(family));
	memcpy(bytes + 2, &pkey, sizeof(pkey));
	memcpy(bytes + 8, end->gid, sizeof(end->gid));
	memcpy(bytes + 24, &sid, sizeof(sid));
	memcpy(bytes + 32, &mask, sizeof(mask));
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
	return client_write(uc->call->tid, uc->query.response, &resp,
			    uc->hdr.out < sizeof(resp) ? uc->hdr.out : sizeof(resp));
}

/* The packed path record of IBTA vol 1, table 171 (PathRecord) */
static void put_path(const struct ucma_id *id, struct ib_path_rec_data *data)
{
	enum { EXACTLY = 2, RATE_100_GBPS = 16, LIFETIME = 18, HOP_LIMIT = 64 };
	uint8_t *path = (uint8_t *)data->path_rec;
	uint16_t dlid = htobe16(id->dst.lid), slid = htobe16(id->src.lid);
	uint16_t pkey = htobe16(DEFAULT_PKEY);
	struct port_info info = { .active_mtu = 1 };

	adapter_query_port(id->src.adapter, id->src.port, &info);
	data->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	memcpy(path + 8, id->dst.gid, 16);
	memcpy(path + 24, id->src.gid, 16);
	memcpy(path + 40, &dlid, 2);
	memcpy(path + 42, &slid, 2);
	path[47] = HOP_LIMIT;
	path[49] = 0x81; /* reversible, one path */
	memcpy(path + 50, &pkey, 2);
	path[54] = EXACTLY << 6 | info.active_mtu;
	path[55] = EXACTLY << 6 | RATE_100_GBPS;
	path[56] = EXACTLY << 6 | LIFETIME;
}

static bool has_route(const struct ucma_id *id)
{
	return id->has_src && id->src.adapter && id->has_dst && id->state != UCMA_ADDR_RESOLVED;
}

/* One path, where there is room for it. */
static int query_path(struct ucma_call *uc, const struct ucma_id *id)
{
	struct rdma_ucm_query_path_resp resp = { .num_paths = has_route(id) };
	struct ib_path_rec_data path = { 0 };
	int ret = ucma_respond(uc, uc->query.response, &resp, sizeof(resp));

	if (ret || !resp.num_paths || uc->hdr.out < sizeof(resp) + sizeof(path))
		return ret;
	put_path(id, &path);
	return client_write(uc->call->tid, uc->query.response + sizeof(resp), &path, sizeof(path));
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
	default:
		return ENOSYS;
	}
}

/* ---- options ---- */

static int get_option(struct ucma_call *uc, void *value, size_t size)
{
	if (uc->set_option.optlen != size)
		return EINVAL;
	return client_read(uc->call->tid, uc->set_option.optval, value, size);
}

static int set_flag(struct ucma_call *uc, struct ucma_id *id, bool *flag)
{
	int value, ret = get_option(uc, &value, sizeof(value));

	if (ret)
		return ret;
	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return EINVAL;
	*flag = value != 0;
	return 0;
}

int ucma_id_set_option(struct ucma_call *uc)
{
	enum { LEVEL_ID = 0, TOS = 0, REUSEADDR = 1, AFONLY = 2, ACK_TIMEOUT = 3 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->set_option.id, &id);

	if (ret)
		return ret;
	if (uc->set_option.level != LEVEL_ID)
		return ENOSYS; /* a path of the program's choice: there is one path only */
	switch (uc->set_option.optname) {
	case TOS:
		return get_option(uc, &id->tos, sizeof(id->tos));
	case REUSEADDR:
		return set_flag(uc, id, &id->reuse_addr);
	case AFONLY:
		return set_flag(uc, id, &id->af_only);
	case ACK_TIMEOUT:
		return get_option(uc, &id->ack_timeout, sizeof(id->ack_timeout));
	default:
		return ENOSYS;
	}
}

/* ---- to another file ---- */

static struct ucma_file *file_of_descriptor(struct ucma_call *uc, int fd)
{
	struct stat st;

	return client_fd_stat(uc->call->tid, fd, &st) ? NULL : ucma_file_find(&st);
}

int ucma_id_migrate(struct ucma_call *uc)
{
	struct rdma_ucm_migrate_resp resp;
	struct ucma_file *from = file_of_descriptor(uc, (int)uc->migrate_id.fd);
	struct ucma_id *id = find_number(uc->migrate_id.id);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!from)
		return EINVAL;
	if (!id || id->file != from)
		return ENOENT;
	resp.events_reported = id->events_reported;
	if (from != uc->file)
		ucma_events_move(id, uc->file);
	return ucma_respond(uc, uc->migrate_id.response, &resp, sizeof(resp));
}
