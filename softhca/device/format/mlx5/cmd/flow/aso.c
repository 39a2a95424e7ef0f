/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.c - commands on objects with the state of flows (ASO), which are general objects. PRM: ASO
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

static_assert((int)ASO_FIRST_HITS == PRM_ASO_HITS, "as the PRM says");

static enum aso_kind kind_of(const struct cmd *cmd)
{
	switch (fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_TYPE)) {
	case PRM_OBJ_TYPE_ASO_FIRST_HIT:
		return ASO_OF_FIRST_HITS;
	case PRM_OBJ_TYPE_ASO_FLOW_METER:
		return ASO_OF_METERS;
	default:
		return ASO_OF_CONNECTION;
	}
}

enum prm_status aso_create(struct hca *hca, struct cmd *cmd)
{
	const uint64_t log = fld_get(cmd->in, GENERAL_OBJ_IN_LOG_OBJ_RANGE);
	struct aso *aso;
	int ret;

	if (!mlx5_has_steering(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "aso: there are none");
	if (log > ASO_LOG_RANGE_MAX)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "aso: log_obj_range");
	ret = aso_add(hca, kind_of(cmd), 1u << log, &aso);
	if (ret)
		return cmd_errno(cmd, ret, "aso: no more objects");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, aso->n);
	return PRM_STAT_OK;
}

static struct aso *find_aso(struct hca *hca, struct cmd *cmd)
{
	struct aso *aso = res_find(&hca->eth->asos, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));

	cmd->why = "aso: no such object";
	return aso && aso->kind == kind_of(cmd) ? aso : NULL;
}

enum prm_status aso_query(struct hca *hca, struct cmd *cmd)
{
	const struct aso *aso = find_aso(hca, cmd);

	if (!aso)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(fld_at(fld_at(cmd->out, GENERAL_OBJ_OBJECT), ASO_HITS), aso->hits,
	       sizeof(aso->hits));
	return PRM_STAT_OK;
}

enum prm_status aso_destroy(struct hca *hca, struct cmd *cmd)
{
	struct aso *aso = find_aso(hca, cmd);

	if (!aso)
		return PRM_STAT_BAD_RES_ERR;
	if (!aso->range)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "aso: not the first of its range");
	aso_remove(hca, aso);
	return PRM_STAT_OK;
}
