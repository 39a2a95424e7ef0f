/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.h - a program's allocator for the queues of a context (mlx5dv_set_context_attr(),
 * mlx4dv_set_context_attr()).
 *
 * It is presented to queues as the allocator of a parent domain, used for queues without such a
 * domain or whose domain has no allocator. It allocates whole pages, for a ring or for many
 * doorbell records.
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

struct program_allocator {
	void *(*alloc)(size_t size, void *data);
	void (*free)(void *ptr, void *data);
	void *data;
};

/* Sets the program's allocator for CONTEXT. *ALLOCATORS is the current one, or NULL; DBRECS is the
 * context's pool of doorbell records; CALL is the public call's name. Returns 0 or an errno.
 * Existing queues keep their memory. */
int provider_allocators_set(const char *call, struct ibv_context *context,
			    struct dbrec_pool *dbrecs, const struct program_allocator *of_program,
			    struct queue_allocators **allocators);
/* Returns whether there is nothing to do: neither the program nor the context has an allocator. */
static inline bool allocators_stay_unset(const struct program_allocator *of_program,
					 const struct queue_allocators *now)
{
	return !of_program->alloc && !of_program->free && !now;
}
void provider_allocators_free(struct queue_allocators **allocators);

/* Returns whether DOMAIN belongs to the current or a former allocator of a context. */
bool provider_allocators_have(const struct provider_pd *domain);
/* Returns the domain whose allocator provides a ring for PD: the context's, or PD itself, which may
 * be NULL. */
struct ibv_pd *provider_allocators_domain(struct queue_allocators *allocators, struct ibv_pd *pd);

#endif
