/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.h - a stack of places in the adapter's memory for entries: blocks of 1 << log entries.
 *
 * A place is the number of an entry: the pool in the upper bits, the entry in the pool below
 * (memory.h). The caller locks.
 */
#ifndef PROVIDERS_MLX5_DV_DR_PLACES_H
#define PROVIDERS_MLX5_DV_DR_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct dr_block {
	uint32_t place;
	uint8_t log;
};

struct dr_places {
	struct dr_block *blocks;
	size_t count, room;
};

static inline bool dr_places_grow(struct dr_places *places)
{
	const size_t room = places->room ? 2 * places->room : 64;
	struct dr_block *blocks = realloc(places->blocks, room * sizeof(*blocks));

	if (!blocks)
		return false;
	places->blocks = blocks;
	places->room = room;
	return true;
}

/* Reserves room for COUNT further blocks. Returns false if the host has no memory. */
static inline bool dr_places_reserve(struct dr_places *places, size_t count)
{
	while (places->room - places->count < count)
		if (!dr_places_grow(places))
			return false;
	return true;
}

/* Adds a block. Returns false if the host has no memory: the block is then lost until the pool is
 * freed. */
static inline bool dr_places_push(struct dr_places *places, uint32_t place, unsigned int log)
{
	if (places->count == places->room && !dr_places_grow(places))
		return false;
	places->blocks[places->count++] = (struct dr_block){ place, (uint8_t)log };
	return true;
}

static inline bool dr_places_pop(struct dr_places *places, struct dr_block *block)
{
	if (!places->count)
		return false;
	*block = places->blocks[--places->count];
	return true;
}

/* Moves all blocks of FROM to TO. If the host has no memory, blocks are lost until the pool is
 * freed. */
static inline void dr_places_move(struct dr_places *to, struct dr_places *from)
{
	const struct dr_places empty = { NULL, 0, 0 };
	struct dr_block block;

	if (!to->room && from->count) {
		*to = *from;
		*from = empty;
	}
	while (dr_places_pop(from, &block))
		dr_places_push(to, block.place, block.log);
}

static inline void dr_places_free(struct dr_places *places)
{
	free(places->blocks);
	*places = (struct dr_places){ NULL, 0, 0 };
}

#endif
