/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * underlay.h - datagrams of a send queue that carry the source of another QP.
 */
#ifndef SOFTHCA_DEVICE_ETH_UNDERLAY_H
#define SOFTHCA_DEVICE_ETH_UNDERLAY_H

struct datagram_to;
struct eth_sq;
struct frame_send;
struct hca;

/* Sends a datagram to TO, with the QP of the queue's TIS as its source. Returns 0 or a vendor
 * syndrome. */
int underlay_send(struct hca *hca, struct eth_sq *sq, const struct frame_send *send,
		  struct datagram_to *to);

#endif
