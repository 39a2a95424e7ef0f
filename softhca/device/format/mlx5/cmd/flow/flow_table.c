/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_table.c - commands on flow tables and their groups. PRM: CREATE_FLOW_TABLE,
 * CREATE_FLOW_GROUP
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/steering/ste_end.h"

/* A user may send frames to a table that is for all, but not change it, as others' frames go
 * there. */
static bool is_for_destinations_only(const struct hca *hca, const struct flow_table *table)
{
	return hca->user && hca->user != RES_FOR_ALL &&
	       res_is_shared(&hca->eth->flow_tables, table->n);
}

struct flow_table *flow_table_find(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table =
		res_find(&hca->eth->flow_tables, fld_get(cmd->in, FLOW_IN_TABLE_ID));

	if (fld_get(cmd->in, CREATE_FLOW_TABLE_IN_OTHER_VPORT)) {
		cmd->why = "flow: no other vports";
		return NULL;
	}
	if (table && is_for_destinations_only(hca, table)) {
		cmd->why = "flow: the table is the driver's";
		return NULL;
	}
	cmd->why = "flow: no such table of this type";
	return table && table->type == fld_get(cmd->in, FLOW_IN_TABLE_TYPE) ? table : NULL;
}

/* Finds the miss table that CONTEXT names for a table of TYPE and LEVEL. Returns NULL or the reason
 * for refusing it. */
static const char *find_miss(struct hca *hca, const uint8_t *context, enum prm_flow_table_type type,
			     unsigned int level, struct flow_table **miss)
{
	uint64_t action = fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION);

	*miss = NULL;
	if (action == PRM_MISS_DEFAULT)
		return NULL;
	if (action != PRM_MISS_FORWARD)
		return "flow: unknown miss action";
	*miss = res_find(&hca->eth->flow_tables,
			 fld_get(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID));
	return flow_miss_check(type, level, *miss);
}

/* Returns whether the adapter has tables of this type. On mlx4 the front, in place of the kernel,
 * also uses a sniffer of sent frames. */
static bool has_type(const struct hca *hca, uint64_t type)
{
	return type <= PRM_FLOW_NIC_TX ||
	       (type == PRM_FLOW_SNIFFER_TX && hca->config.kind == HCA_MLX4);
}

static const char *check_context(const struct hca *hca, const uint8_t *context, uint64_t type)
{
	if (hca->config.kernel_driver && (fld_get(context, FLOW_TABLE_CONTEXT_DECAP_EN) ||
					  fld_get(context, FLOW_TABLE_CONTEXT_REFORMAT_EN)))
		return "flow: tunnels are not announced";
	if (fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER) && !mlx5_has_steering(hca))
		return "flow: software cannot own tables";
	if (fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER) && !uctx_may_use_icm(hca))
		return "flow: the user has no INTERNAL_DEV_RES";
	if (fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER) &&
	    !fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0))
		return "flow: software's own table has no first entry";
	if (fld_get(context, FLOW_TABLE_CONTEXT_TERMINATION_TABLE) && !mlx5_has_steering(hca))
		return "flow: termination tables are not supported";
	if (fld_get(context, FLOW_TABLE_CONTEXT_DECAP_EN) && type != PRM_FLOW_NIC_RX)
		return "flow: only received frames leave tunnels";
	if (fld_get(context, FLOW_TABLE_CONTEXT_REFORMAT_EN) && type > PRM_FLOW_NIC_TX)
		return "flow: no reformat in tables of this type";
	if (fld_get(context, FLOW_TABLE_CONTEXT_LOG_SIZE) > FLOW_LOG_TABLE_MAX)
		return "flow: more entries than log_max_ft_size allows";
	if (fld_get(context, FLOW_TABLE_CONTEXT_LEVEL) >= FLOW_LEVELS)
		return "flow: level above max_ft_level";
	return NULL;
}

static void put_address(const struct cmd *cmd, const struct flow_table *table)
{
	const uint64_t addr = ste_end_address(STE_END_TABLE, table->n);

	fld_set(cmd->out, CREATE_FLOW_TABLE_OUT_ICM_ADDRESS_39_32, addr >> 32);
	fld_set(cmd->out, CREATE_FLOW_TABLE_OUT_ICM_ADDRESS_31_0, (uint32_t)addr);
}

enum prm_status flow_table_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);
	uint64_t type = fld_get(cmd->in, FLOW_IN_TABLE_TYPE);
	const char *why = check_context(hca, context, type);
	struct flow_table *table, *miss;
	int ret;

	if (!has_type(hca, type))
		why = "flow: tables of NIC receive and transmit only";
	if (fld_get(cmd->in, CREATE_FLOW_TABLE_IN_OTHER_VPORT) || fld_get(cmd->in, CMD_IN_OP_MOD))
		why = "flow: no other vports, no LAG";
	if (!why)
		why = find_miss(hca, context, (enum prm_flow_table_type)type,
				fld_get(context, FLOW_TABLE_CONTEXT_LEVEL), &miss);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = flow_table_add(hca, (enum prm_flow_table_type)type,
			     fld_get(context, FLOW_TABLE_CONTEXT_LEVEL),
			     fld_get(context, FLOW_TABLE_CONTEXT_LOG_SIZE), &table);
	if (ret)
		return cmd_errno(cmd, ret, "flow: no more tables");
	flow_table_set_miss(table, miss);
	table->has_reformat = fld_get(context, FLOW_TABLE_CONTEXT_REFORMAT_EN);
	table->has_decap = fld_get(context, FLOW_TABLE_CONTEXT_DECAP_EN);
	table->is_last = fld_get(context, FLOW_TABLE_CONTEXT_TERMINATION_TABLE);
	if (fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER))
		table->software_root = fld_get(context, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0);
	fld_set(cmd->out, CREATE_FLOW_TABLE_OUT_TABLE_ID, table->n);
	if (mlx5_has_steering(hca))
		put_address(cmd, table);
	return PRM_STAT_OK;
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
	flow_table_set_miss(table, miss);
	return PRM_STAT_OK;
}

