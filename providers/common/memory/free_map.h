/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * free_map.h - entries of a ring that are free, in whatever order they became so, and taken again
 * in runs of neighbours: a byte for each, as one store marks it, and the C library's functions for
 * strings look at many at once.
 * Decision: docs/adr/0015.
 */
#ifndef PROVIDERS_COMMON_MEMORY_FREE_MAP_H
#define PROVIDERS_COMMON_MEMORY_FREE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct free_map {
	uint8_t *is_free; /* 0 or 1 */
	uint32_t count;   /* of entries that have been in use, from the first on */
};

/* Makes a map in which no entry is free, with memory for SIZE of them. It returns ENOMEM when there
 * is no memory. */
int provider_free_map_init(struct free_map *map, uint32_t size, uint32_t count);
void provider_free_map_destroy(struct free_map *map);

static inline void free_map_add(struct free_map *map, uint32_t index)
{
	map->is_free[index] = true;
}

/* Takes the first free entry at *END (up to count) or behind it, going on at the first of all, and
 * those that follow it without a gap. It sets *START to it, and *END to the one behind the last. It
 * returns false when there is none. */
bool provider_free_map_take_run(struct free_map *map, uint32_t *start, uint32_t *end);

#endif
