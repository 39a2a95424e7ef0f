/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match.c - finds the flow table entry that matches a frame, and forwards the frame.
 *
 * The frame's fields are written once in the layout of the groups' masks. An entry matches if these
 * bytes, under its group's mask, equal its value. If several match, the lowest index wins. PRM:
 * Flow Table
 */
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "util/bits.h"

enum {
	/* Most steps for one frame, where steering ends. Destinations multiply, and software can
	 * build tables with long look-ups, so an unlimited walk could block the device. */
	STEPS = 16384,
	VISIT = 64,  /* steps for a table or a TIR */
	LOOKUP = 16, /* steps for a group; each compared entry costs one */
};

/* ---- the fields of a frame ---- */

/* Returns a field of a VLAN tag. */
static uint32_t tci_get(uint16_t tci, uint32_t field)
{
	return tci >> FLD_SHIFT(field) & FLD_MASK(field);
}

static void put_l2(uint8_t *outer, uint8_t *misc, const struct frame *frame)
{
	const uint8_t *destination = fld_at(frame->bytes, ETHERNET_DESTINATION);
	const uint8_t *source = fld_at(frame->bytes, ETHERNET_SOURCE);

	fld_set(outer, LYR_2_4_DMAC_47_16, fld_get(destination, MAC_47_16));
	fld_set(outer, LYR_2_4_DMAC_15_0, fld_get16(destination, MAC_15_0));
	fld_set(outer, LYR_2_4_SMAC_47_16, fld_get(source, MAC_47_16));
	fld_set(outer, LYR_2_4_SMAC_15_0, fld_get16(source, MAC_15_0));
	fld_set(outer, LYR_2_4_ETHERTYPE, frame->ethertype);
	if (frame->vlans) {
		fld_set(outer, LYR_2_4_CVLAN_TAG, frame->tpid[0] == ETHERTYPE_VLAN);
		fld_set(outer, LYR_2_4_SVLAN_TAG, frame->tpid[0] == ETHERTYPE_QINQ);
		fld_set(outer, LYR_2_4_FIRST_PRIO, tci_get(frame->tci[0], VLAN_PRIORITY));
		fld_set(outer, LYR_2_4_FIRST_CFI, tci_get(frame->tci[0], VLAN_DEI));
		fld_set(outer, LYR_2_4_FIRST_VID, tci_get(frame->tci[0], VLAN_ID));
	}
	if (frame->vlans > 1) {
		fld_set(misc, MISC_OUTER_SECOND_CVLAN_TAG, frame->tpid[1] == ETHERTYPE_VLAN);
		fld_set(misc, MISC_OUTER_SECOND_SVLAN_TAG, frame->tpid[1] == ETHERTYPE_QINQ);
		fld_set(misc, MISC_OUTER_SECOND_PRIO, tci_get(frame->tci[1], VLAN_PRIORITY));
		fld_set(misc, MISC_OUTER_SECOND_CFI, tci_get(frame->tci[1], VLAN_DEI));
		fld_set(misc, MISC_OUTER_SECOND_VID, tci_get(frame->tci[1], VLAN_ID));
	}
}

static void put_v4(uint8_t *outer, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	fld_set(outer, LYR_2_4_IP_DSCP, fld_get(ip, IP4_DSCP));
	fld_set(outer, LYR_2_4_IP_ECN, fld_get(ip, IP4_ECN));
	fld_set(outer, LYR_2_4_TTL_HOPLIMIT, fld_get(ip, IP4_TTL));
	memcpy(fld_at(outer, LYR_2_4_SRC_IPV4), fld_at(ip, IP4_SOURCE), 4);
	memcpy(fld_at(outer, LYR_2_4_DST_IPV4), fld_at(ip, IP4_DESTINATION), 4);
}

