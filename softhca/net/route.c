/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.c - see route.h. IBTA vol 1, 7.7 (LRH), 8.3 (GRH); annex A16 (RoCE), A17 (RoCE v2).
 */
#include <string.h>

#include "ib/packet.h"
#include "softhca/net/crc.h"
#include "softhca/inet.h"
#include "softhca/net/route.h"

enum { DEFAULT_HOPS = 64 };

void route_init(struct route *route, const struct fabric_msg *msg)
{
	const struct fabric_addr *addr = &msg->addr;

	memset(route, 0, sizeof(*route));
	route->ethernet = addr->by_gid;
	route->ipv4 = addr->by_gid && addr->roce == FABRIC_ROCE_V2 && addr->ipv4;
	if (addr->by_gid)
		route->len = ETHERNET_SIZE + (addr->tagged ? VLAN_SIZE : 0);
	else
		route->len = route->lrh_len = LRH_SIZE;
	if (addr->by_gid || addr->grh) {
		route->ip = route->len;
		route->ip_len = route->ipv4 ? IP4_SIZE : GRH_SIZE;
		route->len += route->ip_len;
	}
	if (addr->by_gid && addr->roce == FABRIC_ROCE_V2) {
		route->udp = route->len;
		route->len += UDP_SIZE;
	}
}

static void put_lrh(const struct route *route, const struct fabric_msg *msg, uint8_t *p, size_t len)
{
	memset(p, 0, LRH_SIZE);
	fld_set(p, LRH_VL, msg->dest_qpn == 0 ? VL_MANAGEMENT : 0);
	fld_set(p, LRH_SL, msg->addr.sl);
	fld_set(p, LRH_NEXT, route->ip ? LRH_NEXT_GRH : LRH_NEXT_BTH);
	fld_set(p, LRH_DLID, msg->addr.dlid);
	fld_set(p, LRH_LENGTH, len / 4);
	fld_set(p, LRH_SLID, msg->addr.slid);
}

static void put_ethernet(const struct route *route, const struct fabric_addr *addr, uint8_t *p)
{
	unsigned int type = !route->udp   ? ETHERTYPE_ROCE
			    : route->ipv4 ? ETHERTYPE_V4
					  : ETHERTYPE_V6;
	uint8_t *tag = fld_at(p, ETHERNET_TYPE);

	memcpy(fld_at(p, ETHERNET_DESTINATION), addr->dmac, MAC_SIZE);
	memcpy(fld_at(p, ETHERNET_SOURCE), addr->smac, MAC_SIZE);
	if (addr->tagged) {
		fld_set(tag, VLAN_TPID, ETHERTYPE_VLAN);
		fld_set(tag, VLAN_TCI, (uint32_t)addr->sl << 13 | addr->vlan);
		p += VLAN_SIZE;
	}
	fld_set16(p, ETHERNET_TYPE, type);
}

static uint8_t hop_limit(const struct fabric_addr *addr)
{
	return addr->hop_limit ? addr->hop_limit : DEFAULT_HOPS;
}

static void put_ipv4(const struct fabric_addr *addr, uint8_t *p, size_t len)
{
	memset(p, 0, IP4_SIZE);
	fld_set(p, IP4_VERSION, 4);
	fld_set(p, IP4_HEADER_WORDS, IP4_WORDS);
	fld_set(p, IP4_TOS, addr->traffic_class);
	fld_set(p, IP4_LENGTH, len);
	fld_set(p, IP4_DONT_FRAGMENT, 1);
	fld_set(p, IP4_TTL, hop_limit(addr));
	fld_set(p, IP4_PROTOCOL, PROTO_UDP);
	memcpy(fld_at(p, IP4_SOURCE), addr->sgid + INET_PREFIX, 4);
	memcpy(fld_at(p, IP4_DESTINATION), addr->dgid + INET_PREFIX, 4);
	fld_set(p, IP4_CHECKSUM, (uint16_t)~inet_fold(inet_sum(0, p, IP4_SIZE)));
}

