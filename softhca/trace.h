/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.h - one text file with a line for each command, WQE, CQE and EQE: time, what it is with its
 * decoded names, then the raw bytes. Fronts add lines of their own with trace_line(). Each line is
 * written whole, so several threads and adapters may share a trace. Nothing is written where
 * TRACE is NULL.
 */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct trace;

/* A PATH of "-" is standard error. The function returns 0, or the errno of opening the file. */
int trace_open(const char *path, struct trace **trace);
void trace_close(struct trace *trace);

void trace_line(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

void trace_command(struct trace *trace, const void *in, size_t in_len, const void *out,
		   size_t out_len);
/* The function traces WQE_LEN bytes of a work queue element; OP is "send" or "recv". */
void trace_wqe(struct trace *trace, const char *op, uint32_t qpn, uint32_t index, const void *wqe,
	       size_t wqe_len);
/* The function returns the name of a send WQE's opcode. */
const char *trace_opcode(uint8_t opcode);
void trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t cqe[64]);
void trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t eqe[64]);

#endif
