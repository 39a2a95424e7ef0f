/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lro.h - large receive offload: TCP segments of one flow that come one behind the other are given
 * to a receive queue as one frame.
 *
 * The frame has the headers of the first segment, as they came, and the data of all; what software
 * has to change in these headers is in the CQE. A queue collects the segments of one flow at a
 * time. It gives them away when another frame comes, with a segment that is pushed, and at the
 * latest when the adapter has done what there was to do, as runs of completions end: software never
 * waits as long as it said that it would.
 */
#ifndef SOFTHCA_DEVICE_ETH_LRO_H
#define SOFTHCA_DEVICE_ETH_LRO_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/ethernet.h"

struct eth_arrival;
struct eth_rq;
struct hca;
struct lro_session;

enum {
	LRO_SEGMENTS_MAX = 255,
	LRO_PAYLOAD_UNIT = 256,
	LRO_PAYLOAD_MAX = 255 * LRO_PAYLOAD_UNIT,
	LRO_FRAME_MAX = ETHERNET_SIZE + 2 * VLAN_SIZE + IP6_SIZE + LRO_PAYLOAD_MAX,
};

/* The struct says what a TIR has its queues collect: of which IP, and how many bytes behind the IP
 * header a frame may have. */
struct lro_rule {
	bool of_ipv4, of_ipv6;
	uint32_t payload_max;
};

/* The struct says what several segments were that became one frame. */
struct lro_note {
	uint32_t segments; /* 0: the frame is as it came */
	uint8_t min_ttl;
	bool push;
	uint16_t window; /* of the last one */
	uint32_t ack;
	uint16_t sum; /* of the data, without any header */
};

/* Lets RQ have a frame, at once or with what comes behind it. */
void lro_receive(struct hca *hca, const struct lro_rule *rule, struct eth_rq *rq,
		 const struct eth_arrival *arrival);
/* Gives all queues what was collected for them. */
void lro_end_all(struct hca *hca);
/* Frees what RQ has collected. */
void lro_free(struct eth_rq *rq);

#endif