static void put_v6(uint8_t *outer, uint8_t *misc, const struct frame *frame)
{
	const uint8_t *ip = frame->bytes + frame->l3;

	fld_set(outer, LYR_2_4_IP_DSCP, fld_get(ip, IP6_DSCP));
	fld_set(outer, LYR_2_4_IP_ECN, fld_get(ip, IP6_ECN));
	fld_set(outer, LYR_2_4_TTL_HOPLIMIT, fld_get(ip, IP6_HOP_LIMIT));
	memcpy(fld_at(outer, LYR_2_4_SRC_IPV4_SRC_IPV6), fld_at(ip, IP6_SOURCE), 16);
	memcpy(fld_at(outer, LYR_2_4_DST_IPV4_DST_IPV6), fld_at(ip, IP6_DESTINATION), 16);
	fld_set(misc, MISC_OUTER_IPV6_FLOW_LABEL, fld_get(ip, IP6_FLOW_LABEL));
}

static void put_udp(uint8_t *outer, uint8_t *misc, const struct frame *frame)
{
	const uint8_t *udp = frame->bytes + frame->l4;

	fld_set(outer, LYR_2_4_UDP_SPORT, fld_get(udp, L4_SOURCE_PORT));
	fld_set(outer, LYR_2_4_UDP_DPORT, fld_get(udp, L4_DESTINATION_PORT));
	if (fld_get(udp, L4_DESTINATION_PORT) == VXLAN_PORT &&
	    frame->l4 + UDP_SIZE + VXLAN_SIZE <= frame->l3_end)
		fld_set(misc, MISC_VXLAN_VNI, fld_get(udp + UDP_SIZE, VXLAN_VNI));
}

static void put_gre(uint8_t *misc, const struct frame *frame)
{
	const uint8_t *gre = frame->bytes + frame->l4;
	unsigned int key = frame->l4 + GRE_SIZE + (fld_get(gre, GRE_C) ? GRE_FIELD_SIZE : 0);

	fld_set(misc, MISC_GRE_C_PRESENT, fld_get(gre, GRE_C));
	fld_set(misc, MISC_GRE_K_PRESENT, fld_get(gre, GRE_K));
	fld_set(misc, MISC_GRE_S_PRESENT, fld_get(gre, GRE_S));
	fld_set(misc, MISC_GRE_PROTOCOL, fld_get(gre, GRE_PROTOCOL));
	if (fld_get(gre, GRE_K) && key + GRE_FIELD_SIZE <= frame->l3_end)
		memcpy(fld_at(misc, MISC_GRE_KEY), frame->bytes + key, GRE_FIELD_SIZE);
}

static void put_l4(uint8_t *outer, uint8_t *misc, const struct frame *frame)
{
	const uint8_t *l4 = frame->bytes + frame->l4;

	if (frame_is_tcp(frame)) {
		fld_set(outer, LYR_2_4_TCP_SPORT, fld_get(l4, L4_SOURCE_PORT));
		fld_set(outer, LYR_2_4_TCP_DPORT, fld_get(l4, L4_DESTINATION_PORT));
		fld_set(outer, LYR_2_4_TCP_FLAGS, fld_get(l4, TCP_FLAGS));
	} else if (frame_is_udp(frame)) {
		put_udp(outer, misc, frame);
	} else if (frame->protocol == PROTO_GRE && frame->l4 + GRE_SIZE <= frame->l3_end) {
		put_gre(misc, frame);
	}
}

static void frame_describe(const struct frame *frame, uint32_t sqn, uint8_t key[FLOW_KEY_SIZE])
{
	uint8_t *outer = key, *misc = key + PRM_MATCH_SET_SIZE;

	memset(key, 0, FLOW_KEY_SIZE);
	put_l2(outer, misc, frame);
	fld_set(misc, MISC_SOURCE_SQN, sqn);
	if (!frame->l3)
		return;
	fld_set(outer, LYR_2_4_IP_VERSION, frame->ip_version);
	fld_set(outer, LYR_2_4_IP_PROTOCOL, frame->protocol);
	fld_set(outer, LYR_2_4_FRAG, frame->fragment);
	if (frame->ip_version == 4)
		put_v4(outer, frame);
	else
		put_v6(outer, misc, frame);
	if (frame->l4)
		put_l4(outer, misc, frame);
}

