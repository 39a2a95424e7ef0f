/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cells.c - allocates the blocks that cells are cut from. See cells.h.
 */
#include "providers/common/memory/cells.h"

#include <errno.h>
#include <stdlib.h>

#include "util/alloc.h"
#include "util/bits.h"
#include "util/log.h"

/* a page, minus the C library's overhead, so that a block does not take two pages */
enum { BLOCK_SIZE = 4096 - CELL_LINE };

struct cells_block {
	struct cells_block *next;
	uint8_t cells[] __attribute__((aligned(CELL_LINE)));
};

static size_t size_alignment(size_t size)
{
	return size % CELL_LINE ? CELL_UNIT : CELL_LINE;
}

static int block_add(struct cells *cells, const char *call)
{
	struct cells_block *block = memalign_for(call, CELL_LINE, BLOCK_SIZE);

	if (!block)
		return ENOMEM;
	block->next = cells->blocks;
	cells->blocks = block;
	cells->rest = block->cells;
	cells->left = BLOCK_SIZE - offsetof(struct cells_block, cells);
	return 0;
}

/* Cuts a cell from the newest block. If that has too little left, adds a block; the rest of the old
 * one, less than this cell, is lost. */
static void *cell_cut(struct cells *cells, const char *call, size_t size)
{
	size_t skipped = -(uintptr_t)cells->rest & (size_alignment(size) - 1);
	uint8_t *cell;

	if (cells->left < skipped + size) {
		if (block_add(cells, call))
			return NULL;
		skipped = 0;
	}
	cell = cells->rest + skipped;
	cells->rest = cell + size;
	cells->left -= skipped + size;
	return cell;
}

void *provider_cells_grow(struct cells *cells, const char *call, size_t size)
{
	void *cell;

	if (!cells_are_kept())
		return memalign_for(call, size_alignment(size), size);
	qlock_take(&cells->lock);
	cell = cell_cut(cells, call, align_up(size, CELL_UNIT));
	qlock_drop(&cells->lock);
	if (cell)
		cell_of(cell, size)->given_to = NULL;
	return cell;
}

void provider_cells_drop(void *cell)
{
	free(cell);
}

/* Aborts if CELL is in the list GIVEN of freed cells. Searches the list, because given_to alone
 * proves nothing: an object may contain the same bytes by chance. */
void provider_cells_check(const struct cell *given, const struct cell *cell, const void *address)
{
	for (; given; given = given->next)
		if (given == cell) {
			verbs_warn("an object at %p has been destroyed twice", address);
			abort();
		}
}

void provider_cells_destroy(struct cells *cells)
{
	struct cells_block *block;

	while ((block = cells->blocks)) {
		cells->blocks = block->next;
		free(block);
	}
}
