/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells.h - small objects of a context that programs create and destroy frequently.
 *
 * A cell is taken from the freed ones of its size, or else cut from a block. It has no header, so
 * the caller passes its size when freeing it. Blocks are freed with the context: a program that had
 * many objects keeps their memory for new ones. All-zero memory is a valid empty struct cells.
 * Under a sanitizer, each cell is a heap block, so that leaks and uses after free are detected.
 */
#ifndef PROVIDERS_COMMON_MEMORY_CELLS_H
#define PROVIDERS_COMMON_MEMORY_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "providers/common/lock.h"

enum {
	CELL_UNIT = 16,
	/* a cell of whole cache lines is aligned to one, so that two objects never share a line */
	CELL_LINE = 64,
	CELL_SIZES = 20,
};

/* Link of a freed cell, at the end of the cell: the head of a destroyed object stays intact, so
 * that a second destroy still finds the context and is detected. */
struct cell {
	struct cell *next;
	const void *given_to; /* its list, while the cell is free */
};

struct cells {
	struct qlock lock;
	struct cell *given[CELL_SIZES];
	uint8_t *rest;
	size_t left;
	struct cells_block *blocks;
};

/* Allocates a cell when none of its size is free. Fails with a log line that names CALL, the
 * program's call. */
void *provider_cells_grow(struct cells *cells, const char *call, size_t size);
/* Frees a cell to the heap, if !cells_are_kept(). */
void provider_cells_drop(void *cell);
void provider_cells_destroy(struct cells *cells);
/* Aborts the program if the object at ADDRESS, whose cell looks free, really is free: it was
 * destroyed twice, and two later objects would share its memory. */
void provider_cells_check(const struct cell *given, const struct cell *cell, const void *address);

/* Returns whether freed cells are kept. Under a sanitizer they are heap blocks instead, so that the
 * sanitizer detects a use after free. */
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

/* Takes an uninitialised object of SIZE bytes, a constant. Returns NULL without memory. */
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