enum prm_status flow_table_query(struct hca *hca, struct cmd *cmd)
{
	uint8_t *context = fld_at(cmd->out, QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT);
	struct flow_table *table = flow_table_find(hca, cmd);

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	fld_set(context, FLOW_TABLE_CONTEXT_REFORMAT_EN, table->has_reformat);
	fld_set(context, FLOW_TABLE_CONTEXT_DECAP_EN, table->has_decap);
	fld_set(context, FLOW_TABLE_CONTEXT_TERMINATION_TABLE, table->is_last);
	fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER, table->software_root != 0);
	if (mlx5_has_steering(hca))
		fld_set(context, FLOW_TABLE_CONTEXT_SW_OWNER_ICM_ROOT_0,
			table->software_root ? table->software_root
					     : ste_end_address(STE_END_TABLE, table->n));
	fld_set(context, FLOW_TABLE_CONTEXT_LEVEL, table->level);
	fld_set(context, FLOW_TABLE_CONTEXT_LOG_SIZE, table->log_size);
	if (table->miss) {
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, PRM_MISS_FORWARD);
		fld_set(context, FLOW_TABLE_CONTEXT_TABLE_MISS_ID, table->miss->n);
	}
	return PRM_STAT_OK;
}

enum prm_status flow_table_destroy(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table = flow_table_find(hca, cmd);

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	if (!flow_table_remove(hca, table))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"flow: the table has groups, or something leads to it");
	return PRM_STAT_OK;
}

enum prm_status flow_table_set_root(struct hca *hca, struct cmd *cmd)
{
	uint64_t type = fld_get(cmd->in, FLOW_IN_TABLE_TYPE);
	struct flow_table *table;

	if (!has_type(hca, type) || fld_get(cmd->in, SET_FLOW_TABLE_ROOT_IN_UNDERLAY_QPN))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"flow: a root of NIC receive or transmit only");
	switch (fld_get(cmd->in, CMD_IN_OP_MOD)) {
	case PRM_ROOT_SET:
		table = flow_table_find(hca, cmd);
		if (!table)
			return PRM_STAT_BAD_RES_ERR;
		flow_set_root(hca->eth, table->type, table);
		return PRM_STAT_OK;
	case PRM_ROOT_DISCONNECT:
		flow_set_root(hca->eth, (enum prm_flow_table_type)type, NULL);
		return PRM_STAT_OK;
	default:
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "flow: unknown op_mod");
	}
}

/* Takes the enabled sets of the match criteria. Returns false if they have unknown bits. */
static bool take_mask(const struct hca *hca, const struct cmd *cmd, uint8_t mask[FLOW_KEY_SIZE])
{
	const uint8_t *criteria = fld_at(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);
	uint64_t enabled = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE);
	uint8_t supported[FLOW_KEY_SIZE];

	memset(mask, 0, FLOW_KEY_SIZE);
	for (size_t i = 0; i < PRM_MATCH_SETS; i++)
		if (enabled >> i & 1)
			memcpy(mask + i * PRM_MATCH_SET_SIZE, criteria + i * PRM_MATCH_SET_SIZE,
			       PRM_MATCH_SET_SIZE);
	flow_supported_mask(hca->config.kernel_driver, supported);
	for (unsigned int i = 0; i < FLOW_KEY_SIZE; i++)
		if (mask[i] & ~supported[i])
			return false;
	return !(enabled >> PRM_MATCH_SETS);
}

static const char *check_group(const struct flow_table *table, const struct cmd *cmd)
{
	uint32_t first = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX);
	uint32_t last = fld_get(cmd->in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX);

	if (fld_get(cmd->in, CREATE_FLOW_GROUP_IN_GROUP_TYPE) ||
	    fld_get(cmd->in, CREATE_FLOW_GROUP_IN_MATCH_DEFINER_ID))
		return "flow: match definers are not supported";
	return flow_group_check(table, first, last);
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
	if (!why && !take_mask(hca, cmd, mask))
		why = "flow: criteria that cannot be matched";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = flow_group_add(hca, table, fld_get(cmd->in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX),
			     fld_get(cmd->in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX), mask, &group);
	if (ret)
		return cmd_errno(cmd, ret, "flow: no more groups");
	fld_set(cmd->out, CREATE_FLOW_GROUP_OUT_GROUP_ID, group->n);
	return PRM_STAT_OK;
}

enum prm_status flow_group_destroy(struct hca *hca, struct cmd *cmd)
{
	struct flow_table *table = flow_table_find(hca, cmd);
	struct flow_group *group =
		res_find(&hca->eth->flow_groups, fld_get(cmd->in, DESTROY_FLOW_GROUP_IN_GROUP_ID));

	if (!table)
		return PRM_STAT_BAD_RES_ERR;
	if (!group || group->table != table)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "flow: no such group in the table");
	if (group->entries)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "flow: the group has entries");
	flow_group_remove(hca, group);
	return PRM_STAT_OK;
}
