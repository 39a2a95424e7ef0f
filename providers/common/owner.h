/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner.h - whether objects that another one is to be made of belong to the same context.
 */
#ifndef PROVIDERS_COMMON_OWNER_H
#define PROVIDERS_COMMON_OWNER_H

#include "libibverbs/driver.h"

/* Both return 0, or ENOENT for an object of another context. What a type of QPs does not use is
 * not looked at. */
int provider_qp_check_owners(const struct ibv_context *context,
			     const struct ibv_qp_init_attr_ex *attr);
int provider_srq_check_owners(const struct ibv_context *context,
			      const struct ibv_srq_init_attr_ex *attr);

#endif
