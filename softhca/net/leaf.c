/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaf.c - see leaf.h. IBTA vol 1, 14.2.2 (directed route packets), 14.2.5 (attributes), 18.2
 * (switches).
 *
 * A switch port has the counters of the port at the other end of its cable, with the directions
 * exchanged. Decision: docs/adr/0042.
 */
#include <stdio.h>
#include <string.h>

#include "ib/packet.h"
#include "ib/pm.h"
#include "ib/sa.h"
#include "ib/smp.h"
#include "softhca/device/station.h"
#include "softhca/net/fabric.h"
#include "softhca/net/leaf.h"
#include "softhca/net/network.h"
#include "softhca/net/uplink.h"
#include "util/bits.h"

enum {
	MAX_LEAF_PORTS = 254,
	SWITCH_DEVICE = 0xd2f0, /* device id of a Quantum */
	SWITCH_VENDOR = 0x02c9,
	LINEAR_CAP = 0xc000,
	SM_KEY = 1,
	LEAF_GUID = 0x80, /* offset in GUIDs, behind the first adapter's ports */
};

static uint16_t lid_at(const struct leaf *leaf, unsigned int port)
{
	return (uint16_t)(leaf->host * UPLINK_LIDS + port);
}

static unsigned int port_to_host(const struct leaf *leaf, unsigned int host)
{
	unsigned int port = leaf->own + 1 + host;

	return port <= MAX_LEAF_PORTS ? port : NO_PORT;
}

/* Returns the highest connected port, but at least 1. */
static unsigned int num_ports(const struct leaf *leaf)
{
	unsigned int last = leaf->own ? leaf->own : 1;

	for (unsigned int host = 0; leaf->joined && leaf->own + 1 + host <= MAX_LEAF_PORTS; host++)
		if (leaf->ops->has_host(leaf->owner, host))
			last = port_to_host(leaf, host);
	return last;
}

static bool port_leads(const struct leaf *leaf, unsigned int port)
{
	unsigned int number;
	struct hca *hca;

	if (port > leaf->own)
		return leaf->ops->has_host(leaf->owner, port - leaf->own - 1);
	return leaf->ops->find(leaf->owner, lid_at(leaf, port), &hca, &number) &&
	       port_is_up(hca, number);
}

static unsigned int port_of(const struct leaf *leaf, uint16_t lid)
{
	unsigned int host;

	if (lid == leaf_lid(leaf->host))
		return 0;
	if (lid > FABRIC_SUBNET_LID - NETWORK_MAX_HOSTS)
		return lid <= FABRIC_SUBNET_LID ? port_to_host(leaf, FABRIC_SUBNET_LID - lid)
						: NO_PORT;
	host = (lid - 1u) / UPLINK_LIDS;
	if (!lid || host >= NETWORK_MAX_HOSTS)
		return NO_PORT;
	if (host != leaf->host)
		return leaf->joined ? port_to_host(leaf, host) : NO_PORT;
	return (lid - 1u) % UPLINK_LIDS + 1 <= leaf->own ? (lid - 1u) % UPLINK_LIDS + 1 : NO_PORT;
}

static uint64_t leaf_guid(const struct leaf *leaf)
{
	return fabric_guid(leaf->host, 0) + LEAF_GUID;
}

struct question {
	struct leaf *leaf;
	unsigned int port;
	uint32_t modifier;
};

static uint16_t get_description(const struct question *q, uint8_t *data)
{
	snprintf((char *)data, NODE_DESCRIPTION_SIZE, "softhca switch of host %u", q->leaf->host);
	return 0;
}

