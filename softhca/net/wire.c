/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - see wire.h. Transport headers and checksums; the route before them is in route.c.
 */
#include <string.h>

#include "softhca/net/bytes.h"
#include "softhca/net/crc.h"
#include "softhca/net/route.h"
#include "softhca/net/wire.h"

enum {
	BTH_SIZE = 12,
	ICRC_SIZE = 4,
	OPCODE_MASK = 0x1f,
	PSN_BITS = 0xffffff,
	/* BTH, byte 1 */
	SOLICITED = 0x80,
	MIGRATED = 0x40,
	ACK_REQUEST = 0x80, /* byte 8 */
	/* AETH: upper bits of the syndrome, and the credit count that says nothing. IBTA vol 1, 9.7.5.1 */
	AETH_ACK = 0x00,
	AETH_RNR = 0x20,
	AETH_NAK = 0x60,
	AETH_KIND = 0xe0,
	AETH_VALUE = 0x1f,
	NO_CREDITS = 0x1f,
};

/* Extended headers */
enum { RETH = 1, AETH = 2, ATOMIC = 4, ATOMIC_ACK = 8, IMM = 16, IETH = 32 };

/* IBTA vol 1, table 38; the lower five bits of an opcode mean the same for each service. */
struct opcode {
	bool known;
	enum fabric_op op;
	bool first, last;
	unsigned int headers;
};

static const struct opcode opcodes[OPCODE_MASK + 1] = {
	[0x00] = { true, FABRIC_SEND, true, false, 0 },
	[0x01] = { true, FABRIC_SEND, false, false, 0 },
	[0x02] = { true, FABRIC_SEND, false, true, 0 },
	[0x03] = { true, FABRIC_SEND, false, true, IMM },
	[0x04] = { true, FABRIC_SEND, true, true, 0 },
	[0x05] = { true, FABRIC_SEND, true, true, IMM },
	[0x06] = { true, FABRIC_WRITE, true, false, RETH },
	[0x07] = { true, FABRIC_WRITE, false, false, 0 },
	[0x08] = { true, FABRIC_WRITE, false, true, 0 },
	[0x09] = { true, FABRIC_WRITE, false, true, IMM },
	[0x0a] = { true, FABRIC_WRITE, true, true, RETH },
	[0x0b] = { true, FABRIC_WRITE, true, true, RETH | IMM },
	[0x0c] = { true, FABRIC_READ, true, true, RETH },
	[0x0d] = { true, FABRIC_READ_RESPONSE, true, false, AETH },
	[0x0e] = { true, FABRIC_READ_RESPONSE, false, false, 0 },
	[0x0f] = { true, FABRIC_READ_RESPONSE, false, true, AETH },
	[0x10] = { true, FABRIC_READ_RESPONSE, true, true, AETH },
	[0x11] = { true, FABRIC_ACK, true, true, AETH },
	[0x12] = { true, FABRIC_ATOMIC_RESPONSE, true, true, AETH | ATOMIC_ACK },
	[0x13] = { true, FABRIC_ATOMIC_CS, true, true, ATOMIC },
	[0x14] = { true, FABRIC_ATOMIC_FA, true, true, ATOMIC },
	[0x16] = { true, FABRIC_SEND, false, true, IETH },
	[0x17] = { true, FABRIC_SEND, true, true, IETH },
};

/* ---- encoding ---- */

static bool is_request(enum fabric_op op)
{
	return op <= FABRIC_ATOMIC_FA;
}

/* Which of the headers that depend on the message, not on its kind, its last packet has */
static unsigned int wanted_headers(const struct fabric_msg *msg, bool last)
{
	if (!last || msg->op > FABRIC_WRITE)
		return 0;
	if (msg->op == FABRIC_SEND && msg->invalidate)
		return IETH;
	return msg->has_imm ? IMM : 0;
}

static uint8_t opcode_of(const struct fabric_msg *msg, bool first, bool last)
{
	enum fabric_op op = msg->op == FABRIC_NAK ? FABRIC_ACK : msg->op;
	unsigned int wanted = wanted_headers(msg, last);
	uint8_t i;

	for (i = 0; i < OPCODE_MASK; i++)
		if (opcodes[i].known && opcodes[i].op == op && opcodes[i].first == first &&
		    opcodes[i].last == last && (opcodes[i].headers & (IMM | IETH)) == wanted)
			break;
	return i;
}

