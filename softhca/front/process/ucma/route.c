/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.c - resolves an id's destination: address, then path. Those of this process are known at
 * once; for others the network is queried (resolve.c). Either way an event reports the result.
 */
#include <errno.h>
#include <string.h>

#include "softhca/net/fabric.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/ucma/ucma.h"
#include "util/bits.h"

static int bind_any(struct ucma_id *id, unsigned int family, pid_t tid)
{
	struct sockaddr_storage any = { .ss_family = family };

	return ucma_bind_to(id, &any, tid);
}

static void put_loopback(struct sockaddr_storage *addr, unsigned int family)
{
	const uint8_t ipv4[16] = { [12] = 127, [15] = 1 }, ipv6[16] = { [15] = 1 };

	ucma_addr_put(addr, family, family == AF_INET ? ipv4 : ipv6, 0, 0);
}

static bool goes_out_of_loopback(const struct ucma_id *id)
{
	return !id->src.adapter && ucma_addr_is_loopback(&id->src.addr) &&
	       !ucma_addr_is_of_no_port(&id->dst.addr);
}

/* Binds an unbound id to the port that reaches its destination. On RoCE, refuses an id with a
 * loopback address and another destination, as the loopback has no GID. Sources:
 * cma_bind_loopback(), cma_acquire_dev_by_src_ip() */
static int choose_source(struct ucma_id *id)
{
	const struct sockaddr_storage bound = id->src.addr;
	int ret;

	if (id->src.adapter)
		return 0;
	if (goes_out_of_loopback(id) && adapter_is_roce(id->dst.adapter))
		return ENODEV;
	ret = ucma_addr_source(id->file->daemon, &id->dst, &id->src);
	if (ret)
		return ret;
	if (ucma_addr_is_loopback(&bound))
		id->src.addr = bound;
	if (ucma_addr_is_of_no_port(&id->dst.addr))
		put_loopback(&id->src.addr, id->dst.addr.ss_family);
	ucma_addr_set_port(&id->src.addr, ucma_addr_port(&bound));
	return ucma_bind_take_service(id);
}

static void address_known(struct ucma_id *id, int status)
{
	id->has_dst = !status;
	id->state = status ? UCMA_BOUND : UCMA_ADDR_RESOLVED;
	ucma_event_simple(id, status ? EV_ADDR_ERROR : EV_ADDR_RESOLVED, status);
}

/* Returns the GID of the destination if its address tells it: a GID, or an IPoIB link-local
 * address, which contains the port's GUID. Clears the bit that a kernel sets in that GUID (RFC
 * 4391, 8). */
static bool names_gid(const struct ucma_id *id, uint8_t gid[16])
{
	enum { UNIVERSAL = 0x02 };
	static const uint8_t link_local[8] = { 0xfe, 0x80 };

	ucma_addr_bytes(&id->dst.addr, gid);
	if (ucma_addr_is_gid(&id->dst.addr))
		return true;
	if (adapter_is_roce(id->src.adapter) || memcmp(gid, link_local, sizeof(link_local)))
		return false;
	gid[8] &= ~UNIVERSAL;
	return true;
}

static struct ucma_id *id_of(struct resolution *res)
{
	return container_of(res, struct ucma_id, resolution);
}

static void address_answered(struct resolution *res, int status)
{
	struct ucma_id *id = id_of(res);

	memcpy(id->dst.gid, res->gid, 16);
	address_known(id, status);
}

/* Asks the network for the GID of another host's IP address. An address that tells its GID needs no
 * query yet, as only the path is to be resolved. */
static void ask_network(struct ucma_id *id, uint32_t timeout_ms)
{
	struct resolution *res = &id->resolution;

	if (!fabric_is_joined(id->file->daemon->fabric) || choose_source(id)) {
		address_known(id, -ENODEV);
		return;
	}
	if (names_gid(id, id->dst.gid)) {
		address_known(id, adapter_is_roce(id->src.adapter) ? -ENODEV : 0);
		return;
	}
	id->state = UCMA_ADDR_QUERY;
	res->done = address_answered;
	res->adapter = id->src.adapter;
	res->port = id->src.port;
	ucma_addr_bytes(&id->src.addr, res->own);
	ucma_addr_bytes(&id->dst.addr, res->wanted);
	resolve_address(res, timeout_ms);
}

/* Finds the port with the destination address. A loopback address means the port to which the id is
 * bound, if it is bound; the unspecified address means the same as the loopback. Source:
 * cma_resolve_loopback() */
