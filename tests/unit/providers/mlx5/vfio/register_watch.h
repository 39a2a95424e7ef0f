/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * register_watch.h - included before a source that reads registers of the adapter: the test answers
 * each load, as a register need not have the same value twice. Barriers are those of
 * order_watch.h.
 */
#ifndef TESTS_UNIT_PROVIDERS_MLX5_VFIO_REGISTER_WATCH_H
#define TESTS_UNIT_PROVIDERS_MLX5_VFIO_REGISTER_WATCH_H

#include "tests/unit/providers/mlx5/order_watch.h"
#include "util/mmio.h"

__be32 register_watch(const void *reg);

#define mmio_load_be32 register_watch

#endif
