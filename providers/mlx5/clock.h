/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - converts timestamps of the adapter's clock to wall-clock time.
 */
#ifndef PROVIDERS_MLX5_CLOCK_H
#define PROVIDERS_MLX5_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include "util/barrier.h"
#include <rdma/mlx5-abi.h>
#include "libibverbs/driver.h"

struct mlx5_context;

/* Sets *INFO to the kernel's page of conversion factors; the first call maps the page. Returns
 * EOPNOTSUPP, logged, when the kernel has no such page. */
int mlx5_clock_get_info(struct mlx5_context *ctx, const struct mlx5_ib_clock_info **info);
/* Sets *CLOCK to the address of the adapter's clock: two big-endian words, the upper one first.
 * Returns EOPNOTSUPP, logged, when the kernel does not map it. */
int mlx5_clock_get_core(struct mlx5_context *ctx, const volatile __be32 **clock);
int mlx5_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* Limit of attempts to copy the page. An update by the kernel takes less than a microsecond, and
 * these attempts take tens of microseconds. */
enum { CLOCK_LOOKS = 10000 };

/* Copies PAGE consistently while the kernel may update it: the field sign is odd during an update,
 * and has a new value after it. Returns EBUSY when all attempts met an update. */
static inline int clock_snapshot(const struct mlx5_ib_clock_info *page,
				 struct mlx5_ib_clock_info *copy)
{
	for (unsigned int looks = 0; looks < CLOCK_LOOKS; looks++) {
		uint32_t sign = __atomic_load_n(&page->sign, __ATOMIC_ACQUIRE);

		if (sign & MLX5_IB_CLOCK_INFO_KERNEL_UPDATING)
			continue;
		*copy = *page;
		/* Not a C11 fence, which the thread sanitizer cannot model; the writer is the
		 * kernel anyway. */
		dma_load_barrier();
		if (__atomic_load_n(&page->sign, __ATOMIC_RELAXED) == sign)
			return 0;
	}
	return EBUSY;
}

/* Converts CYCLES to nanoseconds. CYCLES may be slightly before or after the moment at which the
 * kernel computed the factors of INFO. */
static inline uint64_t clock_to_ns(const struct mlx5_ib_clock_info *info, uint64_t cycles)
{
	uint64_t ahead = (cycles - info->cycles) & info->mask;
	uint64_t behind = (info->cycles - cycles) & info->mask;

	if (ahead <= info->mask / 2)
		return info->nsec + ((ahead * info->mult + info->frac) >> info->shift);
	return info->nsec - ((behind * info->mult - info->frac) >> info->shift);
}

/* Converts a real-time timestamp: the upper half has seconds, the lower half nanoseconds, so no
 * clock information of the kernel is needed. */
static inline uint64_t clock_real_to_ns(uint64_t stamp)
{
	return (stamp >> 32) * 1000000000u + (uint32_t)stamp;
}

#endif
