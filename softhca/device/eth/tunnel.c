/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tunnel.c - finds what a frame carries in a tunnel. RFC 7348, 8926, 2784, 2890, 2003, 2473, and
 * draft-ietf-nvo3-vxlan-gpe.
 *
 * As in frame.c, a header is read only after a check of its length.
 */
#include <stdbool.h>

#include "softhca/device/eth/frame.h"
#include "softhca/device/eth/tunnel.h"

/* What follows the header of a tunnel */
struct payload {
	unsigned int at;
	uint16_t type; /* an Ethernet type; 0: none that can be told */
};

static bool has_room(const struct frame *frame, unsigned int at, unsigned int size)
{
	return at <= frame->l3_end && frame->l3_end - at >= size;
}

static uint16_t gpe_type(uint64_t next)
{
	return next == VXLAN_GPE_V4         ? ETHERTYPE_V4
	       : next == VXLAN_GPE_V6       ? ETHERTYPE_V6
	       : next == VXLAN_GPE_ETHERNET ? ETHERTYPE_TEB
					    : 0;
}

static struct payload udp_tunnel(const struct frame *frame)
{
	const unsigned int at = frame->l4 + UDP_SIZE;
	const uint8_t *header = frame->bytes + at;

	if (!has_room(frame, at, VXLAN_SIZE))
		return (struct payload){ .type = 0 };
	switch (fld_get(frame->bytes + frame->l4, L4_DESTINATION_PORT)) {
	case VXLAN_PORT:
		return (struct payload){ at + VXLAN_SIZE, ETHERTYPE_TEB };
	case VXLAN_GPE_PORT:
		return (struct payload){ at + VXLAN_SIZE,
					 gpe_type(fld_get(header, VXLAN_GPE_NEXT)) };
	case GENEVE_PORT:
		return (struct payload){
			at + GENEVE_SIZE + 4 * (unsigned int)fld_get(header, GENEVE_OPTION_WORDS),
			(uint16_t)fld_get(header, GENEVE_PROTOCOL)
		};
	default:
		return (struct payload){ .type = 0 };
	}
}

/* UDP's own length must cover its header and the tunnel's, and end within the packet. */
static struct payload udp_payload(const struct frame *frame)
{
	const unsigned int length = fld_get(frame->bytes + frame->l4, UDP_LENGTH);
	const struct payload payload = udp_tunnel(frame);

	if (!has_room(frame, frame->l4, length) || payload.at > frame->l4 + length)
		return (struct payload){ .type = 0 };
	return payload;
}

static struct payload gre_payload(const struct frame *frame)
{
	const uint8_t *gre = frame->bytes + frame->l4;
	unsigned int fields;

	if (!has_room(frame, frame->l4, GRE_SIZE))
		return (struct payload){ .type = 0 };
	fields = (unsigned int)(fld_get(gre, GRE_C) + fld_get(gre, GRE_K) + fld_get(gre, GRE_S));
	return (struct payload){ frame->l4 + GRE_SIZE + fields * GRE_FIELD_SIZE,
				 (uint16_t)fld_get(gre, GRE_PROTOCOL) };
}

/* Returns whether the IP packet ends in the frame. frame_parse() has checked that for IPv4. */
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
		return (struct payload){ frame->l4, ETHERTYPE_V4 };
	case PROTO_IP6:
		return (struct payload){ frame->l4, ETHERTYPE_V6 };
	default:
		return (struct payload){ .type = 0 };
	}
}

static bool is_ip(const struct frame *frame, const struct payload *payload)
{
	const uint8_t *ip = frame->bytes + payload->at;

	if (payload->type == ETHERTYPE_V4)
		return has_room(frame, payload->at, IP4_SIZE) && fld_get(ip, IP4_VERSION) == 4;
	return payload->type == ETHERTYPE_V6 && has_room(frame, payload->at, IP6_SIZE) &&
	       fld_get(ip, IP6_VERSION) == 6;
}

struct tunnel tunnel_find(const struct frame *frame)
{
	const struct payload payload = payload_of(frame);
	struct tunnel tunnel = { 0, 0 };
	struct frame inner;

	if (payload.type == ETHERTYPE_TEB && has_room(frame, payload.at, ETHERNET_SIZE)) {
		frame_parse(&inner, frame->bytes + payload.at, frame->l3_end - payload.at);
		tunnel.l2 = payload.at;
		tunnel.l3 = inner.l3 ? payload.at + inner.l3 : 0;
	} else if (is_ip(frame, &payload)) {
		tunnel.l3 = payload.at;
	}
	return tunnel;
}
