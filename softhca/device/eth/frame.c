/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.c - finds the headers of a frame, and does Internet checksums.
 *
 * A frame comes from anybody: each header is looked at only after its length has been checked, and
 * lengths inside headers never lead out of the frame. RFC 791, 8200, 9293, 768, 1071.
 */
#include <string.h>

#include "softhca/device/eth/frame.h"

enum {
	V4_HEADER = 20,
	V6_HEADER = 40,
	TCP_HEADER = 20,
	UDP_HEADER = 8,
	V6_HOP_BY_HOP = 0,
	V6_ROUTING = 43,
	V6_FRAGMENT = 44,
	V6_DESTINATION = 60,
	MAX_EXTENSIONS = 8,
};

/* ---- where headers are ---- */

static unsigned int l4_header(uint8_t protocol)
{
	return protocol == PROTO_TCP ? TCP_HEADER : protocol == PROTO_UDP ? UDP_HEADER : 0;
}

static void set_l4(struct frame *frame, unsigned int at, bool first)
{
	if (first && at + l4_header(frame->protocol) <= frame->l3_end)
		frame->l4 = at;
}

static void parse_v4(struct frame *frame, unsigned int at)
{
	const uint8_t *ip = frame->bytes + at;
	unsigned int header, total, offset;

	if (frame->len - at < V4_HEADER || ip[0] >> 4 != 4)
		return;
	header = (ip[0] & 0xf) * 4u;
	total = get_be16(ip + 2);
	if (header < V4_HEADER || total < header || total > frame->len - at)
		return;
	offset = get_be16(ip + 6);
	frame->l3 = at;
	frame->ip_version = 4;
	frame->l3_end = at + total;
	frame->protocol = ip[9];
	frame->fragment = (offset & 0x3fff) != 0;
	set_l4(frame, at + header, (offset & 0x1fff) == 0);
}

static bool is_extension(uint8_t next)
{
	return next == V6_HOP_BY_HOP || next == V6_ROUTING || next == V6_FRAGMENT ||
	       next == V6_DESTINATION;
}

/* Extension headers are passed over, up to a number. */
static void skip_extensions(struct frame *frame, unsigned int at)
{
	unsigned int i;
	bool first = true;

	for (i = 0; i < MAX_EXTENSIONS && is_extension(frame->protocol); i++) {
		const uint8_t *ext = frame->bytes + at;

		if (frame->l3_end - at < 8)
			return;
		if (frame->protocol == V6_FRAGMENT) {
			frame->fragment = true;
			first = (get_be16(ext + 2) & 0xfff8) == 0;
			at += 8;
		} else {
			at += (ext[1] + 1u) * 8;
		}
		if (at > frame->l3_end)
			return;
		frame->protocol = ext[0];
	}
	set_l4(frame, at, first && !is_extension(frame->protocol));
}

static void parse_v6(struct frame *frame, unsigned int at)
{
	const uint8_t *ip = frame->bytes + at;
	unsigned int total;

	if (frame->len - at < V6_HEADER || ip[0] >> 4 != 6)
		return;
	total = V6_HEADER + get_be16(ip + 4);
	if (total > frame->len - at)
		total = frame->len - at; /* headers are steered by, whatever the length says */
	frame->l3 = at;
	frame->ip_version = 6;
	frame->l3_end = at + total;
	frame->protocol = ip[6];
	skip_extensions(frame, at + V6_HEADER);
}

static unsigned int parse_tags(struct frame *frame)
{
	unsigned int at = FRAME_ETH_LEN;

	frame->ethertype = get_be16(frame->bytes + 12);
	while (frame->vlans < 2 && frame->len - at >= FRAME_VLAN_LEN &&
	       (frame->ethertype == ETHERTYPE_VLAN || frame->ethertype == ETHERTYPE_QINQ)) {
		frame->tpid[frame->vlans] = frame->ethertype;
		frame->tci[frame->vlans++] = get_be16(frame->bytes + at);
		frame->ethertype = get_be16(frame->bytes + at + 2);
		at += FRAME_VLAN_LEN;
	}
	return at;
}

void frame_parse(struct frame *frame, const uint8_t *bytes, size_t len)
{
	unsigned int at;

	memset(frame, 0, sizeof(*frame));
	frame->bytes = bytes;
	frame->len = len;
	if (len < FRAME_ETH_LEN)
		return;
	at = parse_tags(frame);
	if (frame->ethertype == ETHERTYPE_V4)
		parse_v4(frame, at);
	else if (frame->ethertype == ETHERTYPE_V6)
		parse_v6(frame, at);
}

bool frame_is_tcp(const struct frame *frame)
{
	return frame->l4 && frame->protocol == PROTO_TCP;
}

bool frame_is_udp(const struct frame *frame)
{
	return frame->l4 && frame->protocol == PROTO_UDP;
}

/* ---- sums ---- */

static uint64_t add(uint64_t sum, const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += get_be16(bytes + i);
	return len & 1 ? sum + (bytes[len - 1] << 8) : sum;
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

uint16_t frame_sum(const uint8_t *bytes, size_t len)
{
	return fold(add(0, bytes, len));
}

static unsigned int l3_header(const struct frame *frame)
{
	return (frame->bytes[frame->l3] & 0xf) * 4u;
}

bool frame_l3_ok(const struct frame *frame)
{
	if (!frame->l3)
		return false;
	return frame->ip_version == 6 ||
	       frame_sum(frame->bytes + frame->l3, l3_header(frame)) == 0xffff;
}

/* Of the pseudo header and all behind it, the checksum's own field included. */
static uint64_t l4_sum(const struct frame *frame, const uint8_t *bytes)
{
	unsigned int len = frame->l3_end - frame->l4;
	const uint8_t *ip = bytes + frame->l3;
	uint64_t sum = frame->protocol + (uint64_t)len;

	sum = frame->ip_version == 4 ? add(sum, ip + 12, 8) : add(sum, ip + 8, 32);
	return add(sum, bytes + frame->l4, len);
}

static unsigned int l4_field(const struct frame *frame)
{
	return frame->l4 + (frame->protocol == PROTO_TCP ? 16 : 6);
}

bool frame_l4_ok(const struct frame *frame)
{
	if (frame->fragment || !(frame_is_tcp(frame) || frame_is_udp(frame)))
		return false;
	/* UDP over IPv4 may do without. */
	if (frame_is_udp(frame) && frame->ip_version == 4 &&
	    !get_be16(frame->bytes + l4_field(frame)))
		return true;
	return fold(l4_sum(frame, frame->bytes)) == 0xffff;
}

void frame_fill_l3(uint8_t *bytes, const struct frame *frame)
{
	uint8_t *ip = bytes + frame->l3;

	if (!frame->l3 || frame->ip_version != 4)
		return;
	put_be16(ip + 10, 0);
	put_be16(ip + 10, (uint16_t)~frame_sum(ip, l3_header(frame)));
}

void frame_fill_l4(uint8_t *bytes, const struct frame *frame)
{
	uint16_t sum;

	if (frame->fragment || !(frame_is_tcp(frame) || frame_is_udp(frame)))
		return;
	put_be16(bytes + l4_field(frame), 0);
	sum = (uint16_t)~fold(l4_sum(frame, bytes));
	/* A UDP checksum of 0 would say that there is none. */
	if (!sum && frame->protocol == PROTO_UDP)
		sum = 0xffff;
	put_be16(bytes + l4_field(frame), sum);
}