static void put_grh(const struct route *route, const struct fabric_addr *addr, uint8_t *p,
		    size_t payload)
{
	memset(p, 0, GRH_SIZE);
	fld_set(p, IP6_VERSION, 6);
	fld_set(p, IP6_TCLASS, addr->traffic_class);
	fld_set(p, IP6_FLOW_LABEL, addr->flow_label);
	fld_set(p, IP6_PAYLOAD, payload);
	fld_set(p, IP6_NEXT, route->udp ? PROTO_UDP : GRH_NEXT_IBA);
	fld_set(p, IP6_HOP_LIMIT, route->udp ? hop_limit(addr) : addr->hop_limit);
	memcpy(fld_at(p, IP6_SOURCE), addr->sgid, 16);
	memcpy(fld_at(p, IP6_DESTINATION), addr->dgid, 16);
}

/* Returns the UDP source port: from the dynamic range, one for each pair of QPs, so that routers
 * can spread them (ECMP). */
static uint16_t source_port(const struct fabric_msg *msg)
{
	enum { DYNAMIC = 0xc000, MASK = 0x3fff };
	uint32_t mixed = (msg->src_qpn ^ msg->dest_qpn) * 0x9e3779b1u;

	return msg->addr.udp_sport ? msg->addr.udp_sport : DYNAMIC | (mixed >> 16 & MASK);
}

static void put_udp(const struct fabric_msg *msg, uint8_t *p, size_t len)
{
	fld_set(p, L4_SOURCE_PORT, source_port(msg));
	fld_set(p, L4_DESTINATION_PORT, ROCE_UDP_PORT);
	fld_set(p, UDP_LENGTH, len);
	fld_set(p, UDP_CHECKSUM, 0);
}

void route_put(struct route *route, const struct fabric_msg *msg, uint8_t *packet, size_t body_len)
{
	size_t udp_len = route->udp ? UDP_SIZE + body_len : body_len;

	route->body_len = body_len;
	if (route->ethernet)
		put_ethernet(route, &msg->addr, packet);
	else
		put_lrh(route, msg, packet, route->len + body_len);
	if (route->ipv4)
		put_ipv4(&msg->addr, packet + route->ip, IP4_SIZE + udp_len);
	else if (route->ip)
		put_grh(route, &msg->addr, packet + route->ip, udp_len);
	if (route->udp)
		put_udp(msg, packet + route->udp, udp_len);
}

/* Writes the UDP checksum, mandatory over IPv6, which also covers the addresses. RFC 8200, 8.1 */
static void put_udp_checksum(const struct route *route, uint8_t *packet, size_t len)
{
	size_t udp_len = len - route->udp;
	uint16_t sum = (uint16_t)~inet_fold(inet_sum_v6(packet + route->ip, PROTO_UDP, udp_len));

	fld_set(packet + route->udp, UDP_CHECKSUM, sum ? sum : UINT16_MAX);
}

static uint16_t vcrc_of(const uint8_t *packet, size_t len)
{
	return (uint16_t)~crc16_add(UINT16_MAX, packet, len);
}

size_t route_finish(const struct route *route, uint8_t *packet, size_t len)
{
	uint16_t vcrc;

	if (route->udp && !route->ipv4)
		put_udp_checksum(route, packet, len);
	if (route->ethernet)
		return len;
	vcrc = htole16(vcrc_of(packet, len));
	memcpy(packet + len, &vcrc, sizeof(vcrc));
	return len + sizeof(vcrc);
}

static void mask_ip(const struct route *route, uint8_t *p)
{
	if (route->ipv4) {
		fld_set(p, IP4_TOS, UINT8_MAX);
		fld_set(p, IP4_TTL, UINT8_MAX);
		fld_set(p, IP4_CHECKSUM, UINT16_MAX);
		return;
	}
	fld_set(p, IP6_TCLASS, UINT8_MAX);
	fld_set(p, IP6_FLOW_LABEL, UINT32_MAX);
	fld_set(p, IP6_HOP_LIMIT, UINT8_MAX);
}

