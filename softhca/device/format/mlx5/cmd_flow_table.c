/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_flow_table.c - flow tables and their groups, as objects; where frames enter them.
 *
 * A group owns a range of indices and says which bits its entries match. A table leads, by entries
 * or on a miss, only to tables of a higher level. PRM: CREATE_FLOW_TABLE, CREATE_FLOW_GROUP
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd.h"

struct flow_table *flow_table_find(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table =
		res_get(&hca->eth->flow_tables, fld_get(cmd->in, FLOW_IN_TABLE_ID));

	if (fld_get(cmd->in, CREATE_FLOW_TABLE_IN_OTHER_VPORT)) {
		cmd->why = "flow: no other vports";
		return NULL;
	}
	cmd->why = "flow: no such table of this type";
	return table && table->type == fld_get(cmd->in, FLOW_IN_TABLE_TYPE) ? table : NULL;
}

/* The function finds where a table of TYPE and LEVEL goes on a miss, as CONTEXT says. It returns
 * NULL or what is wrong. */
static const char *find_miss(struct hca *hca, const uint8_t *context, enum prm_flow_table_type type,
			     unsigned int level, struct flow_table **miss)
{
	uint64_t action = fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION);

	*miss = NULL;
	if (action == PRM_MISS_DEFAULT)
		return NULL;
	if (action != PRM_MISS_FORWARD)
		return "flow: unknown miss action";
	*miss = res_get(&hca->eth->flow_tables, fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID));
	if (!*miss || (*miss)->type != type)
		return "flow: no such table to go to on a miss";
	return (*miss)->level > level ? NULL : "flow: a miss must lead to a higher level";
}

static const char *check_context(const uint8_t *context)
{
	if (fld_get(context, FLOW_TABLE_CONTEXT_REFORMAT_EN) ||
	    fld_get(context, FLOW_TABLE_CONTEXT_DECAP_EN) ||
	    fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER) ||
	    fld_get(context, FLOW_TABLE_CONTEXT_TERMINATION_TABLE))
		return "flow: reformat, own steering and termination tables are not supported";
	if (fld_get(context, FLOW_TABLE_CONTEXT_LOG_SIZE) > FLOW_LOG_TABLE_MAX)
		return "flow: more entries than log_max_ft_size allows";
	if (fld_get(context, FLOW_TABLE_CONTEXT_LEVEL) >= FLOW_LEVELS)
		return "flow: level above max_ft_level";
	return NULL;
}

static void set_miss(struct flow_table *table, struct flow_table *miss)
{
	if (table->miss)
		table->miss->users--;
	table->miss = miss;
	if (miss)
		miss->users++;
}

static void table_free(struct flow_table *table)
{
	free(table->entry);
	free(table);
}

static enum prm_status table_add(struct hca *hca, struct cmd *cmd, const uint8_t *context,
				 struct flow_table *miss)
{
	struct flow_table *table = calloc(1, sizeof(*table));
	int ret;

	if (!table)
		return cmd_errno(cmd, ENOMEM, "flow");
	table->type = (enum prm_flow_table_type)fld_get(cmd->in, FLOW_IN_TABLE_TYPE);
	table->level = fld_get(context, FLOW_TABLE_CONTEXT_LEVEL);
	table->log_size = fld_get(context, FLOW_TABLE_CONTEXT_LOG_SIZE);
	TAILQ_INIT(&table->groups);
	table->entry = calloc((size_t)1 << table->log_size, sizeof(*table->entry));
	ret = table->entry ? res_add(&hca->eth->flow_tables, table, &table->n) : ENOMEM;
	if (ret) {
		table_free(table);
		return cmd_errno(cmd, ret, "flow: no more tables");
	}
	set_miss(table, miss);
	fld_set(cmd->out, CREATE_FLOW_TABLE_OUT_TABLE_ID, table->n);
	return PRM_STAT_OK;
}

