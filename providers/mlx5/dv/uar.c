/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.c - direct verbs on doorbell pages: a program gets its own page, or the plain page that the
 * CQs ring. Before Linux 5.8, the kernel reports the adapter's page numbers only for BlueFlame
 * pages.
 */
#include <stdlib.h>
#include <unistd.h>

#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/vfio/vfio.h"
#include "prm/mlx5/uar.h"
#include "util/alloc.h"

struct dv_uar {
	struct mlx5dv_devx_uar uar; /* first, because programs get its address */
	struct ibv_context *context;
	struct mlx5_uar *page;
	struct mlx5_bfreg *bfreg; /* BlueFlame: reserved until freed. NULL: a plain page */
};

static void uar_describe(struct dv_uar *uar, struct mlx5_uar *page, uint8_t *reg)
{
	uar->uar.reg_addr = reg;
	uar->uar.base_addr = page->page;
	uar->uar.page_id = page->page_id;
	uar->uar.mmap_off = (off_t)page->mmap_offset;
	uar->page = page;
}

static int blueflame_get(struct mlx5_context *ctx, struct dv_uar *uar)
{
	int ret = mlx5_uar_get_blueflame(ctx, &uar->bfreg);

	if (ret) {
		verbs_warn("mlx5dv_devx_alloc_uar: the kernel gives no page for BlueFlame: errno "
			   "%d; try MLX5DV_UAR_ALLOC_TYPE_NC",
			   ret);
		return ret;
	}
	uar_describe(uar, uar->bfreg->uar, uar->bfreg->reg);
	if (!context_has_uar_objects(ctx))
		ret = mlx5_uar_page_ask_id(ctx, uar->bfreg->index, &uar->uar.page_id);
	if (ret)
		mlx5_uar_put_bfreg(ctx, uar->bfreg);
	return ret;
}

static int uar_get(struct mlx5_context *ctx, uint32_t flags, struct dv_uar *uar)
{
	struct mlx5_uar *page;
	int ret;

	if (flags == MLX5DV_UAR_ALLOC_TYPE_BF)
		return blueflame_get(ctx, uar);
	if (!context_has_uar_objects(ctx)) {
		verbs_warn("mlx5dv_devx_alloc_uar: flags is %#x, and this kernel says the numbers "
			   "of doorbell pages for BlueFlame only (Linux 5.8 says all)",
			   flags);
		return EOPNOTSUPP;
	}
	switch (flags) {
	case MLX5DV_UAR_ALLOC_TYPE_NC:
		ret = mlx5_uar_get_cq(ctx, &page);
		break;
	case MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED:
		ret = mlx5_uar_get_plain(ctx, &page);
		break;
	default:
		verbs_warn(
			"mlx5dv_devx_alloc_uar: flags is %#x, must be one MLX5DV_UAR_ALLOC_TYPE_*",
			flags);
		return EOPNOTSUPP;
	}
	if (!ret)
		uar_describe(uar, page, page->page + PRM_UAR_SQ);
	return ret;
}

/* Creates the context's plain page for programs. Two threads may do this at once; one of the pages
 * is kept, the other is freed, so no lock is held during the system call. */
static int plain_make(struct mlx5_context *ctx, struct dv_uar **out)
{
	struct dv_uar *uar = calloc_for("mlx5dv_devx_alloc_uar", 1, sizeof(*uar));
	int ret = uar ? uar_get(ctx, MLX5DV_UAR_ALLOC_TYPE_NC, uar) : ENOMEM;

	*out = NULL;
	if (ret) {
		free(uar);
		return ret;
	}
	uar->context = &ctx->vctx.context;
	if (__atomic_compare_exchange_n(&ctx->plain_for_programs, (void **)out, uar, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		*out = uar;
	else
		free(uar);
	return 0;
}

static struct mlx5dv_devx_uar *plain_for_all(struct mlx5_context *ctx)
{
	struct dv_uar *uar = __atomic_load_n(&ctx->plain_for_programs, __ATOMIC_ACQUIRE);
	int ret = uar ? 0 : plain_make(ctx, &uar);

	return ret ? dv_fail(ret) : &uar->uar;
}

DV_EXPORT struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *context, uint32_t flags)
{
	struct dv_uar *uar;
	int ret;

	if (unlikely(context_is_vfio(context)))
		return mlx5_vfio_uar_alloc(context, flags);
	ret = dv_check_context("mlx5dv_devx_alloc_uar", context);
	if (ret)
		return dv_fail(ret);
	if (flags == MLX5DV_UAR_ALLOC_TYPE_NC)
		return plain_for_all(to_mctx(context));
	uar = dv_take("mlx5dv_devx_alloc_uar", context, uar);
	if (!uar)
		return dv_fail(ENOMEM);
	*uar = (struct dv_uar){ .context = context };
	ret = uar_get(to_mctx(context), flags, uar);
	if (!ret)
		return &uar->uar;
	dv_give(context, uar);
	return dv_fail(ret);
}

DV_EXPORT void mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *devx_uar)
{
	struct dv_uar *uar = (struct dv_uar *)devx_uar;
	struct mlx5_context *ctx;

	if (unlikely(context_is_vfio(uar->context))) {
		mlx5_vfio_uar_free(devx_uar);
		return;
	}
	ctx = to_mctx(uar->context);
	if (uar->bfreg)
		mlx5_uar_put_bfreg(ctx, uar->bfreg);
	else if (uar != __atomic_load_n(&ctx->plain_for_programs, __ATOMIC_ACQUIRE))
		mlx5_uar_put_plain(ctx, uar->page);
	else
		return; /* freed with the context, because CQs ring it, too */
	dv_give(uar->context, uar);
}

DV_EXPORT int mlx5dv_devx_uar_export_dmabuf_fd(struct mlx5dv_devx_uar *devx_uar)
{
	const struct dv_uar *uar = (struct dv_uar *)devx_uar;
	int fd = -1;
	int ret = dv_check_context("mlx5dv_devx_uar_export_dmabuf_fd", uar->context);

	if (!ret)
		ret = verbs_cmd_alloc_dmabuf(uar->context, uar->page->mmap_offset, &fd);
	if (!ret)
		return fd;
	errno = ret;
	return -1;
}
