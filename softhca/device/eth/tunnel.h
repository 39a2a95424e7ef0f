/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tunnel.h - what a frame carries in a tunnel: VXLAN, VXLAN-GPE, GENEVE, GTP-U, GRE or IP in IP.
 */
#ifndef SOFTHCA_DEVICE_ETH_TUNNEL_H
#define SOFTHCA_DEVICE_ETH_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

struct frame;

/* Offsets of the inner headers in the frame; 0: it has none. A tunnel of IP has no inner Ethernet
 * header. */
struct tunnel {
	unsigned int l2, l3;
	unsigned int end; /* of what it carries */
	uint16_t type;    /* of the inner packet: an Ethernet type; 0: it has none */
};

/* Returns no headers for a frame without a tunnel, for a fragment, and where the frame ends too
 * early. */
struct tunnel tunnel_find(const struct frame *frame);
/* Parses what the frame carries. Returns false if it carries nothing that tunnel_find() finds. */
bool tunnel_parse_inner(const struct frame *frame, const struct tunnel *tunnel,
			struct frame *inner);

#endif
