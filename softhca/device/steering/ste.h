/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste.h - one entry of a table that software writes: whether a tag hits it, and what comes next. It
 * knows only bytes.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_H
#define SOFTHCA_DEVICE_STEERING_STE_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/ste.h"

/* The table that an entry leads to: ENTRIES entries from address BASE on, which compare a tag of
 * type LOOKUP. */
struct ste_table {
	uint64_t base;
	uint32_t entries; /* a power of two; 0: the entry leads nowhere */
	unsigned int lookup;
	uint16_t byte_mask; /* bytes of the tag that choose the entry */
};

/* Returns the lookup type of the entry's tag (enum prm_ste_lookup), or -1 for an unknown format. */
int ste_lookup(const uint8_t *entry);
bool ste_hits(const uint8_t *entry, const uint8_t tag[PRM_STE_TAG_SIZE]);
uint64_t ste_miss_address(const uint8_t *entry);
void ste_next_table(const uint8_t *entry, struct ste_table *table);
/* Returns which entry of the table a frame goes to. TAG is the frame's tag of type
 * table->lookup. */
uint32_t ste_index(const struct ste_table *table, const uint8_t tag[PRM_STE_TAG_SIZE]);
/* Returns the entry's actions, and sets WORDS to their length in words of four bytes. */
const uint8_t *ste_actions(const uint8_t *entry, unsigned int *words);

#endif
