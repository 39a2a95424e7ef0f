/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - packets of a hostile peer: messages with right, wrong or random fields, and Ethernet
 * frames.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "ib/ethernet.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/core.h"
#include "tests/fuzz/world.h"

enum { MAX_PAYLOAD = 4096 };

static void put_route(struct world *world, unsigned int to, struct fabric_addr *addr)
{
	struct source *source = &world->source;

	addr->port = 1;
	addr->slid = 2 - to;
	addr->dlid = 1 + to;
	addr->by_gid = world->roce;
	addr->grh = world->roce || pick(source, 2);
	addr->roce = pick(source, 2) ? FABRIC_ROCE_V2 : FABRIC_ROCE_V1;
	addr->ipv4 = once_in(source, 4);
	memset(addr->dgid, once_in(source, 8) ? 0xff : 0x20 + to, sizeof(addr->dgid));
	memset(addr->sgid, 0x20 + !to, sizeof(addr->sgid));
}

/* Sets sizes that agree with each other, as the decoder of packets guarantees: number of packets,
 * payload, first and last. */
static void put_size(struct world *world, struct fabric_msg *msg)
{
	struct source *source = &world->source;

	msg->payload_len = pick(source, once_in(source, 4) ? MAX_PAYLOAD : 256);
	msg->mtu = 256u << pick(source, 5);
	msg->packets = msg->payload_len ? (msg->payload_len + msg->mtu - 1) / msg->mtu : 1;
	msg->first = pick(source, 4) > 0;
	msg->last = pick(source, 4) > 0;
	msg->length = pick(source, 2) ? msg->payload_len : take_edge(source);
}

static void put_request(struct world *world, unsigned int to, struct fabric_msg *msg)
{
	const struct object *mkey = world_object(world, to, KIND_MKEY);
	struct source *source = &world->source;

	msg->raddr = mkey ? mkey->start + pick(source, 8192) : take32(source);
	msg->rkey = mkey && !once_in(source, 8) ? mkey->n << 8 : take_edge(source);
	msg->swap_add = take32(source);
	msg->compare = take8(source);
	msg->swap_mask = take32(source);
	msg->compare_mask = take8(source);
	msg->solicited = pick(source, 2);
	msg->has_imm = once_in(source, 4);
	msg->invalidate = once_in(source, 8);
	msg->imm = msg->rkey;
}

static void put_target(struct world *world, unsigned int to, struct fabric_msg *msg)
{
	struct source *source = &world->source;

	msg->service = FABRIC_DC;
	msg->dest_qpn = world_number(world, to, KIND_DCT);
	msg->dc_key = once_in(source, 8);
	msg->session = (uint32_t)pick(source, 2) << 24 | pick(source, 8);
	if (once_in(source, 8))
		msg->op = FABRIC_CLOSE;
}

static void put_message(struct world *world, unsigned int to, struct fabric_msg *msg)
{
	const struct object *qp = world_object(world, to, KIND_QP);
	struct source *source = &world->source;

	memset(msg, 0, sizeof(*msg));
	put_route(world, to, &msg->addr);
	msg->op = pick(source, FABRIC_NAK + 1);
	msg->service = pick(source, 4);
	if (qp && !once_in(source, 8)) /* the service of the QP */
		msg->service = qp->service == PRM_QP_ST_UC    ? FABRIC_UC
			       : qp->service == PRM_QP_ST_UD  ? FABRIC_UD
			       : qp->service == PRM_QP_ST_XRC ? FABRIC_XRC
							      : FABRIC_RC;
	msg->dest_qpn = qp ? qp->n : take8(source);
	msg->src_qpn = world_number(world, !to, KIND_QP);
	msg->qkey = pick(source, 3);
	msg->srqn = world_number(world, to, KIND_SRQ);
	msg->pkey = once_in(source, 16) ? 0x7fff : 0xffff;
	msg->psn = once_in(source, 8) ? take_edge(source) & PSN_MASK : pick(source, 8);
	msg->nak = once_in(source, 4) ? FABRIC_NAK_RNR : pick(source, 4);
	msg->rnr_timer = take8(source) & 31;
	put_size(world, msg);
	put_request(world, to, msg);
	if (once_in(source, 6))
		put_target(world, to, msg);
}

static uint8_t *random_bytes(struct world *world, size_t len)
{
	uint8_t *bytes = malloc(len ? len : 1);

	for (size_t i = 0; i < len; i++)
		bytes[i] = i < 64 ? take8(&world->source) : i;
	return bytes;
}

