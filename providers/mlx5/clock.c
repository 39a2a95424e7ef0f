/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.c - reads the adapter's clock from a mapped page, and converts it to wall-clock time with
 * the factors that the kernel publishes on a second page.
 */
#include "providers/mlx5/clock.h"

#include <errno.h>

#include "providers/mlx5/context.h"
#include "util/mmio.h"

static int clock_get_page(struct mlx5_context *ctx, uint32_t command, uint32_t index,
			  struct clock_page *page, const void **addr)
{
	return provider_clock_page_get(page, &ctx->vctx.context, command << 8 | index, addr);
}

int mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **words)
{
	const void *page;
	int ret;

	if (MMIO_IS_APART) {
		verbs_warn("query_rt_values: this CPU cannot load from the adapter's page");
		return EOPNOTSUPP;
	}
	if (!(ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET)) {
		verbs_warn("query_rt_values: the kernel does not show the adapter's clock");
		return EOPNOTSUPP;
	}
	ret = clock_get_page(ctx, MLX5_IB_MMAP_CORE_CLOCK, 0, &ctx->common.clock, &page);
	if (ret) {
		verbs_warn("query_rt_values: the page of the adapter's clock cannot be mapped: "
			   "errno %d",
			   ret);
		return EOPNOTSUPP;
	}
	*words =
		(const volatile __be32 *)((const uint8_t *)page + (ctx->caps.hca_core_clock_offset &
								   (ctx->common.clock.size - 1)));
	return 0;
}

int mlx5_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct mlx5_context *ctx = to_mctx(context);
	const volatile __be32 *words;
	int ret;

	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)) {
		values->comp_mask = 0;
		return 0;
	}
	ret = mlx5_clock_get_core(ctx, &words);
	if (ret)
		return ret;
	provider_clock_fill(words, values);
	return 0;
}

int mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info)
{
	const void *page = __atomic_load_n(&ctx->clock_info.addr, __ATOMIC_ACQUIRE);
	int ret = EOPNOTSUPP;

	if (page) { /* a mapped page stays, so later calls need no lock */
		*info = page;
		return 0;
	}
	if (ctx->caps.clock_info_versions & 1u << MLX5_IB_CLOCK_INFO_V1)
		ret = clock_get_page(ctx, MLX5_IB_MMAP_CLOCK_INFO, MLX5_IB_CLOCK_INFO_V1,
				     &ctx->clock_info, &page);
	if (ret) {
		verbs_warn("create_cq: wc_flags has COMPLETION_TIMESTAMP_WALLCLOCK: the kernel "
			   "gives no clock information");
		return EOPNOTSUPP;
	}
	*info = page;
	return 0;
}
