/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_route.c - adds what ibacm knows to rdma_getaddrinfo() and rdma_resolve_route(): paths,
 * which save queries to the subnet's administration, and the matching source address.
 *
 * With paths, the result gets a second entry in front: the same destination as a GID. A connection
 * request by GID has no IP addresses, so these are put before the private data (IBTA vol 1, annex
 * A11), where a listener on an IP address finds them. Without the daemon or its answer, nothing is
 * added, and no error is reported.
 */
#include "addrinfo.h"
#include "acm.h"

#include <infiniband/ib.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* Adds the path of the hints, which is either a bare record or a struct ibv_path_data. */
static void put_wanted_path(struct acm_question *question, const struct rdma_addrinfo *hints)
{
	struct ibv_path_data data;

	if (!hints->ai_route)
		return;
	if (hints->ai_route_len == sizeof(struct ibv_path_record)) {
		memcpy(&question->path, hints->ai_route, sizeof(question->path));
	} else if (hints->ai_route_len && hints->ai_route_len % sizeof(data) == 0) {
		memcpy(&data, hints->ai_route, sizeof(data));
		question->path = data.path;
	} else {
		verbs_warn("rdma_getaddrinfo: ai_route_len %zu is of no path: "
			   "%zu or a multiple of %zu",
			   hints->ai_route_len, sizeof(struct ibv_path_record), sizeof(data));
		return;
	}
	question->has_path = true;
}

static int put_route(struct rdma_addrinfo *info, const struct acm_answer *answer)
{
	return rdmacm_addrinfo_copy(&info->ai_route, &info->ai_route_len, answer->paths,
				    answer->num_paths * sizeof(answer->paths[0]));
}

/* Returns the service ID: for an IP address its port and the port space, for a GID (AF_IB) the ID
 * in the address. */
static uint64_t service_of(const struct sockaddr *addr, int port_space)
{
	struct sockaddr_ib sib;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	uint16_t port = 0;

	if (addr && addr->sa_family == AF_IB) {
		memcpy(&sib, addr, sizeof(sib));
		return be64toh(sib.sib_sid);
	}
	if (addr && addr->sa_family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		port = ntohs(v4.sin_port);
	} else if (addr && addr->sa_family == AF_INET6) {
		memcpy(&v6, addr, sizeof(v6));
		port = ntohs(v6.sin6_port);
	}
	return (uint64_t)(unsigned int)port_space << 16 | port;
}

static struct sockaddr_ib gid_addr(const union ibv_gid *gid, const struct ibv_path_record *path,
				   uint64_t service)
{
	struct sockaddr_ib sib = {
		.sib_family = AF_IB,
		.sib_pkey = path->pkey,
		.sib_flowinfo = htobe32(be32toh(path->flowlabel_hoplimit) >> 8),
		.sib_sid = htobe64(service),
		.sib_sid_mask =
			htobe64(service & RDMA_IB_IP_PORT_MASK ? UINT64_MAX : RDMA_IB_IP_PS_MASK),
	};

	memcpy(sib.sib_addr.sib_raw, gid->raw, sizeof(gid->raw));
	return sib;
}

/* Header before the private data of a request to an RDMA IP CM service (IBTA vol 1, annex A11). */
struct ip_cm_header {
	uint8_t version;
	uint8_t ip_version;
	/* 0, as Debian's librdmacm sends it: the receiving kernel reads only the addresses */
	__be16 src_port;
	/* an IPv4 address is in the last four bytes, as in the hello header of the IP CM service
	 * (IBTA vol 1, annex A11) */
	uint8_t src[16], dst[16];
};

static void put_host(uint8_t to[16], const struct sockaddr *addr)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (addr->sa_family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		memcpy(to + 12, &v4.sin_addr, sizeof(v4.sin_addr));
	} else {
		memcpy(&v6, addr, sizeof(v6));
		memcpy(to, &v6.sin6_addr, sizeof(v6.sin6_addr));
	}
}

static bool is_ip_pair(const struct rdma_addrinfo *info)
{
	const struct sockaddr *src = info->ai_src_addr, *dst = info->ai_dst_addr;

	return src && dst && src->sa_family == dst->sa_family &&
	       (dst->sa_family == AF_INET || dst->sa_family == AF_INET6);
}

