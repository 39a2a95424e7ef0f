/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.c - messages to the user, on standard error. See log.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "softhca/log.h"

static enum log_level threshold = LOG_ERROR;
static atomic_bool has_error;

void log_set_level(enum log_level level)
{
	threshold = level;
}

enum log_level log_level(void)
{
	return threshold;
}

bool log_has_error(void)
{
	return has_error;
}

void log_print(enum log_level level, const char *format, ...)
{
	char line[512] = "softhca: ";
	size_t len = strlen(line);
	int saved = errno;
	va_list args;
	int n;

	if (level > threshold)
		return;
	if (level == LOG_ERROR)
		has_error = true;
	va_start(args, format);
	n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	if (n > 0)
		len += (size_t)n < sizeof(line) - len - 1 ? (size_t)n : sizeof(line) - len - 2;
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		len = 0; /* lost, as there is nowhere to report a failure */
	errno = saved;
}
