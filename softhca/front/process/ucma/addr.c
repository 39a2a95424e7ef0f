/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addr.c - IP addresses of a fabric, without using the host's network.
 *
 * Port P of adapter A of host H has 198.18.H.(8 A + P), and the link-local IPv6 address of its
 * GUID. On RoCE both are in its GID table; on InfiniBand they are those of an IPoIB interface.
 * Other hosts are asked for theirs (resolve.c). A port also has the addresses of the interface that
 * --netdev gave it; all other addresses of the machine belong to the first port of the first
 * adapter. No port can be bound to the loopback; requests to it go to the first active port.
 * Decision: docs/adr/0048.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ib/smp.h"
#include "softhca/net/fabric.h"
#include "softhca/inet.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/ucma/ucma.h"

enum { GID_INDEX_V6 = 1, GID_INDEX_V4 = 3 }; /* entries of RoCE v2: see adapter.c */

struct sockaddr_ib_layout { /* struct sockaddr_ib of <infiniband/ib.h> */
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid, sid_mask, scope_id;
};

size_t ucma_addr_size(unsigned int family)
{
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB_FAMILY:
		return sizeof(struct sockaddr_ib_layout);
	default:
		return 0;
	}
}

int ucma_addr_get(const struct __kernel_sockaddr_storage *from, uint16_t size,
		  struct sockaddr_storage *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sizeof(to->ss_family));
	if (!size || size != ucma_addr_size(to->ss_family))
		return EINVAL;
	memcpy(to, from, size);
	return 0;
}

bool ucma_addr_is_ip(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET || addr->ss_family == AF_INET6;
}

/* Writes the address as 16 bytes: an IPv6 address or a GID; an IPv4 address is mapped to IPv6. */
void ucma_addr_bytes(const struct sockaddr_storage *addr, uint8_t host[16])
{
	memset(host, 0, 16);
	if (addr->ss_family == AF_INET) {
		inet_map((const uint8_t *)&((const struct sockaddr_in *)addr)->sin_addr, host);
	} else if (addr->ss_family == AF_INET6) {
		memcpy(host, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
	} else {
		memcpy(host, ((const struct sockaddr_ib_layout *)addr)->gid, 16);
	}
}

static bool is_zero(const struct sockaddr_storage *addr)
{
	static const uint8_t zero[16];
	uint8_t host[16];

	ucma_addr_bytes(addr, host);
	return !memcmp(host + 12, zero, 4) &&
	       (addr->ss_family == AF_INET || !memcmp(host, zero, 12));
}

static bool is_loopback(const uint8_t host[16])
{
	return inet_is_mapped(host) ? host[12] == 127
				    : IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)host);
}

/* Returns whether ADDR is a loopback address. As in Linux, ::ffff:127.0.0.1 is none. Source:
 * cma_loopback_addr() */
bool ucma_addr_is_loopback(const struct sockaddr_storage *addr)
{
	uint8_t host[16];

	ucma_addr_bytes(addr, host);
	return is_loopback(host) && (addr->ss_family == AF_INET || !inet_is_mapped(host));
}

/* Returns whether ADDR is the unspecified or a loopback address. Source: cma_any_addr() */
bool ucma_addr_is_of_no_port(const struct sockaddr_storage *addr)
{
	return is_zero(addr) || ucma_addr_is_loopback(addr);
}

bool ucma_addr_lacks_scope(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

	return addr->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
	       !v6->sin6_scope_id;
}

bool ucma_addr_is_multicast(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET)
		return IN_MULTICAST(ntohl(v4->sin_addr.s_addr));
	return addr->ss_family == AF_INET6 && IN6_IS_ADDR_MULTICAST(&v6->sin6_addr);
}

bool ucma_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	uint8_t x[16], y[16];

	ucma_addr_bytes(a, x);
	ucma_addr_bytes(b, y);
	return !memcmp(x, y, 16);
}

uint16_t ucma_addr_port(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)addr)->sin_port);
	if (addr->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	return be64toh(((const struct sockaddr_ib_layout *)addr)->sid) & 0xffff;
}

void ucma_addr_set_port(struct sockaddr_storage *addr, uint16_t port)
{
	struct sockaddr_ib_layout *ib = (struct sockaddr_ib_layout *)addr;

	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(port);
	else if (addr->ss_family == AF_INET6)
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
	else
		ib->sid = htobe64((be64toh(ib->sid) & ~0xffffull) | port);
}