enum prm_status flow_table_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint64_t type = fld_get(cmd->in, FLOW_IN_TABLE_TYPE);
	const char *why = check_context(context);
	struct flow_table *miss;

	if (type > PRM_FLOW_NIC_TX)
		why = "flow: tables of NIC receive and transmit only";
	if (fld_get(cmd->in, CREATE_FLOW_TABLE_IN_OTHER_VPORT) || fld_get(cmd->in, CMD_IN_OP_MOD))
		why = "flow: no other vports, no LAG";
	if (!why)
		why = find_miss(hca, context, (enum prm_flow_table_type)type,
				fld_get(context, FLOW_TABLE_CONTEXT_LEVEL), &miss);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	return table_add(hca, cmd, context, miss);
}

enum prm_status flow_table_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, MODIFY_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	struct flow_table *table = flow_table_find(hca, cmd), *miss;
	const char *why;

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get(cmd->in, MODIFY_FLOW_TABLE_IN_MODIFY_FIELD_SELECT) != PRM_MODIFY_TABLE_MISS)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "flow: only the miss can change");
	why = find_miss(hca, context, table->type, table->level, &miss);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	set_miss(table, miss);
	return PRM_STAT_OK;
}

enum prm_status flow_table_query(struct hca *hca, struct cmd *cmd)
{
	uint8_t *context = fld_at(cmd->out, QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT);
	struct flow_table *table = flow_table_find(hca, cmd);

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	fld_set(context, FLOW_TABLE_CONTEXT_LEVEL, table->level);
	fld_set(context, FLOW_TABLE_CONTEXT_LOG_SIZE, table->log_size);
	if (table->miss) {
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, PRM_MISS_FORWARD);
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID, table->miss->n);
	}
	return PRM_STAT_OK;
}

static void set_root(struct eth *eth, enum prm_flow_table_type type, struct flow_table *table)
{
	if (eth->root[type])
		eth->root[type]->users--;
	eth->root[type] = table;
	if (table)
		table->users++;
}

/* The root table may go as it is; then there is none. */
enum prm_status flow_table_destroy(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table = flow_table_find(hca, cmd);
	bool is_root;

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	is_root = hca->eth->root[table->type] == table;
	if (table->users > is_root || !TAILQ_EMPTY(&table->groups))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"flow: the table has groups, or something leads to it");
	if (is_root)
		set_root(hca->eth, table->type, NULL);
	set_miss(table, NULL);
	res_remove(&hca->eth->flow_tables, table->n);
	table_free(table);
	return PRM_STAT_OK;
}

enum prm_status flow_table_set_root(struct hca *hca, struct cmd *cmd)
{
	uint64_t type = fld_get(cmd->in, FLOW_IN_TABLE_TYPE);
	struct flow_table *table;

	if (type > PRM_FLOW_NIC_TX || fld_get(cmd->in, SET_FLOW_TABLE_ROOT_IN_UNDERLAY_QPN))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"flow: a root of NIC receive or transmit only");
	switch (fld_get(cmd->in, CMD_IN_OP_MOD)) {
	case PRM_ROOT_SET:
		table = flow_table_find(hca, cmd);
		if (!table)
			return PRM_STAT_BAD_RES_ERR;
		set_root(hca->eth, table->type, table);
		return PRM_STAT_OK;
	case PRM_ROOT_DISCONNECT:
		set_root(hca->eth, (enum prm_flow_table_type)type, NULL);
		return PRM_STAT_OK;
	default:
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "flow: unknown op_mod");
	}
}

/* ---- groups ---- */

static bool group_overlaps(const struct flow_table *table, uint32_t first, uint32_t last)
{
	struct flow_group *group;

	TAILQ_FOREACH(group, &table->groups, in_table)
		if (first <= group->last && group->first <= last)
			return true;
	return false;
}

/* The function takes the part of the criteria that is enabled. It returns false when that has bits
 * that nothing is known about. */
