/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.c - flow rules of programs in the adapter's flow tables. See steering.h.
 *
 * Indices of a level follow Linux' rule (mlx5_core's autogroups). The entries of one mask are in
 * one range of indices, which the mask keeps while it has entries. A new mask gets the first free
 * range. If no range is free, each of the mask's entries gets the first free index behind the
 * ranges. So if several rules of a level match, the rule whose mask has had entries for longest
 * wins, unless a newer mask has got a range in front that became free.
 *
 * On the device, each entry has a group of its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/pacing.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/steering.h"

enum {
	LOG_ENTRIES = 10,
	ENTRIES = 1 << LOG_ENTRIES,
	RANGES = 6, /* ranges of a table for entries of one mask; Linux' mlx5_ib asks for as many */
	RANGE_SIZE = ENTRIES / (RANGES + 1),
	TABLE_IN_SIZE = 64,
	GROUP_IN_SIZE = 1024,
	ENTRY_IN_SIZE = 64 + PRM_FLOW_CONTEXT_SIZE,
	/* one less than the adapter's limit of 32, as an entry also needs a destination for the
	 * next table */
	MAX_DESTINATIONS = 31,
};

struct steering_rule {
	LIST_ENTRY(steering_rule) in_entry;
	struct entry *entry;
	struct steering_target target;
	/* second rule, at level STEERING_SENT, for sent frames; NULL: none */
	struct steering_rule *sent;
};

struct entry {
	LIST_ENTRY(entry) in_level;
	unsigned int level, index;
	uint32_t group;
	struct steering_match match;
	uint32_t tag;
	bool is_on_device;
	LIST_HEAD(, steering_rule) rules;
};

struct level {
	uint32_t table;
	const struct entry *at[ENTRIES]; /* by index; NULL: free */
	LIST_HEAD(, entry) entries;
	bool has_anchor;
	uint32_t anchor; /* number of the anchor table, which leads to this level */
};

struct steering {
	struct level level[STEERING_LEVELS];
	bool has_chain[3];
};

/* A chain of tables, from level FROM to level TO. */
static const struct chain {
	unsigned int from, to;
	enum prm_flow_table_type type;
} chains[] = {
	{ 0, STEERING_SENT, PRM_FLOW_NIC_RX },
	{ STEERING_SENT, STEERING_TRANSMIT, PRM_FLOW_SNIFFER_TX },
	{ STEERING_TRANSMIT, STEERING_LEVELS, PRM_FLOW_NIC_TX },
};

static const struct chain *chain_of(unsigned int level)
{
	const struct chain *chain = chains;

	while (level >= chain->to)
		chain++;
	return chain;
}

static void name_table(uint8_t *in, uint32_t opcode, unsigned int level, uint32_t table)
{
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, QUERY_FLOW_TABLE_IN_TABLE_TYPE, chain_of(level)->type);
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

/* Allows entries that remove tunnel headers (decap) and add them (reformat), if the adapter has the
 * capabilities that Linux' mlx5_ib checks. */
static void allow_tunnels(const struct adapter *adapter, enum prm_flow_table_type type,
			  uint8_t *context)
{
	const uint8_t *receive =
		fld_at(adapter->flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE);
	const uint8_t *transmit =
		fld_at(adapter->flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT);

	if (type == PRM_FLOW_NIC_RX) {
		fld_set(context, FLOW_TABLE_CONTEXT_DECAP_EN, fld_get(receive, FT_PROP_DECAP));
		fld_set(context, FLOW_TABLE_CONTEXT_REFORMAT_EN,
			fld_get(receive, FT_PROP_REFORMAT_L3_TUNNEL_TO_L2));
	} else if (type == PRM_FLOW_NIC_TX) {
		fld_set(context, FLOW_TABLE_CONTEXT_REFORMAT_EN,
			fld_get(transmit, FT_PROP_REFORMAT_L2_TO_L3_TUNNEL));
	}
}

