/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste.c - one entry of a table that software writes, in format 1. PRM: STE
 */
#include "softhca/device/steering/ste.h"

static bool is_zero(const uint8_t *bytes, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

int ste_lookup(const uint8_t *entry)
{
	const unsigned int definer = fld_get(entry, STE_DEFINER);

	switch (fld_get(entry, STE_ENTRY_FORMAT)) {
	case PRM_STE_BYTES:
		return (int)definer;
	case PRM_STE_WORDS:
		return (int)(0x100 | definer);
	case PRM_STE_MATCH:
		return definer == PRM_STE_NOTHING ? PRM_STE_NOTHING : -1;
	default:
		return -1;
	}
}

bool ste_hits(const uint8_t *entry, const uint8_t tag[PRM_STE_TAG_SIZE])
{
	const uint8_t *mask = fld_at(entry, STE_MASK), *own = fld_at(entry, STE_TAG);

	/* Entries that only act have a tag of zeroes, so all frames hit them. */
	if (fld_get(entry, STE_ENTRY_FORMAT) == PRM_STE_MATCH)
		return is_zero(fld_at(entry, STE_DEFINER_TAG), PRM_STE_DEFINER_TAG_SIZE);
	for (unsigned int i = 0; i < PRM_STE_TAG_SIZE; i++)
		if ((tag[i] & mask[i]) != own[i])
			return false;
	return true;
}

uint64_t ste_miss_address(const uint8_t *entry)
{
	return fld_get(entry, STE_MISS_ADDRESS_39_32) << 32 |
	       fld_get(entry, STE_MISS_ADDRESS_31_6) << FLD_SHIFT(STE_MISS_ADDRESS_31_6);
}

void ste_next_table(const uint8_t *entry, struct ste_table *table)
{
	const uint64_t low = fld_get(entry, STE_NEXT_TABLE_31_5) << FLD_SHIFT(STE_NEXT_TABLE_31_5);
	const uint64_t half = low & -low;

	table->base = fld_get(entry, STE_NEXT_TABLE_39_32) << 32 | (low - half);
	table->entries = (uint32_t)(half / (PRM_STE_SIZE / 2));
	table->lookup = (unsigned int)fld_get(entry, STE_NEXT_DEFINER);
	table->byte_mask = 0;
	if (fld_get(entry, STE_ENTRY_FORMAT) == PRM_STE_MATCH)
		return; /* actions, where other entries have the fields below */
	table->lookup |= (unsigned int)fld_get(entry, STE_NEXT_ENTRY_FORMAT) << 8;
	table->byte_mask = (uint16_t)fld_get(entry, STE_NEXT_BYTE_MASK);
}

/* Adds a byte to a CRC-32 with Ethernet's polynomial. The CRC begins with 0 and is not inverted. */
static uint32_t crc_add(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	return crc;
}

uint32_t ste_index(const struct ste_table *table, const uint8_t tag[PRM_STE_TAG_SIZE])
{
	uint32_t crc = 0;

	for (unsigned int i = 0; i < PRM_STE_TAG_SIZE; i++)
		crc = crc_add(crc, table->byte_mask >> (15 - i) & 1 ? tag[i] : 0);
	return __builtin_bswap32(crc) % table->entries;
}

const uint8_t *ste_actions(const uint8_t *entry, unsigned int *words)
{
	const bool is_match = fld_get(entry, STE_ENTRY_FORMAT) == PRM_STE_MATCH;

	*words = is_match ? 3 : 2;
	return is_match ? fld_at(entry, STE_MATCH_ACTIONS) : fld_at(entry, STE_ACTIONS);
}
