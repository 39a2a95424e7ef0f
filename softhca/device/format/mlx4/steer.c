/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steer.c - chooses the queue of an arriving frame: rules (cmd/flow.c) or the port name a QP, which
 * may spread frames over others by a hash (RSS).
 *
 * Sources: see prm/mlx4/qpc.h; meaning of the flags, from Linux' driver mlx4_en (6.1: en_rx.c).
 */
#include "softhca/device/format/mlx4/steer.h"

#include <string.h>

#include "prm/mlx4/qpc.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx4/cmd/eth_qp.h"
#include "softhca/device/format/mlx4/firmware.h"

const char *m4_spread_check(const uint8_t *qpc)
{
	if (fld_get(qpc, M4_QPC_RSS_FUNCTION) != M4_RSS_TOEPLITZ)
		return "qp: a hash that was not announced";
	if (fld_get(qpc, M4_QPC_RSS_FLAGS) & ~(uint64_t)M4_RSS_KNOWN)
		return "qp: headers inside of tunnels are not hashed";
	if (fld_get(qpc, M4_QPC_RSS_LOG_SIZE) > M4_LOG_QPS)
		return "qp: frames are spread over more QPs than there can be";
	return NULL;
}

struct choice {
	bool addresses, tcp, udp;
};

static struct choice hash_choice(const uint8_t *qpc, const struct frame *frame)
{
	uint64_t flags = fld_get(qpc, M4_QPC_RSS_FLAGS);
	bool v4 = frame->ip_version == 4, whole = !frame->fragment;
	struct choice choice = {
		.tcp = whole && frame_is_tcp(frame) &&
		       flags & (v4 ? M4_RSS_TCP_IPV4 : M4_RSS_TCP_IPV6),
		.udp = whole && frame_is_udp(frame) &&
		       flags & (v4 ? M4_RSS_UDP_IPV4 : M4_RSS_UDP_IPV6),
	};

	choice.addresses = choice.tcp || choice.udp || flags & (v4 ? M4_RSS_IPV4 : M4_RSS_IPV6);
	return choice;
}

/* Returns the number of the QP that gets a frame, and sets the frame's hash. */
static uint32_t qp_by_hash(const uint8_t *qpc, struct eth_arrival *arrival)
{
	const struct choice choice = hash_choice(qpc, &arrival->frame);
	uint32_t mask = (1u << fld_get(qpc, M4_QPC_RSS_LOG_SIZE)) - 1;
	struct rss rss = {
		.function = RSS_TOEPLITZ,
		.types = RSS_OF_IPV4 | RSS_OF_IPV6 | RSS_OF_TCP | RSS_OF_UDP,
	};

	if (choice.addresses)
		rss.fields |= RSS_SOURCE | RSS_DESTINATION;
	if (choice.tcp || choice.udp)
		rss.fields |= RSS_SOURCE_PORT | RSS_DESTINATION_PORT;
	memcpy(rss.key, fld_at(qpc, M4_QPC_RSS_KEY), sizeof(rss.key));
	if (!rss_hash(&arrival->frame, &rss, &arrival->hash))
		return fld_get(qpc, M4_QPC_RSS_OTHERS);
	return fld_get(qpc, choice.udp ? M4_QPC_RSS_UDP_QPN : M4_QPC_RSS_QPN) +
	       (arrival->hash & mask);
}

static void give_to(struct hca *hca, uint32_t qpn, struct eth_arrival *arrival)
{
	const struct m4_eth_qp *qp = m4_eth_qp(hca, qpn);

	arrival->hash = 0;
	if (qp && fld_get(qp->context, M4_QPC_RSS))
		qp = m4_eth_qp(hca, qp_by_hash(qp->context, arrival));
	if (qp && qp->rq)
		eth_rq_receive(hca, qp->rq, arrival);
}

/* Delivers a frame, unless it is a multicast frame that this port has sent. */
void m4_steer(struct hca *hca, struct eth_arrival *arrival)
{
	const uint8_t *frame = arrival->frame.bytes;
	bool is_own = !memcmp(frame + 6, hca->eth->vport.mac, sizeof(hca->eth->vport.mac));
	uint32_t qpns[M4_FLOW_GROUP_MAX] = { hca->mlx4->frames_to };
	unsigned int count = 1;

	if (is_own && frame[0] & 1)
		return;
	if (m4_flows_count(hca))
		count = m4_flow_find(hca, &arrival->frame, qpns);
	for (unsigned int i = 0; i < count; i++)
		give_to(hca, qpns[i], arrival);
}

void m4_sniff(struct hca *hca, struct eth_arrival *arrival)
{
	uint32_t qpns[M4_FLOW_GROUP_MAX];
	unsigned int count = m4_flows_count(hca) ? m4_flow_find_sent(hca, qpns) : 0;

	for (unsigned int i = 0; i < count; i++)
		give_to(hca, qpns[i], arrival);
}
