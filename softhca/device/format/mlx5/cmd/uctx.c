/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uctx.c - commands by which the driver registers users of the adapter. PRM: UCTX
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/umem.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status uctx_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, CREATE_UCTX_IN_UCTX);
	uint32_t caps = fld_get(context, UCTX_CAP);
	struct uctx *uctx;
	int ret;

	if (caps & ~(uint32_t)(PRM_UCTX_CAP_RAW_TX | PRM_UCTX_CAP_INTERNAL_DEV_RES))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "uctx: unknown cap");
	if (!cmd_is_zero(context + 4, PRM_CREATE_UCTX_IN_SIZE - 16 - 4))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "uctx: reserved fields are not 0");
	ret = uctx_add(hca, caps & PRM_UCTX_CAP_RAW_TX, caps & PRM_UCTX_CAP_INTERNAL_DEV_RES,
		       &uctx);
	if (ret)
		return cmd_errno(cmd, ret, "uctx: table is full");
	fld_set(cmd->out, CREATE_UCTX_OUT_UID, uctx->n);
	return PRM_STAT_OK;
}

enum prm_status uctx_destroy(struct hca *hca, struct cmd *cmd)
{
	struct uctx *uctx = res_get(&hca->uctxs, fld_get(cmd->in, DESTROY_UCTX_IN_UID));

	if (!uctx)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "uctx: no such user");
	if (uctx_count_objects(hca, uctx))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "uctx: has objects");
	uctx_remove(hca, uctx);
	return PRM_STAT_OK;
}
