/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.h - one text file with a line for each command, WQE, CQE and EQE: time, what it is with its
 * decoded names, which the adapter's format knows, then the raw bytes. Fronts add lines of their
 * own with trace_line(). Each line is written whole, so several threads and adapters may share a
 * trace. Nothing is written where TRACE is NULL.
 */
#ifndef SOFTHCA_TRACE_H
#define SOFTHCA_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct trace;

/* A PATH of "-" is standard error. Returns 0, or the errno of opening the file. */
int trace_open(const char *path, struct trace **trace);
void trace_close(struct trace *trace);

void trace_line(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Traces LEN bytes behind a text that says what they are. */
void trace_bytes(struct trace *trace, const void *bytes, size_t len, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Traces what went into a command, and the first bytes of what came out. */
void trace_exchange(struct trace *trace, const char *text, const void *in, size_t in_len,
		    const void *out, size_t out_len);

#endif
