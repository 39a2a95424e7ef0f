/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo.c - names and services to addresses for rdma_cm, by the C library's getaddrinfo().
 *
 * An answer has one entry; the source of the hints goes into it. Numeric
 * AF_IB addresses (GIDs) are taken here. Inside, functions return a positive errno, or the negative
 * EAI_ number of the C library, which the public call passes on, too.
 */
#include "cma.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static int errno_of(int eai)
{
	switch (eai) {
	case 0:
		return 0;
	case EAI_MEMORY:
		return ENOMEM;
	case EAI_SYSTEM:
		return errno;
	case EAI_AGAIN:
		return EAGAIN;
	case EAI_FAMILY:
		return EAFNOSUPPORT;
	case EAI_BADFLAGS:
	case EAI_SERVICE:
	case EAI_SOCKTYPE:
		return EINVAL;
	default: /* no such name, or it has no address */
		return ENODATA;
	}
}

static bool is_datagram(const struct rdma_addrinfo *hints)
{
	return hints->ai_qp_type == IBV_QPT_UD || hints->ai_port_space == RDMA_PS_UDP ||
	       hints->ai_port_space == RDMA_PS_IPOIB;
}

/* Port space and QP type from each other, where the hints have one of them. */
static void put_kind(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints)
{
	bool datagram = is_datagram(hints);

	info->ai_port_space = hints->ai_port_space;
	info->ai_qp_type = hints->ai_qp_type;
	if (!info->ai_port_space)
		info->ai_port_space = datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
	if (!info->ai_qp_type)
		info->ai_qp_type = datagram ? IBV_QPT_UD : IBV_QPT_RC;
}

static int copy_bytes(void **to, const void *from, size_t len)
{
	*to = NULL;
	if (!len)
		return 0;
	*to = malloc(len);
	if (!*to)
		return ENOMEM;
	memcpy(*to, from, len);
	return 0;
}

static int put_source(struct rdma_addrinfo *info, const struct sockaddr *addr, socklen_t len)
{
	info->ai_src_len = len;
	return copy_bytes((void **)&info->ai_src_addr, addr, len);
}

static int put_destination(struct rdma_addrinfo *info, const struct sockaddr *addr, socklen_t len)
{
	info->ai_dst_len = len;
	return copy_bytes((void **)&info->ai_dst_addr, addr, len);
}

/* One entry from one address of the C library's answer. */
static int make_entry(const struct addrinfo *from, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **out)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));
	bool passive = hints->ai_flags & RAI_PASSIVE;
	char **name;
	int ret;

	if (!info)
		return ENOMEM;
	*out = info;
	info->ai_flags = hints->ai_flags & RAI_PASSIVE;
	info->ai_family = from->ai_family;
	put_kind(info, hints);
	name = passive ? &info->ai_src_canonname : &info->ai_dst_canonname;
	if (from->ai_canonname) {
		*name = strdup(from->ai_canonname);
		if (!*name)
			return ENOMEM;
	}
	if (passive)
		return put_source(info, from->ai_addr, from->ai_addrlen);
	ret = put_destination(info, from->ai_addr, from->ai_addrlen);
	if (!ret && hints->ai_src_len)
		ret = put_source(info, hints->ai_src_addr, hints->ai_src_len);
	return ret;
}

/* The C library's list is in the order of preference: the first that rdma_cm can use. */
static int take_first(const struct addrinfo *from, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **list)
{
	while (from && from->ai_family != AF_INET && from->ai_family != AF_INET6)
		from = from->ai_next;
	return from ? make_entry(from, hints, list) : ENODATA;
}

static int resolve_ip(const char *node, const char *service, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **list)
{
	struct addrinfo wanted = { .ai_family = hints->ai_family,
				   .ai_socktype = is_datagram(hints) ? SOCK_DGRAM : SOCK_STREAM };
	struct addrinfo *found = NULL;
	int ret;

	if (hints->ai_flags & RAI_PASSIVE)
		wanted.ai_flags |= AI_PASSIVE;
	if (hints->ai_flags & RAI_NUMERICHOST)
		wanted.ai_flags |= AI_NUMERICHOST;
	ret = getaddrinfo(node, service, &wanted, &found);
	if (!ret)
		ret = take_first(found, hints, list);
	if (found)
		freeaddrinfo(found);
	return ret;
}

/* ---- AF_IB ---- */

static int put_service(struct sockaddr_ib *sib, const char *service,
		       const struct rdma_addrinfo *hints)
{
	int port_space = hints->ai_port_space ? hints->ai_port_space : RDMA_PS_IB;
	unsigned long port;
	char *end;

	sib->sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK);
	if (!service) {
		sib->sib_sid = htobe64((uint64_t)port_space << 16);
		return 0;
	}
	port = strtoul(service, &end, 10);
	if (*end || end == service || port > 0xffff)
		return EINVAL;
	sib->sib_sid = htobe64((uint64_t)port_space << 16 | port);
	sib->sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK | RDMA_IB_IP_PORT_MASK);
	return 0;
}

static int resolve_gid(const char *node, const char *service, const struct rdma_addrinfo *hints,
		       struct rdma_addrinfo **list)
{
	struct sockaddr_ib sib = { .sib_family = AF_IB, .sib_pkey = 0xffff };
	struct addrinfo from = { .ai_family = AF_IB,
				 .ai_addr = (struct sockaddr *)&sib,
				 .ai_addrlen = sizeof(sib) };
	int ret = put_service(&sib, service, hints);

	if (ret)
		return ret;
	if (node && inet_pton(AF_INET6, node, sib.sib_addr.sib_raw) != 1)
		return ENODATA;
	return make_entry(&from, hints, list);
}

/* ---- the public calls ---- */

/* No name, but an address in the hints */
static int take_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
	bool passive = hints->ai_flags & RAI_PASSIVE;
	struct addrinfo from = {
		.ai_family = hints->ai_family,
		.ai_addr = passive ? hints->ai_src_addr : hints->ai_dst_addr,
		.ai_addrlen = passive ? hints->ai_src_len : hints->ai_dst_len,
	};

	if (!from.ai_addr)
		return EINVAL;
	if (!from.ai_family)
		from.ai_family = from.ai_addr->sa_family;
	return make_entry(&from, hints, list);
}

static int resolve(const char *node, const char *service, const struct rdma_addrinfo *hints,
		   struct rdma_addrinfo **list)
{
	if (!node && !service)
		return take_hints(hints, list);
	if (hints->ai_family == AF_IB)
		return resolve_gid(node, service, hints, list);
	return resolve_ip(node, service, hints, list);
}

CMA_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	static const struct rdma_addrinfo none;
	struct rdma_addrinfo *list = NULL;
	int ret;

	if (!node && !service && !hints)
		return cma_return(EINVAL);
	ret = resolve(node, service, hints ? hints : &none, &list);
	if (ret)
		rdma_freeaddrinfo(list);
	else
		*res = list;
	if (ret >= 0)
		return cma_return(ret);
	cma_return(errno_of(ret));
	return ret; /* for gai_strerror() */
}

CMA_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
	}
}
