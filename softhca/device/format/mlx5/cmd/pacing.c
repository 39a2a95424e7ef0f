/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pacing.c - the command that fills the table of rate limits.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/pacing.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

/* Sets an entry. A rate of 0 frees it; queues that still name it have no limit then. */
enum prm_status pacing_set_rate(struct hca *hca, struct cmd *cmd)
{
	uint32_t index = fld_get(cmd->in, SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX);
	const uint8_t *context = fld_at(cmd->in, SET_PP_RATE_LIMIT_IN_CTX);
	uint32_t rate = fld_get(context, PP_CONTEXT_RATE_LIMIT);

	if (!index || index >= PACING_RATES)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pacing: no such entry");
	if (rate > PACING_MAX_RATE)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "pacing: beyond the highest rate");
	hca->eth->pacing.rate[index] = (struct pacing_rate){
		.rate = rate,
		.burst = fld_get(context, PP_CONTEXT_BURST_UPPER_BOUND),
		.uid = fld_get(cmd->in, CMD_IN_UID),
	};
	return PRM_STAT_OK;
}
