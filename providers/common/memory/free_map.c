/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * free_map.c - finds runs of free entries in a struct free_map.
 */
#include "providers/common/memory/free_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

int provider_free_map_init(struct free_map *map, uint32_t size, uint32_t count)
{
	map->count = count;
	map->is_free = calloc_for("list of free entries", size, sizeof(*map->is_free));
	return map->is_free ? 0 : ENOMEM;
}

void provider_free_map_destroy(struct free_map *map)
{
	free(map->is_free);
}

bool provider_free_map_take_run(struct free_map *map, uint32_t *start, uint32_t *end)
{
	uint8_t *first = memchr(&map->is_free[*end], true, map->count - *end);
	size_t length;

	if (!first)
		first = memchr(map->is_free, true, *end);
	if (!first)
		return false;
	*start = (uint32_t)(first - map->is_free);
	length = strnlen((const char *)first, map->count - *start);
	memset(first, false, length);
	*end = *start + (uint32_t)length;
	return true;
}
