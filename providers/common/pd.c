/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains, thread domains, parent domains.
 */
#include "providers/common/pd.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/common/memory/cells.h"
#include "util/alloc.h"

static void users_add(uint32_t *users, int n)
{
	__atomic_fetch_add(users, (uint32_t)n, __ATOMIC_RELEASE);
}

static bool has_users(const uint32_t *users)
{
	return __atomic_load_n(users, __ATOMIC_ACQUIRE);
}

struct provider_pd *provider_pd_use(struct ibv_pd *pd)
{
	if (!pd || !to_ppd(pd)->base)
		return NULL;
	users_add(&to_ppd(pd)->users, 1);
	return to_ppd(pd);
}

void provider_pd_leave(struct provider_pd *parent)
{
	if (parent)
		users_add(&parent->users, -1);
}

static void pd_free(struct provider_pd *ppd)
{
	if (ppd->cells)
		provider_cells_give(ppd->cells, ppd, sizeof(*ppd));
	else
		free(ppd);
}

int provider_pd_alloc(struct ibv_context *context, struct cells *cells,
		      const struct verbs_udata *udata, struct ibv_pd **pd)
{
	struct provider_pd *ppd = provider_cells_take(cells, "alloc_pd", sizeof(*ppd));
	int ret;

	if (!ppd)
		return ENOMEM;
	*ppd = (struct provider_pd){ .cells = cells };
	ret = verbs_cmd_alloc_pd(context, &ppd->pd, udata);
	if (ret) {
		pd_free(ppd);
		return ret;
	}
	*pd = &ppd->pd;
	return 0;
}

/* Frees a parent domain. The kernel knows no parent domains: its object belongs to the base PD and
 * stays. */
static int parent_dealloc(struct provider_pd *parent)
{
	users_add(&parent->base->users, -1);
	if (parent->td)
		users_add(&parent->td->users, -1);
	free(parent);
	return 0;
}

int provider_pd_dealloc(struct ibv_pd *pd)
{
	struct provider_pd *ppd = to_ppd(pd);
	int ret;

	if (has_users(&ppd->users)) {
		verbs_warn("dealloc_pd: %s %u has %s: end them first",
			   ppd->base ? "the parent domain of PD" : "PD", pd->handle,
			   ppd->base ? "queues" : "parent domains");
		return EBUSY;
	}
	if (ppd->base)
		return parent_dealloc(ppd);
	ret = verbs_cmd_dealloc_pd(pd);
	if (!ret)
		pd_free(ppd);
	return ret;
}

int provider_pd_import(struct ibv_context *context, uint32_t handle, uint32_t pdn,
		       struct ibv_pd **pd)
{
	struct provider_pd *ppd = calloc_for("import_pd", 1, sizeof(*ppd));

	if (!ppd)
		return ENOMEM;
	ppd->pd.context = context;
	ppd->pd.handle = handle;
	ppd->pdn = pdn;
	*pd = &ppd->pd;
	return 0;
}

void provider_pd_unimport(struct ibv_pd *pd)
{
	struct provider_pd *ppd = to_ppd(pd);

	if (has_users(&ppd->users)) {
		verbs_warn("unimport_pd: PD %u has %s, and stays", pd->handle,
			   ppd->base ? "queues" : "parent domains");
		return;
	}
	if (ppd->base)
		parent_dealloc(ppd);
	else
		pd_free(ppd);
}

/* ---- thread domains */

int provider_td_check_attr(const struct ibv_td_init_attr *attr)
{
	if (!attr) {
		verbs_warn("alloc_td: attr is NULL");
		return EINVAL;
	}
	if (!attr->comp_mask)
		return 0;
	verbs_warn("alloc_td: comp_mask is %#x, must be 0", attr->comp_mask);
	return EINVAL;
}

int provider_td_check_unused(const struct provider_td *td)
{
	if (!has_users(&td->users))
		return 0;
	verbs_warn("dealloc_td: the thread domain has parent domains: deallocate them first");
	return EBUSY;
}

/* ---- parent domains */

static void *domain_fail(int err)
{
	errno = err;
	return NULL;
}

#define PARENT_MASK_SUPPORTED                                                              \
	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT | \
	 IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)

/* Checks ALLOW_CC_UNPROTECTED_ALLOC, which permits memory shared between a confidential guest and
 * its host. If the device can access all memory, it has no effect; otherwise such memory would be
 * needed, but ibv_alloc_buf() has none. */
static int parent_check_memory(struct ibv_context *context)
{
	struct ibv_device_attr_ex attr;
	int ret = ibv_query_device_ex(context, NULL, &attr);

	if (ret)
		return ret;
	if (!(attr.device_cap_flags_ex & IBV_DEVICE_CC_DMA_BOUNCE))
		return 0;
	verbs_warn("alloc_parent_domain: the device needs memory that the guest shares, and there "
		   "is none yet");
	return EOPNOTSUPP;
}

static int parent_check_attr(const struct ibv_parent_domain_init_attr *attr)
{
	bool allocators;

	if (!attr) {
		verbs_warn("alloc_parent_domain: attr is NULL");
		return EINVAL;
	}
	allocators = attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	if (attr->comp_mask & ~(uint32_t)PARENT_MASK_SUPPORTED) {
		verbs_warn("alloc_parent_domain: comp_mask is %#x, supported are %#x",
			   attr->comp_mask, PARENT_MASK_SUPPORTED);
		return EINVAL;
	}
	if (!attr->pd) {
		verbs_warn("alloc_parent_domain: pd is missing");
		return EINVAL;
	}
	if (allocators && !attr->alloc != !attr->free) {
		verbs_warn("alloc_parent_domain: %s is NULL: set both alloc and free, or neither",
			   attr->alloc ? "free" : "alloc");
		return EINVAL;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)
		return parent_check_memory(attr->pd->context);
	return 0;
}

static void parent_fill(const struct ibv_parent_domain_init_attr *attr, struct provider_pd *parent)
{
	parent->base = to_ppd(attr->pd);
	parent->pd.context = attr->pd->context;
	parent->pd.handle = attr->pd->handle;
	parent->pdn = parent->base->pdn;
	parent->td = attr->td ? to_ptd(attr->td) : NULL;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		parent->alloc = attr->alloc;
		parent->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		parent->pd_context = attr->pd_context;
}

struct ibv_pd *provider_parent_domain_alloc(struct ibv_context *context,
					    struct ibv_parent_domain_init_attr *attr)
{
	int ret = parent_check_attr(attr);
	struct provider_pd *parent;

	(void)context; /* the PD has the context, too, so this argument is not needed */
	if (ret)
		return domain_fail(ret);
	parent = calloc_for("alloc_parent_domain", 1, sizeof(*parent));
	if (!parent)
		return domain_fail(ENOMEM);
	parent_fill(attr, parent);
	users_add(&parent->base->users, 1);
	if (parent->td)
		users_add(&parent->td->users, 1);
	return &parent->pd;
}