static uint16_t get_node(const struct question *q, uint8_t *data)
{
	fld_set(data, NODE_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(data, NODE_CLASS_VERSION, SMP_CLASS_VERSION);
	fld_set(data, NODE_TYPE, NODE_SWITCH);
	fld_set(data, NODE_PORTS, num_ports(q->leaf));
	fld_set(data, NODE_SYSTEM_GUID, leaf_guid(q->leaf));
	fld_set(data, NODE_GUID, leaf_guid(q->leaf));
	fld_set(data, NODE_PORT_GUID, leaf_guid(q->leaf));
	fld_set(data, NODE_PKEYS, PKEYS_PER_BLOCK);
	fld_set(data, NODE_DEVICE, SWITCH_DEVICE);
	fld_set(data, NODE_LOCAL_PORT, q->port);
	fld_set(data, NODE_VENDOR, SWITCH_VENDOR);
	return 0;
}

static uint16_t get_switch(const struct question *q, uint8_t *data)
{
	(void)q;
	fld_set(data, SWITCH_LINEAR_CAP, LINEAR_CAP);
	fld_set(data, SWITCH_LINEAR_TOP, FABRIC_SUBNET_LID);
	fld_set(data, SWITCH_LIFETIME, LIFETIME_134_MS);
	fld_set(data, SWITCH_PARTITION_CAP, PKEYS_PER_BLOCK);
	fld_set(data, SWITCH_ENHANCED_PORT0, 1);
	return 0;
}

static void put_own_port(const struct leaf *leaf, uint8_t *data)
{
	data[0x8] = 0xfe; /* prefix of link-local GIDs, fe80::/64 (RFC 4291) */
	data[0x9] = 0x80;
	fld_set(data, PORT_LID, leaf_lid(leaf->host));
	fld_set(data, PORT_SM_LID, FABRIC_SUBNET_LID);
	fld_set(data, PORT_CAPABILITIES, PORT_CAP_SM | PORT_CAP_EXTENDED_SPEEDS);
	fld_set(data, PORT_GUID_CAP, 1);
}

static uint16_t get_port(const struct question *q, uint8_t *data)
{
	if (q->modifier > num_ports(q->leaf))
		return MAD_INVALID_FIELD;
	fld_set(data, PORT_LOCAL_PORT, q->port);
	if (!q->modifier)
		put_own_port(q->leaf, data);
	else
		fld_set(data, PORT_CAPABILITIES, PORT_CAP_EXTENDED_SPEEDS);
	station_put_link(!q->modifier || port_leads(q->leaf, q->modifier), data);
	return 0;
}

static uint16_t get_guids(const struct question *q, uint8_t *data)
{
	if (q->modifier)
		return MAD_INVALID_FIELD;
	fld_set64(data, 0, leaf_guid(q->leaf));
	return 0;
}

/* Answers a P_KeyTable query: the modifier's upper half is the port, the lower half the block. */
static uint16_t get_pkeys(const struct question *q, uint8_t *data)
{
	if (q->modifier & 0xffff || q->modifier >> 16 > num_ports(q->leaf))
		return MAD_INVALID_FIELD;
	data[0] = data[1] = 0xff; /* 0xffff: PKEY_DEFAULT */
	return 0;
}

/* Answers tables that are all zeroes, as the only virtual lane serves each service level, and no
 * link has the speed FDR10. */
static uint16_t get_zeroes(const struct question *q, uint8_t *data)
{
	(void)q;
	(void)data;
	return 0;
}

static uint16_t get_forwarding(const struct question *q, uint8_t *data)
{
	if (q->modifier > FABRIC_SUBNET_LID / LIDS_PER_BLOCK)
		return MAD_INVALID_FIELD;
	for (unsigned int i = 0; i < LIDS_PER_BLOCK; i++)
		data[i] = (uint8_t)port_of(q->leaf, (uint16_t)(q->modifier * LIDS_PER_BLOCK + i));
	return 0;
}

/* Answers SMInfo as a running master, so that another subnet manager stays on standby. The key is
 * OpenSM's default. */
static uint16_t get_manager(const struct question *q, uint8_t *data)
{
	fld_set(data, SM_INFO_GUID, leaf_guid(q->leaf));
	fld_set(data, SM_INFO_KEY, SM_KEY);
	fld_set(data, SM_INFO_ACTIVITY, ++q->leaf->activity);
	fld_set(data, SM_INFO_PRIORITY, SM_HIGHEST_PRIORITY);
	fld_set(data, SM_INFO_STATE, SM_MASTER);
	return 0;
}

static const struct attribute {
	uint16_t number;
	uint16_t (*get)(const struct question *q, uint8_t *data);
} attributes[] = {
	{ SMP_NODE_DESCRIPTION, get_description },
	{ SMP_NODE_INFO, get_node },
	{ SMP_SWITCH_INFO, get_switch },
	{ SMP_GUID_INFO, get_guids },
	{ SMP_PORT_INFO, get_port },
	{ SMP_PKEY_TABLE, get_pkeys },
	{ SMP_SL_TO_VL, get_zeroes },
	{ SMP_MELLANOX_PORT_INFO, get_zeroes },
	{ SMP_LINEAR_FORWARDING, get_forwarding },
	{ SMP_SM_INFO, get_manager },
};

static uint16_t run_smp(const struct question *q, const uint8_t *in, uint8_t *data)
{
	if (fld_get(in, MAD_CLASS_VERSION) != SMP_CLASS_VERSION)
		return MAD_UNSUPPORTED_VERSION;
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].number == fld_get(in, MAD_ATTRIBUTE) &&
		    fld_get(in, MAD_METHOD) == MAD_GET)
			return attributes[i].get(q, data);
	return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
}

