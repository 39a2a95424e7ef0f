/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains, thread domains, and the parent domains that tie them to queues.
 *
 * A thread domain is the program's promise that one thread at a time uses what is created in it: no
 * queue takes a lock. What else a provider does for it, a doorbell register of its own for example,
 * is in a structure of the provider's around it. A parent domain is a PD with a thread domain, with
 * allocators for queue memory, or with both; the kernel knows nothing of it.
 */
#ifndef PROVIDERS_COMMON_PD_H
#define PROVIDERS_COMMON_PD_H

#include "libibverbs/driver.h"
#include "util/bits.h"

struct provider_td {
	struct ibv_td td;
	uint32_t users; /* parent domains; atomic */
};

struct cells;

struct provider_pd {
	struct ibv_pd pd;
	uint32_t pdn; /* what the adapter calls it; the provider sets it */
	uint32_t
		users; /* parent domains on this one or, of a parent domain, queues in it; atomic */
	struct provider_pd *base; /* of a parent domain: the PD that the kernel knows; else NULL */
	struct provider_td *td;   /* of a parent domain: may be NULL */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
	struct cells *cells; /* whose cell this is; NULL: of the heap */
};

static inline struct provider_pd *to_ppd(struct ibv_pd *pd)
{
	return container_of(pd, struct provider_pd, pd);
}

static inline struct provider_td *to_ptd(struct ibv_td *td)
{
	return container_of(td, struct provider_td, td);
}

/* Returns the thread domain behind PD, or NULL. */
static inline struct provider_td *pd_thread_domain(struct ibv_pd *pd)
{
	return pd ? to_ppd(pd)->td : NULL;
}

/* UDATA is the driver's part of the command; the caller sets pdn from its answer. */
int provider_pd_alloc(struct ibv_context *context, struct cells *cells,
		      const struct verbs_udata *udata, struct ibv_pd **pd);
int provider_pd_dealloc(struct ibv_pd *pd);

/* Count a queue that is created in PD, and one that is gone, where PD is a parent domain: its
 * allocator and its thread domain serve the queue to the end. The kernel counts what is in other
 * PDs. provider_pd_use() returns the parent domain, or NULL for other PDs. */
struct provider_pd *provider_pd_use(struct ibv_pd *pd);
void provider_pd_leave(struct provider_pd *parent);

/* Make a second object over the kernel's PD of HANDLE, and end that object alone. */
int provider_pd_import(struct ibv_context *context, uint32_t handle, uint32_t pdn,
		       struct ibv_pd **pd);
void provider_pd_unimport(struct ibv_pd *pd);

/* Providers allocate and free thread domains themselves. Returns EINVAL when ATTR has unknown
 * parts. */
int provider_td_check_attr(const struct ibv_td_init_attr *attr);
/* Returns EBUSY when a parent domain has TD. */
int provider_td_check_unused(const struct provider_td *td);

struct ibv_pd *provider_parent_domain_alloc(struct ibv_context *context,
					    struct ibv_parent_domain_init_attr *attr);

#endif