uint32_t wire_packets(const struct fabric_msg *msg)
{
	return msg->op == FABRIC_READ ? 1 : msg->packets;
}

static uint8_t aeth_syndrome(const struct fabric_msg *msg)
{
	if (msg->op != FABRIC_NAK)
		return AETH_ACK | NO_CREDITS;
	if (msg->nak == FABRIC_NAK_RNR)
		return AETH_RNR | (msg->rnr_timer & AETH_VALUE);
	return AETH_NAK | (msg->nak & AETH_VALUE);
}

static uint8_t *put_deth(uint8_t *p, const struct fabric_msg *msg)
{
	put32(p, msg->qkey);
	put32(p + 4, msg->src_qpn);
	return p + 8;
}

static uint8_t *put_reth(uint8_t *p, const struct fabric_msg *msg)
{
	put64(p, msg->raddr);
	put32(p + 8, msg->rkey);
	put32(p + 12, (uint32_t)msg->length);
	return p + 16;
}

static uint8_t *put_atomic(uint8_t *p, const struct fabric_msg *msg)
{
	put64(p, msg->raddr);
	put32(p + 8, msg->rkey);
	put64(p + 12, msg->swap_add);
	put64(p + 20, msg->compare);
	return p + 28;
}

static uint8_t *put_atomic_ack(uint8_t *p, const struct fabric_msg *msg)
{
	uint64_t value;

	memcpy(&value, msg->payload, sizeof(value));
	put64(p, value);
	return p + sizeof(value);
}

static uint8_t *put_extended(uint8_t *p, const struct fabric_msg *msg, unsigned int headers)
{
	if (msg->service == FABRIC_UD)
		p = put_deth(p, msg);
	if (msg->service == FABRIC_XRC && is_request(msg->op)) {
		put32(p, msg->srqn);
		p += 4;
	}
	if (headers & RETH)
		p = put_reth(p, msg);
	if (headers & ATOMIC)
		p = put_atomic(p, msg);
	if (headers & AETH) {
		put32(p, (uint32_t)aeth_syndrome(msg) << 24 | (msg->msn & PSN_BITS));
		p += 4;
	}
	if (headers & ATOMIC_ACK)
		p = put_atomic_ack(p, msg);
	if (headers & (IMM | IETH)) {
		memcpy(p, &msg->imm, sizeof(msg->imm));
		p += sizeof(msg->imm);
	}
	return p;
}

static bool carries_payload(enum fabric_op op)
{
	return op == FABRIC_SEND || op == FABRIC_WRITE || op == FABRIC_READ_RESPONSE;
}

/* What part of the payload packet INDEX carries */
struct slice {
	const uint8_t *data;
	uint32_t len, pad;
};

static struct slice slice_of(const struct fabric_msg *msg, uint32_t index)
{
	struct slice slice = { NULL, 0, 0 };
	uint32_t from = index * msg->mtu;

	if (!carries_payload(msg->op) || from >= msg->payload_len)
		return slice;
	slice.data = msg->payload + from;
	slice.len = msg->payload_len - from;
	if (msg->mtu && slice.len > msg->mtu)
		slice.len = msg->mtu;
	slice.pad = -slice.len & 3;
	return slice;
}

static uint8_t *put_bth(uint8_t *p, const struct fabric_msg *msg, uint32_t index, uint8_t opcode,
			uint32_t pad)
{
	bool final = index + 1 == wire_packets(msg);

	p[0] = (uint8_t)(msg->service << 5 | opcode);
	p[1] = (uint8_t)(MIGRATED | pad << 4);
	if (opcodes[opcode].last && msg->solicited)
		p[1] |= SOLICITED;
	put16(p + 2, msg->pkey);
	put32(p + 4, msg->dest_qpn & PSN_BITS);
	put32(p + 8, (msg->psn + index) & PSN_BITS);
	if (final && msg->ack_req)
		p[8] |= ACK_REQUEST;
	return p + BTH_SIZE;
}

