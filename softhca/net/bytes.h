/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bytes.h - big-endian numbers at any address.
 */
#ifndef SOFTHCA_NET_BYTES_H
#define SOFTHCA_NET_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put16(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static inline void put32(uint8_t *to, uint32_t value)
{
	value = htobe32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void put64(uint8_t *to, uint64_t value)
{
	value = htobe64(value);
	memcpy(to, &value, sizeof(value));
}

static inline uint16_t get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t get32(const uint8_t *from)
{
	return (uint32_t)get16(from) << 16 | get16(from + 2);
}

static inline uint64_t get64(const uint8_t *from)
{
	return (uint64_t)get32(from) << 32 | get32(from + 4);
}

#endif
