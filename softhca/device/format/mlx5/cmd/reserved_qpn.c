/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reserved_qpn.c - reserves ranges of QP numbers that no QP gets, for other uses by software. They
 * are above the numbers of all QPs.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status reserved_qpn_create(struct hca *hca, struct cmd *cmd)
{
	static uint8_t range; /* dummy object, as a range has no state but its owner */
	uint32_t n;
	int ret;

	if (fld_get(cmd->in, GENERAL_OBJ_IN_LOG_OBJ_RANGE) != RESERVED_QPNS_LOG)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"reserved QPNs: not log_reserved_qpn_granularity of them");
	ret = res_add(&hca->qpn_ranges, &range, &n);
	if (ret)
		return cmd_errno(cmd, ret, "reserved QPNs: none is left");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, n << RESERVED_QPNS_LOG);
	return PRM_STAT_OK;
}

enum prm_status reserved_qpn_destroy(struct hca *hca, struct cmd *cmd)
{
	uint32_t qpn = fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID);
	uint32_t n = qpn >> RESERVED_QPNS_LOG;

	if (qpn != n << RESERVED_QPNS_LOG || !res_find(&hca->qpn_ranges, n))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "reserved QPNs: no such range");
	res_remove(&hca->qpn_ranges, n);
	return PRM_STAT_OK;
}
