/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.c - trace lines of mlx5's commands, WQEs, CQEs and EQEs, with names of opcodes and fields.
 */
#include <stdio.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "util/bits.h"

#define NAME(op)                 \
	{                        \
		PRM_OP_##op, #op \
	}
static const struct {
	uint32_t opcode;
	const char *name;
} command_names[] = {
	NAME(QUERY_HCA_CAP),
	NAME(QUERY_ADAPTER),
	NAME(CREATE_MKEY),
	NAME(QUERY_MKEY),
	NAME(DESTROY_MKEY),
	NAME(QUERY_SPECIAL_CONTEXTS),
	NAME(SYNC_STEERING),
	NAME(ALLOC_MEMIC),
	NAME(DEALLOC_MEMIC),
	NAME(MODIFY_MEMIC),
	NAME(CREATE_EQ),
	NAME(DESTROY_EQ),
	NAME(QUERY_EQ),
	NAME(CREATE_CQ),
	NAME(DESTROY_CQ),
	NAME(QUERY_CQ),
	NAME(MODIFY_CQ),
	NAME(CREATE_QP),
	NAME(DESTROY_QP),
	NAME(RST2INIT_QP),
	NAME(INIT2RTR_QP),
	NAME(RTR2RTS_QP),
	NAME(RTS2RTS_QP),
	{ M4_AS_RTS2SQD_QP, "RTS2SQD_QP" },
	{ M4_AS_SQD2SQD_QP, "SQD2SQD_QP" },
	NAME(SQERR2RTS_QP),
	NAME(2ERR_QP),
	NAME(2RST_QP),
	NAME(QUERY_QP),
	NAME(INIT2INIT_QP),
	NAME(QUERY_VPORT_STATE),
	NAME(QUERY_ROCE_ADDRESS),
	NAME(SET_ROCE_ADDRESS),
	NAME(QUERY_HCA_VPORT_CONTEXT),
	NAME(QUERY_HCA_VPORT_GID),
	NAME(QUERY_HCA_VPORT_PKEY),
	NAME(ALLOC_PD),
	NAME(DEALLOC_PD),
	NAME(ALLOC_UAR),
	NAME(DEALLOC_UAR),
	NAME(NOP),
	NAME(ALLOC_TRANSPORT_DOMAIN),
	NAME(DEALLOC_TRANSPORT_DOMAIN),
	NAME(INIT_HCA),
	NAME(TEARDOWN_HCA),
	NAME(ENABLE_HCA),
	NAME(DISABLE_HCA),
	NAME(QUERY_PAGES),
	NAME(MANAGE_PAGES),
	NAME(SET_HCA_CAP),
	NAME(QUERY_ISSI),
	NAME(SET_ISSI),
	NAME(ACCESS_REG),
	NAME(MODIFY_HCA_VPORT_CONTEXT),
	NAME(CREATE_DCT),
	NAME(DRAIN_DCT),
	NAME(DESTROY_DCT),
	NAME(QUERY_DCT),
	NAME(ARM_DCT_FOR_KEY_VIOLATION),
	NAME(CREATE_PSV),
	NAME(DESTROY_PSV),
	NAME(CREATE_XRC_SRQ),
	NAME(DESTROY_XRC_SRQ),
	NAME(QUERY_XRC_SRQ),
	NAME(ARM_XRC_SRQ),
	NAME(ALLOC_XRCD),
	NAME(DEALLOC_XRCD),
	NAME(CREATE_RMP),
	NAME(MODIFY_RMP),
	NAME(DESTROY_RMP),
	NAME(QUERY_RMP),
	NAME(ATTACH_TO_MCG),
	NAME(DETACH_FROM_MCG),
	NAME(ALLOC_Q_COUNTER),
	NAME(DEALLOC_Q_COUNTER),
	NAME(QUERY_Q_COUNTER),
	NAME(CREATE_UCTX),
	NAME(DESTROY_UCTX),
	NAME(CREATE_UMEM),
	NAME(DESTROY_UMEM),
};

static const char *command_name(uint32_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_names); i++)
		if (command_names[i].opcode == opcode)
			return command_names[i].name;
	return "?";
}

/* Returns how many bytes to trace: only the header of commands with keys or credentials, as these
 * are secret. */
static size_t shown_length(uint32_t opcode, const void *in, size_t in_len)
{
	uint16_t type;

	if (opcode != PRM_OP_CREATE_GENERAL_OBJECT || in_len < PRM_GENERAL_OBJ_HDR_SIZE)
		return in_len;
	type = fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE);
	return type == PRM_OBJ_TYPE_DEK || type == PRM_OBJ_TYPE_CRYPTO_LOGIN
		       ? PRM_GENERAL_OBJ_HDR_SIZE
		       : in_len;
}