size_t route_mask(const uint8_t *packet, const struct route *route, uint8_t masked[ROUTE_MAX])
{
	size_t from = route->ethernet ? route->ip : LRH_SIZE, len = route->len - from;

	/* The ICRC of RoCE covers ones in place of the absent LRH, so that both links compute it
	 * alike. */
	if (route->ethernet)
		memset(masked, 0xff, LRH_SIZE);
	else
		memcpy(masked, packet, LRH_SIZE);
	fld_set(masked, LRH_VL, UINT8_MAX);
	memcpy(masked + LRH_SIZE, packet + from, len);
	if (route->ip)
		mask_ip(route, masked + LRH_SIZE);
	if (route->udp)
		fld_set(masked + LRH_SIZE + (route->udp - from), UDP_CHECKSUM, UINT16_MAX);
	return LRH_SIZE + len;
}

static void take_grh_fields(const uint8_t *p, struct fabric_addr *addr)
{
	addr->grh = true;
	addr->traffic_class = fld_get(p, IP6_TCLASS);
	addr->flow_label = fld_get(p, IP6_FLOW_LABEL);
	addr->hop_limit = fld_get(p, IP6_HOP_LIMIT);
	memcpy(addr->sgid, fld_at(p, IP6_SOURCE), 16);
	memcpy(addr->dgid, fld_at(p, IP6_DESTINATION), 16);
}

/* Returns whether P has an IPv6 header or GRH followed by NEXT. */
static bool is_ipv6(const uint8_t *p, uint8_t next)
{
	return fld_get(p, IP6_VERSION) == 6 && fld_get(p, IP6_NEXT) == next;
}

static bool take_infiniband(const uint8_t *p, size_t len, struct route *route,
			    struct fabric_msg *msg)
{
	unsigned int next = fld_get(p, LRH_NEXT);
	const uint8_t *grh = p + LRH_SIZE;
	uint16_t vcrc;

	if (fld_get(p, LRH_VERSION) || next < LRH_NEXT_BTH ||
	    fld_get(p, LRH_LENGTH) * 4 + VCRC_SIZE != len)
		return false;
	len -= VCRC_SIZE;
	memcpy(&vcrc, p + len, sizeof(vcrc));
	if (le16toh(vcrc) != vcrc_of(p, len))
		return false;
	msg->addr.sl = fld_get(p, LRH_SL);
	msg->addr.dlid = fld_get(p, LRH_DLID);
	msg->addr.slid = fld_get(p, LRH_SLID);
	route->lrh_len = route->len = LRH_SIZE;
	if (next == LRH_NEXT_GRH) {
		route->ip = LRH_SIZE;
		route->ip_len = GRH_SIZE;
		route->len += GRH_SIZE;
		if (len < route->len || !is_ipv6(grh, GRH_NEXT_IBA) ||
		    fld_get(grh, IP6_PAYLOAD) != len - route->len)
			return false;
		take_grh_fields(grh, &msg->addr);
	}
	if (len < route->len)
		return false;
	route->body_len = len - route->len;
	return true;
}

/* Returns the length of the datagram to the RoCE port behind the IP header at P; 0: no such
 * datagram. */
static size_t take_ipv4(const uint8_t *p, size_t left, struct fabric_addr *addr)
{
	size_t total;

	if (left < IP4_SIZE + UDP_SIZE || fld_get(p, IP4_VERSION) != 4 ||
	    fld_get(p, IP4_HEADER_WORDS) != IP4_WORDS || fld_get(p, IP4_PROTOCOL) != PROTO_UDP ||
	    fld_get(p, IP4_FRAGMENT))
		return 0;
	total = fld_get(p, IP4_LENGTH);
	addr->grh = addr->ipv4 = true;
	addr->traffic_class = fld_get(p, IP4_TOS);
	addr->hop_limit = fld_get(p, IP4_TTL);
	inet_map(fld_at(p, IP4_SOURCE), addr->sgid);
	inet_map(fld_at(p, IP4_DESTINATION), addr->dgid);
	return total <= left ? total : 0;
}

static size_t take_ipv6(const uint8_t *p, size_t left, uint8_t next, struct fabric_addr *addr)
{
	size_t total;

	if (left < GRH_SIZE || !is_ipv6(p, next))
		return 0;
	total = GRH_SIZE + fld_get(p, IP6_PAYLOAD);
	take_grh_fields(p, addr);
	return total <= left ? total : 0;
}

