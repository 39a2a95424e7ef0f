/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uplink.c - see uplink.h.
 *
 * Consecutive packets of one request are joined into one message again, so that the receiver copies
 * them to memory at once. A packet that requests an acknowledge ends the message.
 * Decision: docs/adr/0040.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad.h"
#include "ib/packet.h"
#include "softhca/fault.h"
#include "softhca/net/network.h"
#include "softhca/net/pcap.h"
#include "softhca/net/uplink.h"
#include "softhca/net/wire.h"

enum { LEARNED = 1024, KEY = 16, NOWHERE = NETWORK_MAX_HOSTS + 1 };

struct learned {
	bool used;
	uint8_t key[KEY]; /* a GID, or a MAC and zeroes */
	unsigned int host;
};

struct uplink {
	const struct uplink_ops *ops;
	void *owner;
	bool ethernet;
	struct network *network;
	struct pcap *pcap;
	struct learned learned[LEARNED];
	/* The message under construction; joined.packets is 0 if there is none */
	struct fabric_msg joined;
	uint32_t part; /* payload of each packet except the last */
	uint8_t *payload;
	/* A packet held back for others to overtake. OVERTAKEN: the number of packets that still
	 * must overtake it; 0: the next one, if another is sent before the adapters rest. */
	uint64_t overtaken;
	bool holding, held_local;
	unsigned int held_host;
	size_t held_len;
	uint8_t held[WIRE_PACKET_MAX];
};

static struct learned *slot_of(struct uplink *uplink, const uint8_t key[KEY])
{
	uint32_t hash = 0x811c9dc5;

	for (int i = 0; i < KEY; i++)
		hash = (hash ^ key[i]) * 0x01000193;
	return &uplink->learned[hash % LEARNED];
}

static void learn_host(struct uplink *uplink, const uint8_t key[KEY], unsigned int host)
{
	struct learned *slot = slot_of(uplink, key);

	slot->used = true;
	slot->host = host;
	memcpy(slot->key, key, KEY);
}

static void learn_mac(struct uplink *uplink, const uint8_t mac[6], unsigned int host)
{
	uint8_t key[KEY] = { 0 };

	memcpy(key, mac, 6);
	learn_host(uplink, key, host);
}

static unsigned int find_host(struct uplink *uplink, const uint8_t key[KEY])
{
	const struct learned *slot = slot_of(uplink, key);

	return slot->used && !memcmp(slot->key, key, KEY) ? slot->host : NETWORK_ALL;
}

static unsigned int find_mac(struct uplink *uplink, const uint8_t mac[6])
{
	uint8_t key[KEY] = { 0 };

	memcpy(key, mac, 6);
	return find_host(uplink, key);
}

static void forget_host(void *owner, unsigned int host)
{
	struct uplink *uplink = owner;

	for (unsigned int i = 0; i < LEARNED; i++)
		if (uplink->learned[i].host == host)
			uplink->learned[i].used = false;
}

/* Returns whether MSG is for subnet administration, which every host has. */
static bool is_for_any_subnet(const struct fabric_msg *msg)
{
	return !msg->addr.by_gid && msg->addr.dlid == FABRIC_SUBNET_LID && msg->dest_qpn != SMI_QPN;
}

static unsigned int host_of(struct uplink *uplink, const struct fabric_msg *msg)
{
	const struct fabric_addr *addr = &msg->addr;
	unsigned int host;

	if (fabric_is_multicast(addr) || is_for_any_subnet(msg))
		return NETWORK_ALL;
	if (!addr->by_gid && addr->dlid > FABRIC_SUBNET_LID - NETWORK_MAX_HOSTS)
		/* LIDs of switches count down from it: see leaf.h */
		return FABRIC_SUBNET_LID - addr->dlid;
	if (!addr->by_gid) {
		host = (addr->dlid - 1u) / UPLINK_LIDS;
		return host < NETWORK_MAX_HOSTS ? host : NOWHERE;
	}
	host = find_host(uplink, addr->dgid);
	return host == NETWORK_ALL ? find_mac(uplink, addr->dmac) : host;
}

static void deliver_joined(struct uplink *uplink)
{
	struct fabric_msg msg = uplink->joined;

	uplink->joined.packets = 0;
	if (msg.packets)
		uplink->ops->message(uplink->owner, &msg);
}

