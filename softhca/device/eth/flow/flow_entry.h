/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_entry.h - entries of flow tables.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_ENTRY_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/flow/flow_key.h"

struct flow_counter;
struct flow_group;
struct flow_table;
struct hca;
struct modify_header;
struct packet_reformat;
struct tir;

enum {
	FLOW_LOG_DESTINATIONS = 5,
	FLOW_LOG_ENTRIES = 16,
	FLOW_CONTEXT_MAX = 768,
};

struct flow_destination {
	struct flow_table *table; /* one of the two is set */
	struct tir *tir;
};

struct flow_entry {
	LIST_ENTRY(flow_entry) in_bucket;
	struct flow_group *group;
	uint32_t index;
	uint32_t tag;
	unsigned int action; /* PRM_FLOW_* */
	unsigned int count;
	struct flow_destination *destination;
	struct flow_counter *counter;     /* or NULL */
	struct modify_header *change;     /* of the headers, or NULL */
	struct packet_reformat *reformat; /* outer headers that come or go, or NULL */
	uint8_t key[FLOW_KEY_SIZE];       /* value to match, under the group's mask */
	uint8_t context[FLOW_CONTEXT_MAX];
};

/* Returns NULL, or the reason why entries of TABLE must not lead to DESTINATION. ANY_LEVEL is the
 * entry's ignore_flow_level: it may lead to a table of the same or a lower level. Loops end when
 * the frame's steps are spent (flow_match.c). */
const char *flow_destination_check(const struct flow_table *table,
				   const struct flow_destination *destination, bool any_level);
/* Puts an entry into its group at its index, replacing the one that is there. Returns NULL or the
 * reason for refusing it. */
const char *flow_entry_put(struct hca *hca, struct flow_entry *entry);
void flow_entry_remove(struct hca *hca, struct flow_entry *entry);
void flow_entry_discard(struct flow_entry *entry);

#endif
