/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_entry.c - commands that set, change, query and delete flow table entries.
 *
 * A changed entry is built anew, and replaces the old one only if all of it is valid. PRM:
 * SET_FLOW_TABLE_ENTRY
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum { ENTRY_SET = 0, ENTRY_MODIFY = 1 };

CONTEXT_HOLDS(struct flow_entry, PRM_FLOW_CONTEXT_SIZE);

static uint64_t known_actions(const struct hca *hca, const struct flow_table *table)
{
	uint64_t known = PRM_FLOW_DROP | PRM_FLOW_FWD | PRM_FLOW_COUNT;

	if (!hca->config.kernel_driver)
		known |= PRM_FLOW_MODIFY_HEADER;
	if (table->type == PRM_FLOW_NIC_TX)
		known |= PRM_FLOW_ALLOW;
	if (table->has_reformat)
		known |= PRM_FLOW_PACKET_REFORMAT;
	if (table->has_decap)
		known |= PRM_FLOW_DECAP;
	return known;
}

static const char *check_context(const struct hca *hca, const struct flow_table *table,
				 const uint8_t *context)
{
	uint64_t action = fld_get(context, FLOW_CONTEXT_ACTION);
	bool forwards = action & PRM_FLOW_FWD;

	if (action & ~known_actions(hca, table))
		return "flow: action that tables of this type do not have";
	if (!(action & (PRM_FLOW_ALLOW | PRM_FLOW_DROP | PRM_FLOW_FWD)) ||
	    (forwards && action & PRM_FLOW_DROP))
		return "flow: neither drop nor forward, or both";
	if (action & PRM_FLOW_DECAP && action & PRM_FLOW_PACKET_REFORMAT)
		return "flow: a frame leaves one tunnel in each table";
	if (fld_get(context, FLOW_CONTEXT_EXTENDED_DESTINATION) ||
	    fld_get(context, FLOW_CONTEXT_ENCRYPT_DECRYPT_TYPE))
		return "flow: reformat for one destination and crypto are not supported";
	if (forwards != !!fld_get(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE) ||
	    fld_get(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE) > 1 << FLOW_LOG_DESTINATIONS)
		return "flow: destination list does not fit the action, or the limit";
	if (!!(action & PRM_FLOW_COUNT) != fld_get(context, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE))
		return "flow: one counter where the action counts, and none elsewhere";
	return NULL;
}

static const char *find_destination(struct hca *hca, const struct flow_table *table,
				    const uint8_t *raw, bool any_level,
				    struct flow_destination *destination)
{
	uint32_t id = fld_get(raw, DEST_FORMAT_DESTINATION_ID);

	if (fld_get(raw, DEST_FORMAT_PACKET_REFORMAT) ||
	    fld_get(raw, DEST_FORMAT_DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID))
		return "flow: destinations of this function only";
	switch (fld_get(raw, DEST_FORMAT_DESTINATION_TYPE)) {
	case PRM_DEST_TABLE:
		destination->table = res_find(&hca->eth->flow_tables, id);
		if (!destination->table)
			return "flow: no such table to go to";
		break;
	case PRM_DEST_TIR:
		destination->tir = res_find(&hca->eth->tirs, id);
		if (!destination->tir)
			return "flow: no such TIR";
		break;
	default:
		return "flow: unknown destination type";
	}
	return flow_destination_check(table, destination, any_level);
}

/* Takes the lists behind the context: destinations, then counters, in elements of one size. */
static const char *take_lists(struct hca *hca, const struct cmd *cmd, const uint8_t *context,
			      const struct flow_table *table, struct flow_entry *entry)
{
	const bool any_level = fld_get(cmd->in, SET_FTE_IN_IGNORE_FLOW_LEVEL);
	const uint8_t *raw = fld_at(context, FLOW_CONTEXT_DESTINATION);
	unsigned int count = fld_get(context, FLOW_CONTEXT_DESTINATION_LIST_SIZE);
	unsigned int counters = fld_get(context, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE);
	const char *why = NULL;

	if ((size_t)(raw - cmd->in) + (size_t)(count + counters) * PRM_DEST_FORMAT_SIZE >
	    cmd->in_len)
		return "flow: lists are shorter than their sizes say";
	entry->destination = calloc(count ? count : 1, sizeof(*entry->destination));
	if (!entry->destination)
		return "flow: no memory";
	for (unsigned int i = 0; !why && i < count; i++, raw += PRM_DEST_FORMAT_SIZE)
		why = find_destination(hca, table, raw, any_level, &entry->destination[i]);
	entry->count = count;
	if (why || !counters)
		return why;
	entry->counter = res_find(&hca->eth->flow_counters, get_be32(raw));
	return entry->counter ? NULL : "flow: no such counter";
}

