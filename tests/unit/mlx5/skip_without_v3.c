/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * skip_without_v3.c - ends a test of that variant of the data path, before it begins, on a CPU that
 * cannot run it: status 77, with the reason.
 */
#include <stdio.h>
#include <unistd.h>

#include "providers/mlx5/data/datapath.h"

static void __attribute__((constructor)) skip_without_v3(void)
{
	if (mlx5_datapath() == &mlx5_datapath_v3)
		return;
	printf("SKIP: this CPU has no AVX2, BMI2 and MOVBE\n");
	fflush(stdout);
	_exit(77);
}
