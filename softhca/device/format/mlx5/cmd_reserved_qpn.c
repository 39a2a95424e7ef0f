/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_reserved_qpn.c - QP numbers that no QP gets, a range each. They lie above those of all QPs.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd.h"

enum prm_status reserved_qpn_create(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = 0;

	if (fld_get(cmd->in, GENERAL_OBJ_IN_LOG_OBJ_RANGE) != RESERVED_QPNS_LOG)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"reserved QPNs: not log_reserved_qpn_granularity of them");
	while (n < RESERVED_QPN_RANGES && hca->qpns_reserved[n])
		n++;
	if (n == RESERVED_QPN_RANGES)
		return cmd_fail(cmd, PRM_STAT_LIM_ERR, "reserved QPNs: none is left");
	hca->qpns_reserved[n] = true;
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, RESERVED_QPN_FIRST + (n << RESERVED_QPNS_LOG));
	return PRM_STAT_OK;
}

enum prm_status reserved_qpn_destroy(struct hca *hca, struct cmd *cmd)
{
	uint32_t at = fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID) - RESERVED_QPN_FIRST;
	uint32_t n = at >> RESERVED_QPNS_LOG;

	if (n >= RESERVED_QPN_RANGES || at != n << RESERVED_QPNS_LOG || !hca->qpns_reserved[n])
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "reserved QPNs: no such range");
	hca->qpns_reserved[n] = false;
	return PRM_STAT_OK;
}