static int put_connect_data(struct rdma_addrinfo *to, const struct rdma_addrinfo *ip)
{
	struct ip_cm_header header = { 0 };

	header.ip_version = (ip->ai_dst_addr->sa_family == AF_INET ? 4 : 6) << 4;
	put_host(header.src, ip->ai_src_addr);
	put_host(header.dst, ip->ai_dst_addr);
	return rdmacm_addrinfo_copy(&to->ai_connect, &to->ai_connect_len, &header, sizeof(header));
}

static int fill_gids(struct rdma_addrinfo *to, const struct rdma_addrinfo *from,
		     const struct acm_answer *answer)
{
	const struct ibv_path_record *path = &answer->paths[0].path;
	struct sockaddr_ib src, dst;
	int ret;

	to->ai_flags = from->ai_flags;
	to->ai_family = AF_IB;
	to->ai_qp_type = from->ai_qp_type;
	to->ai_port_space = from->ai_port_space;
	src = gid_addr(&path->sgid, path, service_of(from->ai_src_addr, from->ai_port_space));
	dst = gid_addr(&path->dgid, path, service_of(from->ai_dst_addr, from->ai_port_space));
	ret = rdmacm_addrinfo_put_source(to, (struct sockaddr *)&src, sizeof(src));
	if (!ret)
		ret = rdmacm_addrinfo_put_destination(to, (struct sockaddr *)&dst, sizeof(dst));
	if (!ret)
		ret = put_route(to, answer);
	if (!ret && is_ip_pair(from))
		ret = put_connect_data(to, from);
	return ret;
}

/* Inserts an entry of GIDs before *LIST, as programs try the first entry first. */
static int add_gids(struct rdma_addrinfo **list, const struct acm_answer *answer)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));
	int ret;

	if (!info)
		return ENOMEM;
	ret = fill_gids(info, *list, answer);
	if (ret) {
		rdma_freeaddrinfo(info);
		return ret;
	}
	info->ai_next = *list;
	*list = info;
	return 0;
}

/* Returns whether the kernel accepts GIDs as addresses. Asks the kernel only once, because each
 * query takes an id and the answer cannot change. */
static bool kernel_knows_gids(void)
{
	enum { UNKNOWN, NO, YES };
	/* several threads may set it at once, but to the same value, so it needs no lock */
	static int known = UNKNOWN;
	struct sockaddr_ib any = { .sib_family = AF_IB };
	int was = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct cm_id *cm;

	if (was != UNKNOWN)
		return was == YES;
	if (rdmacm_id_create(NULL, NULL, RDMA_PS_IB, IBV_QPT_RC, &cm))
		return false;
	was = rdma_bind_addr(&cm->id, (struct sockaddr *)&any) ? NO : YES;
	rdma_destroy_id(&cm->id);
	__atomic_store_n(&known, was, __ATOMIC_RELAXED);
	return was == YES;
}

/* Returns whether to add an entry of GIDs. The kernel must accept GIDs. The addresses must be GIDs
 * already, or two IP addresses, which the private data then tells the listener. */
static bool takes_gids(const struct rdma_addrinfo *info)
{
	return (is_ip_pair(info) || info->ai_dst_addr->sa_family == AF_IB) && kernel_knows_gids();
}

int rdmacm_addrinfo_add_route(struct rdma_addrinfo **list, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *info = *list;
	struct acm_question question;
	struct acm_answer answer;
	int ret = 0;

	if (info->ai_flags & RAI_PASSIVE || !info->ai_dst_addr)
		return 0;
	if (!hints->ai_route && rdmacm_acm_rests())
		return 0;
	question = (struct acm_question){
		.src = info->ai_src_addr,
		.dst = info->ai_dst_addr,
		.no_delay = hints->ai_flags & (RAI_NUMERICHOST | RAI_NOROUTE),
	};
	put_wanted_path(&question, hints);
	if (rdmacm_acm_ask(&question, -1, &answer))
		return 0;
	if (!info->ai_src_addr && answer.src_len)
		ret = rdmacm_addrinfo_put_source(info, (struct sockaddr *)&answer.src,
						 answer.src_len);
	if (!ret)
		ret = put_route(info, &answer);
	if (!ret && takes_gids(info))
		ret = add_gids(list, &answer);
	return ret;
}
