/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - ids: numbers, binding to addresses and ports, resolving, options.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/fabric.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

enum {
	BUCKETS = 1024,
	FIRST_EPHEMERAL = 32768,
	LAST_EPHEMERAL = 60999,
	RATE_100_GBPS = 16,
	ROCE_HOPS = 64,
	MAX_PATHS = 6,      /* there and back, each with an alternate and for its own messages */
	ROCE_LIFETIME = 18, /* as Linux has it */
	IB_LIFETIME = 15,   /* as subnet.c has it: 134 ms */
};

static LIST_HEAD(, ucma_id) ids = LIST_HEAD_INITIALIZER(ids);
static LIST_HEAD(, ucma_id) listeners = LIST_HEAD_INITIALIZER(listeners);
static LIST_HEAD(, ucma_id) buckets[BUCKETS];
static uint32_t next_number = 1;

/* ---- life ---- */

static struct ucma_id *find_number(uint32_t number)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &buckets[number % BUCKETS], in_bucket)
	if (id->number == number)
		return id;
	return NULL;
}

static void resolved(struct resolution *resolution, int status);

int ucma_id_new(struct ucma_file *file, struct ucma_id **out)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return ENOMEM;
	while (find_number(next_number))
		next_number++;
	id->number = next_number++;
	id->file = file;
	id->conn.psn = (uint32_t)random() & 0xffffff;
	id->resolution.done = resolved;
	LIST_INIT(&id->mcasts);
	LIST_INSERT_HEAD(&file->ids, id, in_file);
	LIST_INSERT_HEAD(&ids, id, in_all);
	LIST_INSERT_HEAD(&buckets[id->number % BUCKETS], id, in_bucket);
	*out = id;
	return 0;
}

