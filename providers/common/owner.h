/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner.h - checks that the objects used to create another one belong to the same context.
 */
#ifndef PROVIDERS_COMMON_OWNER_H
#define PROVIDERS_COMMON_OWNER_H

#include "libibverbs/driver.h"

/* Check that the objects in ATTR belong to CONTEXT, except for objects that the type does not use.
 * Return 0 or ENOENT. */
int provider_qp_check_owners(const struct ibv_context *context,
			     const struct ibv_qp_init_attr_ex *attr);
int provider_srq_check_owners(const struct ibv_context *context,
			      const struct ibv_srq_init_attr_ex *attr);

#endif
