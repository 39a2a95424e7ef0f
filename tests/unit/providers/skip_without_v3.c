/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * skip_without_v3.c - ends a test of the data path's v3 variant with status 77 and the reason,
 * before it begins, on a CPU that cannot run it.
 */
#include <stdio.h>
#include <unistd.h>

#include "providers/common/cpu.h"

static void __attribute__((constructor)) skip_without_v3(void)
{
	if (provider_cpu_is_v3())
		return;
	printf("SKIP: this CPU has no AVX2, BMI2 and MOVBE\n");
	fflush(stdout);
	_exit(77);
}