/* Creates a table. MISS is the next table; NULL: none. */
static int create_table(struct adapter *adapter, unsigned int level, const uint32_t *miss,
			uint32_t *table)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };
	uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	name_table(in, PRM_OP_CREATE_FLOW_TABLE, level, 0);
	fld_set(context, FLOW_TABLE_CONTEXT_LEVEL, level - chain_of(level)->from);
	fld_set(context, FLOW_TABLE_CONTEXT_LOG_SIZE, LOG_ENTRIES);
	allow_tunnels(adapter, chain_of(level)->type, context);
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

/* Creates the tables of a chain from the last to the first, as each names the next one as its miss
 * table. The first table becomes the root. */
static int create_chain(struct adapter *adapter, struct steering *steering,
			const struct chain *chain)
{
	const uint32_t *miss = NULL;
	int ret = 0;

	for (unsigned int i = chain->to; !ret && i > chain->from; i--) {
		ret = create_table(adapter, i - 1, miss, &steering->level[i - 1].table);
		miss = &steering->level[i - 1].table;
	}
	return ret ? ret : set_root(adapter, steering, chain->from);
}

static int get_level(struct adapter *adapter, unsigned int number, struct level **level)
{
	const struct chain *chain = chain_of(number);
	bool *has_chain;
	int ret;

	if (!adapter->steering)
		adapter->steering = calloc(1, sizeof(*adapter->steering));
	if (!adapter->steering)
		return ENOMEM;
	has_chain = &adapter->steering->has_chain[chain - chains];
	ret = *has_chain ? 0 : create_chain(adapter, adapter->steering, chain);
	if (ret)
		return ret;
	*has_chain = true;
	*level = &adapter->steering->level[number];
	return 0;
}

/* Creates an anchor: a table without entries, whose miss action leads to the flows of LEVEL. Its
 * table level is the lowest, so an entry of a program needs IGNORE_FLOW_LEVEL to lead to it. On
 * Linux, the anchor's own entry needs that flag. */
static int create_anchor(struct adapter *adapter, unsigned int number, struct level *level)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };
	uint8_t *context = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	name_table(in, PRM_OP_CREATE_FLOW_TABLE, number, 0);
	fld_set(in, CMD_IN_UID, PRM_SHARED_UID);
	fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, PRM_MISS_FORWARD);
	fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID, level->table);
	return run_create(adapter, in, sizeof(in), &level->anchor);
}

int steering_anchor(struct adapter *adapter, unsigned int number, uint32_t *table)
{
	struct level *level;
	int ret = get_level(adapter, number, &level);

	if (ret)
		return ret;
	if (!level->has_anchor)
		ret = create_anchor(adapter, number, level);
	level->has_anchor |= !ret;
	*table = level->anchor;
	return ret;
}

static bool is_any(const uint8_t *mask)
{
	static const uint8_t zero[PRM_MATCH_SET_SIZE];

	return memcmp(mask, zero, sizeof(zero));
}

void steering_enable(struct steering_match *match)
{
	match->criteria = 0;
	for (unsigned int i = 0; i < PRM_MATCH_SETS; i++)
		if (is_any(match->mask + (size_t)i * PRM_MATCH_SET_SIZE))
			match->criteria |= (uint8_t)(1u << i);
}

static int create_group(struct adapter *adapter, uint32_t table, struct entry *entry)
{
	uint8_t in[GROUP_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_CREATE_FLOW_GROUP, entry->level, table);
	fld_set(in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, entry->index);
	fld_set(in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, entry->index);
	fld_set(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, entry->match.criteria);
	memcpy(fld_at(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA), entry->match.mask,
	       sizeof(entry->match.mask));
	return run_create(adapter, in, sizeof(in), &entry->group);
}

static void destroy_group(struct adapter *adapter, const struct entry *entry, uint32_t table)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };

	name_table(in, PRM_OP_DESTROY_FLOW_GROUP, entry->level, table);
	fld_set(in, DESTROY_FLOW_GROUP_IN_GROUP_ID, entry->group);
	run_create(adapter, in, sizeof(in), NULL);
}