static void answer_smp(struct leaf *leaf, unsigned int port, const uint8_t *in, uint8_t *out)
{
	struct question q = { leaf, port, fld_get(in, MAD_MODIFIER) };
	uint8_t data[SMP_DATA_SIZE] = { 0 };
	uint16_t status = run_smp(&q, in, data);

	memcpy(out, in, MAD_SIZE);
	memcpy(out + SMP_DATA, data, sizeof(data));
	if (fld_get(in, MAD_CLASS) == MAD_CLASS_DIRECTED)
		status |= SMP_RETURNS;
	out[4] = status >> 8;
	out[5] = (uint8_t)status; /* one byte, as the next fields are a directed packet's hops */
}

static void swap_words(uint8_t *data, size_t at, size_t size)
{
	uint8_t first[sizeof(uint64_t)];

	memcpy(first, data + at, size);
	memcpy(data + at, data + at + size, size);
	memcpy(data + at + size, first, size);
}

/* Exchanges sent and received counters, as one end receives the data that the other sends. They are
 * adjacent in both attributes. */
static void exchange_directions(unsigned int attribute, uint8_t *data)
{
	if (attribute == PM_PORT_COUNTERS) {
		swap_words(data, FLD_BYTE(PM_XMIT_DATA), sizeof(uint32_t));
		swap_words(data, FLD_BYTE(PM_XMIT_PACKETS), sizeof(uint32_t));
		return;
	}
	for (unsigned int i = 0; i < PM_EXT_COUNTERS; i += 2)
		swap_words(data, PM_EXT_FIRST + i * sizeof(uint64_t), sizeof(uint64_t));
}

/* Queries the port at the other end of the cable from the port that the request names. */
static uint16_t get_counters(const struct leaf *leaf, const uint8_t *in, uint8_t *data)
{
	unsigned int port = fld_get(in + PM_DATA, PM_PORT), number;
	uint8_t ask[MAD_SIZE], told[MAD_SIZE];
	struct hca *hca;

	memcpy(data, in + PM_DATA, sizeof(uint32_t));
	if (port > num_ports(leaf))
		return MAD_INVALID_FIELD;
	if (!port || port > leaf->own ||
	    !leaf->ops->find(leaf->owner, lid_at(leaf, port), &hca, &number))
		return 0;
	memcpy(ask, in, MAD_SIZE);
	fld_set(ask + PM_DATA, PM_PORT, number);
	if (!station_answer_mad(hca, number, ask, told))
		return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
	memcpy(data + sizeof(uint32_t), told + PM_DATA + sizeof(uint32_t),
	       PM_DATA_SIZE - sizeof(uint32_t));
	exchange_directions(fld_get(in, MAD_ATTRIBUTE), data);
	return fld_get(told, MAD_STATUS);
}

