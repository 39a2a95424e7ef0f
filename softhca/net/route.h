/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.h - the headers before a packet's transport header: LRH and GRH on InfiniBand; Ethernet and
 * GRH in RoCE v1; Ethernet, IP and UDP in RoCE v2. Only wire.c uses it.
 */
#ifndef SOFTHCA_NET_ROUTE_H
#define SOFTHCA_NET_ROUTE_H

#include "ib/packet.h"
#include "softhca/net/wire.h"

enum { ROUTE_MAX = LRH_SIZE + VLAN_SIZE + ETHERNET_SIZE + GRH_SIZE + UDP_SIZE };

/* Offsets of the headers in a packet; 0: absent. */
struct route {
	bool ethernet, ipv4;
	size_t lrh_len;    /* InfiniBand only; it is at offset 0 */
	size_t ip, ip_len; /* GRH or IP header */
	size_t udp;        /* RoCE v2 */
	size_t len;        /* of all; the transport header follows */
	size_t body_len;   /* bytes behind the route, with ICRC */
};

void route_init(struct route *route, const struct fabric_msg *msg);
void route_put(struct route *route, const struct fabric_msg *msg, uint8_t *packet, size_t body_len);
/* Writes the checksums that cover the ICRC: UDP's over IPv6, or the VCRC behind the LEN bytes of
 * the packet. Returns the packet's new length. */
size_t route_finish(const struct route *route, uint8_t *packet, size_t len);

/* Copies the route to MASKED as the ICRC covers it, with ones for fields that may change on the
 * way. Returns the length. */
size_t route_mask(const uint8_t *packet, const struct route *route, uint8_t masked[ROUTE_MAX]);

/* Parses the headers of a packet, checks lengths and checksums except the ICRC, and sets MSG's
 * address. */
enum wire_error route_take(bool ethernet, const uint8_t *packet, size_t len, struct route *route,
			   struct fabric_msg *msg);

#endif
