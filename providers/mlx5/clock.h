/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - from timestamps of the adapter's clock to wall-clock time.
 */
#ifndef PROVIDERS_MLX5_CLOCK_H
#define PROVIDERS_MLX5_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include "util/barrier.h"
#include "libibverbs/driver.h" /* before kernel headers: public headers name some of their things */
#include <rdma/mlx5-abi.h>

struct mlx5_context;

/* *INFO becomes the kernel's page of factors, which is mapped when it is first asked for.
 * Returns EOPNOTSUPP when the kernel has none, as the log says. */
int mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info);
/* *CLOCK becomes where the adapter's clock can be read, two big-endian words, the upper first.
 * Returns EOPNOTSUPP when the kernel does not show it, as the log says. */
int mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **clock);
int mlx5_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* The kernel writes the page in less than a microsecond; so many looks take some tens. */
enum { CLOCK_LOOKS = 10000 };

/* Makes a consistent copy of PAGE, which the kernel may write to meanwhile: while it does, sign is
 * odd, and afterwards it is another. Returns EBUSY when the page does not come to rest. */
static inline int clock_snapshot(const struct mlx5_ib_clock_info *page,
				 struct mlx5_ib_clock_info *copy)
{
	for (unsigned int looks = 0; looks < CLOCK_LOOKS; looks++) {
		uint32_t sign = __atomic_load_n(&page->sign, __ATOMIC_ACQUIRE);

		if (sign & MLX5_IB_CLOCK_INFO_KERNEL_UPDATING)
			continue;
		*copy = *page;
		/* The writer is the kernel; the thread sanitizer takes this for a fence. */
		dma_load_barrier();
		if (__atomic_load_n(&page->sign, __ATOMIC_RELAXED) == sign)
			return 0;
	}
	return EBUSY;
}

/* CYCLES may be a little older or newer than the moment that the factors in INFO are of. */
static inline uint64_t clock_to_ns(const struct mlx5_ib_clock_info *info, uint64_t cycles)
{
	uint64_t ahead = (cycles - info->cycles) & info->mask;
	uint64_t behind = (info->cycles - cycles) & info->mask;

	if (ahead <= info->mask / 2)
		return info->nsec + ((ahead * info->mult + info->frac) >> info->shift);
	return info->nsec - ((behind * info->mult - info->frac) >> info->shift);
}

/* An adapter that knows the time of the day says seconds and nanoseconds. */
static inline uint64_t clock_real_to_ns(uint64_t stamp)
{
	return (stamp >> 32) * 1000000000u + (uint32_t)stamp;
}

#endif
