/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tunnel.h - what a frame carries in a tunnel: VXLAN, VXLAN-GPE, GENEVE, GTP-U, GRE or IP in IP.
 */
#ifndef SOFTHCA_DEVICE_ETH_TUNNEL_H
#define SOFTHCA_DEVICE_ETH_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

struct frame;

/* Offsets of the inner headers in the frame; 0: there is no such header. A tunnel that carries IP
 * has no inner Ethernet header. */
struct tunnel {
	unsigned int l2, l3;
	unsigned int end; /* offset behind the tunnel's payload */
	uint16_t type;    /* EtherType of an IP packet without Ethernet header, else 0 */
};

/* Finds the headers inside a tunnel. Returns l2 and l3 as 0 for a frame without a tunnel, for a
 * fragment, and if the frame ends too early. */
struct tunnel tunnel_find(const struct frame *frame);
/* Parses the frame or packet in TUNNEL, a result of tunnel_find(). Returns false if TUNNEL has no
 * headers. */
bool tunnel_parse_inner(const struct frame *frame, const struct tunnel *tunnel,
			struct frame *inner);

#endif
