/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * free_map.h - free entries of a ring, freed in any order, and taken in runs of neighbours. One
 * byte per entry, because a single store marks it, and the C library's string functions scan many
 * bytes at once. Decision: docs/adr/0015.
 */
#ifndef PROVIDERS_COMMON_MEMORY_FREE_MAP_H
#define PROVIDERS_COMMON_MEMORY_FREE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct free_map {
	uint8_t *is_free;
	uint32_t count; /* number of entries ever used, from the first on */
};

/* Initialises a map without free entries, with memory for SIZE of them. Returns ENOMEM without
 * memory. */
int provider_free_map_init(struct free_map *map, uint32_t size, uint32_t count);
void provider_free_map_destroy(struct free_map *map);

static inline void free_map_add(struct free_map *map, uint32_t index)
{
	map->is_free[index] = true;
}

/* Takes a run: the first free entry from *END on (up to count, then from 0), and all free ones
 * directly after it. Sets *START to the first and *END to the one after the last. Returns false if
 * there is none. */
bool provider_free_map_take_run(struct free_map *map, uint32_t *start, uint32_t *end);

#endif
