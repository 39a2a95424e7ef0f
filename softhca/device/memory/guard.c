/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guard.c - checksums of blocks: CRC-16 of T10-DIF, the IP checksum, CRC-32, CRC-32C (Castagnoli),
 * CRC-64 (XP10).
 *
 * T10-DIF's CRC takes the most significant bit first, the other CRCs the least. T10 SBC-3, 4.22.4;
 * RFC 1071; RFC 3720, B.4; NVM Express, 64b CRC.
 */
#include "softhca/device/memory/guard.h"

#include <pthread.h>

static uint16_t table16[256];
static uint64_t table[GUARD_CRC64 + 1][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_reflected(enum guard guard, uint64_t polynomial)
{
	for (unsigned int byte = 0; byte < 256; byte++) {
		uint64_t rest = byte;

		for (int bit = 0; bit < 8; bit++)
			rest = rest & 1 ? rest >> 1 ^ polynomial : rest >> 1;
		table[guard][byte] = rest;
	}
}

static void make_tables(void)
{
	make_reflected(GUARD_CRC32, 0xedb88320);
	make_reflected(GUARD_CRC32C, 0x82f63b78);
	make_reflected(GUARD_CRC64, 0x9a6c9329ac4bc9b5);
	for (unsigned int byte = 0; byte < 256; byte++) {
		uint16_t rest = (uint16_t)(byte << 8);

		for (int bit = 0; bit < 8; bit++)
			rest = (uint16_t)(rest & 0x8000 ? rest << 1 ^ 0x8bb7 : rest << 1);
		table16[byte] = rest;
	}
}

static uint64_t add_crc16(uint64_t state, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		state = (state << 8 & 0xff00) ^ table16[(state >> 8 ^ bytes[i]) & 0xff];
	return state;
}

/* Adds big-endian 16-bit words in ones' complement: a carry out of the top is added at the bottom,
 * as RFC 1071 defines the IP checksum. */
static uint64_t add_words(uint64_t state, const uint8_t *bytes, size_t len, size_t place)
{
	for (size_t i = 0; i < len; i++) {
		state += (place + i) & 1 ? bytes[i] : (uint64_t)bytes[i] << 8;
		state = (state & 0xffff) + (state >> 16);
	}
	return state;
}

uint64_t guard_add(enum guard guard, uint64_t state, const uint8_t *bytes, size_t len, size_t place)
{
	pthread_once(&tables_once, make_tables);
	if (guard == GUARD_DIF_CRC)
		return add_crc16(state, bytes, len);
	if (guard == GUARD_DIF_CSUM)
		return add_words(state, bytes, len, place);
	if (guard == GUARD_NONE)
		return state;
	for (size_t i = 0; i < len; i++)
		state = state >> 8 ^ table[guard][(state ^ bytes[i]) & 0xff];
	return state;
}

uint64_t guard_finish(enum guard guard, uint64_t state)
{
	switch (guard) {
	case GUARD_DIF_CRC:
		return state;
	case GUARD_DIF_CSUM:
		return ~state & 0xffff;
	case GUARD_CRC64:
		return ~state;
	default:
		return ~state & 0xffffffff;
	}
}
