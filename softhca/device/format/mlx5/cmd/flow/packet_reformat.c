/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_reformat.c - commands on headers of tunnels. PRM: ALLOC_PACKET_REFORMAT_CONTEXT
 */
#include "prm/mlx5/cmd.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status packet_reformat_alloc(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *data = fld_at(cmd->in, ALLOC_REFORMAT_IN_DATA);
	const uint64_t type = fld_get(cmd->in, ALLOC_REFORMAT_IN_TYPE);
	const unsigned int size = (unsigned int)fld_get(cmd->in, ALLOC_REFORMAT_IN_DATA_SIZE);
	const char *why = packet_reformat_check(type, size);
	struct packet_reformat *reformat;
	int ret;

	if ((size_t)(data - cmd->in) + size > cmd->in_len)
		return cmd_fail(
			cmd, PRM_STAT_BAD_INP_LEN_ERR,
			"packet reformat: the headers are shorter than reformat_data_size says");
	if (hca->config.kernel_driver)
		why = "packet reformat: not announced";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = packet_reformat_add(hca, (enum prm_reformat)type, data, size, &reformat);
	if (ret)
		return cmd_errno(cmd, ret, "packet reformat: no more contexts");
	fld_set(cmd->out, ALLOC_REFORMAT_OUT_ID, reformat->n);
	return PRM_STAT_OK;
}

enum prm_status packet_reformat_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct packet_reformat *reformat =
		res_find(&hca->eth->packet_reformats, fld_get(cmd->in, DEALLOC_REFORMAT_IN_ID));

	if (!reformat)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "packet reformat: no such context");
	if (reformat->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"packet reformat: an entry uses the context");
	packet_reformat_remove(hca, reformat);
	return PRM_STAT_OK;
}
