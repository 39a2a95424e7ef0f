/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.h - what stands before a packet's transport header: LRH and GRH on InfiniBand, Ethernet and
 * GRH in RoCE v1, Ethernet, IP and UDP in RoCE v2. Only wire.c uses it.
 */
#ifndef SOFTHCA_NET_ROUTE_H
#define SOFTHCA_NET_ROUTE_H

#include "ib/packet.h"
#include "softhca/net/wire.h"

enum { ROUTE_MAX = LRH_SIZE + VLAN_SIZE + ETHERNET_SIZE + GRH_SIZE + UDP_SIZE };

/* Where the parts of a packet's route are; 0 says that a part is not there. */
struct route {
	bool ethernet, ipv4;
	size_t lrh_len;    /* InfiniBand only; at 0 */
	size_t ip, ip_len; /* GRH or IP header */
	size_t udp;        /* RoCE v2 */
	size_t len;        /* of all: where the transport header is */
	size_t body_len;   /* from there, ICRC included */
};

/* Finds which parts a packet of MSG has. */
void route_init(struct route *route, const struct fabric_msg *msg);
/* Writes the parts; BODY_LEN bytes follow, ICRC included. */
void route_put(struct route *route, const struct fabric_msg *msg, uint8_t *packet, size_t body_len);
/* Writes what can be said only when the ICRC is there, behind LEN bytes; returns the length of the
 * packet. */
size_t route_finish(const struct route *route, uint8_t *packet, size_t len);

/* Copies to MASKED what the ICRC covers of the route, with ones where it may change; returns the
 * length. */
size_t route_mask(const uint8_t *packet, const struct route *route, uint8_t masked[ROUTE_MAX]);

/* Finds the parts in a packet, checks lengths and checksums other than the ICRC, and puts the
 * address into MSG. */
enum wire_error route_take(bool ethernet, const uint8_t *packet, size_t len, struct route *route,
			   struct fabric_msg *msg);

#endif
