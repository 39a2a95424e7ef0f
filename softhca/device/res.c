/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res.c - objects by number: one growing array per kind.
 *
 * Look-up is one index. Numbers are given out in rising order and a freed one is taken again only
 * after the cursor has come round, so that a stale number is noticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

void res_init(struct res_table *table, uint32_t first, uint32_t max)
{
	memset(table, 0, sizeof(*table));
	table->first = first;
	table->max = max;
}

void res_free(struct res_table *table)
{
	free(table->slot);
	table->slot = NULL;
	table->size = 0;
}

static int res_grow(struct res_table *table)
{
	uint32_t size = table->size ? table->size * 2 : 64;
	void **slot;

	if (size > table->max)
		size = table->max;
	slot = reallocarray(table->slot, size, sizeof(*slot));
	if (!slot)
		return ENOMEM;
	memset(slot + table->size, 0, (size - table->size) * sizeof(*slot));
	table->cursor = table->size;
	table->slot = slot;
	table->size = size;
	return 0;
}

int res_add(struct res_table *table, void *object, uint32_t *number)
{
	int ret;

	if (table->used == table->max)
		return ENOSPC;
	if (table->used == table->size) {
		ret = res_grow(table);
		if (ret)
			return ret;
	}
	while (table->slot[table->cursor])
		table->cursor = (table->cursor + 1) % table->size;
	table->slot[table->cursor] = object;
	table->used++;
	*number = table->first + table->cursor;
	table->cursor = (table->cursor + 1) % table->size;
	return 0;
}

void res_remove(struct res_table *table, uint32_t number)
{
	table->slot[number - table->first] = NULL;
	table->used--;
}

void *res_next(const struct res_table *table, uint32_t *index)
{
	while (*index < table->size) {
		void *object = table->slot[(*index)++];

		if (object)
			return object;
	}
	return NULL;
}
