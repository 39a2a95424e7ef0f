/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.c - counter sets that queues name: what came, what was lost, what went wrong.
 *
 * Sets are numbered from 1; a queue that names 0 is not counted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/q_counter.h"
#include "softhca/device/eth/eth.h"

static const uint32_t fields[Q_COUNTERS] = {
	[Q_RX_WRITE] = QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS,
	[Q_RX_READ] = QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS,
	[Q_RX_ATOMIC] = QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS,
	[Q_OUT_OF_BUFFER] = QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER,
	[Q_OUT_OF_SEQUENCE] = QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE,
	[Q_DUPLICATE] = QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST,
	[Q_RNR_NAK] = QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR,
	[Q_SEQUENCE_NAK] = QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR,
	[Q_IMPLIED_NAK] = QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR,
	[Q_TIMEOUT] = QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR,
	[Q_RESP_LENGTH] = QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR,
	[Q_RESP_CQE_ERROR] = QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR,
	[Q_REQ_CQE_ERROR] = QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR,
	[Q_REQ_REMOTE_INVALID] = QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST,
	[Q_REQ_REMOTE_ACCESS] = QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS,
	[Q_RESP_REMOTE_ACCESS] = QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS,
	[Q_RESP_FLUSH] = QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR,
	[Q_REQ_FLUSH] = QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR,
};

void q_count(struct hca *hca, const struct qp *qp, enum q_event event)
{
	struct q_counter *counter;

	if (!qp->counter_set)
		return;
	counter = res_get(&hca->eth->q_counters, qp->counter_set);
	if (counter)
		counter->value[event]++;
}

enum prm_status q_counter_alloc(struct hca *hca, struct cmd *cmd)
{
	struct q_counter *counter = calloc(1, sizeof(*counter));
	int ret = counter ? res_add(&hca->eth->q_counters, counter, &counter->n) : ENOMEM;

	if (ret) {
		free(counter);
		return cmd_errno(cmd, ret, "q_counter: table is full");
	}
	fld_set(cmd->out, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID, counter->n);
	return PRM_STAT_OK;
}

enum prm_status q_counter_query(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_get(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	for (unsigned int i = 0; i < Q_COUNTERS; i++)
		fld_set(cmd->out, fields[i], counter->value[i]);
	if (fld_get(cmd->in, QUERY_Q_COUNTER_IN_CLEAR))
		memset(counter->value, 0, sizeof(counter->value));
	return PRM_STAT_OK;
}

enum prm_status q_counter_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_get(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	if (counter->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "q_counter: in use by a queue");
	res_remove(&hca->eth->q_counters, n);
	free(counter);
	return PRM_STAT_OK;
}
