/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_counter.h - counters of flow table entries: several entries may share one.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_COUNTER_H
#define SOFTHCA_DEVICE_ETH_FLOW_COUNTER_H

#include <stdint.h>

struct hca;

enum {
	FLOW_LOG_COUNTERS = 15,
	FLOW_LOG_COUNTERS_QUERIED = 8, /* most counters that one command queries */
};

struct flow_counter {
	uint32_t n;
	uint32_t users; /* number of entries */
	uint64_t packets, bytes;
};

/* Adds a counter. Returns 0, ENOSPC or ENOMEM. */
int flow_counter_add(struct hca *hca, struct flow_counter **counter);
/* Removes a counter without users from the adapter, and frees it. */
void flow_counter_remove(struct hca *hca, struct flow_counter *counter);

#endif
