/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.c - writes what the adapter does as text, one line each, for people and grep.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/trace.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

enum { LINE_MAX_BYTES = 4096, RAW_MAX = 512 };

struct trace {
	int fd;
};

struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

int trace_open(const char *path, struct trace **out)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int err;

	if (!trace)
		return ENOMEM;
	if (!strcmp(path, "-"))
		trace->fd = dup(STDERR_FILENO);
	else
		trace->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (trace->fd < 0) {
		err = errno;
		free(trace);
		return err;
	}
	*out = trace;
	return 0;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	close(trace->fd);
	free(trace);
}

static void put_args(struct line *line, const char *format, va_list args)
{
	size_t room = sizeof(line->text) - 1 - line->len; /* 1: the newline */
	int len = vsnprintf(line->text + line->len, room, format, args);

	if (len > 0)
		line->len += (size_t)len < room ? (size_t)len : room - 1;
}

__attribute__((format(printf, 2, 3))) static void put(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_args(line, format, args);
	va_end(args);
}

static void line_begin(struct line *line)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	line->len = 0;
	put(line, "%lld.%09ld ", (long long)now.tv_sec, now.tv_nsec);
}

/* A full disk must not stop the adapter; the rest of the trace is lost, and visibly so. */
static void line_end(struct trace *trace, struct line *line)
{
	line->text[line->len++] = '\n';
	if (write(trace->fd, line->text, line->len) < 0)
		return;
}

static void put_raw(struct line *line, const void *data, size_t len)
{
	const uint8_t *byte = data;
	size_t shown = len < RAW_MAX ? len : RAW_MAX;

	for (size_t i = 0; i < shown; i++)
		put(line, "%s%02x", i % 4 ? "" : " ", byte[i]);
	if (shown < len)
		put(line, " ... (%zu bytes)", len);
}

void trace_line(struct trace *trace, const char *format, ...)
{
	struct line line;
	va_list args;

	if (!trace)
		return;
	line_begin(&line);
	va_start(args, format);
	put_args(&line, format, args);
	va_end(args);
	line_end(trace, &line);
}

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
	NAME(ALLOC_MEMIC),
	NAME(DEALLOC_MEMIC),
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
};

static const char *command_name(uint32_t opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_names); i++)
		if (command_names[i].opcode == opcode)
			return command_names[i].name;
	return "?";
}

void trace_command(struct trace *trace, const void *in, size_t in_len, const void *out,
		   size_t out_len)
{
	uint32_t opcode;
	struct line line;

	if (!trace)
		return;
	opcode = in_len >= 8 ? fld_get(in, CMD_IN_OPCODE) : 0;
	line_begin(&line);
	put(&line, "cmd 0x%03x %s", opcode, command_name(opcode));
	if (out_len >= 8)
		put(&line, " status 0x%02x syndrome 0x%08x",
		    (unsigned int)fld_get(out, CMD_OUT_STATUS),
		    (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	put(&line, " in");
	put_raw(&line, in, in_len);
	put(&line, " out");
	put_raw(&line, out, out_len < 64 ? out_len : 64);
	line_end(trace, &line);
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
	[WQE_ATOMIC_CS] = "ATOMIC_CS",
	[WQE_ATOMIC_FA] = "ATOMIC_FA",
};

const char *trace_opcode(uint8_t opcode)
{
	return send_names[opcode] ? send_names[opcode] : "?";
}

void trace_wqe(struct trace *trace, const char *op, uint32_t qpn, uint32_t index, const void *wqe,
	       size_t wqe_len)
{
	const uint8_t *byte = wqe;
	struct line line;

	if (!trace)
		return;
	line_begin(&line);
	put(&line, "wqe %s qpn 0x%06x index %u", op, qpn, index);
	if (!strcmp(op, "send") && wqe_len >= 16)
		put(&line, " %s", trace_opcode(byte[3]));
	put_raw(&line, wqe, wqe_len);
	line_end(trace, &line);
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

void trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t cqe[64])
{
	uint8_t opcode;
	struct line line;

	if (!trace)
		return;
	opcode = cqe[63] >> 4;
	line_begin(&line);
	put(&line, "cqe cqn 0x%06x index %u %s", cqn, index,
	    cqe_names[opcode] ? cqe_names[opcode] : "?");
	if (opcode == CQE_OP_REQ)
		put(&line, " of %s", trace_opcode(cqe[56]));
	if (opcode == CQE_OP_REQ_ERR || opcode == CQE_OP_RESP_ERR)
		put(&line, " syndrome 0x%02x vendor 0x%02x", cqe[55], cqe[54]);
	put_raw(&line, cqe, 64);
	line_end(trace, &line);
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

void trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t eqe[64])
{
	const char *name = NULL;
	struct line line;

	if (!trace)
		return;
	if (eqe[1] < ARRAY_SIZE(event_names))
		name = event_names[eqe[1]];
	line_begin(&line);
	put(&line, "eqe eqn %u %s", eqn, name ? name : "?");
	put_raw(&line, eqe, 64);
	line_end(trace, &line);
}
