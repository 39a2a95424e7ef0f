/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * av_mapping.c - commands that map an address vector to a QP.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status av_mapping_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *context = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	struct av_mapping *mapping;
	int ret;

	if (fld_get64(context, FLD_BYTE(AV_QP_MAPPING_MODIFY_FIELD_SELECT)))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "av mapping: nothing to modify yet");
	/* Any QP is accepted, as pyverbs names one of another context. */
	if (!res_get(&hca->qps, fld_get(context, AV_QP_MAPPING_QPN)))
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "av mapping: no such QP");
	ret = av_mapping_add(hca, context, PRM_AV_QP_MAPPING_SIZE, &mapping);
	if (ret)
		return cmd_errno(cmd, ret, "av mapping: table is full");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, mapping->n);
	return PRM_STAT_OK;
}

static struct av_mapping *av_mapping_find(struct hca *hca, struct cmd *cmd)
{
	cmd->why = "av mapping: no such object";
	return res_find(&hca->av_mappings, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
}

enum prm_status av_mapping_query(struct hca *hca, struct cmd *cmd)
{
	struct av_mapping *mapping = av_mapping_find(hca, cmd);

	if (!mapping)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(fld_at(cmd->out, GENERAL_OBJ_OBJECT), mapping->context, PRM_AV_QP_MAPPING_SIZE);
	return PRM_STAT_OK;
}

enum prm_status av_mapping_destroy(struct hca *hca, struct cmd *cmd)
{
	struct av_mapping *mapping = av_mapping_find(hca, cmd);

	if (!mapping)
		return PRM_STAT_BAD_RES_ERR;
	av_mapping_remove(hca, mapping);
	return PRM_STAT_OK;
}
