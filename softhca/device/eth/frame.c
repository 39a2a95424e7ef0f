/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.c - parses the headers of a frame, and computes Internet checksums.
 *
 * Frames are untrusted input: each header is read only after a check of its length, and lengths
 * inside headers never lead out of the frame. RFC 791, 8200, 9293, 768, 1071.
 */
#include <string.h>

#include "softhca/device/eth/frame.h"
#include "softhca/inet.h"

enum { MAX_EXTENSIONS = 8 };

static unsigned int l4_header(uint8_t protocol)
{
	return protocol == PROTO_TCP ? TCP_SIZE : protocol == PROTO_UDP ? UDP_SIZE : 0;
}

static void set_l4(struct frame *frame, unsigned int at, bool first)
{
	if (first && at + l4_header(frame->protocol) <= frame->l3_end)
		frame->l4 = at;
}

static void parse_v4(struct frame *frame, unsigned int at)
{
	const uint8_t *ip = frame->bytes + at;
	unsigned int header, total;

	if (frame->len - at < IP4_SIZE || fld_get(ip, IP4_VERSION) != 4)
		return;
	header = fld_get(ip, IP4_HEADER_WORDS) * 4;
	total = fld_get(ip, IP4_LENGTH);
	if (header < IP4_SIZE || total < header || total > frame->len - at)
		return;
	frame->l3 = at;
	frame->ip_version = 4;
	frame->l3_end = at + total;
	frame->protocol = fld_get(ip, IP4_PROTOCOL);
	frame->fragment = fld_get(ip, IP4_FRAGMENT) != 0;
	set_l4(frame, at + header, fld_get(ip, IP4_OFFSET) == 0);
}

static bool is_extension(uint8_t next)
{
	return next == PROTO_HOP_BY_HOP || next == PROTO_ROUTING || next == PROTO_FRAGMENT ||
	       next == PROTO_DESTINATION;
}

/* Skips up to MAX_EXTENSIONS extension headers, so that a crafted frame cannot cost much time. */
static void skip_extensions(struct frame *frame, unsigned int at)
{
	bool first = true;

	for (unsigned int i = 0; i < MAX_EXTENSIONS && is_extension(frame->protocol); i++) {
		const uint8_t *ext = frame->bytes + at;

		if (frame->l3_end - at < IP6_EXTENSION_SIZE)
			return;
		if (frame->protocol == PROTO_FRAGMENT) {
			frame->fragment = true;
			first = fld_get(ext, IP6_EXT_OFFSET) == 0;
			at += IP6_EXTENSION_SIZE;
		} else {
			at += (fld_get(ext, IP6_EXT_LENGTH) + 1) * IP6_EXTENSION_SIZE;
		}
		if (at > frame->l3_end)
			return;
		frame->protocol = fld_get(ext, IP6_EXT_NEXT);
	}
	set_l4(frame, at, first && !is_extension(frame->protocol));
}

static void parse_v6(struct frame *frame, unsigned int at)
{
	const uint8_t *ip = frame->bytes + at;
	unsigned int total;

	if (frame->len - at < IP6_SIZE || fld_get(ip, IP6_VERSION) != 6)
		return;
	total = IP6_SIZE + fld_get(ip, IP6_PAYLOAD);
	if (total > frame->len - at)
		/* takes the bytes that the frame has, as headers steer it even if the length is
		 * wrong */
		total = frame->len - at;
	frame->l3 = at;
	frame->ip_version = 6;
	frame->l3_end = at + total;
	frame->protocol = fld_get(ip, IP6_NEXT);
	skip_extensions(frame, at + IP6_SIZE);
}

static void parse_l3(struct frame *frame, uint16_t ethertype, unsigned int at)
{
	if (ethertype == ETHERTYPE_V4)
		parse_v4(frame, at);
	else if (ethertype == ETHERTYPE_V6)
		parse_v6(frame, at);
}

static bool is_tag(uint16_t ethertype)
{
	return ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_QINQ;
}

static unsigned int parse_tags(struct frame *frame)
{
	unsigned int at = ETHERNET_SIZE;

	frame->ethertype = fld_get16(frame->bytes, ETHERNET_TYPE);
	while (frame->vlans < 2 && frame->len - at >= VLAN_SIZE && is_tag(frame->ethertype)) {
		const uint8_t *tag = frame->bytes + at - sizeof(frame->ethertype);

		frame->tpid[frame->vlans] = frame->ethertype;
		frame->tci[frame->vlans++] = fld_get(tag, VLAN_TCI);
		frame->ethertype = get_be16(tag + VLAN_SIZE);
		at += VLAN_SIZE;
	}
	return at;
}

void frame_parse(struct frame *frame, const uint8_t *bytes, size_t len)
{
	unsigned int at;

	memset(frame, 0, sizeof(*frame));
	frame->bytes = bytes;
	frame->len = len;
	if (len < ETHERNET_SIZE)
		return;
	frame->l2 = true;
	at = parse_tags(frame);
	parse_l3(frame, frame->ethertype, at);
}

void frame_parse_packet(struct frame *frame, const uint8_t *bytes, size_t len, unsigned int at,
			uint16_t ethertype)
{
	memset(frame, 0, sizeof(*frame));
	frame->bytes = bytes;
	frame->len = len;
	parse_l3(frame, ethertype, at);
}

