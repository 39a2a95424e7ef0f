/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains, thread domains, parent domains.
 */
#include "providers/mlx5/pd.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "util/alloc.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

static void count(uint32_t *users, int add)
{
	__atomic_fetch_add(users, (uint32_t)add, __ATOMIC_RELAXED);
}

static bool has_users(const uint32_t *users)
{
	return __atomic_load_n(users, __ATOMIC_RELAXED);
}

int mlx5_pd_alloc(struct ibv_context *context, struct ibv_pd **pd)
{
	struct mlx5_ib_alloc_pd_resp resp = { 0 };
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	struct mlx5_pd *mpd = calloc_for("alloc_pd", 1, sizeof(*mpd));
	int ret;

	if (!mpd)
		return ENOMEM;
	ret = verbs_cmd_alloc_pd(context, &mpd->pd, &udata);
	if (ret) {
		free(mpd);
		return ret;
	}
	mpd->pdn = resp.pdn;
	*pd = &mpd->pd;
	return 0;
}

/* The kernel object is the PD's below. */
static int parent_dealloc(struct mlx5_pd *mpd)
{
	count(&mpd->base->users, -1);
	if (mpd->td)
		count(&mpd->td->users, -1);
	free(mpd);
	return 0;
}

int mlx5_pd_dealloc(struct ibv_pd *pd)
{
	struct mlx5_pd *mpd = to_mpd(pd);
	int ret;

	if (has_users(&mpd->users)) {
		verbs_warn("dealloc_pd: PD %u has parent domains: deallocate them first",
			   pd->handle);
		return EBUSY;
	}
	if (mpd->base)
		return parent_dealloc(mpd);
	ret = verbs_cmd_dealloc_pd(pd);
	if (!ret)
		free(mpd);
	return ret;
}

uint32_t mlx5_pd_number(struct ibv_pd *pd)
{
	return to_mpd(pd)->pdn;
}

/* ---- thread domains */

static void *fail(int err)
{
	errno = err;
	return NULL;
}

struct ibv_td *mlx5_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct mlx5_td *td;
	int ret;

	if (attr->comp_mask) {
		verbs_warn("alloc_td: comp_mask is %#x, must be 0", attr->comp_mask);
		return fail(EINVAL);
	}
	td = calloc_for("alloc_td", 1, sizeof(*td));
	if (!td)
		return fail(ENOMEM);
	ret = mlx5_uar_get_own_bfreg(to_mctx(context), &td->bfreg);
	if (ret) {
		free(td);
		return fail(ret);
	}
	td->td.context = context;
	return &td->td;
}

int mlx5_td_dealloc(struct ibv_td *ibtd)
{
	struct mlx5_td *td = container_of(ibtd, struct mlx5_td, td);

	if (has_users(&td->users)) {
		verbs_warn(
			"dealloc_td: the thread domain has parent domains: deallocate them first");
		return EBUSY;
	}
	mlx5_uar_put_bfreg(to_mctx(ibtd->context), td->bfreg);
	free(td);
	return 0;
}

/* ---- parent domains */

#define PARENT_MASK_SUPPORTED                                                              \
	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT | \
	 IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)

/* The permission to use memory that a confidential guest shares with its host. Where the device reaches all memory, it
 * makes no difference; where it does not, there would have to be such memory, and ibv_alloc_buf() has none. */
static int parent_check_memory(struct ibv_context *context)
{
	struct ibv_device_attr_ex attr;
	int ret = ibv_query_device_ex(context, NULL, &attr);

	if (ret)
		return ret;
	if (!(attr.device_cap_flags_ex & IBV_DEVICE_CC_DMA_BOUNCE))
		return 0;
	verbs_warn(
		"alloc_parent_domain: the device needs memory that the guest shares, and there is none yet");
	return EOPNOTSUPP;
}

static int parent_check_attr(const struct ibv_parent_domain_init_attr *attr)
{
	const bool allocators = attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;

	if (attr->comp_mask & ~(uint32_t)PARENT_MASK_SUPPORTED) {
		verbs_warn("alloc_parent_domain: comp_mask is %#x, supported are %#x",
			   attr->comp_mask, PARENT_MASK_SUPPORTED);
		return EINVAL;
	}
	if (!attr->pd) {
		verbs_warn("alloc_parent_domain: pd is missing");
		return EINVAL;
	}
	if (allocators && (!attr->alloc || !attr->free)) {
		verbs_warn("alloc_parent_domain: alloc and free must both be set");
		return EINVAL;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOW_CC_UNPROTECTED_ALLOC)
		return parent_check_memory(attr->pd->context);
	return 0;
}

static void parent_fill(const struct ibv_parent_domain_init_attr *attr, struct mlx5_pd *mpd)
{
	mpd->base = to_mpd(attr->pd);
	mpd->pd.context = attr->pd->context;
	mpd->pd.handle = attr->pd->handle;
	mpd->pdn = mpd->base->pdn;
	mpd->td = attr->td ? container_of(attr->td, struct mlx5_td, td) : NULL;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		mpd->alloc = attr->alloc;
		mpd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		mpd->pd_context = attr->pd_context;
}

struct ibv_pd *mlx5_parent_domain_alloc(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr)
{
	int ret = parent_check_attr(attr);
	struct mlx5_pd *mpd;

	(void)context; /* the PD's */
	if (ret)
		return fail(ret);
	mpd = calloc_for("alloc_parent_domain", 1, sizeof(*mpd));
	if (!mpd)
		return fail(ENOMEM);
	parent_fill(attr, mpd);
	count(&mpd->base->users, 1);
	if (mpd->td)
		count(&mpd->td->users, 1);
	return &mpd->pd;
}

/* ---- import: a second object over a PD of the kernel's, whose number is not told */

int mlx5_pd_import(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd)
{
	uint32_t pdn = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_QUERY_PD_HANDLE, handle),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn)),
	};
	struct mlx5_pd *mpd = calloc_for("import_pd", 1, sizeof(*mpd));
	int ret;

	if (!mpd)
		return ENOMEM;
	ret = verbs_cmd_run(context, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, attrs,
			    ARRAY_SIZE(attrs));
	if (ret) {
		verbs_warn(
			"import_pd: the context has no PD of handle %u that can be imported: errno %d",
			handle, ret);
		free(mpd);
		return ret;
	}
	mpd->pd.context = context;
	mpd->pd.handle = handle;
	mpd->pdn = pdn;
	*pd = &mpd->pd;
	return 0;
}

void mlx5_pd_unimport(struct ibv_pd *pd)
{
	struct mlx5_pd *mpd = to_mpd(pd);

	if (mpd->base)
		parent_dealloc(mpd);
	else
		free(mpd);
}
