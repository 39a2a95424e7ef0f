/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss.h - receive side scaling: a hash over selected fields of a frame.
 */
#ifndef SOFTHCA_DEVICE_ETH_RSS_H
#define SOFTHCA_DEVICE_ETH_RSS_H

#include <stdbool.h>
#include <stdint.h>

struct frame;

enum { RSS_KEY_SIZE = 40 };

enum rss_function { RSS_NONE, RSS_XOR8, RSS_TOEPLITZ };

/* Fields that can be selected. */
enum {
	RSS_SOURCE = 1 << 0,
	RSS_DESTINATION = 1 << 1,
	RSS_SOURCE_PORT = 1 << 2,
	RSS_DESTINATION_PORT = 1 << 3,
	RSS_SPI = 1 << 4,
};

/* Packets to hash: addresses of IPv4 and IPv6, ports of TCP and UDP. */
enum {
	RSS_OF_IPV4 = 1 << 0,
	RSS_OF_IPV6 = 1 << 1,
	RSS_OF_TCP = 1 << 2,
	RSS_OF_UDP = 1 << 3,
};

struct rss {
	enum rss_function function;
	bool symmetric; /* both directions of a connection hash alike */
	unsigned int types, fields;
	uint8_t key[RSS_KEY_SIZE];
};

/* Hashes the selected fields that the frame has. Returns the type as in CQEs, or 0 if the frame has
 * none of them. */
uint8_t rss_hash(const struct frame *frame, const struct rss *rss, uint32_t *hash);

#endif
