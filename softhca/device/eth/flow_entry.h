/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_entry.h - entries of flow tables.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_ENTRY_H
#define SOFTHCA_DEVICE_ETH_FLOW_ENTRY_H

#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/flow_match.h"

struct flow_counter;
struct flow_group;
struct flow_table;
struct hca;
struct tir;

enum {
	FLOW_LOG_DESTINATIONS = 5, /* of an entry */
	FLOW_LOG_ENTRIES = 16,     /* of all tables */
	FLOW_CONTEXT_MAX = 768,
};

struct flow_destination {
	struct flow_table *table; /* one of the two */
	struct tir *tir;
};

struct flow_entry {
	LIST_ENTRY(flow_entry) in_bucket;
	struct flow_group *group;
	uint32_t index;
	uint32_t tag;
	unsigned int action; /* PRM_FLOW_* */
	unsigned int count;  /* of destination[] */
	struct flow_destination *destination;
	struct flow_counter *counter; /* or NULL */
	uint8_t key[FLOW_KEY_SIZE];   /* value under the group's mask */
	uint8_t context[FLOW_CONTEXT_MAX];
};

/* Returns NULL, or why entries of TABLE must not lead to a destination. */
const char *flow_destination_check(const struct flow_table *table,
				   const struct flow_destination *destination);
/* Puts an entry into its group and at its index, in the place of the one that may be there. It
 * returns NULL, or why not. */
const char *flow_entry_put(struct hca *hca, struct flow_entry *entry);
void flow_entry_remove(struct hca *hca, struct flow_entry *entry);
/* Frees an entry that is in no table. */
void flow_entry_discard(struct flow_entry *entry);

#endif
