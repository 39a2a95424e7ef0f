/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * args.c - helpers of all commands: look-up of objects that arguments name, and command statuses
 * for errnos.
 *
 * Commands call these, and the table in cmd.c calls commands, so calls only go down.
 */
#include <errno.h>

#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/cmd/cmd.h"
#include "softhca/device/format/mlx4/firmware.h"
#include "softhca/device/format/mlx4/mlx4.h"

enum m4_status m4_errno(struct m4_cmd *cmd, int err, const char *what)
{
	cmd->why = what;
	switch (err) {
	case ENOMEM:
	case ENOSPC:
		return M4_STAT_EXCEED_LIM;
	case EEXIST:
		return M4_STAT_BAD_RES_STATE;
	case EFAULT:
		return M4_STAT_ICM_ERROR;
	default:
		return M4_STAT_BAD_PARAM;
	}
}

uint32_t m4_number(const struct m4_cmd *cmd)
{
	return cmd->order->in_modifier & 0xffffff;
}

struct pd *m4_pd(struct hca *hca, uint32_t n)
{
	struct pd *pd = res_get(&hca->pds, n);

	if (pd || n >> M4_LOG_PDS)
		return pd;
	return pd_add_as(&hca->pds, n, &pd) ? NULL : pd;
}

struct pd *m4_xrcd(struct hca *hca, uint32_t n)
{
	struct pd *xrcd = res_get(&hca->xrcds, n);

	if (xrcd || !n || n >> M4_LOG_XRCDS)
		return xrcd;
	return pd_add_as(&hca->xrcds, n, &xrcd) ? NULL : xrcd;
}

struct uar *m4_uar(struct hca *hca, uint32_t n)
{
	struct uar *uar = res_get(&hca->uars, n);

	if (uar || n < M4_RSVD_UARS || n >= M4_UARS)
		return uar;
	return uar_add_as(hca, n, &uar) ? NULL : uar;
}