static bool take_mask(const struct cmd *cmd, uint8_t mask[FLOW_KEY_SIZE])
{
	const uint8_t *criteria = fld_at(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);
	uint64_t enabled = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE);
	uint8_t supported[FLOW_KEY_SIZE];

	memset(mask, 0, FLOW_KEY_SIZE);
	if (enabled & PRM_MATCH_OUTER)
		memcpy(mask, fld_at(criteria, MATCH_OUTER_HEADERS), PRM_MATCH_SET_SIZE);
	if (enabled & PRM_MATCH_MISC)
		memcpy(mask + PRM_MATCH_SET_SIZE, fld_at(criteria, MATCH_MISC_PARAMETERS),
		       PRM_MATCH_SET_SIZE);
	flow_supported_mask(supported);
	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		if (mask[i] & ~supported[i])
			return false;
	return !(enabled & ~(uint64_t)(PRM_MATCH_OUTER | PRM_MATCH_MISC));
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

static const char *check_group(const struct flow_table *table, const struct cmd *cmd)
{
	uint32_t first = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX);
	uint32_t last = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX);

	if (fld_get(cmd->in, CREATE_FLOW_GROUP_IN_GROUP_TYPE) ||
	    fld_get(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_DEFINER_ID))
		return "flow: match definers are not supported";
	if (first > last || last >> table->log_size)
		return "flow: indices outside of the table";
	return group_overlaps(table, first, last) ? "flow: indices of another group" : NULL;
}

enum prm_status flow_group_create(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table = flow_table_find(hca, cmd);
	uint8_t mask[FLOW_KEY_SIZE];
	struct flow_group *group;
	const char *why;
	int ret;

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	why = check_group(table, cmd);
	if (!why && !take_mask(cmd, mask))
		why = "flow: criteria that cannot be matched";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	group = calloc(1, sizeof(*group));
	ret = group ? res_add(&hca->eth->flow_groups, group, &group->n) : ENOMEM;
	if (ret) {
		free(group);
		return cmd_errno(cmd, ret, "flow: no more groups");
	}
	group->table = table;
	group->first = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX);
	group->last = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX);
	memcpy(group->mask, mask, sizeof(mask));
	insert_sorted(table, group);
	fld_set(cmd->out, CREATE_FLOW_GROUP_OUT_GROUP_ID, group->n);
	return PRM_STAT_OK;
}

static void group_free(struct hca *hca, struct flow_group *group)
{
	TAILQ_REMOVE(&group->table->groups, group, in_table);
	res_remove(&hca->eth->flow_groups, group->n);
	free(group);
}

enum prm_status flow_group_destroy(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table = flow_table_find(hca, cmd);
	struct flow_group *group =
		res_get(&hca->eth->flow_groups, fld_get(cmd->in, DESTROY_FLOW_GROUP_IN_GROUP_ID));

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	if (!group || group->table != table)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "flow: no such group in the table");
	if (group->entries)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "flow: the group has entries");
	group_free(hca, group);
	return PRM_STAT_OK;
}

/* ---- all at once, when the adapter goes ---- */

static void empty_group(struct hca *hca, struct flow_group *group)
{
	for (unsigned int i = 0; i < FLOW_BUCKETS; i++)
		while (!LIST_EMPTY(&group->bucket[i]))
			flow_entry_free(hca, LIST_FIRST(&group->bucket[i]));
}

void flow_free_all(struct hca *hca)
{
	struct eth *eth = hca->eth;
	struct flow_table *table;
	struct flow_group *group;
	void *counter;

	for (uint32_t at = 0; (group = res_next(&eth->flow_groups, &at)) != NULL;) {
		empty_group(hca, group);
		group_free(hca, group);
	}
	for (uint32_t at = 0; (table = res_next(&eth->flow_tables, &at)) != NULL;)
		table_free(table);
	for (uint32_t at = 0; (counter = res_next(&eth->flow_counters, &at)) != NULL;)
		free(counter);
}
