/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame.h - an Ethernet frame: offsets of its headers, checks of its checksums, and the checksums
 * that offloads fill in. It depends on no kind of adapter.
 */
#ifndef SOFTHCA_DEVICE_ETH_FRAME_H
#define SOFTHCA_DEVICE_ETH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/ethernet.h"

/* Result of a check of a checksum. See frame_l4_ok_once(). */
enum frame_check { FRAME_UNCHECKED, FRAME_RIGHT, FRAME_WRONG };

/* Offsets are into BYTES; 0: the header is absent or truncated. */
struct frame {
	const uint8_t *bytes;
	size_t len;
	bool l2;            /* begins with an Ethernet header; else it is an IP packet */
	unsigned int vlans; /* VLAN tags parsed: at most two */
	uint16_t tpid[2], tci[2];
	uint16_t ethertype; /* behind the tags; it may be 0 */
	unsigned int l3;    /* IPv4 or IPv6 header */
	unsigned int ip_version;
	unsigned int l3_end; /* end of the IP packet; padding may follow */
	unsigned int l4;     /* transport header; 0 in a fragment other than the first */
	uint8_t protocol;
	bool fragment;
	/* results of frame_l4_ok_once(), for this frame and for the one that it carries in a
	 * tunnel */
	enum frame_check l4_check, inner_l4_check;
};

void frame_parse(struct frame *frame, const uint8_t *bytes, size_t len);
/* Parses a packet of ETHERTYPE at AT that has no Ethernet header; the bytes end at LEN. */
void frame_parse_packet(struct frame *frame, const uint8_t *bytes, size_t len, unsigned int at,
			uint16_t ethertype);
/* Returns the offset of the type behind the VLAN tags. */
unsigned int frame_type_at(const struct frame *frame);
bool frame_is_tcp(const struct frame *frame);
bool frame_is_udp(const struct frame *frame);
/* Return whether the checksum of the IP header (IPv6 has none), or of TCP or UDP, is right.
 * frame_l4_ok() returns false for fragments and other protocols. */
bool frame_l3_ok(const struct frame *frame);
bool frame_l4_ok(const struct frame *frame);
/* Returns frame_l4_ok(), and keeps the result in the parsed frame, whose bytes do not change. */
bool frame_l4_ok_once(struct frame *frame);

/* Write the right checksums into the frame at BYTES, whatever the fields contain. FRAME has the
 * offsets of the headers. */
void frame_fill_l3(uint8_t *bytes, const struct frame *frame);
void frame_fill_l4(uint8_t *bytes, const struct frame *frame);
/* Adapts the checksums in BYTES, a copy of FRAME in which header fields have changed, but no
 * length. A right checksum stays right, a wrong one stays wrong, and UDP without one stays without.
 * RFC 1624 */
void frame_keep_sums(uint8_t *bytes, const struct frame *frame);

/* Returns the ones' complement sum of big-endian words, not inverted. RFC 1071 */
uint16_t frame_sum(const uint8_t *bytes, size_t len);

static inline uint16_t get_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline void put_be16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)get_be16(at) << 16 | get_be16(at + 2);
}

static inline void put_be32(uint8_t *at, uint32_t value)
{
	put_be16(at, (uint16_t)(value >> 16));
	put_be16(at + 2, (uint16_t)value);
}

#endif