/* The invariant checksum covers what no switch or router changes; what they may change counts as
 * ones. BODY is behind the route. */
static uint32_t icrc_of(const uint8_t *route, const struct route *info, const uint8_t *body,
			size_t len)
{
	uint8_t masked[ROUTE_MAX + BTH_SIZE];
	size_t head = route_mask(route, info, masked);
	uint32_t crc;

	memcpy(masked + head, body, BTH_SIZE);
	masked[head + 4] = 0xff; /* FECN, BECN and reserved bits */
	crc = crc32_add(UINT32_MAX, masked, head + BTH_SIZE);
	return ~crc32_add(crc, body + BTH_SIZE, len - BTH_SIZE);
}

static void put_icrc(uint8_t *to, uint32_t crc)
{
	crc = htole32(crc);
	memcpy(to, &crc, sizeof(crc));
}

size_t wire_encode(const struct fabric_msg *msg, uint32_t index, uint8_t packet[WIRE_PACKET_MAX])
{
	uint32_t count = wire_packets(msg);
	bool first = msg->first && index == 0, last = msg->last && index + 1 == count;
	bool alone = msg->op == FABRIC_READ || msg->op >= FABRIC_ACK;
	uint8_t opcode = opcode_of(msg, first || alone, last || alone);
	struct slice slice = slice_of(msg, index);
	struct route route;
	uint8_t *body, *p;

	route_init(&route, msg);
	body = packet + route.len;
	p = put_bth(body, msg, index, opcode, slice.pad);
	p = put_extended(p, msg, opcodes[opcode].headers);
	if (slice.len)
		memcpy(p, slice.data, slice.len);
	p += slice.len;
	memset(p, 0, slice.pad);
	p += slice.pad;
	route_put(&route, msg, packet, (size_t)(p - body) + ICRC_SIZE);
	put_icrc(p, icrc_of(packet, &route, body, (size_t)(p - body)));
	return route_finish(&route, packet, (size_t)(p - packet) + ICRC_SIZE);
}

/* ---- decoding ---- */

static bool service_has(enum fabric_service service, uint8_t opcode)
{
	enum { SEND_ONLY = 0x04, SEND_ONLY_IMM = 0x05, LAST_OF_UC = 0x0b };

	switch (service) {
	case FABRIC_RC:
	case FABRIC_XRC:
		return opcodes[opcode].known;
	case FABRIC_UC:
		return opcode <= LAST_OF_UC;
	case FABRIC_UD:
		return opcode == SEND_ONLY || opcode == SEND_ONLY_IMM;
	default:
		return false;
	}
}

static bool take_bth(const uint8_t *p, struct fabric_msg *msg, uint8_t *opcode, uint32_t *pad)
{
	enum { TVER = 0x0f };

	*opcode = p[0] & OPCODE_MASK;
	*pad = p[1] >> 4 & 3;
	msg->service = p[0] >> 5;
	msg->solicited = p[1] & SOLICITED;
	msg->pkey = get16(p + 2);
	msg->dest_qpn = get32(p + 4) & PSN_BITS;
	msg->ack_req = p[8] & ACK_REQUEST;
	msg->psn = get32(p + 8) & PSN_BITS;
	msg->packets = 1;
	if (p[1] & TVER || !service_has(msg->service, *opcode))
		return false;
	msg->op = opcodes[*opcode].op;
	msg->first = opcodes[*opcode].first;
	msg->last = opcodes[*opcode].last;
	return true;
}

static size_t extended_size(const struct fabric_msg *msg, unsigned int headers)
{
	size_t size = 0;

	size += msg->service == FABRIC_UD ? 8 : 0;
	size += msg->service == FABRIC_XRC && is_request(msg->op) ? 4 : 0;
	size += headers & RETH ? 16 : 0;
	size += headers & ATOMIC ? 28 : 0;
	size += headers & AETH ? 4 : 0;
	size += headers & ATOMIC_ACK ? 8 : 0;
	size += headers & (IMM | IETH) ? 4 : 0;
	return size;
}

