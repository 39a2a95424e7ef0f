/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inet.h - helpers for Internet protocols: checksums (RFC 1071), and IPv4 addresses mapped to IPv6,
 * as RoCE's GIDs have them (RFC 4291, 2.5.5.2).
 */
#ifndef SOFTHCA_INET_H
#define SOFTHCA_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ib/ethernet.h"

/* Adds the big-endian words of DATA to SUM; inet_fold() finishes it. An odd last byte is the upper
 * half of a word. */
static inline uint32_t inet_sum(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)(data[i] << 8 | data[i + 1]);
	return len % 2 ? sum + (uint32_t)(data[len - 1] << 8) : sum;
}

/* Returns the ones' complement sum, not inverted: 0xffff if a checksum is right. */
static inline uint16_t inet_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* Sums the pseudo header of IPv6 and LEN bytes behind the header IP, for a checksum of PROTOCOL.
 * RFC 8200, 8.1 */
static inline uint32_t inet_sum_v6(const uint8_t *ip, uint8_t protocol, size_t len)
{
	size_t addresses = FLD_BYTE(IP6_SOURCE);

	return inet_sum(protocol + (uint32_t)len, ip + addresses, IP6_SIZE - addresses + len);
}

enum { INET_PREFIX = 12 }; /* bytes before the IPv4 address */

static inline void inet_map(const uint8_t ipv4[4], uint8_t ipv6[16])
{
	memset(ipv6, 0, INET_PREFIX - 2);
	memset(ipv6 + INET_PREFIX - 2, 0xff, 2);
	memcpy(ipv6 + INET_PREFIX, ipv4, 4);
}

static inline bool inet_is_mapped(const uint8_t ipv6[16])
{
	uint8_t mapped[16];

	inet_map(ipv6 + INET_PREFIX, mapped);
	return !memcmp(ipv6, mapped, sizeof(mapped));
}

#endif
