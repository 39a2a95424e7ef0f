/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss.c - receive side scaling: a hash over addresses and ports, Toeplitz or a plain XOR.
 *
 * The input is as Microsoft's definition has it: source address, destination address, source port,
 * destination port, as far as they are selected. A symmetric hash puts the smaller of each pair
 * first, so that both directions of a connection have the same hash.
 */
#include <string.h>

#include "softhca/device/eth/eth.h"

struct input {
	uint8_t bytes[36]; /* longest input: two IPv6 addresses and two ports */
	unsigned int len;
};

/* Computes the Toeplitz hash: for each set bit of the input, XOR the 32 bits of the key from that
 * bit on. */
static uint32_t hash_toeplitz(const struct input *input, const uint8_t *key)
{
	uint32_t hash = 0, window = get_be32(key);

	for (unsigned int i = 0; i < input->len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			if (input->bytes[i] & 0x80 >> bit)
				hash ^= window;
			window = window << 1 | (key[i + 4] >> (7 - bit) & 1);
		}
	return hash;
}

static void input_put(struct input *input, const uint8_t *bytes, unsigned int len)
{
	memcpy(input->bytes + input->len, bytes, len);
	input->len += len;
}

static void put_pair(struct input *input, const uint8_t *bytes, unsigned int len, bool source,
		     bool destination, bool symmetric)
{
	const uint8_t *first = bytes, *second = bytes + len;

	if (symmetric && source && destination && memcmp(first, second, len) > 0) {
		first = bytes + len;
		second = bytes;
	}
	if (source)
		input_put(input, first, len);
	if (destination)
		input_put(input, second, len);
}

static bool has_ports(const struct frame *frame, const struct rss *rss)
{
	if (frame->fragment)
		return false;
	return (rss->types & RSS_OF_UDP && frame_is_udp(frame)) ||
	       (rss->types & RSS_OF_TCP && frame_is_tcp(frame));
}

/* Returns the offset of the security parameters index (SPI), or 0. RFC 4302 and RFC 4303. */
static unsigned int find_spi(const struct frame *frame)
{
	if (!frame->l4 || frame->fragment)
		return 0;
	if (frame->protocol == PROTO_ESP && frame->l4 + ESP_SIZE <= frame->l3_end)
		return frame->l4 + FLD_BYTE(ESP_SPI);
	if (frame->protocol == PROTO_AH && frame->l4 + AH_SPI_SIZE <= frame->l3_end)
		return frame->l4 + FLD_BYTE(AH_SPI);
	return 0;
}

static bool has_addresses(const struct frame *frame, const struct rss *rss)
{
	return frame->l3 && rss->types & (frame->ip_version == 4 ? RSS_OF_IPV4 : RSS_OF_IPV6);
}

/* Collects the fields to hash. Returns the hash type. */
static uint8_t input_collect(const struct frame *frame, const struct rss *rss, struct input *input)
{
	const unsigned int ips = RSS_SOURCE | RSS_DESTINATION;
	const unsigned int ports = RSS_SOURCE_PORT | RSS_DESTINATION_PORT;
	uint8_t type = 0;

	if ((rss->fields & ips) && has_addresses(frame, rss)) {
		bool v4 = frame->ip_version == 4;

		put_pair(input, fld_at(frame->bytes + frame->l3, v4 ? IP4_SOURCE : IP6_SOURCE),
			 v4 ? 4 : 16, rss->fields & RSS_SOURCE, rss->fields & RSS_DESTINATION,
			 rss->symmetric);
		type |= v4 ? CQE_RSS_IPV4 : CQE_RSS_IPV6;
	}
	if ((rss->fields & ports) && has_ports(frame, rss)) {
		put_pair(input, frame->bytes + frame->l4, 2, rss->fields & RSS_SOURCE_PORT,
			 rss->fields & RSS_DESTINATION_PORT, rss->symmetric);
		type |= frame_is_tcp(frame) ? CQE_RSS_TCP : CQE_RSS_UDP;
	} else if ((rss->fields & RSS_SPI) && find_spi(frame)) {
		input_put(input, frame->bytes + find_spi(frame), 4);
		type |= CQE_RSS_IPSEC;
	}
	return type;
}

static uint32_t inverted_xor8(const struct input *input)
{
	uint8_t sum = 0;

	for (unsigned int i = 0; i < input->len; i++)
		sum ^= input->bytes[i];
	return (uint8_t)~sum;
}

uint8_t rss_hash(const struct frame *frame, const struct rss *rss, uint32_t *hash)
{
	struct input input = { .len = 0 };
	uint8_t type = input_collect(frame, rss, &input);

	*hash = 0;
	if (type && rss->function == RSS_TOEPLITZ)
		*hash = hash_toeplitz(&input, rss->key);
	else if (type)
		*hash = inverted_xor8(&input);
	return type;
}
