/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crc.c - table-driven checksums, eight bytes in each step, as each packet is summed on both sides
 * of the wire.
 *
 * table[k][b] is the effect of byte B on the register after K more bytes. The first caller fills
 * the tables.
 */
#include <pthread.h>

#include "softhca/net/crc.h"

/* Polynomials, bit-reversed, as the low bit comes first on the wire. */
/* 0x04c11db7 reversed: the ICRC, which is Ethernet's CRC, too (IBTA vol 1, 7.8.1) */
#define CRC32_POLYNOMIAL 0xedb88320u
#define CRC16_POLYNOMIAL 0xd008u /* 0x100b reversed: the VCRC (IBTA vol 1, 7.8.2) */

enum { STEP = 8 };

static uint32_t table32[STEP][256];
static uint16_t table16[STEP][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t crc_shift(uint32_t crc, uint32_t polynomial)
{
	for (int bit = 0; bit < 8; bit++)
		crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
	return crc;
}

static void fill_tables(void)
{
	unsigned int k;

	for (unsigned int byte = 0; byte < 256; byte++) {
		table32[0][byte] = crc_shift(byte, CRC32_POLYNOMIAL);
		table16[0][byte] = crc_shift(byte, CRC16_POLYNOMIAL);
	}
	for (k = 1; k < STEP; k++)
		for (unsigned int byte = 0; byte < 256; byte++) {
			uint32_t c32 = table32[k - 1][byte];
			uint16_t c16 = table16[k - 1][byte];

			table32[k][byte] = c32 >> 8 ^ table32[0][c32 & 0xff];
			table16[k][byte] = c16 >> 8 ^ table16[0][c16 & 0xff];
		}
}

uint32_t crc32_add(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&once, fill_tables);
	for (; len >= STEP; p += STEP, len -= STEP)
		crc = table32[7][(crc ^ p[0]) & 0xff] ^ table32[6][(crc >> 8 ^ p[1]) & 0xff] ^
		      table32[5][(crc >> 16 ^ p[2]) & 0xff] ^ table32[4][crc >> 24 ^ p[3]] ^
		      table32[3][p[4]] ^ table32[2][p[5]] ^ table32[1][p[6]] ^ table32[0][p[7]];
	for (; len; p++, len--)
		crc = crc >> 8 ^ table32[0][(crc ^ *p) & 0xff];
	return crc;
}

uint16_t crc16_add(uint16_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	pthread_once(&once, fill_tables);
	for (; len >= STEP; p += STEP, len -= STEP)
		crc = table16[7][(crc ^ p[0]) & 0xff] ^ table16[6][crc >> 8 ^ p[1]] ^
		      table16[5][p[2]] ^ table16[4][p[3]] ^ table16[3][p[4]] ^ table16[2][p[5]] ^
		      table16[1][p[6]] ^ table16[0][p[7]];
	for (; len; p++, len--)
		crc = (uint16_t)(crc >> 8 ^ table16[0][(crc ^ *p) & 0xff]);
	return crc;
}
