/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_counter.h - counters of flow table entries: several entries may share one.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_COUNTER_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum {
	FLOW_LOG_COUNTERS = 15,
	FLOW_LOG_COUNTERS_QUERIED = 8, /* most counters that one command queries */
	FLOW_BULK_UNIT = 128,          /* counters of the smallest bulk */
	FLOW_BULK_SIZES = 0xff,        /* one bit for each size, a power of two of units */
};

struct flow_counter {
	uint32_t n;
	uint32_t users; /* number of entries */
	uint32_t bulk;  /* counters from this one on that end with it; 0: ends with another */
	uint64_t packets, bytes;
};

/* Adds COUNT counters with numbers in a row: *COUNTER is the first. Returns 0, ENOSPC or ENOMEM. */
int flow_counter_add(struct hca *hca, uint32_t count, struct flow_counter **counter);
/* Returns whether entries use one of the counters that end with this one. */
bool flow_counter_in_use(const struct hca *hca, const struct flow_counter *counter);
/* Removes the counters that end with this one from the adapter, and frees them. */
void flow_counter_remove(struct hca *hca, struct flow_counter *counter);

#endif