/* An ACK is an ACK or a NAK; responses with data are never NAKs. */
static bool take_aeth(uint32_t aeth, struct fabric_msg *msg)
{
	uint8_t kind = aeth >> 24 & AETH_KIND, value = aeth >> 24 & AETH_VALUE;

	msg->msn = aeth & PSN_BITS;
	if (kind == AETH_ACK)
		return true;
	if (msg->op != FABRIC_ACK)
		return false;
	msg->op = FABRIC_NAK;
	msg->nak = kind == AETH_RNR ? FABRIC_NAK_RNR : value;
	msg->rnr_timer = value;
	return kind == AETH_RNR || (kind == AETH_NAK && value <= FABRIC_NAK_REMOTE_OP);
}

static const uint8_t *take_reth(const uint8_t *p, struct fabric_msg *msg)
{
	msg->raddr = get64(p);
	msg->rkey = get32(p + 8);
	msg->length = get32(p + 12);
	return p + 16;
}

static const uint8_t *take_atomic(const uint8_t *p, struct fabric_msg *msg)
{
	msg->raddr = get64(p);
	msg->rkey = get32(p + 8);
	msg->swap_add = get64(p + 12);
	msg->compare = get64(p + 20);
	msg->length = sizeof(uint64_t);
	return p + 28;
}

static bool take_extended(const uint8_t *p, struct fabric_msg *msg, unsigned int headers)
{
	if (msg->service == FABRIC_UD) {
		msg->qkey = get32(p);
		msg->src_qpn = get32(p + 4) & PSN_BITS;
		p += 8;
	}
	if (msg->service == FABRIC_XRC && is_request(msg->op)) {
		msg->srqn = get32(p) & PSN_BITS;
		p += 4;
	}
	if (headers & RETH)
		p = take_reth(p, msg);
	if (headers & ATOMIC)
		p = take_atomic(p, msg);
	if (headers & AETH) {
		if (!take_aeth(get32(p), msg))
			return false;
		p += 4;
	}
	if (headers & (IMM | IETH))
		memcpy(&msg->imm, p, sizeof(msg->imm));
	msg->has_imm = headers & IMM;
	msg->invalidate = headers & IETH;
	return true;
}

/* Behind the extended headers: payload, or the result of an atomic in front of an empty one */
static bool take_payload(uint8_t *payload, size_t len, struct fabric_msg *msg)
{
	uint64_t value;

	if (msg->op == FABRIC_ATOMIC_RESPONSE) {
		payload -= sizeof(value);
		value = get64(payload);
		memcpy(payload, &value, sizeof(value));
		msg->payload = payload;
		msg->payload_len = sizeof(value);
		return !len;
	}
	msg->payload = len ? payload : NULL;
	msg->payload_len = (uint32_t)len;
	if (msg->op == FABRIC_READ) {
		msg->payload_len = (uint32_t)msg->length;
		return !len;
	}
	return carries_payload(msg->op) ? len <= WIRE_MTU_MAX : !len;
}

static bool take_transport(uint8_t *body, size_t len, struct fabric_msg *msg)
{
	uint32_t pad;
	uint8_t opcode;
	size_t head;

	if (!take_bth(body, msg, &opcode, &pad))
		return false;
	head = BTH_SIZE + extended_size(msg, opcodes[opcode].headers);
	if (len < head + pad)
		return false;
	return take_extended(body + BTH_SIZE, msg, opcodes[opcode].headers) &&
	       take_payload(body + head, len - head - pad, msg);
}

enum wire_error wire_decode(bool ethernet, uint8_t *packet, size_t len, struct fabric_msg *msg)
{
	struct route route;
	enum wire_error error;
	uint32_t icrc;
	size_t body;

	memset(msg, 0, sizeof(*msg));
	error = route_take(ethernet, packet, len, &route, msg);
	if (error)
		return error;
	if (route.body_len < BTH_SIZE + ICRC_SIZE)
		return WIRE_BAD;
	body = route.body_len - ICRC_SIZE;
	memcpy(&icrc, packet + route.len + body, sizeof(icrc));
	if (le32toh(icrc) != icrc_of(packet, &route, packet + route.len, body))
		return WIRE_BAD;
	return take_transport(packet + route.len, body, msg) ? WIRE_OK : WIRE_BAD;
}
