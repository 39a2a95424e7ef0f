/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - protection domains, thread domains, and the parent domains that connect them to queues.
 *
 * With a thread domain, the program promises that only one thread at a time uses the objects
 * created in it, so queues take no lock. A provider may add resources, such as a separate doorbell
 * register, in a struct around it. A parent domain is a PD with a thread domain, with allocators
 * for queue memory, or with both; the kernel does not know it.
 */
#ifndef PROVIDERS_COMMON_PD_H
#define PROVIDERS_COMMON_PD_H

#include "libibverbs/driver.h"
#include "util/bits.h"

struct provider_td {
	struct ibv_td td;
	uint32_t users; /* parent domains with this thread domain; atomic */
};

struct cells;

struct provider_pd {
	struct ibv_pd pd;
	uint32_t pdn;   /* PD number in the adapter, set by the provider */
	uint32_t users; /* parent domains with this PD; for a parent domain, queues in it; atomic */
	struct provider_pd *base; /* parent domain: the kernel's PD; else NULL */
	struct provider_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
	struct cells *cells; /* pool of this object; NULL: the heap */
};

static inline struct provider_pd *to_ppd(struct ibv_pd *pd)
{
	return container_of(pd, struct provider_pd, pd);
}

static inline struct provider_td *to_ptd(struct ibv_td *td)
{
	return container_of(td, struct provider_td, td);
}

static inline struct provider_td *pd_thread_domain(struct ibv_pd *pd)
{
	return pd ? to_ppd(pd)->td : NULL;
}

int provider_pd_alloc(struct ibv_context *context, struct cells *cells,
		      const struct verbs_udata *udata, struct ibv_pd **pd);
int provider_pd_dealloc(struct ibv_pd *pd);

/* Count a queue created in PD, and one destroyed, if PD is a parent domain, because its allocator
 * and thread domain must outlive the queue. Do nothing for other PDs, whose users the kernel
 * counts. provider_pd_use() returns the parent domain, or NULL. */
struct provider_pd *provider_pd_use(struct ibv_pd *pd);
void provider_pd_leave(struct provider_pd *parent);

/* Create a second object for the kernel's PD HANDLE, and free only that object. */
int provider_pd_import(struct ibv_context *context, uint32_t handle, uint32_t pdn,
		       struct ibv_pd **pd);
void provider_pd_unimport(struct ibv_pd *pd);

/* Checks ATTR; providers allocate and free thread domains themselves. Returns EINVAL for unknown
 * parts, which this library could not honour. */
int provider_td_check_attr(const struct ibv_td_init_attr *attr);
/* Returns 0, or EBUSY if a parent domain uses TD. */
int provider_td_check_unused(const struct provider_td *td);

struct ibv_pd *provider_parent_domain_alloc(struct ibv_context *context,
					    struct ibv_parent_domain_init_attr *attr);

#endif
