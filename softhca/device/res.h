/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * res.h - objects by number.
 */
#ifndef SOFTHCA_DEVICE_RES_H
#define SOFTHCA_DEVICE_RES_H

#include <stddef.h>
#include <stdint.h>

struct res_table {
	void **slot;
	uint32_t size;   /* of slot[] */
	uint32_t first;  /* number of slot 0 */
	uint32_t cursor; /* where to look for a free slot: a freed number is not reused at once */
	uint32_t used;
	uint32_t max;
};

void res_init(struct res_table *table, uint32_t first, uint32_t max);
void res_free(struct res_table *table);
/* The function returns 0, ENOSPC at the table's limit, or ENOMEM. */
int res_add(struct res_table *table, void *object, uint32_t *number);
void res_remove(struct res_table *table, uint32_t number);

static inline void *res_get(const struct res_table *table, uint32_t number)
{
	uint32_t index = number - table->first;

	return index < table->size ? table->slot[index] : NULL;
}

/* The function walks all objects: for (uint32_t i = 0; (obj = res_next(table, &i)) != NULL;) */
void *res_next(const struct res_table *table, uint32_t *index);

#endif
