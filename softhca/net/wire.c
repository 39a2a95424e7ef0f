/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - see wire.h. Transport headers and checksums; the route before them is in route.c.
 * Decisions: docs/adr/0034, docs/adr/0035, docs/adr/0040.
 */
#include <assert.h>
#include <string.h>

#include "ib/packet.h"
#include "softhca/net/crc.h"
#include "softhca/net/route.h"
#include "softhca/net/wire.h"

static_assert((int)FABRIC_RC == IB_SERVICE_RC && (int)FABRIC_UC == IB_SERVICE_UC &&
		      (int)FABRIC_UD == IB_SERVICE_UD && (int)FABRIC_XRC == IB_SERVICE_XRC &&
		      (int)FABRIC_DC == IB_SERVICE_DC,
	      "a message's service is that of its packets");
static_assert((int)FABRIC_NAK_PSN == NAK_PSN &&
		      (int)FABRIC_NAK_INVALID_REQUEST == NAK_INVALID_REQUEST &&
		      (int)FABRIC_NAK_REMOTE_ACCESS == NAK_REMOTE_ACCESS &&
		      (int)FABRIC_NAK_REMOTE_OP == NAK_REMOTE_OPERATION &&
		      (int)FABRIC_NAK_NO_TARGET == NAK_NO_TARGET,
	      "a message's NAK is that of its AETH");

/* Extended headers. The opcode determines them; IMM and IETH also depend on the message. */
enum { RETH = 1, AETH = 2, ATOMIC = 4, ATOMIC_ACK = 8, IMM = 16, IETH = 32, MASKED = 64 };

struct opcode {
	bool known;
	enum fabric_op op;
	bool first, last;
	unsigned int headers;
};

static const struct opcode opcodes[IB_NUM_OPCODES] = {
	[IB_SEND_FIRST] = { true, FABRIC_SEND, true, false, 0 },
	[IB_SEND_MIDDLE] = { true, FABRIC_SEND, false, false, 0 },
	[IB_SEND_LAST] = { true, FABRIC_SEND, false, true, 0 },
	[IB_SEND_LAST_IMM] = { true, FABRIC_SEND, false, true, IMM },
	[IB_SEND_ONLY] = { true, FABRIC_SEND, true, true, 0 },
	[IB_SEND_ONLY_IMM] = { true, FABRIC_SEND, true, true, IMM },
	[IB_WRITE_FIRST] = { true, FABRIC_WRITE, true, false, RETH },
	[IB_WRITE_MIDDLE] = { true, FABRIC_WRITE, false, false, 0 },
	[IB_WRITE_LAST] = { true, FABRIC_WRITE, false, true, 0 },
	[IB_WRITE_LAST_IMM] = { true, FABRIC_WRITE, false, true, IMM },
	[IB_WRITE_ONLY] = { true, FABRIC_WRITE, true, true, RETH },
	[IB_WRITE_ONLY_IMM] = { true, FABRIC_WRITE, true, true, RETH | IMM },
	[IB_READ_REQUEST] = { true, FABRIC_READ, true, true, RETH },
	[IB_READ_RESPONSE_FIRST] = { true, FABRIC_READ_RESPONSE, true, false, AETH },
	[IB_READ_RESPONSE_MIDDLE] = { true, FABRIC_READ_RESPONSE, false, false, 0 },
	[IB_READ_RESPONSE_LAST] = { true, FABRIC_READ_RESPONSE, false, true, AETH },
	[IB_READ_RESPONSE_ONLY] = { true, FABRIC_READ_RESPONSE, true, true, AETH },
	[IB_ACKNOWLEDGE] = { true, FABRIC_ACK, true, true, AETH },
	[IB_ATOMIC_ACKNOWLEDGE] = { true, FABRIC_ATOMIC_RESPONSE, true, true, AETH | ATOMIC_ACK },
	[IB_COMPARE_SWAP] = { true, FABRIC_ATOMIC_CS, true, true, ATOMIC },
	[IB_FETCH_ADD] = { true, FABRIC_ATOMIC_FA, true, true, ATOMIC },
	[IB_SEND_LAST_INVALIDATE] = { true, FABRIC_SEND, false, true, IETH },
	[IB_SEND_ONLY_INVALIDATE] = { true, FABRIC_SEND, true, true, IETH },
	[IB_MASKED_CS] = { true, FABRIC_MASKED_CS, true, true, RETH | MASKED },
	[IB_MASKED_FA] = { true, FABRIC_MASKED_FA, true, true, RETH | MASKED },
	[IB_CLOSE] = { true, FABRIC_CLOSE, true, true, 0 },
};

