/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * q_counter.c - commands on the counter sets of queues.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/q_counter.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

static const uint32_t counter_fields[Q_COUNTERS] = {
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

enum prm_status q_counter_alloc(struct hca *hca, struct cmd *cmd)
{
	struct q_counter *counter;
	int ret = q_counter_add(hca, &counter);

	if (ret)
		return cmd_errno(cmd, ret, "q_counter: table is full");
	fld_set(cmd->out, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID, counter->n);
	return PRM_STAT_OK;
}

enum prm_status q_counter_query(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_find(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	for (unsigned int i = 0; i < Q_COUNTERS; i++)
		fld_set(cmd->out, counter_fields[i], counter->value[i]);
	if (fld_get(cmd->in, QUERY_Q_COUNTER_IN_CLEAR))
		memset(counter->value, 0, sizeof(counter->value));
	return PRM_STAT_OK;
}

enum prm_status q_counter_dealloc(struct hca *hca, struct cmd *cmd)
{
	uint32_t n = fld_get(cmd->in, DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID);
	struct q_counter *counter = res_find(&hca->eth->q_counters, n);

	if (!counter)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "q_counter: no such counter set");
	if (counter->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, "q_counter: in use by a queue");
	q_counter_remove(hca, counter);
	return PRM_STAT_OK;
}
