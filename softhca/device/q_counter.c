/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.c - counter sets that queues name: frames that found no receive WQE.
 *
 * Sets are numbered from 1; a queue that names 0 is not counted.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth.h"

enum prm_status q_counter_alloc(struct hca *hca, struct cmd *cmd)
{
	struct q_counter *counter = calloc(1, sizeof(*counter));
	int ret = counter ? res_add(&hca->eth->q_counters, counter, &counter->n) : ENOMEM;

	if (ret) {
		free(counter);
		return cmd_errno(cmd, ret, "q_counter: table is full");
	}
	prm_set(cmd->out, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID, counter->n);
	return PRM_STAT_OK;
}

enum prm_status q_counter_query(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = prm_get(cmd->in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_get(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	prm_set(cmd->out, QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER, counter->out_of_buffer);
	if (prm_get(cmd->in, QUERY_Q_COUNTER_IN_CLEAR))
		counter->out_of_buffer = 0;
	return PRM_STAT_OK;
}

enum prm_status q_counter_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = prm_get(cmd->in, DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_get(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	if (counter->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "q_counter: in use by a queue");
	res_remove(&hca->eth->q_counters, n);
	free(counter);
	return PRM_STAT_OK;
}
