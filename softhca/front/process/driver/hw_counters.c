/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hw_counters.c - counters of events on a port's QPs: one counter set of the device for each port.
 */
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/q_counter.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/hw_counters.h"

enum { QUERY_IN_SIZE = 32 };

const char *const hw_counter_name[HW_COUNTERS] = {
	"rx_write_requests",
	"rx_read_requests",
	"rx_atomic_requests",
	"out_of_buffer",
	"out_of_sequence",
	"duplicate_request",
	"rnr_nak_retry_err",
	"packet_seq_err",
	"implied_nak_seq_err",
	"local_ack_timeout_err",
	"resp_local_length_error",
	"resp_cqe_error",
	"req_cqe_error",
	"req_remote_invalid_request",
	"req_remote_access_errors",
	"resp_remote_access_errors",
	"resp_cqe_flush_error",
	"req_cqe_flush_error",
};

static const uint32_t fields[HW_COUNTERS] = {
	QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS,
	QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS,
	QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS,
	QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER,
	QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE,
	QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST,
	QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR,
	QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR,
	QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR,
	QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR,
	QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR,
	QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR,
	QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR,
	QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST,
	QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS,
	QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS,
	QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR,
	QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR,
};

int hw_counters_create(struct adapter *adapter)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret = 0;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_Q_COUNTER);
	for (unsigned int i = 0; !ret && i < adapter->num_ports; i++) {
		ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
		if (!ret)
			adapter->counter_set[i] = fld_get(out, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);
	}
	return ret;
}

int hw_counters_read(struct adapter *adapter, unsigned int port, uint64_t value[HW_COUNTERS])
{
	uint8_t in[QUERY_IN_SIZE] = { 0 }, out[PRM_QUERY_Q_COUNTER_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_Q_COUNTER);
	fld_set(in, QUERY_Q_COUNTER_IN_COUNTER_SET_ID, adapter->counter_set[port - 1]);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	for (unsigned int i = 0; !ret && i < HW_COUNTERS; i++)
		value[i] = fld_get(out, fields[i]);
	return ret;
}
