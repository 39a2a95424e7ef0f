/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rss.h - receive side scaling: a hash over what a frame has of some fields.
 */
#ifndef SOFTHCA_DEVICE_ETH_RSS_H
#define SOFTHCA_DEVICE_ETH_RSS_H

#include <stdbool.h>
#include <stdint.h>

struct frame;

enum { RSS_KEY_SIZE = 40 };

enum rss_function { RSS_NONE, RSS_XOR8, RSS_TOEPLITZ };

/* These fields can be selected. */
enum {
	RSS_SOURCE = 1 << 0,
	RSS_DESTINATION = 1 << 1,
	RSS_SOURCE_PORT = 1 << 2,
	RSS_DESTINATION_PORT = 1 << 3,
	RSS_SPI = 1 << 4,
};

/* Of these packets: addresses of the first two, and ports of the others. */
enum {
	RSS_OF_IPV4 = 1 << 0,
	RSS_OF_IPV6 = 1 << 1,
	RSS_OF_TCP = 1 << 2,
	RSS_OF_UDP = 1 << 3,
};

struct rss {
	enum rss_function function;
	bool symmetric; /* symmetric: both directions of a connection get the same hash */
	unsigned int types, fields;
	uint8_t key[RSS_KEY_SIZE];
};

/* Computes the hash over the fields that are selected and that the frame has. It returns the type
 * as CQEs have it, or 0 when none of the fields is there. */
uint8_t rss_hash(const struct frame *frame, const struct rss *rss, uint32_t *hash);

#endif
