/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.c - the command by which a driver that received a MAD lets the adapter's agents answer it.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mad.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status mad_answer(struct hca *hca, struct cmd *cmd)
{
	unsigned int port = fld_get(cmd->in, MAD_IFC_IN_PORT);

	if (fld_get(cmd->in, CMD_IN_OP_MOD) & ~(PRM_MAD_IGNORE_MKEY | PRM_MAD_IGNORE_BKEY))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mad: unknown modifier");
	if (port < 1 || port > hca->config.num_ports)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mad: no such port");
	if (!station_answer_mad(hca, port, fld_at(cmd->in, MAD_IFC_IN_MAD),
				fld_at(cmd->out, MAD_IFC_OUT_MAD)))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mad: no agent answers it");
	return PRM_STAT_OK;
}
