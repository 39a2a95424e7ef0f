/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.c - WQEs and CQEs of mlx4 in the trace, by their names.
 */
#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/trace.h"

static const char *const send_names[32] = {
	[M4_NOP] = "NOP",
	[M4_SEND_INVAL] = "SEND_INVAL",
	[M4_RDMA_WRITE] = "RDMA_WRITE",
	[M4_RDMA_WRITE_IMM] = "RDMA_WRITE_IMM",
	[M4_SEND] = "SEND",
	[M4_SEND_IMM] = "SEND_IMM",
	[M4_LSO] = "LSO",
	[M4_RDMA_READ] = "RDMA_READ",
	[M4_ATOMIC_CS] = "ATOMIC_CS",
	[M4_ATOMIC_FA] = "ATOMIC_FA",
	[M4_BIND_MW] = "BIND_MW",
	[M4_FAST_REG] = "FAST_REG",
	[M4_LOCAL_INVAL] = "LOCAL_INVAL",
};

static const char *const receive_names[] = {
	[M4_RECV_WRITE_IMM] = "RESP_WRITE_IMM",
	[M4_RECV_SEND] = "RESP_SEND",
	[M4_RECV_SEND_IMM] = "RESP_SEND_IMM",
	[M4_RECV_SEND_INVAL] = "RESP_SEND_INVAL",
};

const char *mlx4_opcode_name(uint8_t opcode)
{
	return opcode < 32 && send_names[opcode] ? send_names[opcode] : "?";
}

void mlx4_trace_send(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
		     size_t len)
{
	if (trace)
		trace_bytes(trace, wqe, len, "wqe send qpn 0x%06x index %u%s%s", qpn, index,
			    len >= M4_SEG ? " " : "",
			    len >= M4_SEG ? mlx4_opcode_name(fld_get(wqe, M4_CTRL_OPCODE)) : "");
}

void mlx4_trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe)
{
	unsigned int opcode = fld_get(cqe, M4_CQE_OPCODE);
	bool is_send = fld_get(cqe, M4_CQE_IS_SEND);

	if (!trace)
		return;
	if (opcode == M4_CQE_ERROR)
		trace_bytes(trace, cqe, M4_CQE_SIZE,
			    "cqe cqn 0x%06x index %u %s syndrome 0x%02x vendor 0x%02x", cqn, index,
			    is_send ? "REQ_ERR" : "RESP_ERR",
			    (unsigned int)fld_get(cqe, M4_CQE_SYNDROME),
			    (unsigned int)fld_get(cqe, M4_CQE_VENDOR));
	else if (is_send)
		trace_bytes(trace, cqe, M4_CQE_SIZE, "cqe cqn 0x%06x index %u REQ of %s", cqn,
			    index, mlx4_opcode_name(opcode));
	else
		trace_bytes(trace, cqe, M4_CQE_SIZE, "cqe cqn 0x%06x index %u %s", cqn, index,
			    opcode <= M4_RECV_SEND_INVAL ? receive_names[opcode] : "?");
}
