/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * skip_without_v3.c - ends a test of that variant of a data path, before it begins, on a CPU that
 * cannot run it: status 77, with the reason.
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
