/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo.c - rdma_getaddrinfo(): resolves names and services to rdma_cm addresses with the C
 * library's getaddrinfo().
 *
 * The result is one entry, with the source address of the hints; addrinfo_route.c adds the paths
 * that ibacm knows. This file itself converts numeric addresses of AF_IB (GIDs). Internal functions
 * return 0, a positive errno, or a negative EAI_ number of the C library, which the public call
 * passes on.
 */
#include "addrinfo.h"

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
	default: /* the name does not exist, or has no address */
		return ENODATA;
	}
}

static bool is_datagram(const struct rdma_addrinfo *hints)
{
	if (hints->ai_qp_type)
		return hints->ai_qp_type == IBV_QPT_UD;
	return hints->ai_port_space == RDMA_PS_UDP || hints->ai_port_space == RDMA_PS_IPOIB;
}

/* Returns the socket type for the hints, or 0 (any) for a QP type that is neither for streams nor
 * for datagrams. */
static int socket_type(const struct rdma_addrinfo *hints)
{
	switch (hints->ai_qp_type) {
	case 0:
		return is_datagram(hints) ? SOCK_DGRAM : SOCK_STREAM;
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SOCK_STREAM;
	case IBV_QPT_UD:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

/* Returns the IP protocol. The C library compares it with the socket type, so a port space that
 * contradicts the QP type fails there, with EAI_SOCKTYPE. */
static int protocol_of(int port_space)
{
	switch (port_space) {
	case RDMA_PS_TCP:
		return IPPROTO_TCP;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

/* Sets port space and QP type. If the hints have only one of them, it determines the other. */
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

static int make_entry(const struct addrinfo *from, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **out)
{
	struct rdma_addrinfo *info = malloc(sizeof(*info));
	bool passive = hints->ai_flags & RAI_PASSIVE;
	char **name;
	int ret;

	if (!info)
		return ENOMEM;
	*info = (struct rdma_addrinfo){ 0 };
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
		return rdmacm_addrinfo_put_source(info, from->ai_addr, from->ai_addrlen);
	ret = rdmacm_addrinfo_put_destination(info, from->ai_addr, from->ai_addrlen);
	if (!ret && hints->ai_src_len)
		ret = rdmacm_addrinfo_put_source(info, hints->ai_src_addr, hints->ai_src_len);
	return ret;
}

/* Uses the first address that rdma_cm supports, since the C library sorts its list by
 * preference. */
static int take_first(const struct addrinfo *from, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **list)
{
	while (from && from->ai_family != AF_INET && from->ai_family != AF_INET6)
		from = from->ai_next;
	return from ? make_entry(from, hints, list) : ENODATA;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
		   struct addrinfo **found)
{
	struct addrinfo wanted = {
		.ai_family = hints->ai_family == AF_IB ? AF_UNSPEC : hints->ai_family,
		.ai_socktype = socket_type(hints),
		.ai_protocol = protocol_of(hints->ai_port_space),
	};

	if (hints->ai_flags & RAI_PASSIVE)
		wanted.ai_flags |= AI_PASSIVE;
	if (hints->ai_flags & RAI_NUMERICHOST)
		wanted.ai_flags |= AI_NUMERICHOST;
	return getaddrinfo(node, service, &wanted, found);
}

static int resolve_ip(const char *node, const char *service, const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo **list)
{
	struct addrinfo *found = NULL;
	int ret = look_up(node, service, hints, &found);

	if (!ret)
		ret = take_first(found, hints, list);
	if (found)
		freeaddrinfo(found);
	return ret;
}

static int put_gid(const struct sockaddr_in6 *from, const struct rdma_addrinfo *hints,
		   struct rdma_addrinfo **list)
{
	struct sockaddr_ib sib = { .sib_family = AF_IB,
				   .sib_pkey = 0xffff,
				   .sib_flowinfo = from->sin6_flowinfo,
				   .sib_scope_id = from->sin6_scope_id };
	struct addrinfo entry = { .ai_family = AF_IB,
				  .ai_addr = (struct sockaddr *)&sib,
				  .ai_addrlen = sizeof(sib) };
	uint64_t port_space = hints->ai_port_space ? hints->ai_port_space : RDMA_PS_IB;

	sib.sib_sid = htobe64(port_space << 16 | ntohs(from->sin6_port));
	sib.sib_sid_mask = htobe64(from->sin6_port ? UINT64_MAX : RDMA_IB_IP_PS_MASK);
	memcpy(sib.sib_addr.sib_raw, &from->sin6_addr, sizeof(from->sin6_addr));
	return make_entry(&entry, hints, list);
}

/* Resolves a GID by the C library, which can parse both arguments: a GID is written as an IPv6
 * address, and its services have the names of IP services. */
static int resolve_gid(const char *node, const char *service, const struct rdma_addrinfo *hints,
		       struct rdma_addrinfo **list)
{
	struct rdma_addrinfo as_ipv6 = *hints;
	struct addrinfo *found = NULL;
	int ret;

	as_ipv6.ai_family = AF_INET6;
	ret = look_up(node, service, &as_ipv6, &found);
	if (!ret)
		ret = put_gid((const struct sockaddr_in6 *)found->ai_addr, hints, list);
	if (found)
		freeaddrinfo(found);
	return ret;
}

static int take_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));
	int ret;

	if (!info)
		return ENOMEM;
	*list = info;
	info->ai_flags = hints->ai_flags;
	info->ai_family = hints->ai_family;
	info->ai_qp_type = hints->ai_qp_type;
	info->ai_port_space = hints->ai_port_space;
	ret = rdmacm_addrinfo_put_source(info, hints->ai_src_addr, hints->ai_src_len);
	if (!ret)
		ret = rdmacm_addrinfo_put_destination(info, hints->ai_dst_addr, hints->ai_dst_len);
	return ret;
}

/* Returns whether the hints say that the node is a GID. Its text does not tell, because a GID is
 * written as an IPv6 address. */
static bool is_gid(const struct rdma_addrinfo *hints)
{
	const int numeric = RAI_NUMERICHOST | RAI_FAMILY;

	return hints->ai_family == AF_IB && (hints->ai_flags & numeric) == numeric;
}

static int resolve_address(const char *node, const char *service, const struct rdma_addrinfo *hints,
			   struct rdma_addrinfo **list)
{
	if (hints->ai_flags & RAI_SA)
		return rdmacm_addrinfo_find_service(node, service, hints, list);
	if (!node && !service)
		return take_hints(hints, list);
	if (is_gid(hints))
		return resolve_gid(node, service, hints, list);
	return resolve_ip(node, service, hints, list);
}

CMA_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	static const struct rdma_addrinfo none;
	struct rdma_addrinfo *list = NULL;
	int ret;

	if (!res || (!node && !service && !hints))
		return cma_refuse(EINVAL, "rdma_getaddrinfo",
				  "nothing is asked for, or no place for the answer");
	if (!hints)
		hints = &none;
	ret = resolve_address(node, service, hints, &list);
	if (!ret && !(hints->ai_flags & RAI_SA))
		ret = rdmacm_addrinfo_add_route(&list, hints);
	if (ret)
		rdma_freeaddrinfo(list);
	else
		*res = list;
	if (ret >= 0)
		return cma_return(ret);
	cma_return(errno_of(ret));
	verbs_warn("rdma_getaddrinfo: %s %s, ai_family %d, ai_qp_type %d, ai_port_space 0x%x: %s",
		   node ? node : "-", service ? service : "-", hints->ai_family, hints->ai_qp_type,
		   hints->ai_port_space, gai_strerror(ret));
	return ret; /* an EAI_ number, for gai_strerror() */
}
