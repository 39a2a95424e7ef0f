/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dbrec.h - doorbell records: the two big-endian words by which software tells the adapter its ring
 * indices.
 *
 * Records are 8 bytes, but each has a cache line of its own: the queues of different threads must
 * not slow each other down. They are handed out from whole pages because the kernel pins the page a
 * record lies in.
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
	LIST_HEAD(, dbrec_page) room;      /* pages of the source with a record that is free */
	LIST_HEAD(, dbrec_page) full;      /* others, which give none */
	unsigned int empty;                /* pages, 1 at most */
	const struct hwbuf_source *source; /* of pages; NULL: they are mapped */
};

void provider_dbrec_pool_init(struct dbrec_pool *pool);
/* Frees the pages; every record must have been returned. */
void provider_dbrec_pool_destroy(struct dbrec_pool *pool);

/* New pages come from SOURCE, which stays valid as long as the pool. */
void provider_dbrec_pool_set_source(struct dbrec_pool *pool, const struct hwbuf_source *source);

/* The record is zeroed. *PAGE is where it is given back: the record itself is not read for that, as
 * a forked child may not have its memory. */
int provider_dbrec_alloc(struct dbrec_pool *pool, __be32 **dbrec, struct dbrec_page **page);
void provider_dbrec_free(struct dbrec_pool *pool, struct dbrec_page *page, const __be32 *dbrec);

#endif
