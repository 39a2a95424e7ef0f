/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.c - commands by which a kernel driver starts and stops the adapter: enable, interface
 * version, initialize, tear down. pages.c has the firmware's memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/driver.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/format/mlx5/driver.h"
#include "softhca/device/format/mlx5/mlx5.h"

int mlx5_create(struct hca *hca)
{
	hca->firmware = calloc(1, sizeof(*hca->firmware));
	return hca->firmware ? mlx5_add_special_key(hca) : ENOMEM;
}

void mlx5_destroy(struct hca *hca)
{
	if (hca->firmware)
		pages_free(hca);
	free(hca->firmware);
}

enum prm_status driver_enable(struct hca *hca, struct cmd *cmd)
{
	if (hca->firmware->enabled)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: enabled already");
	hca->firmware->enabled = true;
	return PRM_STAT_OK;
}

enum prm_status driver_disable(struct hca *hca, struct cmd *cmd)
{
	if (!hca->firmware->enabled)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: not enabled");
	hca->firmware->enabled = false;
	return PRM_STAT_OK;
}

enum prm_status driver_query_issi(struct hca *hca, struct cmd *cmd)
{
	enum { ISSI_0_AND_1 = 3 };

	fld_set(cmd->out, QUERY_ISSI_OUT_CURRENT_ISSI, hca->firmware->issi);
	fld_set(cmd->out, QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0, ISSI_0_AND_1);
	return PRM_STAT_OK;
}

enum prm_status driver_set_issi(struct hca *hca, struct cmd *cmd)
{
	uint64_t issi = fld_get(cmd->in, SET_ISSI_IN_CURRENT_ISSI);

	if (issi > 1)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "driver: no such ISSI");
	hca->firmware->issi = issi;
	return PRM_STAT_OK;
}

enum prm_status driver_init(struct hca *hca, struct cmd *cmd)
{
	if (!hca->firmware->enabled || hca->firmware->initialized)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR,
				"driver: not enabled, or initialized already");
	hca->firmware->initialized = true;
	return PRM_STAT_OK;
}

enum prm_status driver_teardown(struct hca *hca, struct cmd *cmd)
{
	enum { GRACEFUL = 0 };

	if (!hca->firmware->initialized)
		return cmd_fail(cmd, PRM_STAT_BAD_SYS_STATE_ERR, "driver: not initialized");
	if (fld_get(cmd->in, TEARDOWN_HCA_IN_PROFILE) != GRACEFUL)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "driver: only graceful teardown");
	hca->firmware->initialized = false;
	pages_forget_requests(hca);
	return PRM_STAT_OK;
}