static uint16_t run_pm(const struct leaf *leaf, const uint8_t *in, uint8_t *data)
{
	if (fld_get(in, MAD_CLASS_VERSION) != PM_CLASS_VERSION)
		return MAD_UNSUPPORTED_VERSION;
	if (fld_get(in, MAD_METHOD) != MAD_GET)
		return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
	switch (fld_get(in, MAD_ATTRIBUTE)) {
	case PM_PORT_COUNTERS:
	case PM_PORT_COUNTERS_EXTENDED:
		return get_counters(leaf, in, data);
	case MAD_CLASS_PORT_INFO:
		fld_set(data, CPI_BASE_VERSION, MAD_BASE_VERSION_1);
		fld_set(data, CPI_CLASS_VERSION, PM_CLASS_VERSION);
		fld_set(data, PM_CAP_MASK, PM_CAP_EXTENDED);
		return 0;
	default:
		return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
	}
}

static void answer_pm(const struct leaf *leaf, const uint8_t *in, uint8_t *out)
{
	uint8_t data[PM_DATA_SIZE] = { 0 };
	uint16_t status = run_pm(leaf, in, data);

	memcpy(out, in, MAD_SIZE);
	memcpy(out + PM_DATA, data, sizeof(data));
	fld_set(out, MAD_STATUS, status);
}

bool leaf_answer_mad(struct leaf *leaf, unsigned int port, const uint8_t in[MAD_SIZE],
		     uint8_t out[MAD_SIZE])
{
	unsigned int class = fld_get(in, MAD_CLASS), method = fld_get(in, MAD_METHOD);

	if (method == MAD_TRAP && class == MAD_CLASS_SUBNET) {
		memcpy(out, in, MAD_SIZE);
		fld_set(out, MAD_METHOD, MAD_TRAP_REPRESS);
		return true;
	}
	if (method != MAD_GET && method != MAD_SET)
		return false;
	if (class == MAD_CLASS_PERFORMANCE)
		answer_pm(leaf, in, out);
	else if (class == MAD_CLASS_SUBNET || class == MAD_CLASS_DIRECTED)
		answer_smp(leaf, port, in, out);
	else
		return false;
	fld_set(out, MAD_METHOD, MAD_GET | MAD_RESPONSE);
	return true;
}

static void packet_send(struct leaf *leaf, uint16_t slid, uint16_t dlid, uint32_t qpn,
			const uint8_t *mad)
{
	struct fabric_msg msg = {
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.addr = { .slid = slid, .dlid = dlid },
		.dest_qpn = qpn,
		.src_qpn = qpn == SMI_QPN ? SMI_QPN : GSI_QPN,
		.qkey = qpn == SMI_QPN ? 0 : GSI_QKEY,
		.pkey = PKEY_DEFAULT,
		.packets = 1,
		.mtu = MAD_SIZE,
		.first = true,
		.last = true,
		.length = MAD_SIZE,
		.payload = mad,
		.payload_len = MAD_SIZE,
	};

	leaf->ops->send(leaf->owner, &msg);
}

/* Sends the packet out of PORT. Only between switches does it carry its source. */
static void packet_leave(struct leaf *leaf, unsigned int port, const uint8_t *mad)
{
	if (port && port <= leaf->own)
		packet_send(leaf, LID_PERMISSIVE, lid_at(leaf, port), SMI_QPN, mad);
	else if (port > leaf->own && port <= MAX_LEAF_PORTS)
		packet_send(leaf, leaf_lid(leaf->host), leaf_lid(port - leaf->own - 1), SMI_QPN,
			    mad);
}

