/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.c - writes the adapter's activity as text, one line for each event, for people and grep.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "softhca/trace.h"

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

/* Writes the line. A full disk must not stop the adapter, so the trace ends with a note instead. */
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

void trace_bytes(struct trace *trace, const void *bytes, size_t len, const char *format, ...)
{
	struct line line;
	va_list args;

	if (!trace)
		return;
	line_begin(&line);
	va_start(args, format);
	put_args(&line, format, args);
	va_end(args);
	put_raw(&line, bytes, len);
	line_end(trace, &line);
}

void trace_exchange(struct trace *trace, const char *text, const void *in, size_t in_len,
		    const void *out, size_t out_len)
{
	struct line line;

	if (!trace)
		return;
	line_begin(&line);
	put(&line, "%s in", text);
	put_raw(&line, in, in_len);
	put(&line, " out");
	put_raw(&line, out, out_len < 64 ? out_len : 64);
	line_end(trace, &line);
}
