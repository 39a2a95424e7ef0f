/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpu.h - whether this CPU can run the data paths that are compiled for x86-64-v3.
 */
#ifndef PROVIDERS_COMMON_CPU_H
#define PROVIDERS_COMMON_CPU_H

#include <stdbool.h>

bool provider_cpu_is_v3(void);

#endif
