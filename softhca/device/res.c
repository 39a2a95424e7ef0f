/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res.c - tables of objects by number: one growing array for each kind.
 *
 * A look-up is one array access. Numbers rise; a freed number is reused only after the cursor has
 * wrapped around, so that the use of a stale number is noticed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

void res_init(struct res_table *table, const uint16_t *user, uint32_t first, uint32_t max)
{
	memset(table, 0, sizeof(*table));
	table->user = user;
	table->first = first;
	table->max = max;
}

void res_free(struct res_table *table)
{
	free(table->slot);
	free(table->owner);
	table->slot = NULL;
	table->owner = NULL;
	table->size = 0;
}

static int res_grow(struct res_table *table)
{
	uint32_t size = table->size ? table->size * 2 : 64;
	uint16_t *owner;
	void **slot;

	if (size > table->max)
		size = table->max;
	owner = reallocarray(table->owner, size, sizeof(*owner));
	if (!owner)
		return ENOMEM;
	table->owner = owner;
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
	table->owner[table->cursor] = *table->user;
	table->used++;
	*number = table->first + table->cursor;
	table->cursor = (table->cursor + 1) % table->size;
	return 0;
}

int res_add_as(struct res_table *table, void *object, uint32_t number)
{
	uint32_t index = (number & ~table->mark) - table->first;
	int ret;

	if (index >= table->max)
		return ENOSPC;
	while (index >= table->size) {
		ret = res_grow(table);
		if (ret)
			return ret;
	}
	if (table->slot[index])
		return EEXIST;
	table->slot[index] = object;
	table->owner[index] = *table->user;
	table->used++;
	return 0;
}

void res_remove(struct res_table *table, uint32_t number)
{
	table->slot[(number & ~table->mark) - table->first] = NULL;
	table->used--;
}

uint32_t res_count_of(const struct res_table *table, uint16_t owner)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->size; i++)
		count += table->slot[i] && table->owner[i] == owner;
	return count;
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