void ucma_id_destroy(struct ucma_id *id)
{
	resolve_cancel(&id->resolution);
	cm_destroy(&id->conn);
	ucma_mcast_free_all(id);
	ucma_events_drop(id, NULL);
	if (id->state == UCMA_LISTENS)
		LIST_REMOVE(id, in_listeners);
	LIST_REMOVE(id, in_bucket);
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
		*qp_type = IB_UVERBS_QPT_RC;
		return 0;
	case PS_UDP:
	case PS_IPOIB:
		*qp_type = IB_UVERBS_QPT_UD;
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
	id->datagram = qp_type == IB_UVERBS_QPT_UD;
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

/* An IPv4 address stands for itself; the IPv6 one that is any address for both, unless told otherwise. */
static bool is_of_one_family(const struct ucma_id *id)
{
	return id->af_only || id->src.addr.ss_family == AF_INET;
}

static bool in_conflict(const struct ucma_id *id, const struct ucma_id *other, uint16_t port)
{
	if (other == id || other->ps != id->ps || other->state == UCMA_IDLE || !other->has_src ||
	    other->passive || ucma_addr_port(&other->src.addr) != port)
		return false;
	if (id->reuse_addr && other->reuse_addr && other->state != UCMA_LISTENS)
		return false;
	if (is_of_one_family(id) && is_of_one_family(other) &&
	    id->src.addr.ss_family != other->src.addr.ss_family)
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

/* A service ID of the program's choice must be of its port space; those of PS_IB may be of any. */
static int take_service(struct ucma_id *id)
{
	uint64_t asked = ucma_addr_service(&id->src.addr, id->ps) >> 16;
	bool fits = !asked || asked == id->ps ||
		    (id->ps == PS_IB && (asked == PS_TCP || asked == PS_UDP));
	uint8_t gid[16];

	if (!ucma_addr_is_gid(&id->src.addr))
		return 0;
	ucma_addr_bytes(&id->src.addr, gid);
	ucma_addr_put(&id->src.addr, AF_IB_FAMILY, gid, asked ? (uint16_t)asked : id->ps,
		      ucma_addr_port(&id->src.addr));
	return fits ? 0 : EPROTONOSUPPORT;
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
		ret = take_service(id);
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

static bool is_ip(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET || addr->ss_family == AF_INET6;
}

/* The older form, for IP only */
int ucma_id_bind_ip(struct ucma_call *uc)
{
	struct sockaddr_storage addr = { 0 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->bind_ip.id, &id);

	memcpy(&addr, &uc->bind_ip.addr, sizeof(uc->bind_ip.addr));
	if (!is_ip(&addr))
		ret = EINVAL;
	return ret ? ret : bind_to(id, &addr);
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

void ucma_id_listen(struct ucma_id *id)
{
	id->state = UCMA_LISTENS;
	LIST_INSERT_HEAD(&listeners, id, in_listeners);
}

/* Whoever listens at any address of one family hears the other, too, unless told otherwise. */
static bool listens_at(const struct ucma_id *listener, const uint8_t *host, bool ipv4)
{
	const struct sockaddr_storage *at = &listener->src.addr;
	uint8_t own[16];

	if (ucma_addr_is_gid(at))
		return true;
	if (!host)
		return false;
	if (ucma_addr_is_any(at))
		return !listener->af_only || (at->ss_family == AF_INET) == ipv4;
	ucma_addr_bytes(at, own);
	return !memcmp(own, host, 16);
}

struct ucma_id *ucma_id_find_listener(uint64_t service, const struct adapter *adapter,
				      const uint8_t *host, bool ipv4)
{
	struct ucma_id *listener;

	LIST_FOREACH(listener, &listeners, in_listeners)
	if (ucma_addr_service(&listener->src.addr, listener->ps) == service &&
	    (!listener->src.adapter || listener->src.adapter == adapter) &&
	    listens_at(listener, host, ipv4))
		return listener;
	return NULL;
}

/* ---- resolving: what is ours is known at once; told by an event ---- */

static bool is_roce(const struct ucma_id *id)
{
	return id->src.adapter->link_layer == HCA_LINK_ETHERNET;
}

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
	if (!ret && ucma_addr_is_gid(&id->src.addr))
		ret = take_service(id);
	return ret;
}

static void address_known(struct ucma_id *id, int status)
{
	id->has_dst = !status;
	id->state = status ? UCMA_BOUND : UCMA_ADDR_RESOLVED;
	ucma_event_simple(id, status ? EV_ADDR_ERROR : EV_ADDR_RESOLVED, status);
}

/* On InfiniBand a link-local address has the port's GUID in it, as its GID has; where a kernel made it, with the bit set that
 * says so (RFC 4391, 8). */
static bool names_gid(const struct ucma_id *id, uint8_t gid[16])
{
	enum { UNIVERSAL = 0x02 };
	static const uint8_t link_local[8] = { 0xfe, 0x80 };

	ucma_addr_bytes(&id->dst.addr, gid);
	if (ucma_addr_is_gid(&id->dst.addr))
		return true;
	if (is_roce(id) || memcmp(gid, link_local, sizeof(link_local)))
		return false;
	gid[8] &= ~UNIVERSAL;
	return true;
}

/* The address may be of another host. A GID is where it says; whether there is a path to it is the next question. */
static void ask_network(struct ucma_id *id, uint32_t timeout_ms)
{
	struct resolution *res = &id->resolution;

	if (!fabric_is_joined(id->file->daemon->fabric) || choose_source(id)) {
		address_known(id, -ENODEV);
		return;
	}
	if (names_gid(id, id->dst.gid)) {
		address_known(id, is_roce(id) ? -ENODEV : 0);
		return;
	}
	id->state = UCMA_ADDR_QUERY;
	res->adapter = id->src.adapter;
	res->port = id->src.port;
	ucma_addr_bytes(&id->src.addr, res->own);
	ucma_addr_bytes(&id->dst.addr, res->wanted);
	resolve_address(res, timeout_ms);
}

static void resolve(struct ucma_id *id, const struct sockaddr_storage *dst, uint32_t timeout_ms)
{
	int ret = ucma_addr_find(id->file->daemon, dst, &id->dst);

	id->dst.addr = *dst;
	if (ret)
		ask_network(id, timeout_ms);
	else
		address_known(id, choose_source(id) ? -ENODEV : 0);
}

static int resolve_to(struct ucma_call *uc, uint32_t number, const struct sockaddr_storage *src,
		      const struct sockaddr_storage *dst, uint32_t timeout_ms)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, number, &id);

	if (!ret && id->state == UCMA_IDLE)
		ret = src->ss_family ? bind_to(id, src) : bind_any(id, dst->ss_family);
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND || id->src.addr.ss_family != dst->ss_family)
		return EINVAL;
	resolve(id, dst, timeout_ms);
	return 0;
}

