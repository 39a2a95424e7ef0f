/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry.c - the bytes of a table entry. See entry.h.
 */
#include "providers/mlx5/dv/dr/entry.h"

/* NOWHERE_39_32 and NOWHERE_31_0: next table's address until mlx5_dr_entry_set_hit() sets it.
 * NEVER: first byte of a tag that matches no frame, because the mask is 0. */
enum { NOWHERE_39_32 = 0xff, NEVER = 0xdc };
#define NOWHERE_31_0 0xffffffe0

static void entry_clear(uint8_t *entry, unsigned int format, uint16_t type, uint16_t gvmi)
{
	memset(entry, 0, PRM_STE_SIZE);
	fld_set(entry, STE_ENTRY_FORMAT, format);
	fld_set(entry, STE_MISS_ADDRESS_63_48, gvmi);
	fld_set(entry, STE_DEFINER, type & 0xff);
}

void mlx5_dr_entry_begin(uint8_t *entry, uint16_t lookup_type, uint16_t gvmi)
{
	entry_clear(entry, lookup_type >> 8, lookup_type, gvmi);
	fld_set(entry, STE_NEXT_TABLE_63_48, gvmi);
	fld_set(entry, STE_NEXT_DEFINER, PRM_STE_NOTHING);
	fld_set(entry, STE_NEXT_TABLE_39_32, NOWHERE_39_32);
	fld_set(entry, FLD(0x10, 31, 0), NOWHERE_31_0);
	fld_set(entry, STE_GVMI, gvmi);
}

void mlx5_dr_entry_begin_actions(uint8_t *entry, uint16_t gvmi)
{
	entry_clear(entry, PRM_STE_MATCH, PRM_STE_NOTHING, gvmi);
}

void mlx5_dr_entry_set_miss(uint8_t *entry, uint64_t address)
{
	fld_set(entry, STE_MISS_ADDRESS_39_32, address >> 32);
	fld_set(entry, STE_MISS_ADDRESS_31_6, address >> FLD_SHIFT(STE_MISS_ADDRESS_31_6));
}

/* Writes where a hit leads. In an entry of format PRM_STE_MATCH, dword 14h holds actions instead of
 * the next table's byte mask and format, so those two are not written. */
void mlx5_dr_entry_set_hit(uint8_t *entry, const struct dr_target *target)
{
	const uint64_t half = (uint64_t)(PRM_STE_SIZE / 2) << target->log;

	fld_set(entry, STE_NEXT_TABLE_63_48, target->gvmi);
	fld_set(entry, STE_NEXT_DEFINER, target->lookup.type & 0xff);
	fld_set(entry, STE_NEXT_TABLE_39_32, target->address >> 32);
	fld_set(entry, FLD(0x10, 31, 0), target->address | half);
	if (fld_get(entry, STE_ENTRY_FORMAT) == PRM_STE_MATCH)
		return;
	fld_set(entry, STE_NEXT_BYTE_MASK, target->lookup.byte_mask);
	fld_set(entry, STE_NEXT_ENTRY_FORMAT, target->lookup.type >> 8);
}

static void tag_set(uint8_t *entry, uint8_t first)
{
	memset(fld_at(entry, STE_MASK), 0, 2 * PRM_STE_TAG_SIZE);
	*(uint8_t *)fld_at(entry, STE_TAG) = first;
}

void mlx5_dr_entry_always_miss(uint8_t *entry)
{
	tag_set(entry, NEVER);
}

void mlx5_dr_entry_always_hit(uint8_t *entry)
{
	tag_set(entry, 0);
}
