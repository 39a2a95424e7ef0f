/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.c - the adapter's clock, read from its page.
 */
#include "providers/mlx4/clock.h"

#include <errno.h>

#include "providers/mlx4/context.h"
#include "providers/mlx4/device.h"
#include "util/mmio.h"

enum { CLOCK_PAGE = 3 }; /* page offset in the device file: mlx4_ib */

static int clock_refuse(const char *why)
{
	verbs_warn("query_rt_values: %s", why);
	return EOPNOTSUPP;
}

static int clock_get(struct mlx4_context *ctx, const volatile __be32 **words)
{
	const struct mlx4_uverbs_ex_query_device_resp *device;
	const void *page;
	int ret = mlx4_device_resp_get(ctx, &device);

	if (ret)
		return ret;
	if (MMIO_IS_APART)
		return clock_refuse("this CPU cannot load from the adapter's page");
	if (!(device->comp_mask & MLX4_IB_QUERY_DEV_RESP_MASK_CORE_CLOCK_OFFSET))
		return clock_refuse("the kernel does not show the adapter's clock");
	if (provider_clock_page_get(&ctx->common.clock, &ctx->vctx.context, CLOCK_PAGE, &page))
		return clock_refuse("the page of the adapter's clock cannot be mapped");
	*words = (const volatile __be32 *)((const uint8_t *)page + (device->hca_core_clock_offset &
								    (ctx->common.clock.size - 1)));
	return 0;
}

int mlx4_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	const volatile __be32 *words;
	int ret = 0;

	if (!(values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)) {
		values->comp_mask = 0;
		return 0;
	}
	ret = clock_get(to_mctx(context), &words);
	if (!ret)
		provider_clock_fill(words, values);
	return ret;
}