/* Returns the optional headers of a packet: IMM and IETH, which depend on the message's fields and
 * are only in its last packet. */
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

	for (uint8_t i = 0; i < IB_NUM_OPCODES - 1; i++)
		if (opcodes[i].known && opcodes[i].op == op && opcodes[i].first == first &&
		    opcodes[i].last == last && (opcodes[i].headers & (IMM | IETH)) == wanted)
			return i;
	return IB_NUM_OPCODES - 1;
}

uint32_t wire_packets(const struct fabric_msg *msg)
{
	return msg->op == FABRIC_READ ? 1 : msg->packets;
}

static uint8_t *put_aeth(uint8_t *p, const struct fabric_msg *msg)
{
	unsigned int kind = AETH_ACK, value = msg->credits;

	if (msg->op == FABRIC_NAK) {
		kind = msg->nak == FABRIC_NAK_RNR ? AETH_RNR : AETH_NAK;
		value = msg->nak == FABRIC_NAK_RNR ? msg->rnr_timer : msg->nak;
	}
	fld_set(p, AETH_KIND, kind);
	fld_set(p, AETH_VALUE, value);
	fld_set(p, AETH_MSN, msg->msn);
	return p + AETH_SIZE;
}

static uint8_t *put_deth(uint8_t *p, const struct fabric_msg *msg)
{
	memset(p, 0, DETH_SIZE);
	fld_set(p, DETH_QKEY, msg->qkey);
	fld_set(p, DETH_SOURCE_QPN, msg->src_qpn);
	return p + DETH_SIZE;
}

static uint8_t *put_xrceth(uint8_t *p, const struct fabric_msg *msg)
{
	memset(p, 0, XRCETH_SIZE);
	fld_set(p, XRCETH_SRQN, msg->srqn);
	return p + XRCETH_SIZE;
}

static uint8_t *put_dceth(uint8_t *p, const struct fabric_msg *msg)
{
	memset(p, 0, DCETH_SIZE);
	fld_set(p, DCETH_KEY, msg->dc_key);
	fld_set(p, DCETH_SOURCE_QPN, msg->src_qpn);
	fld_set(p, DCETH_SESSION, msg->session);
	return p + DCETH_SIZE;
}

static uint8_t *put_reth(uint8_t *p, const struct fabric_msg *msg)
{
	fld_set(p, RETH_ADDRESS, msg->raddr);
	fld_set(p, RETH_RKEY, msg->rkey);
	fld_set(p, RETH_LENGTH, (uint32_t)msg->length);
	return p + RETH_SIZE;
}

static uint8_t *put_atomic(uint8_t *p, const struct fabric_msg *msg)
{
	fld_set(p, ATOMIC_ETH_ADDRESS, msg->raddr);
	fld_set(p, ATOMIC_ETH_RKEY, msg->rkey);
	fld_set(p, ATOMIC_ETH_SWAP, msg->swap_add);
	fld_set(p, ATOMIC_ETH_COMPARE, msg->compare);
	return p + ATOMIC_ETH_SIZE;
}

static uint8_t *put_masked(uint8_t *p, const struct fabric_msg *msg)
{
	fld_set(p, MASKED_ETH_SWAP, msg->swap_add);
	fld_set(p, MASKED_ETH_COMPARE, msg->compare);
	fld_set(p, MASKED_ETH_SWAP_MASK, msg->swap_mask);
	fld_set(p, MASKED_ETH_COMPARE_MASK, msg->compare_mask);
	return p + MASKED_ETH_SIZE;
}

static uint8_t *put_atomic_ack(uint8_t *p, const struct fabric_msg *msg)
{
	uint64_t value;

	memcpy(&value, msg->payload, sizeof(value));
	fld_set(p, ATOMIC_ACK_ETH_OLD, value);
	return p + ATOMIC_ACK_ETH_SIZE;
}

