/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * args.c - helpers of all commands: checks of mailboxes, and command statuses for errnos.
 *
 * Commands call these, and the table in cmd.c calls commands, so calls only go down.
 */
#include <errno.h>

#include "softhca/device/format/mlx5/cmd/cmd.h"

bool cmd_is_zero(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

enum prm_status cmd_errno(struct cmd *cmd, int err, const char *what)
{
	cmd->why = what;
	switch (err) {
	case ENOMEM:
		return PRM_STAT_NO_RES_ERR;
	case ENOSPC:
		return PRM_STAT_LIM_ERR;
	case ENOENT:
		return PRM_STAT_BAD_RES_ERR;
	default:
		return PRM_STAT_BAD_PARAM_ERR;
	}
}
