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
#include "softhca/device/eth/flow/aso.h"
#include "softhca/device/eth/flow/flow_counter.h"
#include "softhca/device/eth/flow/flow_entry.h"
#include "softhca/device/eth/flow/flow_match.h"
#include "softhca/device/eth/flow/flow_meter.h"
#include "softhca/device/eth/flow/flow_table.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/frame_copy.h"
#include "softhca/device/eth/lro.h"
#include "softhca/device/eth/flow/modify_header.h"
#include "softhca/device/eth/flow/packet_reformat.h"
#include "softhca/device/eth/flow/sampler.h"
#include "softhca/device/eth/pacing.h"
#include "softhca/device/eth/rqt.h"
#include "softhca/device/eth/tir.h"
#include "softhca/device/eth/tis.h"
#include "softhca/device/eth/vport.h"

enum { ETH_LOG_QUEUES = 12, ETH_LOG_TIRS = 10, ETH_LOG_RQTS = 8 };

/* First numbers of TIRs and TISs. Numbers of QPs, SQs and RQs are lower (mlx5), so a number tells
 * the kind of its object. */
enum { FIRST_TIR = 0xe00000, FIRST_TIS = 0xf00000 };

/* The kinds of Ethernet objects, as objects.h lists the others: table, first number, limit, and how
 * an object is freed; in the order of freeing. */
/* clang-format off */
#define ETH_OBJECTS(KIND) \
	KIND(flow_groups, 1, 1 << FLOW_LOG_ENTRIES, flow_group_free(hca, object)) \
	KIND(samplers, 1, 1 << SAMPLER_LOG_MAX, free(object)) \
	KIND(flow_meters, 1, 1 << FLOW_METER_LOG_MAX, free(object)) \
	KIND(asos, 1, 1 << ASO_LOG_MAX, free(object)) \
	KIND(flow_tables, 1, 1 << FLOW_LOG_TABLES, flow_table_free(object)) \
	KIND(flow_counters, 1, 1 << FLOW_LOG_COUNTERS, free(object)) \
	KIND(sqs, hca->format->first_frame_sq, max_queues(hca), eth_sq_free(object)) \
	KIND(rqs, hca->format->first_frame_rq, max_queues(hca), eth_rq_free(object)) \
	KIND(rqts, 1, 1 << ETH_LOG_RQTS, rqt_free(object)) \
	KIND(tirs, FIRST_TIR, 1 << ETH_LOG_TIRS, free(object)) \
	KIND(tises, FIRST_TIS, 1 << ETH_LOG_TIRS, free(object)) \
	KIND(q_counters, 1, MAX_Q_COUNTERS, free(object)) \
	KIND(modify_headers, 1, 1 << MODIFY_HEADER_LOG_LISTS, free(object)) \
	KIND(packet_reformats, 1, 1 << PACKET_REFORMAT_LOG, free(object))
/* clang-format on */

struct eth {
	struct vport vport;
#define OBJECT_TABLE(table, first, limit, free_it) struct res_table table;
	ETH_OBJECTS(OBJECT_TABLE)
#undef OBJECT_TABLE
	uint32_t flow_entries;
	uint32_t flow_counters_next; /* where the search for a bulk begins: see flow_counter.c */
	struct flow_table *root[PRM_FLOW_TYPES];
	TAILQ_HEAD(, eth_sq) ready;
	LIST_HEAD(, eth_rq) collecting; /* RQs that hold LRO segments: see lro.h */
	struct pacing pacing;
	uint64_t work; /* total cost of steering so far: see flow_match.c */
	uint8_t frame[FABRIC_FRAME_MAX];
	/* A received frame on its way to memory, with its CQE behind it. */
	uint8_t image[RQ_SHIFT_MAX + LRO_FRAME_MAX + CQE_ROOM];
};

int eth_create(struct hca *hca);
void eth_destroy(struct hca *hca);
/* Moves all queues to the error state, which flushes them, because the adapter has died. */
void eth_die(struct hca *hca);
/* Gives up to four send queues that have work a turn each. Returns true if there is more to do
 * now. */
bool eth_run(struct hca *hca);
/* Execute a doorbell on a UAR page: eth_ring() for SQ number N, eth_scan() for the page's next few
 * SQs, whose doorbell records it reads. */
void eth_ring(struct hca *hca, uint32_t uar, uint32_t n);
void eth_scan(struct hca *hca, struct uar *uar);

#endif