static bool goes_likewise(const struct steering_rule *one, const struct steering_rule *other)
{
	return one->target.to == other->target.to && one->target.number == other->target.number;
}

/* Returns whether RULE is the first of its entry's rules with its destination. The device's entry
 * lists each destination once. */
static bool is_first_to_go(const struct steering_rule *rule)
{
	const struct steering_rule *before;

	LIST_FOREACH(before, &rule->entry->rules, in_entry) {
		if (before == rule)
			break;
		if (goes_likewise(before, rule))
			return false;
	}
	return rule->target.to != STEERING_NOWHERE;
}

static unsigned int put_table(uint8_t *at, const struct level *level)
{
	fld_set(at, DEST_FORMAT_DESTINATION_TYPE, PRM_DEST_TABLE);
	fld_set(at, DEST_FORMAT_DESTINATION_ID, level->table);
	return 1;
}

/* Writes the list of the entry's destinations to AT. Returns their number. */
static unsigned int put_destinations(const struct steering *steering, const struct entry *entry,
				     uint8_t *at)
{
	bool goes_on = false, misses = false;
	const struct steering_rule *rule;
	unsigned int count = 0;

	LIST_FOREACH(rule, &entry->rules, in_entry) {
		goes_on |= rule->target.goes_on && entry->level < STEERING_LEFTOVERS;
		misses |= rule->target.misses;
		if (!is_first_to_go(rule))
			continue;
		fld_set(at, DEST_FORMAT_DESTINATION_TYPE,
			rule->target.to == STEERING_TO_TIR ? PRM_DEST_TIR : PRM_DEST_TABLE);
		fld_set(at, DEST_FORMAT_DESTINATION_ID, rule->target.number);
		at += PRM_DEST_FORMAT_SIZE;
		count++;
	}
	if (goes_on)
		count += put_table(at, &steering->level[entry->level + 1]);
	else if (misses)
		count += put_table(at, &steering->level[STEERING_LEFTOVERS]);
	return count;
}

static unsigned int entry_action(const struct entry *entry)
{
	const struct steering_rule *rule;
	unsigned int action = 0;

	LIST_FOREACH(rule, &entry->rules, in_entry)
		action |= rule->target.action;
	return action;
}

/* Returns a rule of the entry that has this action, or NULL. */
static const struct steering_rule *entry_find(const struct entry *entry, unsigned int action)
{
	const struct steering_rule *rule;

	LIST_FOREACH(rule, &entry->rules, in_entry)
		if (rule->target.action & action)
			break;
	return rule;
}

enum { IS_NEW, HAS_CHANGED }; /* values of op_mod */

static int set_entry(struct adapter *adapter, const struct entry *entry, unsigned int op)
{
	/* Room for the next table and the counter as well, as these are in the same list. */
	uint8_t in[ENTRY_IN_SIZE + (MAX_DESTINATIONS + 2) * PRM_DEST_FORMAT_SIZE] = { 0 };
	uint8_t *context = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	const struct steering_rule *counts = entry_find(entry, PRM_FLOW_COUNT);
	const struct steering_rule *changes = entry_find(entry, PRM_FLOW_MODIFY_HEADER);
	const struct steering_rule *reformats = entry_find(entry, PRM_FLOW_PACKET_REFORMAT);
	unsigned int count;

	name_table(in, PRM_OP_SET_FLOW_TABLE_ENTRY, entry->level,
		   adapter->steering->level[entry->level].table);
	fld_set(in, CMD_IN_OP_MOD, op);
	if (op == HAS_CHANGED)
		fld_set(in, SET_FTE_IN_MODIFY_ENABLE_MASK,
			PRM_FTE_MODIFY_ACTION | PRM_FTE_MODIFY_DESTINATIONS |
				PRM_FTE_MODIFY_COUNTERS);
	fld_set(in, SET_FTE_IN_FLOW_INDEX, entry->index);
	fld_set(context, FLOW_CONTEXT_GROUP_ID, entry->group);
	fld_set(context, FLOW_CONTEXT_FLOW_TAG, entry->tag);
	memcpy(fld_at(context, FLOW_CONTEXT_MATCH_VALUE), entry->match.value,
	       sizeof(entry->match.value));
	count = put_destinations(adapter->steering, entry,
				 fld_at(context, FLOW_CONTEXT_DESTINATION));
	fld_set(context, FLOW_CONTEXT_ACTION, entry_action(entry));
	fld_set(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE, count);
	fld_set(context, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE, counts != NULL);
	if (changes)
		fld_set(context, FLOW_CONTEXT_MODIFY_HEADER_ID, changes->target.change);
	if (reformats)
		fld_set(context, FLOW_CONTEXT_PACKET_REFORMAT_ID, reformats->target.reformat);
	if (counts)
		fld_set(fld_at(context, FLOW_CONTEXT_DESTINATION) + count * PRM_DEST_FORMAT_SIZE,
			FLD(0x0, 31, 0), counts->target.counter);
	return run_create(adapter, in, sizeof(in), NULL);
}

