/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res.h - tables of objects by number, with their owners: the driver, or a user that the driver has
 * registered (uctx.h). A user's command finds only that user's objects and those that the driver
 * made for all.
 */
#ifndef SOFTHCA_DEVICE_RES_H
#define SOFTHCA_DEVICE_RES_H

#include <stddef.h>
#include <stdint.h>

enum { RES_FOR_ALL = 0xffff };

struct res_table {
	void **slot;
	/* owners of slot[]: a user id, 0 (driver), or RES_FOR_ALL. res_free() frees it */
	uint16_t *owner;
	/* points to hca->user, the user that sent the current command; 0: the driver */
	const uint16_t *user;
	uint32_t size;   /* entries of slot[]; grows up to max */
	uint32_t first;  /* number of slot 0 */
	uint32_t mark;   /* bits of a number that tell the object's kind, not its slot */
	uint32_t cursor; /* next slot to try, so that a freed number is not reused at once */
	uint32_t used;
	uint32_t max;
};

void res_init(struct res_table *table, const uint16_t *user, uint32_t first, uint32_t max);
void res_free(struct res_table *table);
/* Adds an object, owned by the sender of the current command. Returns 0, ENOSPC at the table's
 * limit, or ENOMEM. */
int res_add(struct res_table *table, void *object, uint32_t *number);
/* Adds an object as NUMBER, which software has chosen. Returns as res_add() does, or EEXIST. */
int res_add_as(struct res_table *table, void *object, uint32_t number);
/* Adds an object as *NUMBER; if that is 0, under a free number, which it writes to *NUMBER. */
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

/* Returns whether all users may use the object NUMBER, which must exist. */
static inline bool res_is_shared(const struct res_table *table, uint32_t number)
{
	return table->owner[(number & ~table->mark) - table->first] == RES_FOR_ALL;
}

/* Finds an object for a command: the driver sees all objects, a user its own and those made for
 * all. So a program's commands (DevX) cannot reach objects of another program. */
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