static int find_destination(struct ucma_id *id, const struct sockaddr_storage *dst)
{
	struct daemon *daemon = id->file->daemon;
	int ret = 0;

	if (!ucma_addr_is_of_no_port(dst))
		ret = ucma_addr_find(daemon, dst, &id->dst);
	else if (id->src.adapter)
		id->dst = id->src;
	else
		ret = ucma_addr_find_loopback(daemon, dst->ss_family, &id->dst);
	id->dst.addr = *dst;
	return ret;
}

/* Resolves an address. Packets with a loopback source never leave the host. Source:
 * __mkroute_output() */
static int resolve_address_of(struct ucma_id *id, const struct sockaddr_storage *dst,
			      uint32_t timeout_ms)
{
	int ret = find_destination(id, dst);

	if (ret && goes_out_of_loopback(id))
		return EINVAL;
	if (ret)
		ask_network(id, timeout_ms);
	else
		address_known(id, choose_source(id) ? -ENODEV : 0);
	return 0;
}

static int resolve_to(struct ucma_call *uc, uint32_t number, const struct sockaddr_storage *src,
		      const struct sockaddr_storage *dst, uint32_t timeout_ms)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, number, &id);

	if (!ret && id->state == UCMA_IDLE)
		ret = src->ss_family ? ucma_bind_to(id, src, uc->call->tid)
				     : bind_any(id, dst->ss_family, uc->call->tid);
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND || id->src.addr.ss_family != dst->ss_family)
		return EINVAL;
	return resolve_address_of(id, dst, timeout_ms);
}

int ucma_id_resolve_addr(struct ucma_call *uc)
{
	const struct rdma_ucm_resolve_addr *cmd = &uc->resolve_addr;
	struct sockaddr_storage src = { 0 }, dst;
	int ret = ucma_addr_get(&cmd->dst_addr, cmd->dst_size, &dst);

	if (!ret && cmd->src_size)
		ret = ucma_addr_get(&cmd->src_addr, cmd->src_size, &src);
	if (cmd->reserved)
		ret = EINVAL;
	return ret ? ret : resolve_to(uc, cmd->id, &src, &dst, cmd->timeout_ms);
}

/* Executes RESOLVE_IP, the older form of RESOLVE_ADDR, for IP only. */
int ucma_id_resolve_ip(struct ucma_call *uc)
{
	const struct rdma_ucm_resolve_ip *cmd = &uc->resolve_ip;
	struct sockaddr_storage src = { 0 }, dst = { 0 };

	memcpy(&src, &cmd->src_addr, sizeof(cmd->src_addr));
	memcpy(&dst, &cmd->dst_addr, sizeof(cmd->dst_addr));
	if ((src.ss_family && !ucma_addr_is_ip(&src)) || !ucma_addr_is_ip(&dst))
		return EINVAL;
	return resolve_to(uc, cmd->id, &src, &dst, cmd->timeout_ms);
}

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
	path->grh = adapter_is_roce(id->src.adapter);
	path->hop_limit = cm_path_hop_limit(path->grh);
	if (adapter_is_roce(id->src.adapter))
		roce_resolve(path->dgid, path->dmac);
}

void ucma_route_put_known(struct ucma_id *id)
{
	struct port_info info = { .active_mtu = 1 };

	adapter_query_port(id->src.adapter, id->src.port, &info);
	put_path_ends(id);
	id->path.dlid = id->dst.lid;
	id->path.mtu = info.active_mtu;
	id->path.rate = RATE_100_GBPS;
	id->path.lifetime = cm_path_lifetime(id->path.grh);
}

void ucma_route_known(struct ucma_id *id, int status)
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

static void path_answered(struct resolution *res, int status)
{
	struct ucma_id *id = id_of(res);

	if (!status)
		take_route(id);
	ucma_route_known(id, status);
}

static void ask_path(struct ucma_id *id, uint32_t timeout_ms)
{
	struct resolution *res = &id->resolution;

	id->state = UCMA_ROUTE_QUERY;
	res->done = path_answered;
	res->adapter = id->src.adapter;
	res->port = id->src.port;
	memcpy(res->own, id->src.gid, 16);
	memcpy(res->wanted, id->dst.gid, 16);
	resolve_path(res, timeout_ms);
}

int ucma_id_resolve_route(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->resolve_route.id, &id);

	if (ret)
		return ret;
	if (id->state != UCMA_ADDR_RESOLVED && id->state != UCMA_SERVICE_RESOLVED)
		return EINVAL;
	if (adapter_is_roce(id->src.adapter) || id->dst.adapter ||
	    ucma_addr_is_multicast(&id->dst.addr)) {
		ucma_route_put_known(id);
		ucma_route_known(id, 0);
		return 0;
	}
	ask_path(id, uc->resolve_route.timeout_ms);
	return 0;
}