static bool can_be_joined(const struct fabric_msg *msg)
{
	return msg->service != FABRIC_UD && msg->payload_len &&
	       (msg->op == FABRIC_SEND || msg->op == FABRIC_WRITE ||
		msg->op == FABRIC_READ_RESPONSE);
}

static bool is_next(const struct uplink *uplink, const struct fabric_msg *msg)
{
	const struct fabric_msg *joined = &uplink->joined;

	return joined->packets && !msg->first && can_be_joined(msg) && msg->op == joined->op &&
	       msg->service == joined->service && msg->dest_qpn == joined->dest_qpn &&
	       msg->pkey == joined->pkey && msg->srqn == joined->srqn &&
	       msg->psn == ((joined->psn + joined->packets) & PSN_MASK) &&
	       joined->payload_len == joined->packets * uplink->part &&
	       msg->payload_len <= uplink->part &&
	       joined->payload_len + msg->payload_len <= FABRIC_PAYLOAD_MAX &&
	       !memcmp(&msg->addr, &joined->addr, sizeof(msg->addr));
}

static void start_joining(struct uplink *uplink, const struct fabric_msg *msg)
{
	uplink->joined = *msg;
	uplink->joined.payload = uplink->payload;
	uplink->part = msg->payload_len;
	memcpy(uplink->payload, msg->payload, msg->payload_len);
}

static void join_packet(struct uplink *uplink, const struct fabric_msg *msg)
{
	struct fabric_msg *joined = &uplink->joined;

	memcpy(uplink->payload + joined->payload_len, msg->payload, msg->payload_len);
	joined->payload_len += msg->payload_len;
	joined->packets++;
	joined->last = msg->last;
	joined->ack_req = msg->ack_req;
	joined->solicited = msg->solicited;
	joined->has_imm = msg->has_imm;
	joined->invalidate = msg->invalidate;
	joined->imm = msg->imm;
	joined->msn = msg->msn;
	joined->credits = msg->credits;
}

static void message_arrived(struct uplink *uplink, const struct fabric_msg *msg)
{
	if (is_next(uplink, msg)) {
		join_packet(uplink, msg);
	} else {
		deliver_joined(uplink);
		if (!can_be_joined(msg) || msg->last) {
			uplink->ops->message(uplink->owner, msg);
			return;
		}
		start_joining(uplink, msg);
	}
	if (uplink->joined.last || uplink->joined.ack_req)
		deliver_joined(uplink);
}

static void packet_arrived(struct uplink *uplink, unsigned int host, uint8_t *packet, size_t len)
{
	struct fabric_msg msg;

	switch (wire_decode(uplink->ethernet, packet, len, &msg)) {
	case WIRE_OK:
		if (uplink->ethernet && host < NETWORK_MAX_HOSTS) {
			learn_mac(uplink, msg.addr.smac, host);
			learn_host(uplink, msg.addr.sgid, host);
		}
		message_arrived(uplink, &msg);
		break;
	case WIRE_OTHER:
		learn_mac(uplink, fld_at(packet, ETHERNET_SOURCE), host);
		uplink->ops->frame(uplink->owner, packet, len);
		break;
	case WIRE_BAD:
		break;
	}
}

static void packet_received(void *owner, unsigned int host, uint8_t *packet, size_t len)
{
	struct uplink *uplink = owner;

	if (uplink->pcap)
		pcap_add(uplink->pcap, packet, len);
	packet_arrived(uplink, host, packet, len);
}

static void pause_receiving(void *owner, unsigned int host)
{
	(void)host;
	deliver_joined(owner);
}

static void packet_go(struct uplink *uplink, bool local, unsigned int host, uint8_t *packet,
		      size_t len)
{
	if (local)
		packet_arrived(uplink, NOWHERE, packet, len);
	else if (uplink->network && host != NOWHERE)
		network_send(uplink->network, host, packet, len);
}

static void release_held(struct uplink *uplink)
{
	if (!uplink->holding)
		return;
	uplink->holding = false;
	if (uplink->pcap)
		pcap_add(uplink->pcap, uplink->held, uplink->held_len);
	packet_go(uplink, uplink->held_local, uplink->held_host, uplink->held, uplink->held_len);
}

/* Counts a sent packet as overtaking the held one, and releases the held packet after the last one
 * that must overtake it. */
static void count_overtaking(struct uplink *uplink)
{
	if (uplink->overtaken > 1)
		uplink->overtaken--;
	else
		release_held(uplink);
}

void uplink_rest(struct uplink *uplink)
{
	if (!uplink->overtaken)
		release_held(uplink);
}