static uint8_t *put_extended(uint8_t *p, const struct fabric_msg *msg, unsigned int headers)
{
	if (msg->service == FABRIC_UD)
		p = put_deth(p, msg);
	if (msg->service == FABRIC_XRC && fabric_is_request(msg->op))
		p = put_xrceth(p, msg);
	if (msg->service == FABRIC_DC && fabric_is_request(msg->op))
		p = put_dceth(p, msg);
	if (headers & RETH)
		p = put_reth(p, msg);
	if (headers & ATOMIC)
		p = put_atomic(p, msg);
	if (headers & MASKED)
		p = put_masked(p, msg);
	if (headers & AETH)
		p = put_aeth(p, msg);
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

/* The part of the payload that packet INDEX carries. */
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

	memset(p, 0, BTH_SIZE);
	fld_set(p, BTH_SERVICE, msg->service);
	fld_set(p, BTH_OPCODE, opcode);
	fld_set(p, BTH_SOLICITED, opcodes[opcode].last && msg->solicited);
	fld_set(p, BTH_MIGRATED, 1);
	fld_set(p, BTH_PAD, pad);
	fld_set(p, BTH_PKEY, msg->pkey);
	fld_set(p, BTH_DEST_QPN, msg->dest_qpn);
	fld_set(p, BTH_ACK_REQUEST, final && msg->ack_req);
	fld_set(p, BTH_PSN, msg->psn + index);
	return p + BTH_SIZE;
}

/* Computes the invariant CRC. Fields that a switch or router may change count as ones. BODY
 * follows the route. */
