/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits.h - entries of the adapter's rate table. Equal ones are shared unless dedicated. Raw
 * packet QPs name rates by value, and programs have them as objects. Only for the notification
 * thread.
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
	uint16_t packet; /* typical packet size in bytes */
};

struct rate_entry {
	uint8_t context[PRM_PP_CONTEXT_SIZE]; /* in the device's layout */
	uint16_t uid;                         /* user id of the owner */
	bool dedicated;
	/* only in the table: number of users; the last one frees the device's entry */
	unsigned int users;
};

/* Finds or makes an entry equal to ENTRY. Returns 0 with its index; EOPNOTSUPP if the adapter has
 * no rate limits; EINVAL if the rate is out of the adapter's range; ENOSPC if the table is full; or
 * the device's errno. */
int rate_entry_get(struct adapter *adapter, const struct rate_entry *entry, uint32_t *index);
/* Finds or makes the entry for LIMIT; index 0 for no limit. Returns as rate_entry_get() does. */
int rate_limit_get(struct adapter *adapter, const struct rate_limit *limit, uint32_t *index);
void rate_limit_put(struct adapter *adapter, uint32_t index);
void rate_limits_free(struct adapter *adapter);

#endif
