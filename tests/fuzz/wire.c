/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - what a hostile peer might send: messages whose fields are right, wrong or anything, and
 * Ethernet frames.
 */
#include <stdlib.h>
#include <string.h>

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

/* The decoder of packets promises that a message's packets, payload and first and last agree. */
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
	msg->solicited = pick(source, 2);
	msg->has_imm = once_in(source, 4);
	msg->invalidate = once_in(source, 8);
	msg->imm = msg->rkey;
}

static void put_message(struct world *world, unsigned int to, struct fabric_msg *msg)
{
	const struct object *qp = world_object(world, to, KIND_QP);
	struct source *source = &world->source;

	memset(msg, 0, sizeof(*msg));
	put_route(world, to, &msg->addr);
	msg->op = pick(source, FABRIC_NAK + 1);
	msg->service = pick(source, 4);
	if (qp && !once_in(source, 8)) /* as its QP expects */
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
	if (msg.op == FABRIC_READ) { /* as long as it asks for */
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

static size_t put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
	return 2;
}

/* IPv4 or IPv6 with a length that may lie */
static size_t put_ip(struct world *world, uint8_t *at, bool v6, uint8_t protocol, uint16_t rest)
{
	struct source *source = &world->source;
	size_t len = v6 ? 40 : 20 + 4 * (once_in(source, 8) ? pick(source, 11) : 0);

	memset(at, 0, 60);
	if (once_in(source, 16))
		rest = take32(source);
	at[0] = v6 ? 0x60 : 0x40 | len / 4;
	put16(at + (v6 ? 4 : 2), v6 ? rest : rest + len);
	at[v6 ? 6 : 9] = protocol;
	at[v6 ? 7 : 8] = 64;
	if (!v6 && once_in(source, 8))
		put16(at + 6, take32(source));
	at[v6 ? 8 : 12] = take8(source);
	at[v6 ? 24 : 16] = take8(source);
	return len;
}

size_t fuzz_frame(struct world *world, uint8_t *frame, size_t room)
{
	static const uint8_t protocols[] = { 6, 17, 47, 50, 51, 1, 0, 43, 44, 60 };
	struct source *source = &world->source;
	uint8_t protocol = protocols[pick(source, once_in(source, 2) ? sizeof(protocols) : 2)];
	bool v6 = pick(source, 2);
	size_t len = 0, i;

	memset(frame, 0, room);
	for (; len < 12; len++)
		frame[len] = once_in(source, 16) ? 0xff : len;
	for (i = once_in(source, 4) ? pick(source, 4) : 0; i; i--) {
		len += put16(frame + len, once_in(source, 2) ? 0x8100 : 0x88a8);
		len += put16(frame + len, take32(source));
	}
	len += put16(frame + len, once_in(source, 16) ? take32(source) : v6 ? 0x86dd : 0x0800);
	len += put_ip(world, frame + len, v6, protocol, 20);
	for (i = 0; i < 20 && len < room; i++)
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
