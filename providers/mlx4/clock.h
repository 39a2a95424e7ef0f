/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - the adapter's clock, the source of completion timestamps.
 */
#ifndef PROVIDERS_MLX4_CLOCK_H
#define PROVIDERS_MLX4_CLOCK_H

#include "libibverbs/driver.h"

int mlx4_clock_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

#endif
