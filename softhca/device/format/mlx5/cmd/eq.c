/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq.c - commands on event queues, and their context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

CONTEXT_HOLDS(struct eq, PRM_EQC_SIZE);

static int eq_map_ring(struct eq *eq, const struct cmd *cmd)
{
	unsigned int page_shift = 12 + fld_get(eq->context, EQC_LOG_PAGE_SIZE);
	uint64_t skip = fld_get(eq->context, EQC_PAGE_OFFSET) << (page_shift - 6);
	size_t npas;
	const void *pas = cmd_pas(cmd, CREATE_EQ_IN_PAS, &npas);

	if (!npas && !eq->log_size)
		return 0;
	return dma_map_pages(&eq->map, pas, npas, page_shift, skip,
			     (uint64_t)PRM_EQE_SIZE << eq->log_size);
}

enum prm_status eq_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *eqc = fld_at(cmd->in, CREATE_EQ_IN_EQC);
	struct eq *eq = calloc(1, sizeof(*eq));
	int ret;

	if (!eq)
		return cmd_errno(cmd, ENOMEM, "eq");
	memcpy(eq->context, eqc, PRM_EQC_SIZE);
	eq->events = fld_get64(cmd->in, FLD_BYTE(CREATE_EQ_IN_EVENT_BITMASK));
	eq->log_size = fld_get(eqc, EQC_LOG_EQ_SIZE);
	eq->vector = fld_get(eqc, EQC_INTR);
	ret = eq_map_ring(eq, cmd);
	if (!ret)
		ret = res_add(&hca->eqs, eq, &eq->n);
	if (ret) {
		eq_free(eq);
		return cmd_errno(cmd, ret, "eq: page list too short, or table full");
	}
	fld_set(cmd->out, CREATE_EQ_OUT_EQ_NUMBER, eq->n);
	return PRM_STAT_OK;
}

enum prm_status eq_query(struct hca *hca, struct cmd *cmd)
{
	struct eq *eq = res_find(&hca->eqs, fld_get(cmd->in, QUERY_EQ_IN_EQ_NUMBER));
	uint8_t *eqc = fld_at(cmd->out, QUERY_EQ_OUT_EQC);

	if (!eq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "eq: no such EQ");
	memcpy(eqc, eq->context, PRM_EQC_SIZE);
	fld_set(eqc, EQC_PRODUCER_COUNTER, eq->pi);
	return PRM_STAT_OK;
}

enum prm_status eq_destroy(struct hca *hca, struct cmd *cmd)
{
	struct eq *eq = res_find(&hca->eqs, fld_get(cmd->in, DESTROY_EQ_IN_EQ_NUMBER));

	if (!eq)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "eq: no such EQ");
	if (eq->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "eq: in use by a CQ");
	res_remove(&hca->eqs, eq->n);
	eq_free(eq);
	return PRM_STAT_OK;
}
