/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.c - device-managed flow steering: rules that software attaches and detaches, and the
 * matching of frames.
 *
 * Of the rules that match a frame, those with the first priority get it: all of them for a
 * multicast frame, else the one attached first. A frame without a match goes to default rules.
 * Sniffer rules only get copies. On InfiniBand a rule adds a datagram QP to a multicast group.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/caps.h"
#include "prm/mlx4/flow.h"
#include "softhca/device/core.h"
#include "softhca/device/eth/frame.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/flow.h"
#include "util/bits.h"

struct m4_flow {
	TAILQ_ENTRY(m4_flow) entry; /* in the order of attachment */
	uint64_t id;
	uint32_t size;
	uint8_t rule[M4_FLOW_SIZE_MAX];
};

bool m4_flows_count(const struct hca *hca)
{
	return fld_get(hca->mlx4->init, M4_INIT_DMFS);
}

void m4_flows_init(struct hca *hca)
{
	TAILQ_INIT(&hca->mlx4->flows);
}

void m4_flows_free(struct hca *hca)
{
	struct m4_flow *flow;

	while ((flow = TAILQ_FIRST(&hca->mlx4->flows)) != NULL) {
		TAILQ_REMOVE(&hca->mlx4->flows, flow, entry);
		free(flow);
	}
	hca->mlx4->num_flows = 0;
}

static bool bytes_match(const uint8_t *at, const uint8_t *value, const uint8_t *mask, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((at[i] ^ value[i]) & mask[i])
			return false;
	return true;
}

static bool vlan_matches(const uint8_t *spec, const struct frame *frame)
{
	uint64_t mask = fld_get(spec, M4_ETH_VLAN_MASK);

	return !mask || (frame->vlans && !((frame->tci[0] ^ fld_get(spec, M4_ETH_VLAN)) & mask));
}

static bool eth_matches(const uint8_t *spec, const struct frame *frame)
{
	const uint8_t *bytes = frame->bytes;

	return bytes_match(fld_at(bytes, ETHERNET_DESTINATION), fld_at(spec, M4_ETH_DMAC),
			   fld_at(spec, M4_ETH_DMAC_MASK), MAC_SIZE) &&
	       bytes_match(fld_at(bytes, ETHERNET_SOURCE), fld_at(spec, M4_ETH_SMAC),
			   fld_at(spec, M4_ETH_SMAC_MASK), MAC_SIZE) &&
	       (!fld_get(spec, M4_ETH_HAS_TYPE) ||
		fld_get(spec, M4_ETH_TYPE) == frame->ethertype) &&
	       vlan_matches(spec, frame);
}

static bool ipv4_matches(const uint8_t *spec, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	return frame->l3 && frame->ip_version == 4 &&
	       bytes_match(fld_at(ip, IP4_DESTINATION), fld_at(spec, M4_IPV4_DEST),
			   fld_at(spec, M4_IPV4_DEST_MASK), 4) &&
	       bytes_match(fld_at(ip, IP4_SOURCE), fld_at(spec, M4_IPV4_SOURCE),
			   fld_at(spec, M4_IPV4_SOURCE_MASK), 4);
}

static bool l4_matches(const uint8_t *spec, const struct frame *frame)
{
	const uint8_t *ports = frame->bytes + frame->l4;

	return frame->l4 &&
	       bytes_match(ports + 2, fld_at(spec, M4_L4_DEST), fld_at(spec, M4_L4_DEST_MASK), 2) &&
	       bytes_match(ports, fld_at(spec, M4_L4_SOURCE), fld_at(spec, M4_L4_SOURCE_MASK), 2);
}

static bool tcp_matches(const uint8_t *spec, const struct frame *frame)
{
	return frame_is_tcp(frame) && l4_matches(spec, frame);
}

static bool udp_matches(const uint8_t *spec, const struct frame *frame)
{
	return frame_is_udp(frame) && l4_matches(spec, frame);
}

/* RoCE messages are not steered by rules, as their transport finds the QP by its number. */
static bool never_matches(const uint8_t *spec, const struct frame *frame)
{
	(void)spec;
	(void)frame;
	return false;
}

static const struct spec {
	uint16_t id, size;
	bool (*matches)(const uint8_t *spec, const struct frame *frame);
} specs[] = {
	{ M4_SPEC_ETH, M4_SPEC_ETH_SIZE, eth_matches },
	{ M4_SPEC_IPV4, M4_SPEC_IPV4_SIZE, ipv4_matches },
	{ M4_SPEC_TCP, M4_SPEC_L4_SIZE, tcp_matches },
	{ M4_SPEC_UDP, M4_SPEC_L4_SIZE, udp_matches },
	{ M4_SPEC_IB, M4_SPEC_IB_SIZE, never_matches },
};

