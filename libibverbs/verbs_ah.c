/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_ah.c - the public calls on address handles, and the path back to the sender of a datagram.
 *
 * A received datagram begins with a GRH of 40 bytes, which has the layout of an IPv6 header. For a
 * RoCE v2 packet over IPv4, the IPv4 header is in the last 20 of these bytes (IBTA Annex A17,
 * 4.5.1).
 */
#include "libibverbs/private.h"

#include <endian.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

VERBS_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;
	int err = get_ops(pd->context)->create_ah(pd, attr, &ah);

	if (err)
		return fail_null(err);
	ah->context = pd->context;
	ah->pd = pd;
	return ah;
}

VERBS_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	return verbs_result(get_ops(ah->context)->destroy_ah(ah));
}

struct route {
	union ibv_gid source, dest;
	uint32_t flow_label;
	uint8_t traffic_class, hop_limit;
	bool is_udp;
};

#define NEXT_HDR_BTH 0x1b /* next header in the GRH of InfiniBand and RoCE v1: IBTA vol 1, 8.3.3 */

/* Returns whether the checksum is valid: the sum over the header is all ones (RFC 1071). */
static bool checksum_is_good(const struct iphdr *ip)
{
	uint16_t words[sizeof(*ip) / 2];
	uint32_t sum = 0;

	memcpy(words, ip, sizeof(*ip));
	for (size_t i = 0; i < sizeof(*ip) / 2; i++)
		sum += words[i];
	/* The carries of ten words are at most 9, so adding them cannot carry again. */
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

/* Returns whether the header is IPv4. The 20 bytes before an IPv4 header are undefined, and may
 * look like an IPv6 header; and the end of an IPv6 header is a GID, which may look like anything.
 * If both fit, the checksum decides. */
static bool is_ipv4(const struct ibv_grh *grh, const struct iphdr *ip)
{
	if (ip->version != 4 || ip->ihl != 5)
		return false;
	return be32toh(grh->version_tclass_flow) >> 28 != 6 || checksum_is_good(ip);
}

static void map_ipv4(union ibv_gid *gid, uint32_t addr)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &addr, sizeof(addr));
}

static int read_route(struct ibv_grh *grh, struct route *route)
{
	const uint32_t word = be32toh(grh->version_tclass_flow);
	struct iphdr ip;

	memcpy(&ip, (char *)grh + sizeof(*grh) - sizeof(ip), sizeof(ip));
	if (is_ipv4(grh, &ip)) {
		*route = (struct route){
			.traffic_class = ip.tos,
			.hop_limit = ip.ttl,
			.is_udp = true,
		};
		map_ipv4(&route->source, ip.saddr);
		map_ipv4(&route->dest, ip.daddr);
		return 0;
	}
	if (word >> 28 != 6 || (grh->next_hdr != NEXT_HDR_BTH && grh->next_hdr != IPPROTO_UDP)) {
		verbs_warn("ibv_init_ah_from_wc: the 40 bytes at grh start with 0x%08x, next_hdr "
			   "0x%x: neither a GRH nor an IPv4 header behind it",
			   word, grh->next_hdr);
		return EPROTONOSUPPORT;
	}
	*route = (struct route){
		.source = grh->sgid,
		.dest = grh->dgid,
		.flow_label = word & IB_GRH_FLOWLABEL_MASK,
		.traffic_class = (uint8_t)(word >> 20),
		.hop_limit = grh->hop_limit,
		.is_udp = grh->next_hdr == IPPROTO_UDP,
	};
	return 0;
}

static int find_gid(struct ibv_context *context, uint8_t port_num, const struct route *route,
		    const struct ibv_port_attr *port, uint8_t *index)
{
	struct ibv_gid_entry entry;

	for (uint32_t i = 0; i < (uint32_t)port->gid_tbl_len; i++) {
		if (verbs_query_gid(context, port_num, i, &entry) ||
		    memcmp(&entry.gid, &route->dest, sizeof(entry.gid)) ||
		    (entry.gid_type == IBV_GID_TYPE_ROCE_V2) != route->is_udp)
			continue;
		*index = (uint8_t)i;
		return 0;
	}
	verbs_warn(
		"ibv_init_ah_from_wc: port_num %u: the GID that the datagram was sent to is not in "
		"the port's table (of %d): answers to multicast need an address of your own",
		port_num, port->gid_tbl_len);
	return EINVAL;
}

static int init_global(struct ibv_context *context, uint8_t port_num, struct ibv_grh *grh,
		       struct ibv_ah_attr *attr)
{
	struct ibv_port_attr port;
	struct route route;
	int err;

	err = read_route(grh, &route);
	if (!err)
		err = get_ops(context)->query_port(context, port_num, &port, sizeof(port));
	if (!err)
		err = find_gid(context, port_num, &route, &port, &attr->grh.sgid_index);
	if (err)
		return err;
	attr->is_global = 1;
	attr->grh.dgid = route.source;
	attr->grh.flow_label = route.flow_label;
	attr->grh.traffic_class = route.traffic_class;
	attr->grh.hop_limit = route.hop_limit;
	return 0;
}

VERBS_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num,
				     struct ibv_wc *wc, struct ibv_grh *grh,
				     struct ibv_ah_attr *ah_attr)
{
	int err;

	*ah_attr = (struct ibv_ah_attr){
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = port_num,
	};
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	err = init_global(context, port_num, grh, ah_attr);
	return err ? fail_fd(err) : 0;
}

VERBS_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
						  struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
