/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lro.h - large receive offload: merges consecutive TCP segments of one flow into one frame for a
 * receive queue.
 *
 * The frame has the headers of the first segment, unchanged, and the payload of all. The CQE has
 * what software must change in these headers. A queue holds segments of one flow at a time. It
 * delivers them when another frame comes, after a segment with PSH, and at the latest when the
 * adapter has no more work (as compressed CQEs, cq_run.h), which is before the timeout that
 * software configured.
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

/* What a TIR makes its queues merge: which IP version, and how many bytes a frame may have behind
 * its IP header. */
struct lro_rule {
	bool of_ipv4, of_ipv6;
	uint32_t payload_max;
};

/* Describes the segments that were merged, for the CQE. */
struct lro_note {
	uint32_t segments; /* 0: the frame is not merged */
	uint8_t min_ttl;
	bool push;
	uint16_t window;
	uint32_t ack;
	uint16_t sum; /* checksum of the payload, without headers */
};

/* Delivers a frame to RQ, at once or merged with those that follow. */
void lro_receive(struct hca *hca, const struct lro_rule *rule, struct eth_rq *rq,
		 const struct eth_arrival *arrival);
void lro_end_all(struct hca *hca);
void lro_free(struct eth_rq *rq);

#endif
