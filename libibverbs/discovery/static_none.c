/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * static_none.c - for static programs: the provider named none, which fills unused places of
 * RDMA_STATIC_PROVIDERS.
 */
#include "libibverbs/driver.h"

extern const struct verbs_driver verbs_provider_none;
const struct verbs_driver verbs_provider_none = { .name = NULL };
