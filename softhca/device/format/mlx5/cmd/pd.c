/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - commands on objects that are little more than a number: protection domains, transport
 * domains, XRC domains, UARs.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pd.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

enum prm_status pd_alloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *pd;
	int ret = pd_add(&hca->pds, &pd);

	if (ret)
		return cmd_errno(cmd, ret, "table is full");
	fld_set(cmd->out, ALLOC_PD_OUT_PD, pd->n);
	return PRM_STAT_OK;
}

enum prm_status pd_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *pd = res_find(&hca->pds, fld_get(cmd->in, DEALLOC_PD_IN_PD));

	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "pd: no such PD");
	if (pd->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "pd: in use by a QP or key");
	pd_remove(&hca->pds, pd);
	return PRM_STAT_OK;
}

enum prm_status td_alloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *td;
	int ret = pd_add(&hca->tds, &td);

	if (ret)
		return cmd_errno(cmd, ret, "table is full");
	fld_set(cmd->out, ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN, td->n);
	return PRM_STAT_OK;
}

enum prm_status td_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN);
	struct pd *td = res_find(&hca->tds, n);

	if (!td)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "td: no such transport domain");
	if (td->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "td: in use by a TIS or TIR");
	pd_remove(&hca->tds, td);
	return PRM_STAT_OK;
}

enum prm_status xrcd_alloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *xrcd;
	int ret = pd_add(&hca->xrcds, &xrcd);

	if (ret)
		return cmd_errno(cmd, ret, "xrcd: table is full");
	fld_set(cmd->out, ALLOC_XRCD_OUT_XRCD, xrcd->n);
	return PRM_STAT_OK;
}

enum prm_status xrcd_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *xrcd = res_find(&hca->xrcds, fld_get(cmd->in, DEALLOC_XRCD_IN_XRCD));

	if (!xrcd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "xrcd: no such XRC domain");
	if (xrcd->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "xrcd: in use by an SRQ");
	pd_remove(&hca->xrcds, xrcd);
	return PRM_STAT_OK;
}

enum prm_status uar_alloc(struct hca *hca, struct cmd *cmd)
{
	struct uar *uar;
	int ret = uar_add(hca, &uar);

	if (ret)
		return cmd_errno(cmd, ret, "table is full");
	fld_set(cmd->out, ALLOC_UAR_OUT_UAR, uar->n);
	return PRM_STAT_OK;
}

enum prm_status uar_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct uar *uar = res_find(&hca->uars, fld_get(cmd->in, DEALLOC_UAR_IN_UAR));

	if (!uar)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "uar: no such UAR");
	if (uar->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "uar: in use by a send queue");
	uar_remove(hca, uar);
	return PRM_STAT_OK;
}