void flow_supported_mask(uint8_t mask[FLOW_KEY_SIZE])
{
	static const uint32_t outer[] = {
		LYR_2_4_SMAC_47_16,  LYR_2_4_SMAC_15_0,  LYR_2_4_ETHERTYPE,    LYR_2_4_DMAC_47_16,
		LYR_2_4_DMAC_15_0,   LYR_2_4_FIRST_PRIO, LYR_2_4_FIRST_CFI,    LYR_2_4_FIRST_VID,
		LYR_2_4_IP_PROTOCOL, LYR_2_4_IP_DSCP,    LYR_2_4_IP_ECN,       LYR_2_4_CVLAN_TAG,
		LYR_2_4_SVLAN_TAG,   LYR_2_4_FRAG,       LYR_2_4_IP_VERSION,   LYR_2_4_TCP_FLAGS,
		LYR_2_4_TCP_SPORT,   LYR_2_4_TCP_DPORT,  LYR_2_4_TTL_HOPLIMIT, LYR_2_4_UDP_SPORT,
		LYR_2_4_UDP_DPORT,
	};
	static const uint32_t misc[] = {
		MISC_SOURCE_SQN,       MISC_OUTER_SECOND_PRIO,      MISC_OUTER_SECOND_CFI,
		MISC_OUTER_SECOND_VID, MISC_OUTER_SECOND_CVLAN_TAG, MISC_OUTER_SECOND_SVLAN_TAG,
		MISC_VXLAN_VNI,        MISC_GRE_C_PRESENT,          MISC_GRE_K_PRESENT,
		MISC_GRE_S_PRESENT,    MISC_GRE_PROTOCOL,           MISC_OUTER_IPV6_FLOW_LABEL,
	};

	memset(mask, 0, FLOW_KEY_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(outer); i++)
		fld_set(mask, outer[i], UINT32_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(misc); i++)
		fld_set(mask + PRM_MATCH_SET_SIZE, misc[i], UINT32_MAX);
	memset(fld_at(mask, LYR_2_4_SRC_IPV4_SRC_IPV6), 0xff, 32);
	memset(fld_at(mask + PRM_MATCH_SET_SIZE, MISC_GRE_KEY), 0xff, 4);
}

/* Hashes with FNV-1a. */
uint32_t flow_hash(const uint8_t key[FLOW_KEY_SIZE])
{
	uint32_t sum = 2166136261u;

	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		sum = (sum ^ key[i]) * 16777619u;
	return sum ^ sum >> 16;
}

/* ---- the walk through the tables ---- */

struct walk {
	struct hca *hca;
	struct eth_arrival *arrival;
	uint32_t sqn;
	unsigned int steps;
	bool allowed; /* no entry has dropped or consumed the frame */
	uint8_t key[FLOW_KEY_SIZE];
};

static void work_spend(struct walk *walk, unsigned int steps)
{
	walk->steps -= steps < walk->steps ? steps : walk->steps;
}

static struct flow_entry *match_in_group(struct walk *walk, const struct flow_group *group)
{
	struct flow_entry *entry, *best = NULL;
	uint8_t masked[FLOW_KEY_SIZE];

	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		masked[i] = walk->key[i] & group->mask[i];
	work_spend(walk, LOOKUP);
	LIST_FOREACH(entry, &group->bucket[flow_hash(masked) % FLOW_BUCKETS], in_bucket) {
		work_spend(walk, 1);
		if (!memcmp(entry->key, masked, FLOW_KEY_SIZE) &&
		    (!best || entry->index < best->index))
			best = entry;
	}
	return best;
}

/* Finds the matching entry with the lowest index. Groups are sorted by index and do not overlap, so
 * the first group with a match has it. */
static struct flow_entry *table_match(struct walk *walk, const struct flow_table *table)
{
	struct flow_entry *entry = NULL;
	struct flow_group *group;

	TAILQ_FOREACH(group, &table->groups, in_table) {
		entry = group->entries ? match_in_group(walk, group) : NULL;
		if (entry || !walk->steps)
			break;
	}
	return entry;
}

static void table_visit(struct walk *walk, struct flow_table *table);

static void destination_visit(struct walk *walk, const struct flow_entry *entry,
			      const struct flow_destination *destination)
{
	if (destination->table) {
		table_visit(walk, destination->table);
	} else if (walk->steps) {
		work_spend(walk, VISIT);
		walk->allowed = false;
		walk->arrival->tag = entry->tag;
		tir_receive(walk->hca, destination->tir, walk->arrival);
	}
}