bool ucma_addr_is_gid(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_IB_FAMILY;
}

uint64_t ucma_addr_service(const struct sockaddr_storage *addr, uint16_t ps)
{
	if (ucma_addr_is_gid(addr))
		return be64toh(((const struct sockaddr_ib_layout *)addr)->sid);
	return (uint64_t)ps << 16 | ucma_addr_port(addr);
}

void ucma_addr_set_service(struct sockaddr_storage *addr, uint64_t service)
{
	((struct sockaddr_ib_layout *)addr)->sid = htobe64(service);
}

void ucma_addr_put(struct sockaddr_storage *addr, unsigned int family, const uint8_t host[16],
		   uint16_t ps, uint16_t port)
{
	struct sockaddr_ib_layout *ib = (struct sockaddr_ib_layout *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = family;
	if (family == AF_INET) {
		memcpy(&((struct sockaddr_in *)addr)->sin_addr, host + 12, 4);
	} else if (family == AF_INET6) {
		memcpy(&((struct sockaddr_in6 *)addr)->sin6_addr, host, 16);
	} else {
		ib->pkey = htobe16(PKEY_DEFAULT);
		memcpy(ib->gid, host, 16);
		ib->sid = htobe64((uint64_t)ps << 16);
		ib->sid_mask = UINT64_MAX;
	}
	ucma_addr_set_port(addr, port);
}

static void port_ipv4(const struct adapter *adapter, unsigned int port, uint8_t host[16])
{
	const uint8_t bytes[16] = { [10] = 0xff, 0xff,          198,
				    18,          adapter->host, adapter->index << 3 | port };

	memcpy(host, bytes, sizeof(bytes));
}

/* Returns the index of the port's GID for address HOST. On RoCE that is the GID that equals HOST;
 * if the port has none, the port's default GID of FAMILY. */
static uint32_t gid_index_of(struct adapter *adapter, unsigned int port, const uint8_t host[16],
			     unsigned int family)
{
	struct gid_entry entry;

	if (!adapter_is_roce(adapter))
		return 0;
	for (uint32_t i = 0; !adapter_query_gid(adapter, port, i, &entry); i++)
		if (entry.kind == GID_ROCE_V2 && !memcmp(entry.gid, host, 16))
			return i;
	return family == AF_INET ? GID_INDEX_V4 : GID_INDEX_V6;
}

static int fill_end_as(struct adapter *adapter, unsigned int port, unsigned int family,
		       const uint8_t host[16], struct ucma_end *end)
{
	struct gid_entry entry;
	struct port_info info;
	int ret;

	memset(end, 0, sizeof(*end));
	end->adapter = adapter;
	end->port = port;
	end->gid_index = gid_index_of(adapter, port, host, family);
	ret = adapter_query_gid(adapter, port, end->gid_index, &entry);
	if (!ret)
		ret = adapter_query_port(adapter, port, &info);
	if (ret)
		return ret;
	memcpy(end->gid, entry.gid, sizeof(end->gid));
	end->lid = info.lid;
	ucma_addr_put(&end->addr, family, host, 0, 0);
	return 0;
}

static int fill_end(struct adapter *adapter, unsigned int port, unsigned int family,
		    struct ucma_end *end)
{
	struct gid_entry entry;
	uint8_t host[16];
	int ret;

	ret = adapter_query_gid(adapter, port, adapter_is_roce(adapter) ? GID_INDEX_V6 : 0, &entry);
	if (ret)
		return ret;
	memcpy(host, entry.gid, sizeof(host));
	if (family == AF_INET)
		port_ipv4(adapter, port, host);
	return fill_end_as(adapter, port, family, host, end);
}

static bool is_by_rule(const uint8_t host[16], const struct adapter *adapter, unsigned int port)
{
	static const uint8_t link_local[8] = { 0xfe, 0x80 };
	uint64_t guid = htobe64(adapter_port_guid(adapter, port));
	uint8_t own[16];

	port_ipv4(adapter, port, own);
	if (!memcmp(own, host, 16))
		return true;
	return !memcmp(host, link_local, 8) && !memcmp(host + 8, &guid, 8);
}

static bool is_of_interface(const struct adapter *adapter, unsigned int port, const char *name)
{
	const char *own = netdev_of(adapter, port);

	return own && !strcmp(own, name);
}

bool ucma_addr_is_own(const uint8_t host[16], const struct adapter *adapter, unsigned int port)
{
	char name[IF_NAMESIZE];

	if (is_by_rule(host, adapter, port))
		return true;
	return netdev_of(adapter, port) && !is_loopback(host) && netdev_with_address(host, name) &&
	       is_of_interface(adapter, port, name);
}

static unsigned int family_for(const struct sockaddr_storage *addr)
{
	uint8_t host[16];

	ucma_addr_bytes(addr, host);
	return inet_is_mapped(host) ? AF_INET : addr->ss_family;
}

static int find_port(struct daemon *daemon, const uint8_t host[16], unsigned int family,
		     struct ucma_end *end)
{
	for (unsigned int i = 0; i < daemon->num_adapters; i++)
		for (unsigned int port = 1; port <= daemon->adapters[i]->num_ports; port++)
			if (is_by_rule(host, daemon->adapters[i], port))
				return fill_end(daemon->adapters[i], port, family, end);
	return EADDRNOTAVAIL;
}

static int port_of_interface(struct daemon *daemon, const char *name, const uint8_t host[16],
			     struct ucma_end *end)
{
	for (unsigned int i = 0; i < daemon->num_adapters; i++) {
		struct adapter *adapter = daemon->adapters[i];

		for (unsigned int port = 1; port <= adapter->num_ports; port++)
			if (is_of_interface(adapter, port, name))
				return fill_end_as(adapter, port,
						   inet_is_mapped(host) ? AF_INET : AF_INET6, host,
						   end);
	}
	return fill_end(daemon->adapters[0], 1, AF_INET, end);
}

static int find_of_machine(struct daemon *daemon, const uint8_t host[16], struct ucma_end *end)
{
	char name[IF_NAMESIZE];

	if (netdev_with_address(host, name))
		return port_of_interface(daemon, name, host, end);
	return EADDRNOTAVAIL;
}

static bool is_active(struct adapter *adapter, unsigned int port)
{
	struct port_info info;

	return !adapter_query_port(adapter, port, &info) && info.state == PORT_ACTIVE;
}

/* Source: cma_bind_loopback() */
int ucma_addr_find_loopback(struct daemon *daemon, unsigned int family, struct ucma_end *end)
{
	for (unsigned int i = 0; i < daemon->num_adapters; i++)
		for (unsigned int port = 1; port <= daemon->adapters[i]->num_ports; port++)
			if (is_active(daemon->adapters[i], port))
				return fill_end(daemon->adapters[i], port, family, end);
	return fill_end(daemon->adapters[0], 1, family, end);
}

int ucma_addr_find(struct daemon *daemon, const struct sockaddr_storage *addr, struct ucma_end *end)
{
	uint8_t host[16];
	int ret;

	if (ucma_addr_is_multicast(addr)) {
		*end = (struct ucma_end){ .addr = *addr };
		return 0;
	}
	ucma_addr_bytes(addr, host);
	ret = find_port(daemon, host, family_for(addr), end);
	if (ret)
		ret = ucma_addr_is_gid(addr) ? ENODEV : find_of_machine(daemon, host, end);
	if (!ret)
		end->addr = *addr;
	return ret;
}

/* Sets SRC to the address of port 1's network interface, as other hosts may reach that; without
 * one, to the address of the port itself. */
static int source_of_first(struct adapter *adapter, unsigned int family, struct ucma_end *src)
{
	uint8_t address[NETDEV_MAX_ADDRESSES][16];
	const char *name = netdev_of(adapter, 1);
	unsigned int count = name ? netdev_addresses(name, address) : 0;

	for (unsigned int i = 0; i < count; i++)
		if (!is_loopback(address[i]) && inet_is_mapped(address[i]) == (family == AF_INET))
			return fill_end_as(adapter, 1, family, address[i], src);
	return fill_end(adapter, 1, family, src);
}

/* Chooses the source for DST. For multicast groups and other hosts, that is the first port; for an
 * address of our own, the port and address of DST itself. */
int ucma_addr_source(struct daemon *daemon, const struct ucma_end *dst, struct ucma_end *src)
{
	uint16_t ps = 0;

	if (!dst->adapter || ucma_addr_is_multicast(&dst->addr))
		return source_of_first(daemon->adapters[0], family_for(&dst->addr), src);
	*src = *dst;
	if (ucma_addr_is_gid(&dst->addr))
		ucma_addr_put(&src->addr, AF_IB_FAMILY, dst->gid, ps, 0);
	else
		ucma_addr_set_port(&src->addr, 0);
	return 0;
}
