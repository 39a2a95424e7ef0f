/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rwq_table.h - indirection tables of WQs. They need no data path code: the adapter spreads frames
 * over a table's WQs.
 */
#ifndef PROVIDERS_COMMON_RWQ_TABLE_H
#define PROVIDERS_COMMON_RWQ_TABLE_H

#include "libibverbs/driver.h"

struct ibv_rwq_ind_table *provider_rwq_table_create(struct ibv_context *context,
						    struct ibv_rwq_ind_table_init_attr *attr);
int provider_rwq_table_destroy(struct ibv_rwq_ind_table *table);

#endif
