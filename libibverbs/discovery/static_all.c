/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * static_all.c - for static programs: the provider named all. A program that names it links this
 * file, and with it every provider in the archives. The build defines VERBS_PROVIDERS as
 * PROVIDER(name) for each.
 */
#include "libibverbs/driver.h"
#include "util/bits.h"

#define PROVIDER(name) extern const struct verbs_driver verbs_provider_##name;
VERBS_PROVIDERS
#undef PROVIDER

extern const struct verbs_driver verbs_provider_all;
const struct verbs_driver verbs_provider_all = { .name = NULL };

#define PROVIDER(name) &verbs_provider_##name,
static const struct verbs_driver *const drivers[] = { VERBS_PROVIDERS };

static void __attribute__((constructor)) register_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(drivers); i++)
		verbs_register_driver(drivers[i]);
}
