/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_memory.c - memory of ids. Some freed ids are kept for reuse. A program that connects often
 * would otherwise allocate, and initialise a lock, for each connection.
 */
#include "cma.h"

#include "lock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void rdmacm_id_init_lock(struct cm_id *cm)
{
	pthread_mutex_init(&cm->lock, NULL);
	LIST_INIT(&cm->ack_waits); /* after fork(), the waiting threads are only in the parent */
}

/* Number of freed ids kept for reuse, with their locks initialised. With a sanitizer, no id is
 * kept, so that the sanitizer detects a use after free. */
#ifdef CMA_SANITIZED
enum { MOST_SPARE = 0 };
#else
enum { MOST_SPARE = 64 };
#endif

static struct cm_id *spare_ids; /* linked by next_spare */
static int spare_count;
static struct cm_lock spare_lock;

static struct cm_id *spare_take(void)
{
	struct cm_id *cm;

	cm_lock_take(&spare_lock);
	cm = spare_ids;
	if (cm) {
		spare_ids = cm->next_spare;
		spare_count--;
	}
	cm_lock_drop(&spare_lock);
	return cm;
}

static bool spare_keep(struct cm_id *cm)
{
	bool keeps;

	cm_lock_take(&spare_lock);
	keeps = spare_count < MOST_SPARE;
	if (keeps) {
		cm->next_spare = spare_ids;
		spare_ids = cm;
		spare_count++;
	}
	cm_lock_drop(&spare_lock);
	return keeps;
}

struct cm_id *rdmacm_id_memory(void)
{
	struct cm_id *cm = spare_take();

	if (cm) {
		memset(cm, 0, offsetof(struct cm_id, lock));
		return cm;
	}
	cm = calloc(1, sizeof(*cm));
	if (cm)
		rdmacm_id_init_lock(cm);
	return cm;
}

void rdmacm_id_memory_free(struct cm_id *cm)
{
	if (spare_keep(cm))
		return;
	pthread_mutex_destroy(&cm->lock);
	free(cm);
}

void rdmacm_id_free_spare(void)
{
	struct cm_id *cm;

	while ((cm = spare_take()) != NULL) {
		pthread_mutex_destroy(&cm->lock);
		free(cm);
	}
}

/* Drops the list in a child if another thread of the parent was changing the list: its links may be
 * half-written. */
void rdmacm_id_spare_forked(void)
{
	if (spare_lock.state != LOCK_FREE) {
		spare_ids = NULL;
		spare_count = 0;
	}
	cm_lock_init(&spare_lock);
}