/* Sends a packet, subject to the faults of the wire. */
static void packet_leave(struct uplink *uplink, struct fault *fault, bool local, unsigned int host,
			 uint8_t *packet, size_t len)
{
	uint64_t overtaken = 0;
	enum packet_fault action = fault_packet(fault, &overtaken);

	if (action == PACKET_LATE && !uplink->holding && len <= sizeof(uplink->held)) {
		uplink->holding = true;
		uplink->overtaken = overtaken;
		uplink->held_local = local;
		uplink->held_host = host;
		uplink->held_len = len;
		memcpy(uplink->held, packet, len);
		return;
	}
	if (uplink->pcap)
		pcap_add(uplink->pcap, packet, len);
	if (action == PACKET_LOST)
		return;
	packet_go(uplink, local, host, packet, len);
	count_overtaking(uplink);
}

bool uplink_send(struct uplink *uplink, struct fault *fault, const struct fabric_msg *msg,
		 bool local)
{
	bool split = local && fault_has_packets(fault);
	uint32_t count = wire_packets(msg);
	uint8_t packet[WIRE_PACKET_MAX];
	unsigned int host;

	if (!split && !uplink->pcap && (local || !uplink->network))
		return false;
	uplink->ethernet = msg->addr.by_gid;
	host = host_of(uplink, msg);
	for (uint32_t i = 0; i < count; i++) {
		size_t len = wire_encode(msg, i, packet);

		if (local && !split)
			pcap_add(uplink->pcap, packet, len);
		else
			packet_leave(uplink, fault, local, host, packet, len);
	}
	if (split)
		deliver_joined(uplink);
	return split;
}

void uplink_send_frame(struct uplink *uplink, struct fault *fault, const uint8_t *frame, size_t len)
{
	uint8_t copy[FABRIC_FRAME_MAX];
	unsigned int host;

	if (len > sizeof(copy) || (!uplink->pcap && !uplink->network))
		return;
	host = frame[0] & ETHERNET_GROUP ? NETWORK_ALL : find_mac(uplink, frame);
	memcpy(copy, frame, len);
	packet_leave(uplink, fault, false, host, copy, len);
}

static const struct network_ops network_ops = { packet_received, pause_receiving, forget_host };

int uplink_create(const struct uplink_ops *ops, void *owner, struct uplink **out)
{
	struct uplink *uplink = calloc(1, sizeof(*uplink));

	if (!uplink)
		return ENOMEM;
	uplink->payload = malloc(FABRIC_PAYLOAD_MAX);
	if (!uplink->payload) {
		free(uplink);
		return ENOMEM;
	}
	uplink->ops = ops;
	uplink->owner = owner;
	*out = uplink;
	return 0;
}

void uplink_destroy(struct uplink *uplink)
{
	if (uplink->network)
		network_leave(uplink->network);
	pcap_close(uplink->pcap);
	free(uplink->payload);
	free(uplink);
}

int uplink_join(struct uplink *uplink, const char *path, bool ethernet)
{
	uplink->ethernet = ethernet;
	return network_join(path, ethernet, &network_ops, uplink, &uplink->network);
}

int uplink_capture(struct uplink *uplink, const char *path, bool ethernet)
{
	return pcap_open(path, ethernet, &uplink->pcap);
}

int uplink_describe(struct uplink *uplink, const char *text, size_t len)
{
	return network_describe(uplink->network, text, len);
}

bool uplink_is_joined(const struct uplink *uplink)
{
	return uplink->network;
}

unsigned int uplink_number(const struct uplink *uplink)
{
	return uplink->network ? network_number(uplink->network) : 0;
}

bool uplink_has_host(const struct uplink *uplink, unsigned int host)
{
	return uplink->network && network_has_host(uplink->network, host);
}

int uplink_fd(const struct uplink *uplink)
{
	return uplink->network ? network_fd(uplink->network) : -1;
}

bool uplink_progress(struct uplink *uplink, uint64_t now_ns)
{
	bool worked = false;

	uplink_rest(uplink);
	if (uplink->network)
		worked = network_progress(uplink->network, now_ns);
	if (uplink->pcap && !worked)
		pcap_flush(uplink->pcap);
	return worked;
}

void uplink_flush(struct uplink *uplink)
{
	if (uplink->network)
		network_flush(uplink->network);
}

bool uplink_is_congested(const struct uplink *uplink)
{
	return uplink->network && network_is_congested(uplink->network);
}
