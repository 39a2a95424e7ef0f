/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrcd.h - XRC domains. They need no data path code: messages complete in the SRQs that their
 * senders name.
 */
#ifndef PROVIDERS_COMMON_XRCD_H
#define PROVIDERS_COMMON_XRCD_H

#include "libibverbs/driver.h"

struct ibv_xrcd *provider_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int provider_xrcd_close(struct ibv_xrcd *xrcd);

#endif
