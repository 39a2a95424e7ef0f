/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.h - a text file with a line for each command, WQE, CQE and EQE: time, name and decoded
 * fields (from the adapter's format), raw bytes. Fronts add lines by trace_line(). Each line is one
 * write(), so threads and adapters can share a trace. With TRACE NULL nothing is written.
 */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct trace;

/* Opens a trace; PATH "-" is standard error. Returns 0 or the errno of opening the file. */
int trace_open(const char *path, struct trace **trace);
void trace_close(struct trace *trace);

void trace_line(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

void trace_bytes(struct trace *trace, const void *bytes, size_t len, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void trace_exchange(struct trace *trace, const char *text, const void *in, size_t in_len,
		    const void *out, size_t out_len);

#endif