unsigned int frame_type_at(const struct frame *frame)
{
	return FLD_BYTE(ETHERNET_TYPE) + frame->vlans * VLAN_SIZE;
}

bool frame_is_tcp(const struct frame *frame)
{
	return frame->l4 && frame->protocol == PROTO_TCP;
}

bool frame_is_udp(const struct frame *frame)
{
	return frame->l4 && frame->protocol == PROTO_UDP;
}

uint16_t frame_sum(const uint8_t *bytes, size_t len)
{
	return inet_fold(inet_sum(0, bytes, len));
}

static unsigned int l3_header(const struct frame *frame)
{
	return fld_get(frame->bytes + frame->l3, IP4_HEADER_WORDS) * 4;
}

bool frame_l3_ok(const struct frame *frame)
{
	if (!frame->l3)
		return false;
	return frame->ip_version == 6 ||
	       frame_sum(frame->bytes + frame->l3, l3_header(frame)) == 0xffff;
}

/* Sums the pseudo header and the whole datagram, including its checksum field. RFC 768 and RFC
 * 9293, 3.1. */
static uint16_t l4_sum(const struct frame *frame, const uint8_t *bytes)
{
	unsigned int len = frame->l3_end - frame->l4;
	const uint8_t *ip = bytes + frame->l3;
	uint32_t sum = frame->protocol + len;

	if (frame->ip_version == 4)
		sum = inet_sum(sum, fld_at(ip, IP4_SOURCE), 2 * 4);
	else
		sum = inet_sum(sum, fld_at(ip, IP6_SOURCE), 2 * 16);
	return inet_fold(inet_sum(sum, bytes + frame->l4, len));
}

static uint32_t l4_checksum(const struct frame *frame)
{
	return frame->protocol == PROTO_TCP ? TCP_CHECKSUM : UDP_CHECKSUM;
}

bool frame_l4_ok(const struct frame *frame)
{
	if (frame->fragment || !(frame_is_tcp(frame) || frame_is_udp(frame)))
		return false;
	/* 0 means that the sender computed no checksum, which UDP over IPv4 allows (RFC 768) */
	if (frame_is_udp(frame) && frame->ip_version == 4 &&
	    !fld_get(frame->bytes + frame->l4, UDP_CHECKSUM))
		return true;
	return l4_sum(frame, frame->bytes) == 0xffff;
}

bool frame_l4_ok_once(struct frame *frame)
{
	if (frame->l4_check == FRAME_UNCHECKED)
		frame->l4_check = frame_l4_ok(frame) ? FRAME_RIGHT : FRAME_WRONG;
	return frame->l4_check == FRAME_RIGHT;
}

void frame_fill_l3(uint8_t *bytes, const struct frame *frame)
{
	uint8_t *ip = bytes + frame->l3;

	if (!frame->l3 || frame->ip_version != 4)
		return;
	fld_set(ip, IP4_CHECKSUM, 0);
	fld_set(ip, IP4_CHECKSUM, (uint16_t)~frame_sum(ip, l3_header(frame)));
}

void frame_fill_l4(uint8_t *bytes, const struct frame *frame)
{
	uint8_t *l4 = bytes + frame->l4;
	uint16_t sum;

	if (frame->fragment || !(frame_is_tcp(frame) || frame_is_udp(frame)))
		return;
	fld_set(l4, l4_checksum(frame), 0);
	sum = (uint16_t)~l4_sum(frame, bytes);
	/* RFC 768: a checksum of 0 means "no checksum", so a computed 0 is sent as all ones */
	if (!sum && frame->protocol == PROTO_UDP)
		sum = 0xffff;
	fld_set(l4, l4_checksum(frame), sum);
}

/* Returns checksum SUM, adapted to a change of the bytes that it covers. BEFORE and AFTER are the
 * sums of these bytes, with the checksum in them, before and after the change. RFC 1624. */
static uint16_t sum_kept(uint16_t sum, uint16_t before, uint16_t after)
{
	uint16_t kept = inet_fold((uint32_t)sum + before + (uint16_t)~after);

	return kept == 0xffff ? 0 : kept;
}

static void keep_l3_sum(uint8_t *bytes, const struct frame *frame)
{
	const unsigned int len = l3_header(frame);
	uint8_t *ip = bytes + frame->l3;

	fld_set(ip, IP4_CHECKSUM,
		sum_kept((uint16_t)fld_get(ip, IP4_CHECKSUM),
			 frame_sum(frame->bytes + frame->l3, len), frame_sum(ip, len)));
}

static void keep_l4_sum(uint8_t *bytes, const struct frame *frame)
{
	const uint32_t field = l4_checksum(frame);
	uint8_t *l4 = bytes + frame->l4;
	uint16_t sum = (uint16_t)fld_get(l4, field);

	if (!sum && frame_is_udp(frame))
		return;
	sum = sum_kept(sum, l4_sum(frame, frame->bytes), l4_sum(frame, bytes));
	fld_set(l4, field, !sum && frame_is_udp(frame) ? 0xffff : sum);
}

void frame_keep_sums(uint8_t *bytes, const struct frame *frame)
{
	if (frame->l3 && frame->ip_version == 4)
		keep_l3_sum(bytes, frame);
	if (frame_is_tcp(frame) || frame_is_udp(frame))
		keep_l4_sum(bytes, frame);
}
