/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tunnel.h - what a frame carries in a tunnel: VXLAN, VXLAN-GPE, GENEVE, GRE or IP in IP.
 */
#ifndef SOFTHCA_DEVICE_ETH_TUNNEL_H
#define SOFTHCA_DEVICE_ETH_TUNNEL_H

struct frame;

/* Offsets of the inner headers in the frame; 0: it has none. A tunnel of IP has no inner Ethernet
 * header. */
struct tunnel {
	unsigned int l2, l3;
};

/* Returns no headers for a frame without a tunnel, for a fragment, and where the frame ends too
 * early. */
struct tunnel tunnel_find(const struct frame *frame);

#endif
