/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.c - flow rules of programs in the adapter's flow tables. See steering.h.
 *
 * Each entry has a group of the table for itself, since groups are by mask; among matches of one
 * level the older goes first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/steering.h"

enum {
	LOG_ENTRIES = 10, /* of a level */
	ENTRIES = 1 << LOG_ENTRIES,
	TABLE_IN_SIZE = 64,
	GROUP_IN_SIZE = 1024,
	ENTRY_IN_SIZE = 64 + PRM_FLOW_CONTEXT_SIZE,
	MAX_DESTINATIONS = 31, /* and one for the table that follows */
};

struct steering_rule {
	LIST_ENTRY(steering_rule) in_entry;
	struct entry *entry;
	uint32_t tirn;
	bool goes_on;
	struct steering_rule *sent; /* of the same, what is sent; NULL: that is not for it */
};

struct entry {
	LIST_ENTRY(entry) in_level;
	unsigned int level, index;
	uint32_t group;
	struct steering_match match;
	uint32_t tag;
	bool drop;
	bool counts;
	uint32_t counter;
	unsigned int count;
	LIST_HEAD(, steering_rule) rules;
};

struct level {
	uint32_t table;
	bool used[ENTRIES];
	LIST_HEAD(, entry) entries;
};

struct steering {
	struct level level[STEERING_LEVELS];
};

/* ---- tables ---- */

static enum prm_flow_table_type type_of(unsigned int level)
{
	return level == STEERING_SENT ? PRM_FLOW_SNIFFER_TX : PRM_FLOW_NIC_RX;
}

static void name_table(uint8_t *in, uint32_t opcode, unsigned int level, uint32_t table)
{
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, QUERY_FLOW_TABLE_IN_TABLE_TYPE, type_of(level));
	fld_set(in, QUERY_FLOW_TABLE_IN_TABLE_ID, table);
}

static int run_create(struct adapter *adapter, void *in, size_t len, uint32_t *number)
{
	uint8_t out[PRM_CMD_OUT_SIZE];
	int ret = adapter_command(adapter, in, len, out, sizeof(out));

	if (!ret && number)
		*number = fld_get(out, CREATE_FLOW_TABLE_OUT_TABLE_ID);
	return ret;
}

/* MISS is the table that follows; NULL: none does. */
static int create_table(struct adapter *adapter, unsigned int level, const uint32_t *miss,
			uint32_t *table)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };
	uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	name_table(in, PRM_OP_CREATE_FLOW_TABLE, level, 0);
	fld_set(context, FLOW_TABLE_CONTEXT_LEVEL, level);
	fld_set(context, FLOW_TABLE_CONTEXT_LOG_SIZE, LOG_ENTRIES);
	if (miss) {
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, PRM_MISS_FORWARD);
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID, *miss);
	}
	return run_create(adapter, in, sizeof(in), table);
}

static int set_root(struct adapter *adapter, const struct steering *steering, unsigned int level)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_SET_FLOW_TABLE_ROOT, level, steering->level[level].table);
	return run_create(adapter, in, sizeof(in), NULL);
}

/* Tables are made from the last to the first, which becomes the root. */
static int create_tables(struct adapter *adapter, struct steering *steering)
{
	const uint32_t *miss = NULL;
	int ret = 0;

	for (unsigned int i = STEERING_SENT; !ret && i > 0; i--) {
		ret = create_table(adapter, i - 1, miss, &steering->level[i - 1].table);
		miss = &steering->level[i - 1].table;
	}
	if (!ret)
		ret = set_root(adapter, steering, 0);
	if (ret || !adapter_is_mlx4(adapter))
		return ret;
	ret = create_table(adapter, STEERING_SENT, NULL, &steering->level[STEERING_SENT].table);
	return ret ? ret : set_root(adapter, steering, STEERING_SENT);
}

static int get_steering(struct adapter *adapter, struct steering **steering)
{
	int ret;

	if (!adapter->steering) {
		*steering = calloc(1, sizeof(**steering));
		if (!*steering)
			return ENOMEM;
		ret = create_tables(adapter, *steering);
		if (ret) {
			free(*steering);
			return ret;
		}
		adapter->steering = *steering;
	}
	*steering = adapter->steering;
	return 0;
}

/* ---- entries ---- */

