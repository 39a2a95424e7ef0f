/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocators.c - a program's allocator for the queues of a context. See allocators.h.
 */
#include "providers/common/memory/allocators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/common/memory/dbrec.h"
#include "providers/common/memory/hwbuf.h"
#include "providers/common/pd.h"
#include "util/alloc.h"

struct queue_allocators {
	/* domain for queues without another one; alloc is NULL if unset */
	struct provider_pd domain;
	struct hwbuf_source source;
	struct program_allocator of_program;
	/* previous allocators, kept because queues may still have memory of them */
	struct queue_allocators *before;
};

/* Allocates pages and clears them, because the program's allocator need not. */
static void *pages_alloc(size_t size, void *arg)
{
	const struct queue_allocators *allocators = arg;
	size_t bytes = align_up(size, (size_t)sysconf(_SC_PAGESIZE));
	void *addr = allocators->of_program.alloc(bytes, allocators->of_program.data);

	if (addr)
		memset(addr, 0, bytes);
	else
		verbs_warn("the allocator of the context has no %zu bytes", bytes);
	return addr;
}

static void pages_free(void *addr, void *arg)
{
	const struct queue_allocators *allocators = arg;

	allocators->of_program.free(addr, allocators->of_program.data);
}

/* Allocates a ring. Doorbell records do not come here, because the context's pool cuts them from
 * pages. */
static void *domain_alloc(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
			  uint64_t type)
{
	(void)pd;
	(void)alignment;
	(void)type;
	return pages_alloc(size, pd_context);
}

static void domain_free(struct ibv_pd *pd, void *pd_context, void *addr, uint64_t type)
{
	(void)pd;
	(void)type;
	pages_free(addr, pd_context);
}

static void allocators_fill(struct queue_allocators *allocators, struct ibv_context *context,
			    const struct program_allocator *of_program)
{
	allocators->of_program = *of_program;
	allocators->source = (struct hwbuf_source){ pages_alloc, pages_free, allocators };
	allocators->domain.pd.context = context;
	allocators->domain.alloc = domain_alloc;
	allocators->domain.free = domain_free;
	allocators->domain.pd_context = allocators;
}

int provider_allocators_set(const char *call, struct ibv_context *context,
			    struct dbrec_pool *dbrecs, const struct program_allocator *of_program,
			    struct queue_allocators **set)
{
	struct queue_allocators *allocators;

	if (!of_program->alloc != !of_program->free) {
		verbs_warn("%s: %s is NULL: set both alloc and free, or neither", call,
			   of_program->alloc ? "free" : "alloc");
		return EINVAL;
	}
	if (allocators_stay_unset(of_program, *set))
		return 0;
	allocators = calloc_for(call, 1, sizeof(*allocators));
	if (!allocators)
		return ENOMEM;
	if (of_program->alloc)
		allocators_fill(allocators, context, of_program);
	allocators->before = *set;
	*set = allocators;
	provider_dbrec_pool_set_source(dbrecs, of_program->alloc ? &allocators->source : NULL);
	return 0;
}

void provider_allocators_free(struct queue_allocators **set)
{
	struct queue_allocators *allocators;

	while ((allocators = *set)) {
		*set = allocators->before;
		free(allocators);
	}
}

bool provider_allocators_have(const struct provider_pd *domain)
{
	return domain->alloc == domain_alloc;
}

struct ibv_pd *provider_allocators_domain(struct queue_allocators *allocators, struct ibv_pd *pd)
{
	if (!allocators || !allocators->domain.alloc || (pd && to_ppd(pd)->alloc))
		return pd;
	return &allocators->domain.pd;
}