static void send_message(struct world *world, unsigned int to)
{
	struct fabric_msg msg;
	uint8_t *payload;

	put_message(world, to, &msg);
	payload = random_bytes(world, msg.payload_len);
	msg.payload = payload;
	if (msg.op == FABRIC_READ) { /* the length of the request, as the response has it */
		msg.payload = NULL;
		msg.payload_len = msg.length;
	}
	watch_begin("station_receive");
	fabric_lock(world->fabric);
	station_receive(world->hca[to], 1, 0, &msg);
	fabric_unlock(world->fabric);
	watch_end();
	free(payload);
}

static size_t type_put(uint8_t *at, uint16_t type)
{
	at[0] = type >> 8;
	at[1] = type;
	return sizeof(type);
}

/* Puts an IPv4 header, at times with options, in front of REST bytes. */
static size_t ip4_put(struct source *source, uint8_t *ip, uint8_t protocol, uint16_t rest)
{
	size_t words = IP4_WORDS + (once_in(source, 8) ? pick(source, 11) : 0);

	if (once_in(source, 16))
		rest = take32(source);
	fld_set(ip, IP4_VERSION, 4);
	fld_set(ip, IP4_HEADER_WORDS, words);
	fld_set(ip, IP4_LENGTH, rest + words * 4);
	fld_set(ip, IP4_PROTOCOL, protocol);
	fld_set(ip, IP4_TTL, 64);
	if (once_in(source, 8))
		fld_set(ip, IP4_FRAGMENTATION, take32(source));
	*(uint8_t *)fld_at(ip, IP4_SOURCE) = take8(source);
	*(uint8_t *)fld_at(ip, IP4_DESTINATION) = take8(source);
	return words * 4;
}

static size_t ip6_put(struct source *source, uint8_t *ip, uint8_t next, uint16_t rest)
{
	if (once_in(source, 16))
		rest = take32(source);
	fld_set(ip, IP6_VERSION, 6);
	fld_set(ip, IP6_PAYLOAD, rest);
	fld_set(ip, IP6_NEXT, next);
	fld_set(ip, IP6_HOP_LIMIT, 64);
	*(uint8_t *)fld_at(ip, IP6_SOURCE) = take8(source);
	*(uint8_t *)fld_at(ip, IP6_DESTINATION) = take8(source);
	return IP6_SIZE;
}

size_t fuzz_frame(struct world *world, uint8_t *frame, size_t room)
{
	enum { L4_BYTES = 20 };
	static const uint8_t protocols[] = { PROTO_TCP,        PROTO_UDP,     PROTO_GRE,
					     PROTO_ESP,        PROTO_AH,      IPPROTO_ICMP,
					     PROTO_HOP_BY_HOP, PROTO_ROUTING, PROTO_FRAGMENT,
					     PROTO_DESTINATION };
	struct source *source = &world->source;
	uint8_t protocol = protocols[pick(source, once_in(source, 2) ? sizeof(protocols) : 2)];
	bool v6 = pick(source, 2);
	size_t len = 0;

	memset(frame, 0, room);
	for (; len < 2 * MAC_SIZE; len++)
		frame[len] = once_in(source, 16) ? 0xff : len;
	for (unsigned int i = once_in(source, 4) ? pick(source, 4) : 0; i; i--) {
		len += type_put(frame + len, once_in(source, 2) ? ETHERTYPE_VLAN : ETHERTYPE_QINQ);
		len += type_put(frame + len, take32(source));
	}
	len += type_put(frame + len, once_in(source, 16) ? take32(source)
				     : v6                ? ETHERTYPE_V6
							 : ETHERTYPE_V4);
	len += v6 ? ip6_put(source, frame + len, protocol, L4_BYTES)
		  : ip4_put(source, frame + len, protocol, L4_BYTES);
	for (unsigned int i = 0; i < L4_BYTES && len < room; i++)
		frame[len++] = take8(source);
	return len;
}

static void send_frame(struct world *world, unsigned int to)
{
	size_t room = once_in(&world->source, 8) ? FABRIC_FRAME_MAX : 192, len;
	uint8_t *frame = calloc(1, room), *exact;

	len = fuzz_frame(world, frame, room);
	if (once_in(&world->source, 2))
		len = FABRIC_FRAME_MIN + pick(&world->source, room - FABRIC_FRAME_MIN + 1);
	exact = malloc(len);
	memcpy(exact, frame, len);
	watch_begin("station_receive_frame");
	fabric_lock(world->fabric);
	station_receive_frame(world->hca[to], 1, 0, exact, len);
	fabric_unlock(world->fabric);
	watch_end();
	free(exact);
	free(frame);
}

void fuzz_message(struct world *world, unsigned int hca)
{
	if (world->roce && once_in(&world->source, 4))
		send_frame(world, hca);
	else
		send_message(world, hca);
}