static bool is_any(const uint8_t *mask)
{
	static const uint8_t zero[PRM_MATCH_SET_SIZE];

	return memcmp(mask, zero, sizeof(zero));
}

static void put_match(uint8_t *param, const uint8_t *match)
{
	memcpy(fld_at(param, MATCH_OUTER_HEADERS), match, PRM_MATCH_SET_SIZE);
	memcpy(fld_at(param, MATCH_MISC_PARAMETERS), match + PRM_MATCH_SET_SIZE,
	       PRM_MATCH_SET_SIZE);
}

static int create_group(struct adapter *adapter, uint32_t table, struct entry *entry)
{
	const uint8_t *mask = entry->match.mask;
	uint8_t in[GROUP_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_CREATE_FLOW_GROUP, entry->level, table);
	fld_set(in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, entry->index);
	fld_set(in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, entry->index);
	fld_set(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE,
		(is_any(mask) ? PRM_MATCH_OUTER : 0) |
			(is_any(mask + PRM_MATCH_SET_SIZE) ? PRM_MATCH_MISC : 0));
	put_match(fld_at(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA), mask);
	return run_create(adapter, in, sizeof(in), &entry->group);
}

static void destroy_group(struct adapter *adapter, const struct entry *entry, uint32_t table)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_DESTROY_FLOW_GROUP, entry->level, table);
	fld_set(in, DESTROY_FLOW_GROUP_IN_GROUP_ID, entry->group);
	run_create(adapter, in, sizeof(in), NULL);
}

/* The function writes the destinations of the entry at AT; returns how many. */
static unsigned int put_destinations(const struct steering *steering, const struct entry *entry,
				     uint8_t *at)
{
	const struct steering_rule *rule;
	unsigned int count = 0;
	bool goes_on = false;

	LIST_FOREACH(rule, &entry->rules, in_entry) {
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TIR);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, rule->tirn);
		at += PRM_DEST_FORMAT_SIZE;
		count++;
		goes_on |= rule->goes_on;
	}
	if (goes_on && entry->level + 1 < STEERING_SENT) {
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TABLE);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, steering->level[entry->level + 1].table);
		count++;
	}
	return count;
}

enum { IS_NEW, HAS_CHANGED }; /* op_mod */

static int set_entry(struct adapter *adapter, const struct entry *entry, unsigned int op)
{
	/* The list has room for the table that follows and the counter. */
	uint8_t in[ENTRY_IN_SIZE + (MAX_DESTINATIONS + 2) * PRM_DEST_FORMAT_SIZE] = { 0 };
	uint8_t *context = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	unsigned int count = 0;

	name_table(in, PRM_OP_SET_FLOW_TABLE_ENTRY, entry->level,
		   adapter->steering->level[entry->level].table);
	fld_set(in, CMD_IN_OP_MOD, op);
	if (op == HAS_CHANGED)
		fld_set(in, SET_FTE_IN_MODIFY_ENABLE_MASK,
			PRM_FTE_MODIFY_ACTION | PRM_FTE_MODIFY_DESTINATIONS);
	fld_set(in, SET_FTE_IN_FLOW_INDEX, entry->index);
	fld_set(context, FLOW_CONTEXT_GROUP_ID, entry->group);
	fld_set(context, FLOW_CONTEXT_FLOW_TAG, entry->tag);
	put_match(fld_at(context, FLOW_CONTEXT_MATCH_VALUE), entry->match.value);
	if (!entry->drop)
		count = put_destinations(adapter->steering, entry,
					 fld_at(context, FLOW_CONTEXT_DESTINATION));
	fld_set(context, FLOW_CONTEXT_ACTION,
		(entry->drop ? PRM_FLOW_DROP : PRM_FLOW_FWD) |
			(entry->counts ? PRM_FLOW_COUNT : 0));
	fld_set(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE, count);
	fld_set(context, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE, entry->counts);
	if (entry->counts)
		fld_set(fld_at(context, FLOW_CONTEXT_DESTINATION) + count * PRM_DEST_FORMAT_SIZE,
			FLD(0x0, 31, 0), entry->counter);
	return run_create(adapter, in, sizeof(in), NULL);
}

static void delete_entry(struct adapter *adapter, const struct entry *entry)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_DELETE_FLOW_TABLE_ENTRY, entry->level,
		   adapter->steering->level[entry->level].table);
	fld_set(in, DELETE_FTE_IN_FLOW_INDEX, entry->index);
	run_create(adapter, in, sizeof(in), NULL);
}

