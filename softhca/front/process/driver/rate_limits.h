/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits.h - rates of raw packet QPs in the adapter's table: equal ones share an entry.
 * The functions are for the notification thread only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_RATE_LIMITS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_RATE_LIMITS_H

#include <stdint.h>

struct adapter;
struct rate_table;

struct rate_limit {
	uint32_t rate;   /* kbit/s; 0: none */
	uint32_t burst;  /* bytes */
	uint16_t packet; /* typical size, bytes */
};

/* The function gives the entry that has LIMIT, or 0 for none. It returns 0, EINVAL beyond what the
 * adapter can, ENOSPC when the table is full, or the device's errno. */
int rate_limit_get(struct adapter *adapter, const struct rate_limit *limit, uint32_t *index);
void rate_limit_put(struct adapter *adapter, uint32_t index);
void rate_limits_free(struct adapter *adapter);

#endif
