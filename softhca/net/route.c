/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.c - see route.h. IBTA vol 1, 7.7 (LRH), 8.3 (GRH); annex A16 (RoCE), A17 (RoCE v2).
 */
#include <string.h>

#include "softhca/net/bytes.h"
#include "softhca/net/crc.h"
#include "softhca/net/route.h"

enum {
	LRH_SIZE = 8,
	GRH_SIZE = 40, /* and that of an IPv6 header, which it is like */
	IPV4_SIZE = 20,
	UDP_SIZE = 8,
	ETHERNET_SIZE = 14,
	TAG_SIZE = 4,
	VCRC_SIZE = 2,
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_TAG = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_ROCE = 0x8915,
	PROTOCOL_UDP = 17,
	NEXT_IBA = 0x1b, /* a transport header follows the GRH */
	LNH_BTH = 2,
	LNH_GRH = 3,
	MANAGEMENT_VL = 15,
	DEFAULT_HOPS = 64,
	ICRC_SIZE = 4,
};

static const uint8_t mapped_ipv4[12] = { [10] = 0xff, [11] = 0xff };

/* RFC 1071: the sum of 16-bit words, to be folded and inverted */
static uint32_t sum_words(uint32_t sum, const uint8_t *data, size_t len)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += get16(data + i);
	return len % 2 ? sum + (uint32_t)(data[len - 1] << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* ---- encoding ---- */

void route_init(struct route *route, const struct fabric_msg *msg)
{
	const struct fabric_addr *addr = &msg->addr;

	memset(route, 0, sizeof(*route));
	route->ethernet = addr->by_gid;
	route->ipv4 = addr->by_gid && addr->roce == FABRIC_ROCE_V2 && addr->ipv4;
	if (addr->by_gid)
		route->len = ETHERNET_SIZE + (addr->tagged ? TAG_SIZE : 0);
	else
		route->len = route->lrh_len = LRH_SIZE;
	if (addr->by_gid || addr->grh) {
		route->ip = route->len;
		route->ip_len = route->ipv4 ? IPV4_SIZE : GRH_SIZE;
		route->len += route->ip_len;
	}
	if (addr->by_gid && addr->roce == FABRIC_ROCE_V2) {
		route->udp = route->len;
		route->len += UDP_SIZE;
	}
}

static void put_lrh(const struct route *route, const struct fabric_msg *msg, uint8_t *p, size_t len)
{
	unsigned int vl = msg->dest_qpn == 0 ? MANAGEMENT_VL : 0;

	p[0] = (uint8_t)(vl << 4);
	p[1] = (uint8_t)(msg->addr.sl << 4 | (route->ip ? LNH_GRH : LNH_BTH));
	put16(p + 2, msg->addr.dlid);
	put16(p + 4, (uint32_t)(len / 4));
	put16(p + 6, msg->addr.slid);
}

static void put_ethernet(const struct route *route, const struct fabric_addr *addr, uint8_t *p)
{
	unsigned int type = !route->udp   ? ETHERTYPE_ROCE
			    : route->ipv4 ? ETHERTYPE_IPV4
					  : ETHERTYPE_IPV6;

	memcpy(p, addr->dmac, 6);
	memcpy(p + 6, addr->smac, 6);
	p += 12;
	if (addr->tagged) {
		put16(p, ETHERTYPE_TAG);
		put16(p + 2, (uint32_t)addr->sl << 13 | addr->vlan);
		p += TAG_SIZE;
	}
	put16(p, type);
}

static uint8_t hops(const struct fabric_addr *addr)
{
	return addr->hop_limit ? addr->hop_limit : DEFAULT_HOPS;
}

static void put_ipv4(const struct fabric_addr *addr, uint8_t *p, size_t len)
{
	enum { VERSION_AND_WORDS = 0x45, DONT_FRAGMENT = 0x4000 };

	memset(p, 0, IPV4_SIZE);
	p[0] = VERSION_AND_WORDS;
	p[1] = addr->traffic_class;
	put16(p + 2, (uint32_t)len);
	put16(p + 6, DONT_FRAGMENT);
	p[8] = hops(addr);
	p[9] = PROTOCOL_UDP;
	memcpy(p + 12, addr->sgid + 12, 4);
	memcpy(p + 16, addr->dgid + 12, 4);
	put16(p + 10, fold(sum_words(0, p, IPV4_SIZE)));
}

static void put_grh(const struct route *route, const struct fabric_addr *addr, uint8_t *p,
		    size_t payload)
{
	p[0] = (uint8_t)(6 << 4 | addr->traffic_class >> 4);
	p[1] = (uint8_t)(addr->traffic_class << 4 | (addr->flow_label >> 16 & 0xf));
	put16(p + 2, addr->flow_label & 0xffff);
	put16(p + 4, (uint32_t)payload);
	p[6] = route->udp ? PROTOCOL_UDP : NEXT_IBA;
	p[7] = route->udp ? hops(addr) : addr->hop_limit;
	memcpy(p + 8, addr->sgid, 16);
	memcpy(p + 24, addr->dgid, 16);
}

/* Ports of the dynamic range, one for each pair of QPs so that a router can spread them */
static uint16_t source_port(const struct fabric_msg *msg)
{
	enum { DYNAMIC = 0xc000, MASK = 0x3fff };
	uint32_t mixed = (msg->src_qpn ^ msg->dest_qpn) * 0x9e3779b1u;

	return msg->addr.udp_sport ? msg->addr.udp_sport : DYNAMIC | (mixed >> 16 & MASK);
}

static void put_udp(const struct fabric_msg *msg, uint8_t *p, size_t len)
{
	put16(p, source_port(msg));
	put16(p + 2, ROCE_UDP_PORT);
	put16(p + 4, (uint32_t)len);
	put16(p + 6, 0);
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
		put_ipv4(&msg->addr, packet + route->ip, IPV4_SIZE + udp_len);
	else if (route->ip)
		put_grh(route, &msg->addr, packet + route->ip, udp_len);
	if (route->udp)
		put_udp(msg, packet + route->udp, udp_len);
}

/* Over IPv6 UDP needs its checksum, which covers the addresses too. RFC 8200, 8.1 */
static void put_udp_checksum(const struct route *route, uint8_t *packet, size_t len)
{
	uint8_t *udp = packet + route->udp;
	size_t udp_len = len - route->udp;
	uint32_t sum = PROTOCOL_UDP + (uint32_t)udp_len;
	uint16_t checksum;

	sum = sum_words(sum, packet + route->ip + 8, 32);
	checksum = fold(sum_words(sum, udp, udp_len));
	put16(udp + 6, checksum ? checksum : 0xffff);
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

/* ---- ICRC ---- */

static void mask_ip(const struct route *route, uint8_t *p)
{
	if (route->ipv4) {
		p[1] = 0xff;             /* type of service */
		p[8] = 0xff;             /* time to live */
		memset(p + 10, 0xff, 2); /* checksum */
		return;
	}
	p[0] |= 0x0f; /* traffic class and flow label */
	memset(p + 1, 0xff, 3);
	p[7] = 0xff; /* hop limit */
}

size_t route_mask(const uint8_t *packet, const struct route *route, uint8_t masked[ROUTE_MAX])
{
	size_t from = route->ethernet ? route->ip : LRH_SIZE, len = route->len - from;

	/* where there is no LRH, ones take its place */
	if (route->ethernet)
		memset(masked, 0xff, LRH_SIZE);
	else
		memcpy(masked, packet, LRH_SIZE);
	masked[0] |= 0xf0; /* virtual lane */
	memcpy(masked + LRH_SIZE, packet + from, len);
	if (route->ip)
		mask_ip(route, masked + LRH_SIZE);
	if (route->udp)
		memset(masked + LRH_SIZE + (route->udp - from) + 6, 0xff, 2);
	return LRH_SIZE + len;
}

/* ---- decoding ---- */

static void take_grh_fields(const uint8_t *p, struct fabric_addr *addr)
{
	addr->grh = true;
	addr->traffic_class = (uint8_t)(p[0] << 4 | p[1] >> 4);
	addr->flow_label = get32(p) & 0xfffff;
	addr->hop_limit = p[7];
	memcpy(addr->sgid, p + 8, 16);
	memcpy(addr->dgid, p + 24, 16);
}

static bool take_infiniband(const uint8_t *p, size_t len, struct route *route,
			    struct fabric_msg *msg)
{
	unsigned int next = p[1] & 3;
	size_t words = get16(p + 4) & 0x7ff;
	uint16_t vcrc;

	if (p[0] & 0x0f || next < LNH_BTH || words * 4 + VCRC_SIZE != len)
		return false;
	len -= VCRC_SIZE;
	memcpy(&vcrc, p + len, sizeof(vcrc));
	if (le16toh(vcrc) != vcrc_of(p, len))
		return false;
	msg->addr.sl = p[1] >> 4;
	msg->addr.dlid = get16(p + 2);
	msg->addr.slid = get16(p + 6);
	route->lrh_len = route->len = LRH_SIZE;
	if (next == LNH_GRH) {
		route->ip = LRH_SIZE;
		route->ip_len = GRH_SIZE;
		route->len += GRH_SIZE;
		if (len < route->len || p[LRH_SIZE] >> 4 != 6 || p[LRH_SIZE + 6] != NEXT_IBA ||
		    get16(p + LRH_SIZE + 4) != len - route->len)
			return false;
		take_grh_fields(p + LRH_SIZE, &msg->addr);
	}
	if (len < route->len)
		return false;
	route->body_len = len - route->len;
	return true;
}

/* The IP header at route->ip is of a datagram to the RoCE port: its length, or 0 when it is not */
static size_t take_ipv4(const uint8_t *p, size_t left, struct fabric_addr *addr)
{
	enum { FRAGMENT = 0x3fff };
	size_t total;

	if (left < IPV4_SIZE + UDP_SIZE || p[0] != 0x45 || p[9] != PROTOCOL_UDP ||
	    get16(p + 6) & FRAGMENT)
		return 0;
	total = get16(p + 2);
	addr->grh = addr->ipv4 = true;
	addr->traffic_class = p[1];
	addr->hop_limit = p[8];
	memcpy(addr->sgid, mapped_ipv4, 12);
	memcpy(addr->dgid, mapped_ipv4, 12);
	memcpy(addr->sgid + 12, p + 12, 4);
	memcpy(addr->dgid + 12, p + 16, 4);
	return total <= left ? total : 0;
}

static size_t take_ipv6(const uint8_t *p, size_t left, uint8_t next, struct fabric_addr *addr)
{
	size_t total;

	if (left < GRH_SIZE || p[0] >> 4 != 6 || p[6] != next)
		return 0;
	total = GRH_SIZE + get16(p + 4);
	take_grh_fields(p, addr);
	return total <= left ? total : 0;
}

static enum wire_error take_udp(const uint8_t *packet, size_t total, struct route *route,
				struct fabric_msg *msg)
{
	const uint8_t *udp = packet + route->ip + route->ip_len;

	if (total < route->ip_len + UDP_SIZE || get16(udp + 2) != ROCE_UDP_PORT)
		return WIRE_OTHER;
	route->udp = route->ip + route->ip_len;
	route->len = route->udp + UDP_SIZE;
	route->body_len = total - route->ip_len - UDP_SIZE;
	msg->addr.roce = FABRIC_ROCE_V2;
	msg->addr.udp_sport = get16(udp);
	if (get16(udp + 4) != total - route->ip_len)
		return WIRE_BAD;
	if (route->ipv4 && fold(sum_words(0, packet + route->ip, IPV4_SIZE)))
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

/* The MACs and the tag: the type of what follows at route->ip */
static unsigned int take_ethernet(const uint8_t *packet, size_t len, struct route *route,
				  struct fabric_addr *addr)
{
	unsigned int type = get16(packet + 12);

	addr->by_gid = true;
	memcpy(addr->dmac, packet, 6);
	memcpy(addr->smac, packet + 6, 6);
	route->ip = ETHERNET_SIZE;
	if (type != ETHERTYPE_TAG || len < ETHERNET_SIZE + TAG_SIZE)
		return type;
	addr->tagged = true;
	addr->sl = packet[14] >> 5;
	addr->vlan = get16(packet + 14) & 0xfff;
	route->ip += TAG_SIZE;
	return get16(packet + 16);
}

static enum wire_error take_roce(const uint8_t *packet, size_t len, struct route *route,
				 struct fabric_msg *msg)
{
	unsigned int type = take_ethernet(packet, len, route, &msg->addr);
	const uint8_t *p = packet + route->ip;
	size_t left = len - route->ip, total;

	route->ethernet = true;
	route->ip_len = type == ETHERTYPE_IPV4 ? IPV4_SIZE : GRH_SIZE;
	switch (type) {
	case ETHERTYPE_ROCE:
		return take_roce_v1(take_ipv6(p, left, NEXT_IBA, &msg->addr), route, msg);
	case ETHERTYPE_IPV4:
		route->ipv4 = true;
		total = take_ipv4(p, left, &msg->addr);
		return total ? take_udp(packet, total, route, msg) : WIRE_OTHER;
	case ETHERTYPE_IPV6:
		total = take_ipv6(p, left, PROTOCOL_UDP, &msg->addr);
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