static const char *take_change(struct hca *hca, const uint8_t *context,
			       const struct flow_table *table, struct flow_entry *entry)
{
	const uint32_t id = (uint32_t)fld_get(context, FLOW_CONTEXT_MODIFY_HEADER_ID);

	if (!(entry->action & PRM_FLOW_MODIFY_HEADER))
		return id ? "flow: a list of header changes, but no such action" : NULL;
	entry->change = res_find(&hca->eth->modify_headers, id);
	return entry->change && entry->change->type == table->type
		       ? NULL
		       : "flow: no such list of header changes for this type of table";
}

static const char *take_reformat(struct hca *hca, const uint8_t *context,
				 const struct flow_table *table, struct flow_entry *entry)
{
	const uint32_t id = (uint32_t)fld_get(context, FLOW_CONTEXT_PACKET_REFORMAT_ID);

	if (!(entry->action & PRM_FLOW_PACKET_REFORMAT))
		return id ? "flow: headers of a tunnel, but no such action" : NULL;
	entry->reformat = res_find(&hca->eth->packet_reformats, id);
	return entry->reformat && packet_reformat_table(entry->reformat) == table->type
		       ? NULL
		       : "flow: no such headers of a tunnel for this type of table";
}

static void take_key(struct flow_entry *entry, const uint8_t *context)
{
	memcpy(entry->key, fld_at(context, FLOW_CONTEXT_MATCH_VALUE), FLOW_KEY_SIZE);
	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		entry->key[i] &= entry->group->mask[i];
}

/* Builds an entry that is in no table yet. Returns NULL or the reason for refusing it. */
static const char *entry_build(struct hca *hca, const struct cmd *cmd, const uint8_t *context,
			       struct flow_group *group, uint32_t index, struct flow_entry **out)
{
	struct flow_entry *entry = calloc(1, sizeof(*entry));
	const char *why;

	if (!entry)
		return "flow: no memory";
	entry->group = group;
	entry->index = index;
	entry->action = fld_get(context, FLOW_CONTEXT_ACTION);
	entry->tag = fld_get(context, FLOW_CONTEXT_FLOW_TAG);
	memcpy(entry->context, context, PRM_FLOW_CONTEXT_SIZE);
	take_key(entry, context);
	why = take_lists(hca, cmd, context, group->table, entry);
	if (!why)
		why = take_change(hca, context, group->table, entry);
	if (!why)
		why = take_reformat(hca, context, group->table, entry);
	if (why)
		flow_entry_discard(entry);
	else
		*out = entry;
	return why;
}

static struct flow_group *find_group(struct hca *hca, const struct flow_table *table,
				     const uint8_t *context, uint32_t index)
{
	struct flow_group *group =
		res_find(&hca->eth->flow_groups, fld_get(context, FLOW_CONTEXT_GROUP_ID));

	if (!group || group->table != table || index < group->first || index > group->last)
		return NULL;
	return group;
}

/* Takes from OLD the fields that MASK does not name. A destination list belongs to the action that
 * needs it, so both change together. */
static const char *entry_merge(struct flow_entry *entry, const struct flow_entry *old,
			       uint64_t mask)
{
	const uint64_t known = PRM_FTE_MODIFY_ACTION | PRM_FTE_MODIFY_TAG |
			       PRM_FTE_MODIFY_DESTINATIONS | PRM_FTE_MODIFY_COUNTERS;

	if (mask & ~known)
		return "flow: unknown modify_enable_mask";
	if (memcmp(entry->key, old->key, sizeof(old->key)) || entry->group != old->group)
		return "flow: a change must not move the entry";
	if (!(mask & PRM_FTE_MODIFY_TAG))
		entry->tag = old->tag;
	if (!(mask & PRM_FTE_MODIFY_COUNTERS) && entry->counter != old->counter)
		return "flow: the counter is not among what changes";
	if (!(mask & PRM_FTE_MODIFY_ACTION) &&
	    (entry->action != old->action || entry->change != old->change ||
	     entry->reformat != old->reformat))
		return "flow: the action is not among what changes";
	if (!(mask & PRM_FTE_MODIFY_DESTINATIONS) &&
	    (entry->count != old->count || memcmp(entry->destination, old->destination,
						  entry->count * sizeof(*old->destination))))
		return "flow: the destinations are not among what changes";
	return NULL;
}

