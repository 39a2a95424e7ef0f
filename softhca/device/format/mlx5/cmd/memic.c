/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memic.c - commands that allocate and free memory on the adapter, and open and close its
 * operations.
 */
#include <errno.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/memic.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/memory/memic.h"

static_assert((int)MEMIC_INCREMENT == (int)PRM_MEMIC_INCREMENT, "numbers of operations");
static_assert((int)MEMIC_TEST_AND_SET == (int)PRM_MEMIC_TEST_AND_SET, "numbers of operations");

enum prm_status memic_alloc(struct hca *hca, struct cmd *cmd)
{
	const struct memic_request request = {
		.start = fld_get(cmd->in, ALLOC_MEMIC_IN_RANGE_START_ADDR),
		.len = fld_get(cmd->in, ALLOC_MEMIC_IN_RANGE_SIZE),
		.size = fld_get(cmd->in, ALLOC_MEMIC_IN_MEMIC_SIZE),
		.align_log =
			MEMIC_UNIT_LOG + fld_get(cmd->in, ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT),
	};
	const char *why;
	uint64_t addr;
	int ret;

	if (!hca->memic)
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "memic: there is none");
	why = memic_check(hca->memic, &request);
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = memic_take(hca->memic, &request, &addr);
	if (ret)
		return cmd_fail(cmd, PRM_STAT_NO_RES_ERR, "memic: no room");
	fld_set(cmd->out, ALLOC_MEMIC_OUT_MEMIC_START_ADDR, addr);
	return PRM_STAT_OK;
}

enum prm_status memic_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint64_t addr = fld_get(cmd->in, DEALLOC_MEMIC_IN_MEMIC_START_ADDR);
	uint64_t size = fld_get(cmd->in, DEALLOC_MEMIC_IN_MEMIC_SIZE);
	int ret = hca->memic ? memic_give_back(hca->memic, addr, size) : ENOENT;

	if (ret == EBUSY)
		return cmd_fail(cmd, PRM_STAT_RES_BUSY, "memic: keys or operations use the block");
	return ret ? cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "memic: no such block") : PRM_STAT_OK;
}

enum prm_status memic_modify(struct hca *hca, struct cmd *cmd)
{
	uint32_t operation = fld_get(cmd->in, MODIFY_MEMIC_IN_MEMIC_OPERATION_TYPE);
	uint64_t addr = fld_get(cmd->in, MODIFY_MEMIC_IN_MEMIC_START_ADDR), window = 0;
	const char *why = "memic: unknown op_mod";

	if (!hca->memic)
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "memic: there is none");
	switch (fld_get(cmd->in, CMD_IN_OP_MOD)) {
	case PRM_MODIFY_MEMIC_ALLOC:
		why = memic_open_operation(hca->memic, addr, operation, &window);
		break;
	case PRM_MODIFY_MEMIC_DEALLOC:
		why = memic_close_operation(hca->memic, addr, operation);
		break;
	}
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	fld_set(cmd->out, MODIFY_MEMIC_OUT_MEMIC_OPERATION_ADDR, window);
	return PRM_STAT_OK;
}
