/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_table.h - flow tables and their groups.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_TABLE_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/flow/flow_key.h"

struct eth;
struct flow_entry;
struct hca;

enum {
	FLOW_LOG_TABLE_MAX = 16,
	FLOW_LEVELS = 128,
	FLOW_LOG_TABLES = 10,
	FLOW_BUCKETS = 64,
};

struct flow_group {
	TAILQ_ENTRY(flow_group) in_table; /* sorted by first index */
	uint32_t n;
	struct flow_table *table;
	uint32_t first, last; /* indices */
	uint32_t entries;
	uint8_t sets; /* PRM_MATCH_*: sets in which the mask has bits */
	uint8_t mask[FLOW_KEY_SIZE];
	LIST_HEAD(, flow_entry) bucket[FLOW_BUCKETS];
};

struct flow_table {
	uint32_t n;
	uint32_t users; /* entries and tables that lead here, and being the root */
	enum prm_flow_table_type type;
	unsigned int level, log_size;
	bool has_reformat, has_decap; /* entries may have these actions */
	bool is_last;                 /* entries lead to no table (PRM: termination table) */
	/* Software writes the entries itself: the address of the first. 0: entries come by
	 * commands. */
	uint64_t software_root;
	/* table for frames that no entry matches; counts this table as a user. NULL: the default */
	struct flow_table *miss;
	TAILQ_HEAD(, flow_group) groups;
	struct flow_entry **entry;
};

/* Adds a table. Returns 0, ENOSPC or ENOMEM. */
int flow_table_add(struct hca *hca, enum prm_flow_table_type type, unsigned int level,
		   unsigned int log_size, struct flow_table **table);
/* Returns NULL, or the reason why a table of TYPE and LEVEL must not lead to MISS. MISS NULL stands
 * for a table that does not exist. */
const char *flow_miss_check(enum prm_flow_table_type type, unsigned int level,
			    const struct flow_table *miss);
void flow_table_set_miss(struct flow_table *table, struct flow_table *miss);
void flow_set_root(struct eth *eth, enum prm_flow_table_type type, struct flow_table *table);
/* Removes a table from the adapter and frees it. Returns false if it has groups or another object
 * leads to it. Removing the root table leaves no root. */
bool flow_table_remove(struct hca *hca, struct flow_table *table);
void flow_table_free(struct flow_table *table);

/* Returns NULL, or the reason why the table cannot have a group at these indices. */
const char *flow_group_check(const struct flow_table *table, uint32_t first, uint32_t last);
/* Adds a group at indices that flow_group_check() has accepted. Returns 0, ENOSPC or ENOMEM. */
int flow_group_add(struct hca *hca, struct flow_table *table, uint32_t first, uint32_t last,
		   const uint8_t mask[FLOW_KEY_SIZE], struct flow_group **group);
void flow_group_remove(struct hca *hca, struct flow_group *group);
void flow_group_free(struct hca *hca, struct flow_group *group);

#endif
