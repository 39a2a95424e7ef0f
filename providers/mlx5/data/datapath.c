/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.c - chooses the variant of the data path for this CPU. Contexts and queues call it when
 * they are created, so that no call of the data path asks for the CPU.
 */
#include "providers/mlx5/data/datapath.h"

#include "providers/common/cpu.h"

const struct datapath *mlx5_datapath(void)
{
#ifdef MLX5_HAS_DATA_V3
	if (provider_cpu_is_v3())
		return &mlx5_datapath_v3;
#endif
	return &mlx5_datapath_plain;
}