static enum wire_error take_udp(const uint8_t *packet, size_t total, struct route *route,
				struct fabric_msg *msg)
{
	const uint8_t *udp = packet + route->ip + route->ip_len;

	if (total < route->ip_len + UDP_SIZE || fld_get(udp, L4_DESTINATION_PORT) != ROCE_UDP_PORT)
		return WIRE_OTHER;
	route->udp = route->ip + route->ip_len;
	route->len = route->udp + UDP_SIZE;
	route->body_len = total - route->ip_len - UDP_SIZE;
	msg->addr.roce = FABRIC_ROCE_V2;
	msg->addr.udp_sport = fld_get(udp, L4_SOURCE_PORT);
	if (fld_get(udp, UDP_LENGTH) != total - route->ip_len)
		return WIRE_BAD;
	if (route->ipv4 && inet_fold(inet_sum(0, packet + route->ip, IP4_SIZE)) != UINT16_MAX)
		return WIRE_BAD;
	return WIRE_OK;
}

static enum wire_error take_roce_v1(size_t total, struct route *route, struct fabric_msg *msg)
{
	if (!total)
		return WIRE_BAD;
	msg->addr.roce = FABRIC_ROCE_V1;
	route->len = route->ip + GRH_SIZE;
	route->body_len = total - GRH_SIZE;
	return WIRE_OK;
}

/* Takes MAC addresses and VLAN tag. Returns the EtherType of the header at route->ip. */
static unsigned int take_ethernet(const uint8_t *packet, size_t len, struct route *route,
				  struct fabric_addr *addr)
{
	unsigned int type = fld_get16(packet, ETHERNET_TYPE);
	const uint8_t *tag = fld_at(packet, ETHERNET_TYPE);

	addr->by_gid = true;
	memcpy(addr->dmac, fld_at(packet, ETHERNET_DESTINATION), MAC_SIZE);
	memcpy(addr->smac, fld_at(packet, ETHERNET_SOURCE), MAC_SIZE);
	route->ip = ETHERNET_SIZE;
	if (type != ETHERTYPE_VLAN || len < ETHERNET_SIZE + VLAN_SIZE)
		return type;
	addr->tagged = true;
	addr->sl = fld_get(tag, VLAN_PRIORITY);
	addr->vlan = fld_get(tag, VLAN_ID);
	route->ip += VLAN_SIZE;
	return fld_get16(packet + VLAN_SIZE, ETHERNET_TYPE);
}

static enum wire_error take_roce(const uint8_t *packet, size_t len, struct route *route,
				 struct fabric_msg *msg)
{
	unsigned int type = take_ethernet(packet, len, route, &msg->addr);
	const uint8_t *p = packet + route->ip;
	size_t left = len - route->ip, total;

	route->ethernet = true;
	route->ip_len = type == ETHERTYPE_V4 ? IP4_SIZE : GRH_SIZE;
	switch (type) {
	case ETHERTYPE_ROCE:
		return take_roce_v1(take_ipv6(p, left, GRH_NEXT_IBA, &msg->addr), route, msg);
	case ETHERTYPE_V4:
		route->ipv4 = true;
		total = take_ipv4(p, left, &msg->addr);
		return total ? take_udp(packet, total, route, msg) : WIRE_OTHER;
	case ETHERTYPE_V6:
		total = take_ipv6(p, left, PROTO_UDP, &msg->addr);
		return total ? take_udp(packet, total, route, msg) : WIRE_OTHER;
	default:
		return WIRE_OTHER;
	}
}

enum wire_error route_take(bool ethernet, const uint8_t *packet, size_t len, struct route *route,
			   struct fabric_msg *msg)
{
	memset(route, 0, sizeof(*route));
	if (!ethernet)
		return len >= LRH_SIZE + VCRC_SIZE && take_infiniband(packet, len, route, msg)
			       ? WIRE_OK
			       : WIRE_BAD;
	return len >= ETHERNET_SIZE ? take_roce(packet, len, route, msg) : WIRE_BAD;
}