void mlx5_trace_command(struct trace *trace, const void *in, size_t in_len, const void *out,
			size_t out_len)
{
	uint32_t opcode = in_len >= 8 ? fld_get(in, CMD_IN_OPCODE) : 0;
	char text[96], status[48] = "";

	if (!trace)
		return;
	if (out_len >= 8)
		snprintf(status, sizeof(status), " status 0x%02x syndrome 0x%08x",
			 (unsigned int)fld_get(out, CMD_OUT_STATUS),
			 (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	snprintf(text, sizeof(text), "cmd 0x%03x %s%s", opcode, command_name(opcode), status);
	trace_exchange(trace, text, in, shown_length(opcode, in, in_len), out, out_len);
}

static const char *const send_names[256] = {
	[WQE_NOP] = "NOP",
	[WQE_SEND_INVAL] = "SEND_INVAL",
	[WQE_RDMA_WRITE] = "RDMA_WRITE",
	[WQE_RDMA_WRITE_IMM] = "RDMA_WRITE_IMM",
	[WQE_SEND] = "SEND",
	[WQE_SEND_IMM] = "SEND_IMM",
	[WQE_RDMA_READ] = "RDMA_READ",
	[WQE_UMR] = "UMR",
	[WQE_SET_PSV] = "SET_PSV",
	[WQE_MMO] = "MMO",
	[WQE_ATOMIC_CS] = "ATOMIC_CS",
	[WQE_ATOMIC_FA] = "ATOMIC_FA",
	[WQE_MASKED_CS] = "MASKED_CS",
	[WQE_MASKED_FA] = "MASKED_FA",
};

const char *mlx5_opcode_name(uint8_t opcode)
{
	return send_names[opcode] ? send_names[opcode] : "?";
}

void mlx5_trace_send(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
		     size_t len)
{
	if (!trace)
		return;
	trace_bytes(trace, wqe, len, "wqe send qpn 0x%06x index %u%s%s", qpn, index,
		    len >= WQE_SEG ? " " : "",
		    len >= WQE_SEG ? mlx5_opcode_name(fld_get(wqe, CTRL_OPCODE)) : "");
}

static const char *const cqe_names[16] = {
	[CQE_OP_REQ] = "REQ",
	[CQE_OP_RESP_WRITE_IMM] = "RESP_WRITE_IMM",
	[CQE_OP_RESP_SEND] = "RESP_SEND",
	[CQE_OP_RESP_SEND_IMM] = "RESP_SEND_IMM",
	[CQE_OP_RESP_SEND_INVAL] = "RESP_SEND_INVAL",
	[CQE_OP_REQ_ERR] = "REQ_ERR",
	[CQE_OP_RESP_ERR] = "RESP_ERR",
};

void mlx5_trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe)
{
	unsigned int opcode = fld_get(cqe, CQE_OPCODE);
	const char *name = cqe_names[opcode] ? cqe_names[opcode] : "?";

	if (!trace)
		return;
	if (opcode == CQE_OP_REQ)
		trace_bytes(trace, cqe, PRM_CQE_SIZE, "cqe cqn 0x%06x index %u %s of %s", cqn,
			    index, name, mlx5_opcode_name(fld_get(cqe, CQE_SEND_OPCODE)));
	else if (opcode == CQE_OP_REQ_ERR || opcode == CQE_OP_RESP_ERR)
		trace_bytes(trace, cqe, PRM_CQE_SIZE,
			    "cqe cqn 0x%06x index %u %s syndrome 0x%02x vendor 0x%02x", cqn, index,
			    name, (unsigned int)fld_get(cqe, CQE_SYNDROME),
			    (unsigned int)fld_get(cqe, CQE_VENDOR_SYNDROME));
	else
		trace_bytes(trace, cqe, PRM_CQE_SIZE, "cqe cqn 0x%06x index %u %s", cqn, index,
			    name);
}

static const char *const event_names[] = {
	[PRM_EVENT_COMP] = "COMP",
	[PRM_EVENT_COMM_EST] = "COMM_EST",
	[PRM_EVENT_SQ_DRAINED] = "SQ_DRAINED",
	[PRM_EVENT_CQ_ERROR] = "CQ_ERROR",
	[PRM_EVENT_WQ_CATAS_ERROR] = "WQ_CATAS_ERROR",
	[PRM_EVENT_INTERNAL_ERROR] = "INTERNAL_ERROR",
	[PRM_EVENT_PORT_CHANGE] = "PORT_CHANGE",
	[PRM_EVENT_WQ_INVAL_REQ_ERROR] = "WQ_INVAL_REQ_ERROR",
	[PRM_EVENT_WQ_ACCESS_ERROR] = "WQ_ACCESS_ERROR",
};

void mlx5_trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t *eqe)
{
	unsigned int type = fld_get(eqe, EQE_TYPE);
	const char *name = type < ARRAY_SIZE(event_names) ? event_names[type] : NULL;

	trace_bytes(trace, eqe, PRM_EQE_SIZE, "eqe eqn %u %s", eqn, name ? name : "?");
}
