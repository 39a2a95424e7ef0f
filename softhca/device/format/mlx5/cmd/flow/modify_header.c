/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_header.c - commands on lists of actions that change headers. PRM:
 * ALLOC_MODIFY_HEADER_CONTEXT
 */
#include "prm/mlx5/cmd.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

static const char *check_list(const struct cmd *cmd, uint64_t type, unsigned int count)
{
	const uint8_t *actions = fld_at(cmd->in, ALLOC_MODIFY_HEADER_IN_ACTIONS);
	const char *why = NULL;

	if (type != PRM_FLOW_NIC_RX && type != PRM_FLOW_NIC_TX)
		return "modify header: tables of NIC receive and transmit only";
	if (!count || count > MODIFY_HEADER_MAX)
		return "modify header: no action, or more than max_modify_header_actions";
	for (unsigned int i = 0; !why && i < count; i++)
		why = modify_header_check(actions + (size_t)i * PRM_HEADER_ACTION_SIZE);
	return why;
}

enum prm_status modify_header_alloc(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *actions = fld_at(cmd->in, ALLOC_MODIFY_HEADER_IN_ACTIONS);
	const uint64_t type = fld_get(cmd->in, ALLOC_MODIFY_HEADER_IN_TABLE_TYPE);
	const unsigned int count =
		(unsigned int)fld_get(cmd->in, ALLOC_MODIFY_HEADER_IN_NUM_OF_ACTIONS);
	struct modify_header *list;
	const char *why;
	int ret;

	if ((size_t)(actions - cmd->in) + (size_t)count * PRM_HEADER_ACTION_SIZE > cmd->in_len)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR,
				"modify header: the list is shorter than num_of_actions says");
	why = hca->config.kernel_driver ? "modify header: not announced"
					: check_list(cmd, type, count);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = modify_header_add(hca, (enum prm_flow_table_type)type, actions, count, &list);
	if (ret)
		return cmd_errno(cmd, ret, "modify header: no more lists");
	fld_set(cmd->out, ALLOC_MODIFY_HEADER_OUT_ID, list->n);
	return PRM_STAT_OK;
}

enum prm_status modify_header_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct modify_header *list =
		res_find(&hca->eth->modify_headers, fld_get(cmd->in, DEALLOC_MODIFY_HEADER_IN_ID));

	if (!list)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "modify header: no such list");
	if (list->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"modify header: an entry uses the list");
	modify_header_remove(hca, list);
	return PRM_STAT_OK;
}