int ucma_id_resolve_addr(struct ucma_call *uc)
{
	const struct rdma_ucm_resolve_addr *cmd = &uc->resolve_addr;
	struct sockaddr_storage src = { 0 }, dst;
	int ret = get_addr(&cmd->dst_addr, cmd->dst_size, &dst);

	if (!ret && cmd->src_size)
		ret = get_addr(&cmd->src_addr, cmd->src_size, &src);
	if (cmd->reserved)
		ret = EINVAL;
	return ret ? ret : resolve_to(uc, cmd->id, &src, &dst, cmd->timeout_ms);
}

/* The older form, for IP only */
int ucma_id_resolve_ip(struct ucma_call *uc)
{
	const struct rdma_ucm_resolve_ip *cmd = &uc->resolve_ip;
	struct sockaddr_storage src = { 0 }, dst = { 0 };

	memcpy(&src, &cmd->src_addr, sizeof(cmd->src_addr));
	memcpy(&dst, &cmd->dst_addr, sizeof(cmd->dst_addr));
	if ((src.ss_family && !is_ip(&src)) || !is_ip(&dst))
		return EINVAL;
	return resolve_to(uc, cmd->id, &src, &dst, cmd->timeout_ms);
}

void ucma_id_adapter_died(struct adapter *adapter)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &ids, in_all)
	{
		if (ucma_id_adapter(id) != adapter)
			continue;
		resolve_cancel(&id->resolution);
		cm_destroy(&id->conn);
		if (id->state == UCMA_LISTENS)
			LIST_REMOVE(id, in_listeners);
		id->state = UCMA_DISCONNECTED;
		if (id->uid)
			ucma_event_simple(id, EV_DEVICE_REMOVAL, 0);
	}
}

/* ---- routes ---- */

static void put_path_ends(struct ucma_id *id)
{
	struct cm_path *path = &id->path;

	path->adapter = id->src.adapter;
	path->port = id->src.port;
	path->gid_index = id->src.gid_index;
	path->slid = id->src.lid;
	memcpy(path->sgid, id->src.gid, 16);
	memcpy(path->dgid, id->dst.gid, 16);
	path->traffic_class = id->tos;
	path->grh = is_roce(id);
	path->hop_limit = is_roce(id) ? ROCE_HOPS : 0;
	if (is_roce(id))
		roce_resolve(path->dgid, path->dmac);
}

/* Nobody needs to be asked for it. */
static void put_known_path(struct ucma_id *id)
{
	struct port_info info = { .active_mtu = 1 };

	adapter_query_port(id->src.adapter, id->src.port, &info);
	put_path_ends(id);
	id->path.dlid = id->dst.lid;
	id->path.mtu = info.active_mtu;
	id->path.rate = RATE_100_GBPS;
	id->path.lifetime = is_roce(id) ? ROCE_LIFETIME : IB_LIFETIME;
}

static void route_known(struct ucma_id *id, int status)
{
	id->state = status ? UCMA_ADDR_RESOLVED : UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, status ? EV_ROUTE_ERROR : EV_ROUTE_RESOLVED, status);
}

static void take_route(struct ucma_id *id)
{
	const struct resolution *res = &id->resolution;

	put_path_ends(id);
	id->dst.lid = id->path.dlid = res->dlid;
	id->path.sl = res->sl;
	id->path.mtu = res->mtu;
	id->path.rate = res->rate;
	id->path.lifetime = res->lifetime;
}

static void resolved(struct resolution *res, int status)
{
	struct ucma_id *id = (struct ucma_id *)((char *)res - offsetof(struct ucma_id, resolution));

	if (!res->path) {
		memcpy(id->dst.gid, res->gid, 16);
		address_known(id, status);
		return;
	}
	if (!status)
		take_route(id);
	route_known(id, status);
}

