/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sw_icm.c - commands on the memory for table entries that software writes itself. PRM: SW ICM
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status sw_icm_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *object = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	uint64_t addr = fld_get(object, SW_ICM_SW_ICM_START_ADDR);
	uint64_t log_size = fld_get(object, SW_ICM_LOG_SW_ICM_SIZE);
	struct ste_block *block;
	const char *why;
	int ret;

	if (!mlx5_has_steering(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "icm: there is none");
	if (!uctx_may_use_icm(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"icm: the user has no INTERNAL_DEV_RES");
	why = ste_memory_check(hca, addr, log_size);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = ste_memory_add(hca, addr, log_size, &block);
	if (ret)
		return cmd_errno(cmd, ret, "icm: no more blocks");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, block->n);
	return PRM_STAT_OK;
}

enum prm_status sw_icm_destroy(struct hca *hca, struct cmd *cmd)
{
	struct ste_block *block =
		res_find(&hca->ste_blocks, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));

	if (!block)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "icm: no such block");
	if (block->users)
		return cmd_fail(cmd, PRM_STAT_RES_BUSY, "icm: keys use the block");
	ste_memory_remove(hca, block);
	return PRM_STAT_OK;
}

/* Forgets what the adapter has read of entries. This is nothing, as each frame reads them anew. */
enum prm_status steering_sync(struct hca *hca, struct cmd *cmd)
{
	if (!mlx5_has_steering(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "steering: software owns no tables");
	return PRM_STAT_OK;
}
