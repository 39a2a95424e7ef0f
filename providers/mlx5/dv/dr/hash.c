/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hash.c - CRC-32 with Ethernet's polynomial, which begins with 0 and is not inverted, over the
 * selected bytes of a tag; the others count as 0. The result is swapped.
 */
#include "providers/mlx5/dv/dr/hash.h"

#include "prm/mlx5/ste.h"

/* CRC-32 of each 4-bit value. A byte takes two look-ups, but the table fits in a cache line. */
static const uint32_t crc_of_nibble[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t mlx5_dr_hash(const uint8_t *tag, uint16_t byte_mask)
{
	uint32_t crc = 0;

	for (unsigned int i = 0; i < PRM_STE_TAG_SIZE; i++) {
		crc ^= byte_mask >> (PRM_STE_TAG_SIZE - 1 - i) & 1 ? tag[i] : 0;
		crc = crc >> 4 ^ crc_of_nibble[crc & 15];
		crc = crc >> 4 ^ crc_of_nibble[crc & 15];
	}
	return __builtin_bswap32(crc);
}