int ucma_id_resolve_route(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->resolve_route.id, &id);

	if (ret)
		return ret;
	if (id->state != UCMA_ADDR_RESOLVED)
		return EINVAL;
	if (is_roce(id) || id->dst.adapter || ucma_addr_is_multicast(&id->dst.addr)) {
		put_known_path(id);
		route_known(id, 0);
		return 0;
	}
	id->state = UCMA_ROUTE_QUERY;
	id->resolution.adapter = id->src.adapter;
	id->resolution.port = id->src.port;
	memcpy(id->resolution.own, id->src.gid, 16);
	memcpy(id->resolution.wanted, id->dst.gid, 16);
	resolve_path(&id->resolution, uc->resolve_route.timeout_ms);
	return 0;
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

/* 4.096 us * 2^n, 5 bits; as only connections wait for acknowledges, others have none. */
static int set_ack_timeout(struct ucma_call *uc, struct ucma_id *id)
{
	uint8_t value;
	int ret = get_option(uc, &value, sizeof(value));

	if (ret)
		return ret;
	if (id->datagram || value > 31)
		return EINVAL;
	id->ack_timeout = value;
	id->has_ack_timeout = true;
	return 0;
}

/* The path that goes out and comes back, of those that are given */
static const struct ib_path_rec_data *pick_path(const struct ib_path_rec_data *paths, size_t count)
{
	enum { WANTED = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL };
	size_t i;

	for (i = 0; i < count; i++)
		if ((paths[i].flags & WANTED) == WANTED)
			return &paths[i];
	return NULL;
}

static void take_path(struct ucma_id *id, const struct ib_path_rec_data *data)
{
	const uint8_t *record = (const uint8_t *)data->path_rec;
	struct cm_path *path = &id->path;

	put_known_path(id);
	memcpy(path->dgid, prm_at(record, PATH_DGID), 16);
	path->dlid = prm_get(record, PATH_DLID);
	path->sl = prm_get(record, PATH_SL);
	path->flow_label = prm_get(record, PATH_FLOW_LABEL);
	path->hop_limit = prm_get(record, PATH_HOP_LIMIT);
	path->traffic_class = prm_get(record, PATH_TCLASS);
	path->mtu = prm_get(record, PATH_MTU);
	path->rate = prm_get(record, PATH_RATE);
	path->lifetime = prm_get(record, PATH_LIFETIME);
	id->dst.lid = path->dlid;
	memcpy(id->dst.gid, path->dgid, 16);
}

/* Instead of resolving a route; on InfiniBand only. */
static int set_path(struct ucma_call *uc, struct ucma_id *id)
{
	struct ib_path_rec_data paths[MAX_PATHS];
	const struct ib_path_rec_data *path;
	size_t len = uc->set_option.optlen;
	int ret;

	if (!len || len % sizeof(paths[0]) || len > sizeof(paths))
		return EINVAL;
	ret = client_read(uc->call->tid, uc->set_option.optval, paths, len);
	if (ret)
		return ret;
	path = pick_path(paths, len / sizeof(paths[0]));
	if (!path || id->state != UCMA_ADDR_RESOLVED || is_roce(id))
		return EINVAL;
	take_path(id, path);
	route_known(id, 0);
	return 0;
}

int ucma_id_set_option(struct ucma_call *uc)
{
	enum {
		LEVEL_ID = 0,
		LEVEL_IB = 1,
		IB_PATH = 1,
		TOS = 0,
		REUSEADDR = 1,
		AFONLY = 2,
		ACK_TIMEOUT = 3
	};
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->set_option.id, &id);

	if (ret)
		return ret;
	if (uc->set_option.level == LEVEL_IB && uc->set_option.optname == IB_PATH)
		return set_path(uc, id);
	if (uc->set_option.level != LEVEL_ID)
		return ENOSYS;
	switch (uc->set_option.optname) {
	case TOS:
		return get_option(uc, &id->tos, sizeof(id->tos));
	case REUSEADDR:
		return set_flag(uc, id, &id->reuse_addr);
	case AFONLY:
		return set_flag(uc, id, &id->af_only);
	case ACK_TIMEOUT:
		return set_ack_timeout(uc, id);
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
