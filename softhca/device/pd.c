/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - the objects that are hardly more than a number: protection domains, transport domains,
 * UARs.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pd.h"
#include "softhca/device/core.h"
#include "util/bits.h"

static enum prm_status object_add(struct res_table *table, struct cmd *cmd, void *object,
				  uint32_t *n, uint32_t out_field)
{
	int ret = res_add(table, object, n);

	if (ret) {
		free(object);
		return cmd_errno(cmd, ret, "table is full");
	}
	fld_set(cmd->out, out_field, *n);
	return PRM_STAT_OK;
}

enum prm_status pd_alloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return cmd_errno(cmd, ENOMEM, "pd");
	return object_add(&hca->pds, cmd, pd, &pd->n, ALLOC_PD_OUT_PD);
}

enum prm_status pd_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *pd = res_get(&hca->pds, fld_get(cmd->in, DEALLOC_PD_IN_PD));

	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "pd: no such PD");
	if (pd->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "pd: in use by a QP or key");
	res_remove(&hca->pds, pd->n);
	free(pd);
	return PRM_STAT_OK;
}

enum prm_status td_alloc(struct hca *hca, struct cmd *cmd)
{
	struct pd *td = calloc(1, sizeof(*td));

	if (!td)
		return cmd_errno(cmd, ENOMEM, "td");
	return object_add(&hca->tds, cmd, td, &td->n, ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN);
}

enum prm_status td_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN);
	struct pd *td = res_get(&hca->tds, n);

	if (!td)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "td: no such transport domain");
	if (td->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "td: in use by a TIS or TIR");
	res_remove(&hca->tds, n);
	free(td);
	return PRM_STAT_OK;
}

enum prm_status uar_alloc(struct hca *hca, struct cmd *cmd)
{
	struct uar *uar = calloc(1, sizeof(*uar));

	if (!uar)
		return cmd_errno(cmd, ENOMEM, "uar");
	if (hca->config.strict)
		hca->format->judge_page(uar);
	return object_add(&hca->uars, cmd, uar, &uar->n, ALLOC_UAR_OUT_UAR);
}

static void uar_free(struct hca *hca, struct uar *uar)
{
	if (uar->bells)
		hca->format->forget_page(hca, uar);
	free(uar);
}

enum prm_status uar_dealloc(struct hca *hca, struct cmd *cmd)
{
	struct uar *uar = res_get(&hca->uars, fld_get(cmd->in, DEALLOC_UAR_IN_UAR));

	if (!uar)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "uar: no such UAR");
	if (uar->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "uar: in use by a send queue");
	cq_forget_uar(uar);
	res_remove(&hca->uars, uar->n);
	uar_free(hca, uar);
	return PRM_STAT_OK;
}

void pd_free_all(struct hca *hca)
{
	struct res_table *tables[] = { &hca->pds, &hca->tds };
	void *object;

	for (uint32_t at = 0; (object = res_next(&hca->uars, &at)) != NULL;)
		uar_free(hca, object);
	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		for (uint32_t at = 0; (object = res_next(tables[i], &at)) != NULL;)
			free(object);
}
