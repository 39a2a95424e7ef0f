/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_table.c - flow tables, their groups, and the root tables where frames enter.
 *
 * A group owns a range of indices and the mask of the bits that its entries match. A table leads,
 * by entries or on a miss, only to tables of a higher level, so steering cannot loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"

void flow_table_free(struct flow_table *table)
{
	free(table->entry);
	free(table);
}

int flow_table_add(struct hca *hca, enum prm_flow_table_type type, unsigned int level,
		   unsigned int log_size, struct flow_table **out)
{
	struct flow_table *table = calloc(1, sizeof(*table));
	int ret;

	if (!table)
		return ENOMEM;
	table->type = type;
	table->level = level;
	table->log_size = log_size;
	TAILQ_INIT(&table->groups);
	table->entry = calloc((size_t)1 << log_size, sizeof(*table->entry));
	ret = table->entry ? res_add(&hca->eth->flow_tables, table, &table->n) : ENOMEM;
	if (ret)
		flow_table_free(table);
	else
		*out = table;
	return ret;
}

const char *flow_miss_check(enum prm_flow_table_type type, unsigned int level,
			    const struct flow_table *miss)
{
	if (!miss || miss->type != type)
		return "flow: no such table to go to on a miss";
	return miss->level > level ? NULL : "flow: a miss must lead to a higher level";
}

void flow_table_set_miss(struct flow_table *table, struct flow_table *miss)
{
	if (table->miss)
		table->miss->users--;
	table->miss = miss;
	if (miss)
		miss->users++;
}

void flow_set_root(struct eth *eth, enum prm_flow_table_type type, struct flow_table *table)
{
	if (eth->root[type])
		eth->root[type]->users--;
	eth->root[type] = table;
	if (table)
		table->users++;
}

bool flow_table_remove(struct hca *hca, struct flow_table *table)
{
	bool is_root = hca->eth->root[table->type] == table;

	if (table->users > is_root || !TAILQ_EMPTY(&table->groups))
		return false;
	if (is_root)
		flow_set_root(hca->eth, table->type, NULL);
	flow_table_set_miss(table, NULL);
	res_remove(&hca->eth->flow_tables, table->n);
	flow_table_free(table);
	return true;
}

static bool group_overlaps(const struct flow_table *table, uint32_t first, uint32_t last)
{
	struct flow_group *group;

	TAILQ_FOREACH(group, &table->groups, in_table)
		if (first <= group->last && group->first <= last)
			return true;
	return false;
}

const char *flow_group_check(const struct flow_table *table, uint32_t first, uint32_t last)
{
	if (table->software_root)
		return "flow: software owns the table";
	if (first > last || last >> table->log_size)
		return "flow: indices outside of the table";
	return group_overlaps(table, first, last) ? "flow: indices of another group" : NULL;
}

static void insert_sorted(struct flow_table *table, struct flow_group *group)
{
	struct flow_group *other;

	TAILQ_FOREACH(other, &table->groups, in_table)
		if (other->first > group->first) {
			TAILQ_INSERT_BEFORE(other, group, in_table);
			return;
		}
	TAILQ_INSERT_TAIL(&table->groups, group, in_table);
}

int flow_group_add(struct hca *hca, struct flow_table *table, uint32_t first, uint32_t last,
		   const uint8_t mask[FLOW_KEY_SIZE], struct flow_group **out)
{
	struct flow_group *group = calloc(1, sizeof(*group));
	int ret = group ? res_add(&hca->eth->flow_groups, group, &group->n) : ENOMEM;

	if (ret) {
		free(group);
		return ret;
	}
	group->table = table;
	group->first = first;
	group->last = last;
	memcpy(group->mask, mask, sizeof(group->mask));
	group->sets = flow_key_sets(mask);
	insert_sorted(table, group);
	*out = group;
	return 0;
}

void flow_group_remove(struct hca *hca, struct flow_group *group)
{
	TAILQ_REMOVE(&group->table->groups, group, in_table);
	res_remove(&hca->eth->flow_groups, group->n);
	free(group);
}

void flow_group_free(struct hca *hca, struct flow_group *group)
{
	for (unsigned int i = 0; i < FLOW_BUCKETS; i++)
		while (!LIST_EMPTY(&group->bucket[i]))
			flow_entry_remove(hca, LIST_FIRST(&group->bucket[i]));
	flow_group_remove(hca, group);
}