static void delete_entry(struct adapter *adapter, struct entry *entry)
{
	uint8_t in[TABLE_IN_SIZE] = { 0 };

	if (!entry->is_on_device)
		return;
	entry->is_on_device = false;
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

static bool has_mask(const struct entry *entry, const struct steering_match *match)
{
	return entry->match.criteria == match->criteria &&
	       !memcmp(entry->match.mask, match->mask, sizeof(match->mask));
}

/* Returns the first free index from FROM on, or TO. */
static unsigned int index_free(const struct level *level, unsigned int from, unsigned int to)
{
	while (from < to && level->at[from])
		from++;
	return from;
}

static const struct entry *range_entry(const struct level *level, unsigned int range)
{
	for (unsigned int i = 0; i < RANGE_SIZE; i++)
		if (level->at[range * RANGE_SIZE + i])
			return level->at[range * RANGE_SIZE + i];
	return NULL;
}

/* Returns a free index for an entry with this match, or ENTRIES if there is none. Prefers a range
 * that has entries of the same mask, then an unused range, then the rest of the table. */
static unsigned int index_find(const struct level *level, const struct steering_match *match)
{
	unsigned int unused = RANGES;

	for (unsigned int range = 0; range < RANGES; range++) {
		const unsigned int from = range * RANGE_SIZE, to = from + RANGE_SIZE;
		const struct entry *entry = range_entry(level, range);

		if (!entry && unused == RANGES)
			unused = range;
		if (entry && has_mask(entry, match) && index_free(level, from, to) < to)
			return index_free(level, from, to);
	}
	return unused < RANGES ? unused * RANGE_SIZE
			       : index_free(level, RANGES * RANGE_SIZE, ENTRIES);
}

static int new_entry(struct adapter *adapter, struct level *level,
		     const struct steering_request *request, struct entry **out)
{
	const unsigned int index = index_find(level, &request->match);
	struct entry *entry;
	int ret;

	if (index == ENTRIES)
		return ENOSPC;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return ENOMEM;
	*entry = (struct entry){ .level = request->level,
				 .index = index,
				 .match = request->match,
				 .tag = request->tag };
	ret = create_group(adapter, level->table, entry);
	if (ret) {
		free(entry);
		return ret;
	}
	level->at[index] = entry;
	LIST_INSERT_HEAD(&level->entries, entry, in_level);
	*out = entry;
	return 0;
}

static void free_entry(struct adapter *adapter, struct entry *entry)
{
	struct level *level = &adapter->steering->level[entry->level];

	destroy_group(adapter, entry, level->table);
	level->at[entry->index] = NULL;
	LIST_REMOVE(entry, in_level);
	free(entry);
}

/* Updates the device's entry after RULE was added to it. */
static int set_with(struct adapter *adapter, struct steering_rule *rule)
{
	struct entry *entry = rule->entry;
	int ret = set_entry(adapter, entry, entry->is_on_device ? HAS_CHANGED : IS_NEW);

	if (ret)
		LIST_REMOVE(rule, in_entry);
	else
		entry->is_on_device = true;
	return ret;
}

/* Updates the device's entry after a rule was removed from ENTRY. An entry on the device must
 * allow, drop or forward, so if no rule is left that does, deletes the device's entry until another
 * rule joins. */
static void set_without(struct adapter *adapter, struct entry *entry)
{
	const unsigned int goes = PRM_FLOW_ALLOW | PRM_FLOW_DROP | PRM_FLOW_FWD;

	if (!(entry_action(entry) & goes))
		delete_entry(adapter, entry);
	else
		set_entry(adapter, entry, HAS_CHANGED);
}

static unsigned int count_destinations(const struct entry *entry)
{
	const struct steering_rule *rule;
	unsigned int count = 0;

	LIST_FOREACH(rule, &entry->rules, in_entry)
		count += is_first_to_go(rule);
	return count;
}

/* Returns whether the actions of TARGET contradict those of the entry: only one of the two drops,
 * or they change headers differently. An action that only counts contradicts none. */
static bool is_contrary(const struct entry *entry, const struct steering_target *target)
{
	const unsigned int same =
		PRM_FLOW_DROP | PRM_FLOW_PACKET_REFORMAT | PRM_FLOW_DECAP | PRM_FLOW_MODIFY_HEADER;
	const struct steering_rule *changes = entry_find(entry, PRM_FLOW_MODIFY_HEADER);
	const struct steering_rule *reformats = entry_find(entry, PRM_FLOW_PACKET_REFORMAT);
	const unsigned int action = entry_action(entry);

	if (action == PRM_FLOW_COUNT || target->action == PRM_FLOW_COUNT)
		return false;
	return (action ^ target->action) & same ||
	       (changes && changes->target.change != target->change) ||
	       (reformats && reformats->target.reformat != target->reformat);
}

/* Checks whether a request may share ENTRY. Returns EEXIST for contrary actions or another tag,
 * EINVAL for a second counter, ENOSPC for too many destinations. */
static int check_join(const struct entry *entry, const struct steering_request *request)
{
	const struct steering_rule *counts = entry_find(entry, PRM_FLOW_COUNT);
	const unsigned int wanted = request->target.action;

	if (is_contrary(entry, &request->target))
		return EEXIST;
	if (request->has_tag && entry->tag != request->tag)
		return EEXIST;
	if (counts && wanted & PRM_FLOW_COUNT && counts->target.counter != request->target.counter)
		return EINVAL;
	return count_destinations(entry) == MAX_DESTINATIONS ? ENOSPC : 0;
}

static int find_or_make(struct adapter *adapter, const struct steering_request *request,
			struct entry **entry)
{
	struct level *level;
	int ret = get_level(adapter, request->level, &level);

	if (ret)
		return ret;
	*entry = find_entry(level, &request->match);
	return *entry ? check_join(*entry, request) : new_entry(adapter, level, request, entry);
}

static int add_rule(struct adapter *adapter, const struct steering_request *request,
		    struct steering_rule **out)
{
	struct steering_rule *rule = calloc(1, sizeof(*rule));
	struct entry *entry;
	int ret = rule ? find_or_make(adapter, request, &entry) : ENOMEM;

	if (ret) {
		free(rule);
		return ret;
	}
	*rule = (struct steering_rule){ .entry = entry, .target = request->target };
	LIST_INSERT_HEAD(&entry->rules, rule, in_entry);
	ret = set_with(adapter, rule);
	if (!ret) {
		*out = rule;
		return 0;
	}
	free(rule);
	if (LIST_EMPTY(&entry->rules))
		free_entry(adapter, entry);
	return ret;
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
	set_without(adapter, entry);
	if (LIST_EMPTY(&entry->rules))
		free_entry(adapter, entry);
}

void steering_free(struct adapter *adapter)
{
	free(adapter->steering);
}
