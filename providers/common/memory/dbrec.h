/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dbrec.h - doorbell records: two big-endian words by which software publishes its ring indices to
 * the adapter.
 *
 * Records have 8 bytes, but each has its own cache line, so that queues of different threads do not
 * slow each other down. They are cut from whole pages, because the kernel pins the page of a
 * record.
 */
#ifndef PROVIDERS_COMMON_MEMORY_DBREC_H
#define PROVIDERS_COMMON_MEMORY_DBREC_H

#include <linux/types.h>
#include <pthread.h>
#include <sys/queue.h>

struct dbrec_page;
struct hwbuf_source;

struct dbrec_pool {
	pthread_mutex_t lock;
	LIST_HEAD(, dbrec_page) room;
	LIST_HEAD(, dbrec_page) full;
	/* number of empty pages: at most 1 is kept, so that a QP created and destroyed in a loop
	 * maps no page each time */
	unsigned int empty;
	const struct hwbuf_source *source; /* source of new pages; NULL: mmap */
};

void provider_dbrec_pool_init(struct dbrec_pool *pool);
/* Frees the pages; every record must have been returned. */
void provider_dbrec_pool_destroy(struct dbrec_pool *pool);

/* Sets the SOURCE of new pages, which must stay valid as long as the pool. */
void provider_dbrec_pool_set_source(struct dbrec_pool *pool, const struct hwbuf_source *source);

/* Allocates a zeroed record. Pass *PAGE when freeing it: a forked child may not have the record's
 * memory, so it must not be read. */
int provider_dbrec_alloc(struct dbrec_pool *pool, __be32 **dbrec, struct dbrec_page **page);
void provider_dbrec_free(struct dbrec_pool *pool, struct dbrec_page *page, const __be32 *dbrec);

#endif