static void packet_return(struct leaf *leaf, uint8_t *mad)
{
	unsigned int hop = fld_get(mad, SMP_HOP_POINTER), count = fld_get(mad, SMP_HOP_COUNT);
	const uint8_t *path = fld_at(mad, SMP_RETURN_PATH);

	if (hop < 2 || hop > count + 1)
		return;
	fld_set(mad, SMP_HOP_POINTER, hop - 1);
	packet_leave(leaf, path[hop - 1], mad);
}

/* Handles a directed packet at its destination: it queries the switch. */
static void packet_arrive(struct leaf *leaf, unsigned int port, uint8_t *mad)
{
	uint8_t answer[MAD_SIZE];

	fld_set(mad, SMP_HOP_POINTER, fld_get(mad, SMP_HOP_COUNT) + 1);
	if (fld_get(mad, SMP_DR_DLID) == LID_PERMISSIVE && leaf_answer_mad(leaf, port, mad, answer))
		packet_return(leaf, answer);
}

static void packet_forward(struct leaf *leaf, unsigned int port, uint8_t *mad)
{
	unsigned int hop = fld_get(mad, SMP_HOP_POINTER), count = fld_get(mad, SMP_HOP_COUNT);
	uint8_t *initial = fld_at(mad, SMP_INITIAL_PATH), *back = fld_at(mad, SMP_RETURN_PATH);

	if (!hop || hop > count)
		return;
	back[hop] = (uint8_t)port;
	if (hop == count) {
		packet_arrive(leaf, port, mad);
		return;
	}
	fld_set(mad, SMP_HOP_POINTER, hop + 1);
	packet_leave(leaf, initial[hop + 1], mad);
}

static void directed_receive(struct leaf *leaf, unsigned int port, const uint8_t *packet)
{
	uint8_t mad[MAD_SIZE];

	memcpy(mad, packet, MAD_SIZE);
	if (fld_get(mad, SMP_HOP_COUNT) > SMP_MAX_HOPS || port == NO_PORT)
		return;
	if (fld_get(mad, MAD_STATUS) & SMP_RETURNS)
		packet_return(leaf, mad);
	else
		packet_forward(leaf, port, mad);
}

static bool is_to_switch(const struct leaf *leaf, uint16_t lid)
{
	return lid == leaf_lid(leaf->host) || lid == FABRIC_SUBNET_LID;
}

bool leaf_is_asked(const struct leaf *leaf, const struct fabric_msg *msg)
{
	if (msg->addr.by_gid || msg->service != FABRIC_UD || msg->op != FABRIC_SEND ||
	    msg->payload_len != MAD_SIZE)
		return false;
	if (msg->addr.slid == leaf_lid(leaf->host)) /* sent by the switch itself */
		return false;
	if (msg->dest_qpn == SMI_QPN)
		return msg->addr.dlid == LID_PERMISSIVE || is_to_switch(leaf, msg->addr.dlid);
	return msg->dest_qpn == GSI_QPN && is_to_switch(leaf, msg->addr.dlid) &&
	       msg->qkey == GSI_QKEY && fld_get(msg->payload, MAD_CLASS) == MAD_CLASS_PERFORMANCE;
}

void leaf_receive(struct leaf *leaf, const struct fabric_msg *msg)
{
	unsigned int port = port_of(leaf, msg->addr.slid);
	unsigned int class = fld_get(msg->payload, MAD_CLASS);
	uint8_t answer[MAD_SIZE];

	if (msg->dest_qpn == SMI_QPN && class == MAD_CLASS_DIRECTED) {
		directed_receive(leaf, port, msg->payload);
		return;
	}
	if ((msg->dest_qpn == SMI_QPN) != (class == MAD_CLASS_SUBNET) ||
	    msg->addr.dlid == LID_PERMISSIVE)
		return;
	if (leaf_answer_mad(leaf, port, msg->payload, answer))
		packet_send(leaf, msg->addr.dlid, msg->addr.slid, msg->src_qpn, answer);
}
