/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_table.h - flow tables and their groups.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_TABLE_H
#define SOFTHCA_DEVICE_ETH_FLOW_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/eth/flow_match.h"

struct eth;
struct flow_entry;
struct hca;

enum {
	FLOW_LOG_TABLE_MAX = 16, /* entries of a table */
	FLOW_LEVELS = 128,
	FLOW_LOG_TABLES = 10,
	FLOW_BUCKETS = 64,
};

struct flow_group {
	TAILQ_ENTRY(flow_group) in_table; /* by start index */
	uint32_t n;
	struct flow_table *table;
	uint32_t first, last; /* indices */
	uint32_t entries;
	uint8_t mask[FLOW_KEY_SIZE];
	LIST_HEAD(, flow_entry) bucket[FLOW_BUCKETS];
};

struct flow_table {
	uint32_t n;
	uint32_t users; /* entries and tables that lead here, and the root */
	enum prm_flow_table_type type;
	unsigned int level, log_size;
	struct flow_table *miss; /* NULL: the default */
	TAILQ_HEAD(, flow_group) groups;
	struct flow_entry **entry; /* by index */
};

/* Adds a table of that type, level and size. It returns 0, ENOSPC or ENOMEM. */
int flow_table_add(struct hca *hca, enum prm_flow_table_type type, unsigned int level,
		   unsigned int log_size, struct flow_table **table);
/* Returns NULL, or why a table of TYPE and LEVEL must not lead to MISS, which may be NULL: there is
 * no such table. */
const char *flow_miss_check(enum prm_flow_table_type type, unsigned int level,
			    const struct flow_table *miss);
void flow_table_set_miss(struct flow_table *table, struct flow_table *miss);
/* Makes TABLE, or none, the one where frames enter. */
void flow_set_root(struct eth *eth, enum prm_flow_table_type type, struct flow_table *table);
/* Takes a table out of the adapter, and frees it. It returns false when the table has groups or
 * something leads to it. The root table may go as it is; then there is none. */
bool flow_table_remove(struct hca *hca, struct flow_table *table);

/* Returns NULL, or why there can be no group at these indices of the table. */
const char *flow_group_check(const struct flow_table *table, uint32_t first, uint32_t last);
/* Adds a group at indices that were checked. It returns 0, ENOSPC or ENOMEM. */
int flow_group_add(struct hca *hca, struct flow_table *table, uint32_t first, uint32_t last,
		   const uint8_t mask[FLOW_KEY_SIZE], struct flow_group **group);
/* Takes a group without entries out of its table, and frees it. */
void flow_group_remove(struct hca *hca, struct flow_group *group);

/* Frees all tables with all that is in them, and all counters. */
void flow_free_all(struct hca *hca);

#endif
