/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res.h - objects by number, and whose they are: the driver's, or those of a user that the driver
 * has announced (uctx.h). A command on behalf of a user finds that user's objects only, and those
 * that the driver has made for all.
 */
#ifndef SOFTHCA_DEVICE_RES_H
#define SOFTHCA_DEVICE_RES_H

#include <stddef.h>
#include <stdint.h>

enum { RES_FOR_ALL = 0xffff };

struct res_table {
	void **slot;
	uint16_t *owner;      /* of what is in slot[]: a user, 0, or RES_FOR_ALL */
	const uint16_t *user; /* for whom the command under way is; 0: for the driver */
	uint32_t size;        /* of slot[] */
	uint32_t first;       /* number of slot 0 */
	uint32_t mark;        /* bits of a number that say what the object is, not where */
	uint32_t cursor; /* where to look for a free slot: a freed number is not reused at once */
	uint32_t used;
	uint32_t max;
};

void res_init(struct res_table *table, const uint16_t *user, uint32_t first, uint32_t max);
void res_free(struct res_table *table);
/* The object is the user's for whom the command under way is. Returns 0, ENOSPC at the table's
 * limit, or ENOMEM. */
int res_add(struct res_table *table, void *object, uint32_t *number);
/* The same, but the object gets NUMBER, which software has chosen; EEXIST: it is taken. */
int res_add_as(struct res_table *table, void *object, uint32_t number);
/* The object gets *NUMBER; if that is 0, one as by res_add(). */
static inline int res_add_wanted(struct res_table *table, void *object, uint32_t *number)
{
	return *number ? res_add_as(table, object, *number) : res_add(table, object, number);
}

void res_remove(struct res_table *table, uint32_t number);

static inline void *res_get(const struct res_table *table, uint32_t number)
{
	uint32_t index = (number & ~table->mark) - table->first;

	return index < table->size ? table->slot[index] : NULL;
}

/* Does likewise for a command: the driver has all objects, a user those of its own. */
static inline void *res_find(const struct res_table *table, uint32_t number)
{
	void *object = res_get(table, number);
	uint16_t user = *table->user, owner;

	if (!object || !user || user == RES_FOR_ALL)
		return object;
	owner = table->owner[(number & ~table->mark) - table->first];
	return owner == user || owner == RES_FOR_ALL ? object : NULL;
}

uint32_t res_count_of(const struct res_table *table, uint16_t owner);

/* Walks all objects: for (uint32_t i = 0; (obj = res_next(table, &i)) != NULL;) */
void *res_next(const struct res_table *table, uint32_t *index);

#endif