static struct entry *find_entry(const struct level *level, const struct steering_match *match)
{
	struct entry *entry;

	LIST_FOREACH(entry, &level->entries, in_level)
		if (!memcmp(&entry->match, match, sizeof(*match)))
			return entry;
	return NULL;
}

static int new_entry(struct adapter *adapter, const struct steering_request *request,
		     struct entry **out)
{
	struct level *level = &adapter->steering->level[request->level];
	struct entry *entry = calloc(1, sizeof(*entry));
	unsigned int index = 0;
	int ret;

	while (index < ENTRIES && level->used[index])
		index++;
	if (!entry || index == ENTRIES) {
		free(entry);
		return ENOMEM;
	}
	*entry = (struct entry){ .level = request->level,
				 .index = index,
				 .match = request->match,
				 .tag = request->tag,
				 .drop = request->drop,
				 .counts = request->counts,
				 .counter = request->counter };
	ret = create_group(adapter, level->table, entry);
	if (ret) {
		free(entry);
		return ret;
	}
	level->used[index] = true;
	LIST_INSERT_HEAD(&level->entries, entry, in_level);
	*out = entry;
	return 0;
}

static void free_entry(struct adapter *adapter, struct entry *entry)
{
	struct level *level = &adapter->steering->level[entry->level];

	destroy_group(adapter, entry, level->table);
	level->used[entry->index] = false;
	LIST_REMOVE(entry, in_level);
	free(entry);
}

/* ---- rules ---- */

static int join_entry(struct adapter *adapter, struct entry *entry, struct steering_rule *rule)
{
	int ret;

	LIST_INSERT_HEAD(&entry->rules, rule, in_entry);
	entry->count++;
	ret = set_entry(adapter, entry, entry->count == 1 ? IS_NEW : HAS_CHANGED);
	if (ret) {
		LIST_REMOVE(rule, in_entry);
		entry->count--;
	}
	return ret;
}

static int find_or_make(struct adapter *adapter, const struct steering_request *request,
			struct entry **entry)
{
	*entry = find_entry(&adapter->steering->level[request->level], &request->match);
	if (!*entry)
		return new_entry(adapter, request, entry);
	if ((*entry)->tag != request->tag || (*entry)->drop || request->drop ||
	    (*entry)->counts != request->counts || (*entry)->counter != request->counter)
		return EEXIST;
	return (*entry)->count == MAX_DESTINATIONS ? ENOSPC : 0;
}

static int add_rule(struct adapter *adapter, const struct steering_request *request,
		    struct steering_rule **out)
{
	struct steering *steering;
	struct steering_rule *rule;
	struct entry *entry;
	int ret = get_steering(adapter, &steering);

	if (!ret)
		ret = find_or_make(adapter, request, &entry);
	if (ret)
		return ret;
	rule = calloc(1, sizeof(*rule));
	if (rule)
		*rule = (struct steering_rule){ .entry = entry,
						.tirn = request->tirn,
						.goes_on = request->goes_on };
	ret = rule ? join_entry(adapter, entry, rule) : ENOMEM;
	if (ret) {
		free(rule);
		if (!entry->count)
			free_entry(adapter, entry);
		return ret;
	}
	*out = rule;
	return 0;
}

int steering_add(struct adapter *adapter, const struct steering_request *request,
		 struct steering_rule **out)
{
	struct steering_request sent = *request;
	struct steering_rule *rule;
	int ret = add_rule(adapter, request, &rule);

	if (ret)
		return ret;
	sent.level = STEERING_SENT;
	ret = request->sees_sent ? add_rule(adapter, &sent, &rule->sent) : 0;
	if (ret)
		steering_remove(adapter, rule);
	else
		*out = rule;
	return ret;
}

void steering_remove(struct adapter *adapter, struct steering_rule *rule)
{
	struct entry *entry = rule->entry;

	if (rule->sent)
		steering_remove(adapter, rule->sent);
	LIST_REMOVE(rule, in_entry);
	free(rule);
	if (--entry->count) {
		set_entry(adapter, entry, HAS_CHANGED);
		return;
	}
	delete_entry(adapter, entry);
	free_entry(adapter, entry);
}

void steering_free(struct adapter *adapter)
{
	free(adapter->steering);
}
