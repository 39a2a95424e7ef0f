/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * static_default.c - for static programs that name no provider: every provider. libibverbs.pc makes
 * the linker ask for the list by its name (-u), and so link this file and the providers. loader.c
 * registers them, unless the program has named its own. The build defines VERBS_PROVIDERS as
 * PROVIDER(name) for each.
 */
#include <stddef.h>

#include "libibverbs/private.h"

#define PROVIDER(name) extern const struct verbs_driver verbs_provider_##name;
VERBS_PROVIDERS
#undef PROVIDER

#define PROVIDER(name) &verbs_provider_##name,
extern const struct verbs_driver *const verbs_static_default[];
const struct verbs_driver *const verbs_static_default[] = { VERBS_PROVIDERS NULL };

static void __attribute__((constructor)) set_default(void)
{
	verbs_loader_set_default(verbs_static_default);
}
