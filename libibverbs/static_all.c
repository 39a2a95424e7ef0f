/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * static_all.c - for static programs: the provider called all. A program that names it pulls this
 * file, and with it every provider there is, out of the archives.
 */
#include "driver.h"

extern const struct verbs_driver verbs_provider_all, verbs_provider_mlx5;
const struct verbs_driver verbs_provider_all = { .name = NULL };

static void __attribute__((constructor)) register_all(void)
{
	verbs_register_driver(&verbs_provider_mlx5);
}
