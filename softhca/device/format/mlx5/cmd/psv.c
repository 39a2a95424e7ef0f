/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * psv.c - commands on signature state (PSVs). One command creates up to four; each is destroyed by
 * a command of its own.
 */
#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cmd.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/memory/psv.h"

enum prm_status psv_create(struct hca *hca, struct cmd *cmd)
{
	struct pd *pd = res_find(&hca->pds, fld_get(cmd->in, CREATE_PSV_IN_PD));
	unsigned int count = fld_get(cmd->in, CREATE_PSV_IN_NUM_PSV);
	struct psv *psv[PSV_PER_COMMAND];
	int ret;

	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "psv: no such PD");
	if (!count || count > PSV_PER_COMMAND)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "psv: num_psv is not 1 to 4");
	for (unsigned int i = 0; i < count; i++) {
		ret = psv_add(hca, pd, &psv[i]);
		if (!ret) {
			fld_set(cmd->out, CREATE_PSV_OUT_PSV(i), psv[i]->n);
			continue;
		}
		while (i)
			psv_remove(hca, psv[--i]);
		return cmd_errno(cmd, ret, "psv: table is full");
	}
	return PRM_STAT_OK;
}

enum prm_status psv_destroy(struct hca *hca, struct cmd *cmd)
{
	struct psv *psv = res_find(&hca->psvs, fld_get(cmd->in, DESTROY_PSV_IN_PSV));

	if (!psv)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "psv: no such PSV");
	psv_remove(hca, psv);
	return PRM_STAT_OK;
}
