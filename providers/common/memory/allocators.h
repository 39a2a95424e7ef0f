/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.h - a program's allocator for the queues of a context (mlx5dv_set_context_attr(),
 * mlx4dv_set_context_attr()).
 *
 * Queues find it in the form that they know, the allocator of a parent domain: it stands for those
 * that are in no such domain, or in one without an allocator. It gives whole pages, for a ring or
 * for many doorbell records.
 */
#ifndef PROVIDERS_COMMON_MEMORY_ALLOCATORS_H
#define PROVIDERS_COMMON_MEMORY_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

struct dbrec_pool;
struct ibv_context;
struct ibv_pd;
struct provider_pd;
struct queue_allocators;

/* What the program has set */
struct program_allocator {
	void *(*alloc)(size_t size, void *data);
	void (*free)(void *ptr, void *data);
	void *data;
};

/* *ALLOCATORS are those of CONTEXT, and DBRECS is its pool; NULL: it has none. The call, of
 * which CALL is the public name, returns 0 or an errno. Queues that exist keep what they have. */
int provider_allocators_set(const char *call, struct ibv_context *context,
			    struct dbrec_pool *dbrecs, const struct program_allocator *of_program,
			    struct queue_allocators **allocators);
void provider_allocators_free(struct queue_allocators **allocators);

/* Whether DOMAIN stands for the allocators of a context, those of now or former ones. */
bool provider_allocators_have(const struct provider_pd *domain);
/* Returns the domain whose allocator a ring in PD asks, or PD, which may be NULL. */
struct ibv_pd *provider_allocators_domain(struct queue_allocators *allocators, struct ibv_pd *pd);

#endif
