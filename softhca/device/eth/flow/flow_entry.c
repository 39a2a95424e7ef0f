/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_entry.c - entries of flow tables, as objects: their place in a table, and the objects that
 * they use.
 */
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

static void entry_use(struct flow_entry *entry, int by)
{
	for (unsigned int i = 0; i < entry->count; i++) {
		if (entry->destination[i].table)
			entry->destination[i].table->users += by;
		else
			entry->destination[i].tir->users += by;
	}
	if (entry->counter)
		entry->counter->users += by;
	if (entry->change)
		entry->change->users += by;
	if (entry->reformat)
		entry->reformat->users += by;
}

const char *flow_destination_check(const struct flow_table *table,
				   const struct flow_destination *destination, bool any_level)
{
	const struct flow_table *next = destination->table;

	if (!next)
		return table->type != PRM_FLOW_NIC_TX ? NULL : "flow: no such TIR";
	if (next->type != table->type)
		return "flow: no such table to go to";
	if (table->is_last)
		return "flow: a termination table leads to no other";
	return any_level || next->level > table->level ? NULL
						       : "flow: entries lead to a higher level";
}

void flow_entry_discard(struct flow_entry *entry)
{
	free(entry->destination);
	free(entry);
}

void flow_entry_remove(struct hca *hca, struct flow_entry *entry)
{
	LIST_REMOVE(entry, in_bucket);
	entry->group->table->entry[entry->index] = NULL;
	entry->group->entries--;
	hca->eth->flow_entries--;
	entry_use(entry, -1);
	flow_entry_discard(entry);
}

const char *flow_entry_put(struct hca *hca, struct flow_entry *entry)
{
	struct flow_group *group = entry->group;
	struct flow_entry *old = group->table->entry[entry->index];

	if (!old && hca->eth->flow_entries >> FLOW_LOG_ENTRIES)
		return "flow: no more entries";
	if (old)
		flow_entry_remove(hca, old);
	LIST_INSERT_HEAD(&group->bucket[flow_hash(entry->key, group->sets) % FLOW_BUCKETS], entry,
			 in_bucket);
	group->table->entry[entry->index] = entry;
	group->entries++;
	hca->eth->flow_entries++;
	entry_use(entry, 1);
	return NULL;
}
