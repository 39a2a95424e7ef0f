/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits.h - rates in the adapter's table: equal ones share an entry, unless it is dedicated.
 * Raw packet QPs have them by their values, and programs as objects.
 * For the notification thread only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_RATE_LIMITS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_RATE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/pacing.h"

struct adapter;
struct rate_table;

struct rate_limit {
	uint32_t rate;   /* kbit/s; 0: none */
	uint32_t burst;  /* bytes */
	uint16_t packet; /* typical size, bytes */
};

struct rate_entry {
	uint8_t context[PRM_PP_CONTEXT_SIZE]; /* as the device has it */
	uint16_t uid;                         /* whose it is */
	bool dedicated;                       /* nobody else gets it */
	unsigned int users;                   /* the table's */
};

/* Gives the index of an entry that says what ENTRY does. It returns 0, EOPNOTSUPP when the adapter
 * has none, EINVAL beyond what it can, ENOSPC when the table is full, or the device's errno. */
int rate_entry_get(struct adapter *adapter, const struct rate_entry *entry, uint32_t *index);
/* Likewise gives the entry that has LIMIT, or 0 for none. */
int rate_limit_get(struct adapter *adapter, const struct rate_limit *limit, uint32_t *index);
void rate_limit_put(struct adapter *adapter, uint32_t index);
void rate_limits_free(struct adapter *adapter);

#endif