static const char *entry_replace(struct hca *hca, const struct cmd *cmd, struct flow_entry *entry)
{
	struct flow_entry *old = entry->group->table->entry[entry->index];
	uint64_t op = fld_get(cmd->in, CMD_IN_OP_MOD);
	const char *why = NULL;

	if (op != ENTRY_SET && op != ENTRY_MODIFY)
		why = "flow: unknown op_mod";
	else if (op == ENTRY_SET && old)
		why = "flow: there is an entry already";
	else if (op == ENTRY_MODIFY && !old)
		why = "flow: no such entry";
	else if (op == ENTRY_MODIFY)
		why = entry_merge(entry, old, fld_get(cmd->in, SET_FTE_IN_MODIFY_ENABLE_MASK));
	return why ? why : flow_entry_put(hca, entry);
}

enum prm_status flow_entry_set(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, SET_FTE_IN_FLOW_CONTEXT);
	uint32_t index = fld_get(cmd->in, SET_FTE_IN_FLOW_INDEX);
	struct flow_table *table = flow_table_find(hca, cmd);
	struct flow_entry *entry = NULL;
	struct flow_group *group;
	const char *why;

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	group = find_group(hca, table, context, index);
	if (!group)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "flow: no such group for that index");
	why = check_context(hca, table, context);
	if (!why && fld_get(cmd->in, SET_FTE_IN_IGNORE_FLOW_LEVEL) && hca->config.kernel_driver)
		why = "flow: levels cannot be ignored";
	if (!why)
		why = entry_build(hca, cmd, context, group, index, &entry);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	why = entry_replace(hca, cmd, entry);
	if (why) {
		flow_entry_discard(entry);
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, why);
	}
	return PRM_STAT_OK;
}

static struct flow_entry *find_entry(struct hca *hca, struct cmd *cmd, uint32_t index)
{
	struct flow_table *table = flow_table_find(hca, cmd);

	if (!table)
		return NULL;
	cmd->why = "flow: no such entry";
	return index >> table->log_size ? NULL : table->entry[index];
}

enum prm_status flow_entry_query(struct hca *hca, struct cmd *cmd)
{
	struct flow_entry *entry = find_entry(hca, cmd, fld_get(cmd->in, QUERY_FTE_IN_FLOW_INDEX));
	uint8_t *context = fld_at(cmd->out, QUERY_FTE_OUT_FLOW_CONTEXT), *raw;

	if (!entry)
		return PRM_STAT_BAD_RES_ERR;
	raw = fld_at(context, FLOW_CONTEXT_DESTINATION);
	if (!cmd_has_room(cmd, raw, entry->count + !!entry->counter, PRM_DEST_FORMAT_SIZE))
		return cmd_fail(cmd, PRM_STAT_BAD_OUTP_LEN_ERR, "fte: no room for the list");
	memcpy(context, entry->context, PRM_FLOW_CONTEXT_SIZE);
	fld_set(context, FLOW_CONTEXT_FLOW_TAG, entry->tag);
	for (unsigned int i = 0; i < entry->count; i++, raw += PRM_DEST_FORMAT_SIZE) {
		const struct flow_destination *to = &entry->destination[i];

		fld_set(raw, DEST_FORMAT_DESTINATION_TYPE,
			to->table ? PRM_DEST_TABLE : PRM_DEST_TIR);
		fld_set(raw, DEST_FORMAT_DESTINATION_ID, to->table ? to->table->n : to->tir->n);
	}
	if (entry->counter)
		put_be32(raw, entry->counter->n);
	return PRM_STAT_OK;
}

enum prm_status flow_entry_delete(struct hca *hca, struct cmd *cmd)
{
	struct flow_entry *entry = find_entry(hca, cmd, fld_get(cmd->in, DELETE_FTE_IN_FLOW_INDEX));

	if (!entry)
		return PRM_STAT_BAD_RES_ERR;
	flow_entry_remove(hca, entry);
	return PRM_STAT_OK;
}