static const struct spec *spec_find(const uint8_t *raw)
{
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		if (specs[i].id == fld_get(raw, M4_SPEC_ID))
			return &specs[i];
	return NULL;
}

static bool flow_matches(const struct m4_flow *flow, const struct frame *frame)
{
	const uint8_t *end = flow->rule + flow->size;

	for (const uint8_t *at = flow->rule + M4_FLOW_HEAD; at < end;) {
		const struct spec *spec = spec_find(at);

		if (!spec->matches(at, frame))
			return false;
		at += spec->size;
	}
	return true;
}

static bool is_for_group(const struct frame *frame)
{
	return frame->bytes[0] & ETHERNET_GROUP;
}

/* Linux' sniffer also has a rule for sent frames: m4_flow_find_sent(). */
static bool is_copied(const struct m4_flow *flow, const struct frame *frame)
{
	switch (fld_get(flow->rule, M4_FLOW_TYPE)) {
	case M4_FLOW_MIRROR_RX:
		return true;
	case M4_FLOW_UNICAST_COPY:
		return !is_for_group(frame);
	case M4_FLOW_GROUP_COPY:
		return is_for_group(frame);
	default:
		return false;
	}
}

/* Returns a rule's rank; a lower one wins. NO_RANK: it does not match. */
enum { NO_RANK = 1 << 20, GROUP_DEFAULT_RANK = 1 << 17, DEFAULT_RANK };

static unsigned int flow_rank(const struct m4_flow *flow, const struct frame *frame)
{
	switch (fld_get(flow->rule, M4_FLOW_TYPE)) {
	case M4_FLOW_REGULAR:
		return flow_matches(flow, frame) ? fld_get(flow->rule, M4_FLOW_PRIORITY) : NO_RANK;
	case M4_FLOW_GROUP_DEFAULT:
		return is_for_group(frame) ? GROUP_DEFAULT_RANK : NO_RANK;
	case M4_FLOW_DEFAULT:
		return DEFAULT_RANK;
	default:
		return NO_RANK;
	}
}

static unsigned int best_rank(const struct hca *hca, const struct frame *frame)
{
	unsigned int best = NO_RANK;
	const struct m4_flow *flow;

	TAILQ_FOREACH(flow, &hca->mlx4->flows, entry)
		if (flow_rank(flow, frame) < best)
			best = flow_rank(flow, frame);
	return best;
}

unsigned int m4_flow_find(const struct hca *hca, const struct frame *frame,
			  uint32_t qpns[M4_FLOW_GROUP_MAX])
{
	unsigned int best = best_rank(hca, frame), count = 0;
	const struct m4_flow *flow;
	bool is_taken = false;

	TAILQ_FOREACH(flow, &hca->mlx4->flows, entry) {
		bool takes = best < NO_RANK && flow_rank(flow, frame) == best &&
			     (!is_taken || is_for_group(frame));

		if ((!takes && !is_copied(flow, frame)) || count == M4_FLOW_GROUP_MAX)
			continue;
		is_taken |= takes;
		qpns[count++] = fld_get(flow->rule, M4_FLOW_QPN);
	}
	return count;
}

/* A frame that loops back is counted when it arrives, so not here. */
unsigned int m4_flow_find_sent(const struct hca *hca, uint32_t qpns[M4_FLOW_GROUP_MAX])
{
	const struct m4_flow *flow;
	unsigned int count = 0;

	TAILQ_FOREACH(flow, &hca->mlx4->flows, entry)
		if (fld_get(flow->rule, M4_FLOW_TYPE) == M4_FLOW_MIRROR_TX &&
		    count < M4_FLOW_GROUP_MAX)
			qpns[count++] = fld_get(flow->rule, M4_FLOW_QPN);
	return count;
}

static const char *specs_check(const uint8_t *rule, uint32_t size)
{
	for (uint32_t at = M4_FLOW_HEAD; at < size;) {
		const struct spec *spec = at + 4 <= size ? spec_find(rule + at) : NULL;

		if (!spec)
			return "flow: a spec that was not announced";
		if (fld_get(rule + at, M4_SPEC_SIZE) * M4_FLOW_UNIT != spec->size ||
		    spec->size > size - at)
			return "flow: a spec of another size";
		at += spec->size;
	}
	return NULL;
}

