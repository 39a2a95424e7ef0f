/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.h - creates memory windows, and implements ibv_bind_mw(), which posts a request.
 */
#ifndef PROVIDERS_COMMON_MW_H
#define PROVIDERS_COMMON_MW_H

#include "libibverbs/driver.h"

struct cells;

/* Creates a memory window. UDATA is the driver's part of the command, or NULL; CELLS is the
 * context's pool. Returns NULL with errno on failure. */
struct ibv_mw *provider_mw_alloc(struct ibv_pd *pd, struct cells *cells, enum ibv_mw_type type,
				 const struct verbs_udata *udata);
int provider_mw_dealloc(struct cells *cells, struct ibv_mw *mw);
int provider_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* Returns whether ACCESS has rights that no window can have. Bits about pinning or ordering of
 * memory are allowed, and have no effect on a window. */
static inline bool mw_access_is_wrong(unsigned int access)
{
	return access &
	       ~(unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			       IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
			       IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE);
}

/* Returns whether A and B are the same PD for the adapter. A parent domain and its PD are the same,
 * as is a PD imported twice, so comparing addresses is not enough. */
static inline bool pd_is_same(const struct ibv_pd *a, const struct ibv_pd *b)
{
	return a->handle == b->handle && a->context == b->context;
}

#endif
