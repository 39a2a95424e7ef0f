/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.h - Ethernet: the objects between a port and the memory of frames. core.h has the other
 * objects.
 *
 * Transmit: SQ -> TIS -> flow tables (NIC TX) -> port. Receive: port -> flow tables (NIC RX) -> TIR
 * -> RQ, directly or by a hash over an RQT. The fabric's lock guards all of it; objects count their
 * users as in core.h.
 *
 * SQ numbers are apart from QP numbers, as a doorbell may name either. Process fronts make raw
 * packet QPs of these objects, as Linux does: an RQ with a direct TIR, an SQ with a TIS of the
 * port, and flow table entries that forward to the TIR.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_H
#define SOFTHCA_DEVICE_ETH_ETH_H

#include "softhca/device/core.h"
#include "softhca/device/eth/eth_port.h"
#include "softhca/device/eth/eth_rq.h"
#include "softhca/device/eth/eth_sq.h"
#include "softhca/device/eth/flow_counter.h"
#include "softhca/device/eth/flow_entry.h"
#include "softhca/device/eth/flow_table.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/frame_copy.h"
#include "softhca/device/eth/lro.h"
#include "softhca/device/eth/modify_header.h"
#include "softhca/device/eth/packet_reformat.h"
#include "softhca/device/eth/pacing.h"
#include "softhca/device/eth/rqt.h"
#include "softhca/device/eth/tir.h"
#include "softhca/device/eth/tis.h"
#include "softhca/device/eth/vport.h"

enum { ETH_LOG_QUEUES = 12, ETH_LOG_TIRS = 10, ETH_LOG_RQTS = 8 };

struct eth {
	struct vport vport;
	struct res_table sqs, rqs, tirs, tises, rqts, q_counters;
	struct res_table flow_tables, flow_groups, flow_counters, modify_headers, packet_reformats;
	uint32_t flow_entries;
	struct flow_table *root[PRM_FLOW_TYPES]; /* by type */
	TAILQ_HEAD(, eth_sq) ready;
	LIST_HEAD(, eth_rq) collecting; /* RQs that hold LRO segments: see lro.h */
	struct pacing pacing;
	uint64_t work;                   /* total cost of steering so far: see flow_match.c */
	uint8_t frame[FABRIC_FRAME_MAX]; /* the frame that is being built */
	/* A received frame on its way to memory, with its CQE behind it. */
	uint8_t image[RQ_SHIFT_MAX + LRO_FRAME_MAX + CQE_ROOM];
};

int eth_create(struct hca *hca);
void eth_destroy(struct hca *hca);
/* Moves all queues to the error state, which flushes them, because the adapter has died. */
void eth_die(struct hca *hca);
/* Gives each send queue with work a turn. Returns true if there is more to do now. */
bool eth_run(struct hca *hca);
/* Take a doorbell: for the SQ with number N, or for all SQs of a UAR, whose records it reads. */
void eth_ring(struct hca *hca, uint32_t uar, uint32_t n);
void eth_scan(struct hca *hca, struct uar *uar);

#endif
