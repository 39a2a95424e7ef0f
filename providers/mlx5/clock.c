/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.c - the adapter's clock: read from its page, and translated to wall-clock time with the
 * factors that the kernel keeps in another.
 */
#include "providers/mlx5/clock.h"

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/mlx5/context.h"

/* The caller holds ctx->clock_lock. */
static int clock_map_page(struct mlx5_context *ctx, uint32_t command, uint32_t index,
			  const void **page)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	off_t offset = (off_t)((command << 8 | index) * size);
	void *addr;

	if (*page)
		return 0;
	addr = mmap(NULL, size, PROT_READ, MAP_SHARED, ctx->vctx.context.cmd_fd, offset);
	if (addr == MAP_FAILED)
		return errno;
	*page = addr;
	return 0;
}

static int clock_get_page(struct mlx5_context *ctx, uint32_t command, uint32_t index,
			  const void **page)
{
	int ret;

	pthread_mutex_lock(&ctx->clock_lock);
	ret = clock_map_page(ctx, command, index, page);
	pthread_mutex_unlock(&ctx->clock_lock);
	return ret;
}

int mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **words)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int ret;

	if (!(ctx->caps.comp_mask & MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET)) {
		verbs_warn("query_rt_values: the kernel does not show the adapter's clock");
		return EOPNOTSUPP;
	}
	ret = clock_get_page(ctx, MLX5_IB_MMAP_CORE_CLOCK, 0, &ctx->core_clock);
	if (ret) {
		verbs_warn("query_rt_values: the page of the adapter's clock cannot be mapped: "
			   "errno %d",
			   ret);
		return EOPNOTSUPP;
	}
	*words = (const volatile __be32 *)((const uint8_t *)ctx->core_clock +
					   (ctx->caps.hca_core_clock_offset & (size - 1)));
	return 0;
}

int mlx5_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	struct mlx5_context *ctx = to_mctx(context);
	const volatile __be32 *words;
	uint32_t high, low, again;
	int ret;

	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)) {
		values->comp_mask = 0;
		return 0;
	}
	ret = mlx5_clock_get_core(ctx, &words);
	if (ret)
		return ret;
	/* The clock is two words: they belong together when the upper one is the same before and
	 * after the lower one was read. */
	again = be32toh(words[0]);
	do {
		high = again;
		low = be32toh(words[1]);
		again = be32toh(words[0]);
	} while (high != again);
	values->raw_clock.tv_sec = 0;
	values->raw_clock.tv_nsec = (long)((uint64_t)high << 32 | low);
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

int mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info)
{
	int ret = EOPNOTSUPP;

	if (ctx->caps.clock_info_versions & 1u << MLX5_IB_CLOCK_INFO_V1)
		ret = clock_get_page(ctx, MLX5_IB_MMAP_CLOCK_INFO, MLX5_IB_CLOCK_INFO_V1,
				     &ctx->clock_info);
	if (ret) {
		verbs_warn("create_cq: wc_flags has COMPLETION_TIMESTAMP_WALLCLOCK: the kernel "
			   "gives no clock information");
		return EOPNOTSUPP;
	}
	*info = ctx->clock_info;
	return 0;
}

void mlx5_clock_free(struct mlx5_context *ctx)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	if (ctx->core_clock)
		munmap((void *)(uintptr_t)ctx->core_clock, size);
	if (ctx->clock_info)
		munmap((void *)(uintptr_t)ctx->clock_info, size);
}
