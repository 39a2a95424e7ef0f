/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - what a hostile peer might send: messages whose fields are right, wrong or anything, and
 * Ethernet frames.
 */
#include <stdlib.h>
#include <string.h>

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
	msg->packets = 1 + msg->payload_len / 256;
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
	msg->compare = take(source);
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
	msg->dest_qpn = qp ? qp->n : take(source);
	msg->src_qpn = world_number(world, !to, KIND_QP);
	msg->qkey = pick(source, 3);
	msg->srqn = world_number(world, to, KIND_SRQ);
	msg->pkey = once_in(source, 16) ? 0x7fff : 0xffff;
	msg->psn = once_in(source, 8) ? take_edge(source) & PSN_MASK : pick(source, 8);
	msg->nak = once_in(source, 4) ? FABRIC_NAK_RNR : pick(source, 4);
	msg->rnr_timer = take(source) & 31;
	put_size(world, msg);
	put_request(world, to, msg);
}

static uint8_t *random_bytes(struct world *world, size_t len)
{
	uint8_t *bytes = malloc(len ? len : 1);
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = i < 64 ? take(&world->source) : i;
	return bytes;
}

static void send_message(struct world *world, unsigned int to)
{
	struct fabric_msg msg;
	uint8_t *payload;

	put_message(world, to, &msg);
	payload = random_bytes(world, msg.payload_len);
	msg.payload = payload;
	watch_begin("hca_receive");
	fabric_lock(world->fabric);
	hca_receive(world->hca[to], 1, &msg);
	fabric_unlock(world->fabric);
	watch_end();
	free(payload);
}

static void send_frame(struct world *world, unsigned int to)
{
	size_t len =
		FABRIC_FRAME_MIN +
		pick(&world->source,
		     once_in(&world->source, 8) ? FABRIC_FRAME_MAX - FABRIC_FRAME_MIN + 1 : 128);
	uint8_t *frame = random_bytes(world, len);

	watch_begin("hca_receive_frame");
	fabric_lock(world->fabric);
	hca_receive_frame(world->hca[to], 1, frame, len);
	fabric_unlock(world->fabric);
	watch_end();
	free(frame);
}

void fuzz_message(struct world *world, unsigned int hca)
{
	if (world->roce && once_in(&world->source, 4))
		send_frame(world, hca);
	else
		send_message(world, hca);
}
