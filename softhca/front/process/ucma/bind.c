/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bind.c - binds ids to addresses and ports.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/ucma/ucma.h"

enum { FIRST_EPHEMERAL = 32768, LAST_EPHEMERAL = 60999 /* default ip_local_port_range of Linux */ };
enum { FIRST_COMMON = 1024 /* lower ports need CAP_NET_BIND_SERVICE */ };

static bool shares_port(const struct ucma_id *id, const struct ucma_id *other, uint16_t port)
{
	if (other == id || other->ps != id->ps || other->state == UCMA_IDLE || !other->has_src ||
	    other->passive || ucma_addr_port(&other->src.addr) != port)
		return false;
	if (id->reuse_addr && other->reuse_addr && other->state != UCMA_LISTENS)
		return false;
	return !id->af_only || !other->af_only ||
	       id->src.addr.ss_family == other->src.addr.ss_family;
}

/* Returns the errno with which ID cannot use OTHER's port number, or 0. If one of the two addresses
 * is unspecified or loopback, refuses in any case. Source: cma_check_port() */
static int why_taken(const struct ucma_id *id, const struct ucma_id *other)
{
	if (ucma_addr_is_of_no_port(&id->src.addr) || ucma_addr_is_of_no_port(&other->src.addr))
		return EADDRNOTAVAIL;
	return ucma_addr_same_host(&id->src.addr, &other->src.addr) ? EADDRINUSE : 0;
}

static int port_check(const struct ucma_id *id, uint16_t port)
{
	struct ucma_id *other = NULL;
	int ret = 0;

	while (!ret && (other = ucma_id_next(other)) != NULL)
		ret = shares_port(id, other, port) ? why_taken(id, other) : 0;
	return ret;
}

static int take_named_port(const struct ucma_id *id, uint16_t port, pid_t tid)
{
	if (port < FIRST_COMMON && !client_may(tid, CLIENT_CAP_NET_BIND_SERVICE))
		return EACCES;
	return port_check(id, port);
}

static int take_port(struct ucma_id *id, pid_t tid)
{
	uint16_t port = ucma_addr_port(&id->src.addr);
	unsigned int span = LAST_EPHEMERAL - FIRST_EPHEMERAL + 1;

	if (port)
		return take_named_port(id, port, tid);
	for (unsigned int tries = 0; tries < span; tries++) {
		port = FIRST_EPHEMERAL + ucma_random(id->file->daemon) % span;
		if (port_check(id, port))
			continue;
		ucma_addr_set_port(&id->src.addr, port);
		return 0;
	}
	return EADDRNOTAVAIL;
}

/* Checks that no other id has the port of ID, which starts to listen. bind() may have allowed it to
 * share the port. */
int ucma_bind_keep_alone(struct ucma_id *id)
{
	bool reuse_addr = id->reuse_addr;
	int ret;

	id->reuse_addr = false;
	ret = reuse_addr ? port_check(id, ucma_addr_port(&id->src.addr)) : 0;
	if (ret)
		id->reuse_addr = true;
	return ret;
}

int ucma_bind_take_service(struct ucma_id *id)
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

/* Binds a datagram id with a loopback address to the port for loopback addresses. Linux binds such
 * an id to no device, but here UDP ids without --netdev could then not use the loopback. */
static int take_loopback_of_datagrams(struct ucma_id *id, const struct sockaddr_storage *addr)
{
	int ret = ucma_addr_find_loopback(id->file->daemon, addr->ss_family, &id->src);

	id->src.addr = *addr;
	return ret;
}

/* Binds to an address. Sources: rdma_bind_addr(), cma_check_linklocal() */
static int take_address(struct ucma_id *id, const struct sockaddr_storage *addr)
{
	if (ucma_addr_lacks_scope(addr))
		return EINVAL;
	if (ucma_addr_is_multicast(addr))
		return EADDRNOTAVAIL;
	if (!ucma_addr_is_of_no_port(addr))
		return ucma_addr_find(id->file->daemon, addr, &id->src);
	if (id->ps == PS_UDP && ucma_addr_is_loopback(addr))
		return take_loopback_of_datagrams(id, addr);
	id->src.addr = *addr;
	return 0;
}

int ucma_bind_to(struct ucma_id *id, const struct sockaddr_storage *addr, pid_t tid)
{
	int ret;

	if (id->state != UCMA_IDLE)
		return EINVAL;
	ret = take_address(id, addr);
	id->has_src = true;
	if (!id->has_af_only) /* as with net.ipv6.bindv6only = 0 */
		id->af_only = addr->ss_family == AF_INET;
	if (!ret)
		ret = ucma_bind_take_service(id);
	if (!ret)
		ret = take_port(id, tid);
	if (ret) {
		memset(&id->src, 0, sizeof(id->src));
		id->has_src = false;
		return ret;
	}
	id->state = UCMA_BOUND;
	return 0;
}

/* Executes BIND_IP, the older form of BIND, for IP only. */
int ucma_id_bind_ip(struct ucma_call *uc)
{
	struct sockaddr_storage addr = { 0 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->bind_ip.id, &id);

	memcpy(&addr, &uc->bind_ip.addr, sizeof(uc->bind_ip.addr));
	if (!ucma_addr_is_ip(&addr))
		ret = EINVAL;
	return ret ? ret : ucma_bind_to(id, &addr, uc->call->tid);
}

int ucma_id_bind(struct ucma_call *uc)
{
	struct sockaddr_storage addr;
	struct ucma_id *id;
	int ret = ucma_addr_get(&uc->bind.addr, uc->bind.addr_size, &addr);

	if (uc->bind.reserved)
		ret = EINVAL;
	if (!ret)
		ret = ucma_id_find(uc, uc->bind.id, &id);
	return ret ? ret : ucma_bind_to(id, &addr, uc->call->tid);
}
