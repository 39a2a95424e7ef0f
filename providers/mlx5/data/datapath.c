/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.c - chooses the variant of the data path that this CPU can run. Contexts and queues ask
 * for it when they are created.
 */
#include "providers/mlx5/data/datapath.h"

#ifdef MLX5_HAS_DATA_V3
#include <cpuid.h>

/* Compilers know "avx2" and "bmi2", and with these that the kernel saves the registers, but not
 * every compiler knows "movbe". */
static bool cpu_has_movbe(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_MOVBE;
}

static const struct datapath *datapath_choose(void)
{
	bool is_v3 =
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && cpu_has_movbe();

	return is_v3 ? &mlx5_datapath_v3 : &mlx5_datapath_plain;
}

const struct datapath *mlx5_datapath(void)
{
	/* CPUID is expensive in a virtual machine, so its answer is kept. Threads that ask at once
	 * get the same one. */
	static const struct datapath *chosen;
	const struct datapath *path = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (path)
		return path;
	path = datapath_choose();
	__atomic_store_n(&chosen, path, __ATOMIC_RELAXED);
	return path;
}
#else
const struct datapath *mlx5_datapath(void)
{
	return &mlx5_datapath_plain;
}
#endif
