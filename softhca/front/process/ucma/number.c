/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * number.c - ids by their numbers, and random numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/ucma/ucma.h"

enum { BUCKETS = 1024 };

static LIST_HEAD(, ucma_id) ids = LIST_HEAD_INITIALIZER(ids);
static LIST_HEAD(, ucma_id) buckets[BUCKETS];
static uint32_t next_number = 1;

struct ucma_id *ucma_id_of_number(uint32_t number)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &buckets[number % BUCKETS], in_bucket)
		if (id->number == number)
			return id;
	return NULL;
}

void ucma_id_number(struct ucma_id *id)
{
	while (ucma_id_of_number(next_number))
		next_number++;
	id->number = next_number++;
	LIST_INSERT_HEAD(&ids, id, in_all);
	LIST_INSERT_HEAD(&buckets[id->number % BUCKETS], id, in_bucket);
}

void ucma_id_unnumber(struct ucma_id *id)
{
	LIST_REMOVE(id, in_bucket);
	LIST_REMOVE(id, in_all);
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	*id = ucma_id_of_number(number);
	if (!*id)
		return ENOENT;
	return (*id)->file == uc->file ? 0 : EINVAL;
}

struct ucma_id *ucma_id_next(struct ucma_id *id)
{
	return id ? LIST_NEXT(id, in_all) : LIST_FIRST(&ids);
}

uint32_t ucma_random(const struct daemon *daemon)
{
	static bool seeded;
	uint32_t number;

	if (!daemon->options->seed && getrandom(&number, sizeof(number), 0) == sizeof(number))
		return number;
	if (!seeded)
		srandom((unsigned int)daemon->options->seed);
	seeded = true;
	return (uint32_t)random();
}
