/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz_wire.c - packets of other hosts: encoded from messages, then damaged or cut short, some with
 * a checksum that is right again.
 *
 * Covers: softhca/net/wire.c, softhca/net/route.c
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/net/crc.h"
#include "softhca/net/route.h"
#include "softhca/net/wire.h"
#include "tests/fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { PACKETS = 64, BTH = 12, ICRC = 4 };

static struct source source;

static void put_address(bool ethernet, struct fabric_addr *addr)
{
	addr->port = 1;
	addr->by_gid = ethernet;
	addr->grh = ethernet || pick(&source, 2);
	addr->dlid = take32(&source);
	addr->slid = take32(&source);
	addr->sl = pick(&source, 8);
	addr->roce = pick(&source, 2) ? FABRIC_ROCE_V2 : FABRIC_ROCE_V1;
	addr->ipv4 = addr->roce == FABRIC_ROCE_V2 && pick(&source, 2);
	addr->traffic_class = take8(&source);
	addr->hop_limit = take8(&source);
	addr->flow_label = take32(&source) & 0xfffff;
	addr->udp_sport = take32(&source);
	addr->tagged = once_in(&source, 4);
	addr->vlan = take32(&source) & 0xfff;
	for (size_t i = 0; i < 16; i++) {
		addr->dgid[i] = take8(&source);
		addr->sgid[i] = take8(&source);
	}
}

static void put_message(bool ethernet, struct fabric_msg *msg, const uint8_t *payload)
{
	static const enum fabric_service services[] = { FABRIC_RC, FABRIC_UC, FABRIC_UD, FABRIC_XRC,
							FABRIC_DC };

	memset(msg, 0, sizeof(*msg));
	put_address(ethernet, &msg->addr);
	msg->service = services[pick(&source, 5)];
	msg->op = msg->service == FABRIC_UD ? FABRIC_SEND : pick(&source, FABRIC_CLOSE + 1);
	msg->dest_qpn = take32(&source) & 0xffffff;
	msg->src_qpn = take32(&source) & 0xffffff;
	msg->qkey = take32(&source);
	msg->pkey = take32(&source);
	msg->psn = take32(&source) & 0xffffff;
	msg->first = pick(&source, 4) > 0;
	msg->last = pick(&source, 4) > 0;
	msg->solicited = pick(&source, 2);
	msg->has_imm = once_in(&source, 4);
	msg->imm = take32(&source);
	msg->raddr = take32(&source);
	msg->rkey = take32(&source);
	msg->payload = payload;
	msg->payload_len = pick(&source, 1024);
	msg->mtu = 256u << pick(&source, 5);
	msg->packets = msg->payload_len ? (msg->payload_len + msg->mtu - 1) / msg->mtu : 1;
	msg->length = msg->payload_len;
}

static void decode_packet(bool ethernet, const uint8_t *bytes, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);
	struct fabric_msg msg;

	memcpy(exact, bytes, len);
	watch_begin("wire_decode");
	if (wire_decode(ethernet, exact, len, &msg) == WIRE_OK && msg.payload &&
	    (msg.payload < exact || msg.payload + msg.payload_len > exact + len))
		abort();
	watch_end();
	free(exact);
}

static void flip_bits(uint8_t *bytes, size_t len)
{
	uint32_t times = 1 + pick(&source, 4);

	for (uint32_t i = 0; i < times && len; i++)
		bytes[pick(&source, len < 64 ? len : 64)] ^= 1u << pick(&source, 8);
}

/* Sets the right checksum for the damaged packet: otherwise the decoder would drop it before it
 * looks at anything else. */
static void packet_sign(uint8_t *packet, const struct route *route)
{
	uint8_t masked[ROUTE_MAX + BTH];
	size_t head = route_mask(packet, route, masked);
	uint8_t *body = packet + route->len, *end = body + route->body_len - ICRC;
	uint32_t crc;

	memcpy(masked + head, body, BTH);
	masked[head + 4] = 0xff;
	crc = crc32_add(UINT32_MAX, masked, head + BTH);
	crc = htole32(~crc32_add(crc, body + BTH, (size_t)(end - body) - BTH));
	memcpy(end, &crc, sizeof(crc));
}

static void packet_damage(bool ethernet, uint8_t *packet, size_t len)
{
	struct fabric_msg msg = { 0 };
	struct route route;

	if (once_in(&source, 4)) {
		flip_bits(packet, len);
		return;
	}
	if (route_take(ethernet, packet, len, &route, &msg) || route.body_len < BTH + ICRC)
		return;
	flip_bits(packet + route.len, route.body_len - ICRC);
	packet_sign(packet, &route);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t payload[4096];
	uint8_t packet[WIRE_PACKET_MAX];
	struct fabric_msg msg;

	source = (struct source){ data, len };
	while (source.left) {
		bool ethernet = pick(&source, 2);
		uint32_t count;
		size_t size;

		put_message(ethernet, &msg, payload);
		count = wire_packets(&msg);
		for (uint32_t i = 0; i < count && i < PACKETS; i++) {
			size = wire_encode(&msg, i, packet);
			if (once_in(&source, 2))
				packet_damage(ethernet, packet, size);
			if (once_in(&source, 8))
				size = pick(&source, size);
			decode_packet(ethernet, packet, size);
		}
	}
	return 0;
}