/* Each of several destinations gets the frame as the entry leaves it, whatever the tables behind
 * another destination change. */
static void entry_forward(struct walk *walk, const struct flow_entry *entry)
{
	const struct frame frame = walk->arrival->frame;
	uint8_t key[FLOW_KEY_SIZE];

	memcpy(key, walk->key, sizeof(key));
	for (unsigned int i = 0; i < entry->count; i++) {
		if (i) {
			walk->arrival->frame = frame;
			memcpy(walk->key, key, sizeof(key));
		}
		destination_visit(walk, entry, &entry->destination[i]);
	}
}

/* Writes the frame to BYTES as one action changes it. Returns its length, or 0 if the action cannot
 * be done with this frame. */
typedef size_t change_fn(const struct flow_entry *entry, const struct frame *frame, uint8_t *bytes);

static size_t change_fields(const struct flow_entry *entry, const struct frame *frame,
			    uint8_t *bytes)
{
	memcpy(bytes, frame->bytes, frame->len);
	modify_header_apply(entry->change, frame, bytes);
	return frame->len;
}

static size_t change_tunnel(const struct flow_entry *entry, const struct frame *frame,
			    uint8_t *bytes)
{
	return packet_reformat_apply(entry->reformat, frame, bytes);
}

static size_t leave_tunnel(const struct flow_entry *entry, const struct frame *frame,
			   uint8_t *bytes)
{
	(void)entry;
	return packet_reformat_decap(frame, bytes);
}

/* Changes a copy of the frame: others may still read the frame as it was. */
static bool frame_change(struct walk *walk, const struct flow_entry *entry, change_fn *change)
{
	struct frame *frame = &walk->arrival->frame;
	uint8_t *bytes = frame_copy_add(&walk->arrival->copies);
	size_t len;

	work_spend(walk, VISIT);
	if (!bytes)
		return false;
	len = change(entry, frame, bytes);
	if (len)
		frame_parse(frame, bytes, len);
	return len != 0;
}

/* Does what the entry says in the order of adapters: the frame leaves a tunnel, fields change, the
 * frame enters a tunnel. Returns false without memory, and if a frame is in no tunnel to leave, or
 * too long to enter one. */
static bool entry_change(struct walk *walk, const struct flow_entry *entry)
{
	const bool leaves = entry->action & PRM_FLOW_DECAP;
	const bool is_received =
		entry->reformat && packet_reformat_table(entry->reformat) == PRM_FLOW_NIC_RX;

	if (!leaves && !entry->change && !entry->reformat)
		return true;
	if ((leaves && !frame_change(walk, entry, leave_tunnel)) ||
	    (is_received && !frame_change(walk, entry, change_tunnel)) ||
	    (entry->change && !frame_change(walk, entry, change_fields)) ||
	    (entry->reformat && !is_received && !frame_change(walk, entry, change_tunnel)))
		return false;
	frame_describe(&walk->arrival->frame, walk->sqn, walk->key);
	return true;
}

static void entry_act(struct walk *walk, const struct flow_entry *entry)
{
	if (entry->counter) {
		entry->counter->packets++;
		entry->counter->bytes += walk->arrival->frame.len;
	}
	if (entry->action & PRM_FLOW_DROP || !entry_change(walk, entry))
		walk->allowed = false;
	else if (entry->action & PRM_FLOW_FWD)
		entry_forward(walk, entry);
}

/* Follows a table and its miss tables. A table leads only to higher levels, so the walk ends. */
static void table_visit(struct walk *walk, struct flow_table *table)
{
	struct flow_entry *entry = NULL;

	for (; table && !entry && walk->steps; table = table->miss) {
		work_spend(walk, VISIT);
		entry = table_match(walk, table);
	}
	if (entry)
		entry_act(walk, entry);
}

bool flow_steer(struct hca *hca, struct flow_table *root, struct eth_arrival *arrival, uint32_t sqn)
{
	struct walk walk = {
		.hca = hca, .arrival = arrival, .sqn = sqn, .steps = STEPS, .allowed = true
	};

	if (!root)
		return true;
	frame_describe(&arrival->frame, sqn, walk.key);
	table_visit(&walk, root);
	hca->eth->work += STEPS - walk.steps;
	return walk.allowed;
}
