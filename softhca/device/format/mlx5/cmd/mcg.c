/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcg.c - commands by which QPs join multicast groups and leave them.
 */
#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mcg.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status mcg_attach(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_find(&hca->qps, fld_get(cmd->in, MCG_IN_QPN));
	int ret;

	if (!qp)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mcg: no such QP");
	if (qp->service != FABRIC_UD)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "mcg: not a datagram QP");
	ret = mcg_join(hca, qp, fld_at(cmd->in, MCG_IN_MULTICAST_GID));
	if (ret == ENOSPC)
		return cmd_errno(cmd, ret, "mcg: more members than max_qp_mcg allows");
	return ret ? cmd_errno(cmd, ret, "mcg") : PRM_STAT_OK;
}

enum prm_status mcg_detach(struct hca *hca, struct cmd *cmd)
{
	struct qp *qp = res_find(&hca->qps, fld_get(cmd->in, MCG_IN_QPN));

	if (!qp || !mcg_leave(hca, qp, fld_at(cmd->in, MCG_IN_MULTICAST_GID)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "mcg: not a member of that group");
	return PRM_STAT_OK;
}