static const char *rule_check(const struct hca *hca, const uint8_t *rule, uint32_t size)
{
	uint64_t type = fld_get(rule, M4_FLOW_TYPE);

	if (size < M4_FLOW_HEAD || size > M4_FLOW_SIZE_MAX)
		return "flow: a rule without a head, or too long";
	if (type > M4_FLOW_GROUP_COPY || type == 2)
		return "flow: an unknown type";
	if (type == M4_FLOW_REGULAR ? size == M4_FLOW_HEAD : size != M4_FLOW_HEAD)
		return "flow: a rule that matches nothing, or all of its type, with specs";
	if (!m4_port_exists(hca, fld_get(rule, M4_FLOW_PORT)))
		return "flow: no such port";
	if (fld_get(rule, M4_FLOW_QPN) >> fld_get(hca->mlx4->init, M4_INIT_LOG_QPS))
		return "flow: a QP that cannot be";
	return specs_check(rule, size);
}

/* Returns the GID of the group that a rule joins, or NULL. */
static const uint8_t *group_of(const uint8_t *rule, uint32_t size)
{
	const uint8_t *spec = rule + M4_FLOW_HEAD;

	return size > M4_FLOW_HEAD && fld_get(spec, M4_SPEC_ID) == M4_SPEC_IB
		       ? fld_at(spec, M4_IB_GID)
		       : NULL;
}

static int flow_join(struct hca *hca, const struct m4_flow *flow)
{
	struct qp *qp = res_get(&hca->qps, fld_get(flow->rule, M4_FLOW_QPN));
	const uint8_t *gid = group_of(flow->rule, flow->size);

	if (!gid)
		return 0;
	return qp && qp->service == FABRIC_UD ? mcg_join(hca, qp, gid) : EINVAL;
}

static bool has_rule_for(const struct hca *hca, uint32_t qpn, const uint8_t *gid)
{
	const struct m4_flow *flow;

	TAILQ_FOREACH(flow, &hca->mlx4->flows, entry) {
		const uint8_t *other = group_of(flow->rule, flow->size);

		if (other && fld_get(flow->rule, M4_FLOW_QPN) == qpn && !memcmp(other, gid, 16))
			return true;
	}
	return false;
}

/* Leaves the group of a detached rule, unless another rule names the same QP and group. */
static void flow_leave(struct hca *hca, const struct m4_flow *flow)
{
	uint32_t qpn = fld_get(flow->rule, M4_FLOW_QPN);
	const struct qp *qp = res_get(&hca->qps, qpn);
	const uint8_t *gid = group_of(flow->rule, flow->size);

	if (gid && qp && !has_rule_for(hca, qpn, gid))
		mcg_leave(hca, qp, gid);
}

enum m4_status m4_flow_attach(struct hca *hca, struct m4_cmd *cmd)
{
	uint32_t size = cmd->order->in_modifier * M4_FLOW_UNIT;
	const char *why = rule_check(hca, cmd->in, size);
	struct m4_flow *flow;
	int ret;

	if (!m4_flows_count(hca))
		return m4_fail(cmd, M4_STAT_BAD_OP, "flow: steering was not asked for");
	if (why)
		return m4_fail(cmd, M4_STAT_BAD_PARAM, why);
	flow = hca->mlx4->num_flows >> M4_LOG_FLOWS ? NULL : calloc(1, sizeof(*flow));
	if (!flow)
		return m4_errno(cmd, ENOMEM, "flow: too many rules, or no memory");
	memcpy(flow->rule, cmd->in, size);
	flow->size = size;
	flow->id = ++hca->mlx4->last_flow;
	ret = flow_join(hca, flow);
	if (ret) {
		free(flow);
		return m4_errno(cmd, ret, "flow: no such QP of datagrams, or too many members");
	}
	TAILQ_INSERT_TAIL(&hca->mlx4->flows, flow, entry);
	hca->mlx4->num_flows++;
	cmd->order->out = flow->id;
	return M4_STAT_OK;
}

enum m4_status m4_flow_detach(struct hca *hca, struct m4_cmd *cmd)
{
	struct m4_flow *flow;

	TAILQ_FOREACH(flow, &hca->mlx4->flows, entry)
		if (flow->id == cmd->order->in)
			break;
	if (!flow)
		return m4_fail(cmd, M4_STAT_BAD_RESOURCE, "flow: no such rule");
	TAILQ_REMOVE(&hca->mlx4->flows, flow, entry);
	hca->mlx4->num_flows--;
	flow_leave(hca, flow);
	free(flow);
	return M4_STAT_OK;
}