static uint32_t icrc_of(const uint8_t *route, const struct route *info, const uint8_t *body,
			size_t len)
{
	uint8_t masked[ROUTE_MAX + BTH_SIZE];
	size_t head = route_mask(route, info, masked);
	uint32_t crc;

	memcpy(masked + head, body, BTH_SIZE);
	fld_set(masked + head, BTH_VARIANT, UINT8_MAX);
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

static bool service_has(enum fabric_service service, uint8_t opcode)
{
	switch (service) {
	case FABRIC_RC:
	case FABRIC_XRC:
		return opcodes[opcode].known && opcode != IB_CLOSE;
	case FABRIC_DC:
		return opcodes[opcode].known;
	case FABRIC_UC:
		return opcode <= IB_WRITE_ONLY_IMM;
	case FABRIC_UD:
		return opcode == IB_SEND_ONLY || opcode == IB_SEND_ONLY_IMM;
	default:
		return false;
	}
}

static bool take_bth(const uint8_t *p, struct fabric_msg *msg, uint8_t *opcode, uint32_t *pad)
{
	*opcode = fld_get(p, BTH_OPCODE);
	*pad = fld_get(p, BTH_PAD);
	msg->service = fld_get(p, BTH_SERVICE);
	msg->solicited = fld_get(p, BTH_SOLICITED);
	msg->pkey = fld_get(p, BTH_PKEY);
	msg->dest_qpn = fld_get(p, BTH_DEST_QPN);
	msg->ack_req = fld_get(p, BTH_ACK_REQUEST);
	msg->psn = fld_get(p, BTH_PSN);
	msg->packets = 1;
	if (fld_get(p, BTH_VERSION) || !service_has(msg->service, *opcode))
		return false;
	msg->op = opcodes[*opcode].op;
	msg->first = opcodes[*opcode].first;
	msg->last = opcodes[*opcode].last;
	return true;
}

static size_t extended_size(const struct fabric_msg *msg, unsigned int headers)
{
	size_t size = 0;

	size += msg->service == FABRIC_UD ? DETH_SIZE : 0;
	size += msg->service == FABRIC_XRC && fabric_is_request(msg->op) ? XRCETH_SIZE : 0;
	size += msg->service == FABRIC_DC && fabric_is_request(msg->op) ? DCETH_SIZE : 0;
	size += headers & RETH ? RETH_SIZE : 0;
	size += headers & ATOMIC ? ATOMIC_ETH_SIZE : 0;
	size += headers & MASKED ? MASKED_ETH_SIZE : 0;
	size += headers & AETH ? AETH_SIZE : 0;
	size += headers & ATOMIC_ACK ? ATOMIC_ACK_ETH_SIZE : 0;
	size += headers & IMM ? IMMDT_SIZE : 0;
	size += headers & IETH ? IETH_SIZE : 0;
	return size;
}

static bool is_nak(enum fabric_service service, unsigned int value)
{
	return value <= NAK_REMOTE_OPERATION || (service == FABRIC_DC && value == NAK_NO_TARGET);
}

/* Decodes an AETH. An ACKNOWLEDGE packet is an ACK or a NAK; responses with data are never NAKs. */
static bool take_aeth(const uint8_t *p, struct fabric_msg *msg)
{
	unsigned int kind = fld_get(p, AETH_KIND), value = fld_get(p, AETH_VALUE);

	msg->msn = fld_get(p, AETH_MSN);
	if (kind == AETH_ACK) {
		msg->credits = value;
		return true;
	}
	if (msg->op != FABRIC_ACK)
		return false;
	msg->op = FABRIC_NAK;
	msg->nak = kind == AETH_RNR ? FABRIC_NAK_RNR : value;
	msg->rnr_timer = value;
	return kind == AETH_RNR || (kind == AETH_NAK && is_nak(msg->service, value));
}

static const uint8_t *take_reth(const uint8_t *p, struct fabric_msg *msg)
{
	msg->raddr = fld_get(p, RETH_ADDRESS);
	msg->rkey = fld_get(p, RETH_RKEY);
	msg->length = fld_get(p, RETH_LENGTH);
	return p + RETH_SIZE;
}

static const uint8_t *take_atomic(const uint8_t *p, struct fabric_msg *msg)
{
	msg->raddr = fld_get(p, ATOMIC_ETH_ADDRESS);
	msg->rkey = fld_get(p, ATOMIC_ETH_RKEY);
	msg->swap_add = fld_get(p, ATOMIC_ETH_SWAP);
	msg->compare = fld_get(p, ATOMIC_ETH_COMPARE);
	msg->length = sizeof(uint64_t);
	return p + ATOMIC_ETH_SIZE;
}

static const uint8_t *take_masked(const uint8_t *p, struct fabric_msg *msg)
{
	msg->swap_add = fld_get(p, MASKED_ETH_SWAP);
	msg->compare = fld_get(p, MASKED_ETH_COMPARE);
	msg->swap_mask = fld_get(p, MASKED_ETH_SWAP_MASK);
	msg->compare_mask = fld_get(p, MASKED_ETH_COMPARE_MASK);
	return p + MASKED_ETH_SIZE;
}

static bool take_extended(const uint8_t *p, struct fabric_msg *msg, unsigned int headers)
{
	if (msg->service == FABRIC_UD) {
		msg->qkey = fld_get(p, DETH_QKEY);
		msg->src_qpn = fld_get(p, DETH_SOURCE_QPN);
		p += DETH_SIZE;
	}
	if (msg->service == FABRIC_XRC && fabric_is_request(msg->op)) {
		msg->srqn = fld_get(p, XRCETH_SRQN);
		p += XRCETH_SIZE;
	}
	if (msg->service == FABRIC_DC && fabric_is_request(msg->op)) {
		msg->dc_key = fld_get(p, DCETH_KEY);
		msg->src_qpn = fld_get(p, DCETH_SOURCE_QPN);
		msg->session = fld_get(p, DCETH_SESSION);
		p += DCETH_SIZE;
	}
	if (headers & RETH)
		p = take_reth(p, msg);
	if (headers & ATOMIC)
		p = take_atomic(p, msg);
	if (headers & MASKED)
		p = take_masked(p, msg);
	if (headers & AETH) {
		if (!take_aeth(p, msg))
			return false;
		p += AETH_SIZE;
	}
	if (headers & (IMM | IETH))
		memcpy(&msg->imm, p, sizeof(msg->imm));
	msg->has_imm = headers & IMM;
	msg->invalidate = headers & IETH;
	return true;
}

/* Takes the payload behind the extended headers. An atomic's response has its result in front of an
 * empty payload. */
static bool take_payload(uint8_t *payload, size_t len, struct fabric_msg *msg)
{
	uint64_t value;

	if (msg->op == FABRIC_ATOMIC_RESPONSE) {
		payload -= ATOMIC_ACK_ETH_SIZE;
		value = fld_get(payload, ATOMIC_ACK_ETH_OLD);
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
