/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tunnel.c - finds what a frame carries in a tunnel. RFC 7348, 8926, 2784, 2890, 2003, 2473,
 * draft-ietf-nvo3-vxlan-gpe, and 3GPP TS 29.281.
 *
 * As in frame.c, a header is read only after a check of its length.
 */
#include <stdbool.h>

#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/tunnel.h"

/* The payload of a tunnel: the bytes behind the tunnel's header */
struct payload {
	unsigned int at, end;
	uint16_t type; /* EtherType; 0: unknown, or no payload */
};

static bool has_room(const struct frame *frame, unsigned int at, unsigned int size)
{
	return at <= frame->l3_end && frame->l3_end - at >= size;
}

static bool payload_has(const struct payload *payload, unsigned int size)
{
	return payload->at <= payload->end && payload->end - payload->at >= size;
}

static uint16_t gpe_type(uint64_t next)
{
	return next == VXLAN_GPE_V4         ? ETHERTYPE_V4
	       : next == VXLAN_GPE_V6       ? ETHERTYPE_V6
	       : next == VXLAN_GPE_ETHERNET ? ETHERTYPE_TEB
					    : 0;
}

/* Returns the offset behind a GTP-U header's extensions, which begin at AT with one of type NEXT.
 * Returns the end of the packet if they do not end within it. 3GPP TS 29.281, 5.2. */
static unsigned int gtpu_skip(const struct frame *frame, unsigned int at, uint64_t next)
{
	while (next && has_room(frame, at, 4)) {
		const unsigned int size = 4u * frame->bytes[at];

		if (!size || !has_room(frame, at, size))
			return frame->l3_end;
		next = frame->bytes[at + size - 1];
		at += size;
	}
	return next ? frame->l3_end : at;
}

/* GTP-U has no field for its packet's type, so the version in the packet's first byte tells IPv4
 * from IPv6. */
static struct payload gtpu_payload(const struct frame *frame, unsigned int at)
{
	const uint8_t *header = frame->bytes + at;
	struct payload payload = { .at = at + GTPU_SIZE };

	if (fld_get(header, GTPU_TYPE) != GTPU_PACKET)
		return payload;
	if (fld_get(header, GTPU_OPTIONAL)) {
		payload.at += GTPU_OPTIONAL_SIZE;
		if (!has_room(frame, payload.at, 0))
			return payload;
		if (fld_get(header, GTPU_E))
			payload.at = gtpu_skip(frame, payload.at, fld_get(header, GTPU_NEXT));
	}
	if (has_room(frame, payload.at, IP4_SIZE))
		payload.type = fld_get(frame->bytes + payload.at, IP4_VERSION) == 6 ? ETHERTYPE_V6
										    : ETHERTYPE_V4;
	return payload;
}

/* Returns the payload behind the header of a tunnel in UDP. The caller sets the payload's end. */
static struct payload udp_tunnel(const struct frame *frame)
{
	struct payload payload = { .at = frame->l4 + UDP_SIZE };
	const uint8_t *header = frame->bytes + payload.at;

	if (!has_room(frame, payload.at, VXLAN_SIZE))
		return payload;
	switch (fld_get(frame->bytes + frame->l4, L4_DESTINATION_PORT)) {
	case VXLAN_PORT:
		payload.at += VXLAN_SIZE;
		payload.type = ETHERTYPE_TEB;
		break;
	case VXLAN_GPE_PORT:
		payload.at += VXLAN_SIZE;
		payload.type = gpe_type(fld_get(header, VXLAN_GPE_NEXT));
		break;
	case GENEVE_PORT:
		payload.at += GENEVE_SIZE + 4 * (unsigned int)fld_get(header, GENEVE_OPTION_WORDS);
		payload.type = (uint16_t)fld_get(header, GENEVE_PROTOCOL);
		break;
	case GTPU_PORT:
		return gtpu_payload(frame, payload.at);
	}
	return payload;
}

/* The payload ends where the UDP datagram does. If UDP's length exceeds the packet, there is no
 * payload; if it does not cover the tunnel's header, payload_has() refuses the payload. */
static struct payload udp_payload(const struct frame *frame)
{
	const unsigned int length = fld_get(frame->bytes + frame->l4, UDP_LENGTH);
	struct payload payload = udp_tunnel(frame);

	payload.end = frame->l4 + length;
	if (!has_room(frame, frame->l4, length))
		payload.type = 0;
	return payload;
}

static struct payload gre_payload(const struct frame *frame)
{
	const uint8_t *gre = frame->bytes + frame->l4;
	unsigned int fields;

	if (!has_room(frame, frame->l4, GRE_SIZE))
		return (struct payload){ .type = 0 };
	fields = (unsigned int)(fld_get(gre, GRE_C) + fld_get(gre, GRE_K) + fld_get(gre, GRE_S));
	return (struct payload){ frame->l4 + GRE_SIZE + fields * GRE_FIELD_SIZE, frame->l3_end,
				 (uint16_t)fld_get(gre, GRE_PROTOCOL) };
}

/* Returns whether the IP packet ends in the frame. For IPv4, frame_parse() has checked the
 * length. */
static bool is_whole(const struct frame *frame)
{
	return frame->ip_version == 4 ||
	       frame->l3_end - frame->l3 ==
		       IP6_SIZE + fld_get(frame->bytes + frame->l3, IP6_PAYLOAD);
}

static struct payload payload_of(const struct frame *frame)
{
	if (!frame->l4 || frame->fragment || !is_whole(frame))
		return (struct payload){ .type = 0 };
	switch (frame->protocol) {
	case PROTO_UDP:
		return udp_payload(frame);
	case PROTO_GRE:
		return gre_payload(frame);
	case PROTO_IP4:
		return (struct payload){ frame->l4, frame->l3_end, ETHERTYPE_V4 };
	case PROTO_IP6:
		return (struct payload){ frame->l4, frame->l3_end, ETHERTYPE_V6 };
	default:
		return (struct payload){ .type = 0 };
	}
}

static bool is_ip(const struct frame *frame, const struct payload *payload)
{
	const uint8_t *ip = frame->bytes + payload->at;

	if (payload->type == ETHERTYPE_V4)
		return payload_has(payload, IP4_SIZE) && fld_get(ip, IP4_VERSION) == 4;
	return payload->type == ETHERTYPE_V6 && payload_has(payload, IP6_SIZE) &&
	       fld_get(ip, IP6_VERSION) == 6;
}

struct tunnel tunnel_find(const struct frame *frame)
{
	const struct payload payload = payload_of(frame);
	struct tunnel tunnel = { .end = payload.end };
	struct frame inner;

	if (payload.type == ETHERTYPE_TEB && payload_has(&payload, ETHERNET_SIZE)) {
		frame_parse(&inner, frame->bytes + payload.at, payload.end - payload.at);
		tunnel.l2 = payload.at;
		tunnel.l3 = inner.l3 ? payload.at + inner.l3 : 0;
	} else if (is_ip(frame, &payload)) {
		tunnel.l3 = payload.at;
		tunnel.type = payload.type;
	}
	return tunnel;
}

bool tunnel_parse_inner(const struct frame *frame, const struct tunnel *tunnel, struct frame *inner)
{
	if (tunnel->l2)
		frame_parse(inner, frame->bytes + tunnel->l2, tunnel->end - tunnel->l2);
	else if (tunnel->l3)
		frame_parse_packet(inner, frame->bytes, tunnel->end, tunnel->l3, tunnel->type);
	return tunnel->l2 || tunnel->l3;
}
