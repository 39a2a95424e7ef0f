/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells.h - small objects of a context, which programs make and destroy again and again.
 *
 * A cell is taken from those of its size that were given back, else from what is left of a block.
 * It has no header, so who gives it back says its size. Blocks are freed with the context: a
 * program that had many objects keeps their memory for as many others. Memory that was all zero is
 * a set of cells without any. Under a sanitizer each cell is a block of the heap, so that it sees
 * who loses one or goes on using it.
 */
#ifndef PROVIDERS_COMMON_MEMORY_CELLS_H
#define PROVIDERS_COMMON_MEMORY_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "providers/common/lock.h"

enum {
	CELL_UNIT = 16,
	CELL_LINE = 64,  /* a cell of whole lines begins at one */
	CELL_SIZES = 20, /* the largest cell is of so many units */
};

/* Is at the end of a cell that was given back: the head of an object tells a second destroy its
 * context, and so leads it here. */
struct cell {
	struct cell *next;
	const void *given_to; /* the list, while it is not an object */
};

struct cells {
	struct qlock lock; /* guards the rest */
	struct cell *given[CELL_SIZES];
	uint8_t *rest; /* of the newest block: LEFT bytes */
	size_t left;
	struct cells_block *blocks;
};

/* Takes what is not among those given back. It fails with a line in the log, in which CALL is what
 * the program has called. */
void *provider_cells_grow(struct cells *cells, const char *call, size_t size);
/* Gives a cell back where that is more than keeping it. */
void provider_cells_drop(void *cell);
void provider_cells_destroy(struct cells *cells);
/* Ends the program if the object at ADDRESS, whose cell looks given back, is: it has been destroyed
 * twice, and two later ones would share the memory. */
void provider_cells_check(const struct cell *given, const struct cell *cell, const void *address);

/* Returns whether cells are kept, rather than blocks of the heap. */
static inline bool cells_are_kept(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return false;
#else
	return true;
#endif
#else
	return true;
#endif
}

static inline struct cell **cells_of_size(struct cells *cells, size_t size)
{
	return &cells->given[(size - 1) / CELL_UNIT];
}

static inline size_t cell_offset(size_t size)
{
	return (size + CELL_UNIT - 1) / CELL_UNIT * CELL_UNIT - sizeof(struct cell);
}

static inline struct cell *cell_of(void *object, size_t size)
{
	return (struct cell *)((uint8_t *)object + cell_offset(size));
}

static inline void *cells_pop(struct cell **given, size_t size)
{
	struct cell *cell = *given;

	if (unlikely(!cell))
		return NULL;
	*given = cell->next;
	cell->given_to = NULL;
	return (uint8_t *)cell - cell_offset(size);
}

static inline void cells_push(struct cell **given, void *object, size_t size)
{
	struct cell *cell = cell_of(object, size);

	if (unlikely(cell->given_to == given))
		provider_cells_check(*given, cell, object);
	cell->next = *given;
	cell->given_to = given;
	*given = cell;
}

/* SIZE is a constant. What is in the cell is of no meaning. */
static inline void *provider_cells_take(struct cells *cells, const char *call, size_t size)
{
	void *object;

	if (likely(qlock_is_idle(&cells->lock))) {
		object = cells_pop(cells_of_size(cells, size), size);
	} else {
		qlock_take(&cells->lock);
		object = cells_pop(cells_of_size(cells, size), size);
		qlock_drop(&cells->lock);
	}
	return likely(object) ? object : provider_cells_grow(cells, call, size);
}

static inline void provider_cells_give(struct cells *cells, void *object, size_t size)
{
	if (!cells_are_kept()) {
		provider_cells_drop(object);
	} else if (likely(qlock_is_idle(&cells->lock))) {
		cells_push(cells_of_size(cells, size), object, size);
	} else {
		qlock_take(&cells->lock);
		cells_push(cells_of_size(cells, size), object, size);
		qlock_drop(&cells->lock);
	}
}

#endif
