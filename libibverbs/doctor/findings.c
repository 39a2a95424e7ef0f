/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * findings.c - prints findings and their cures, and records the worst. Scripts parse the first two
 * words of a line, so these must not change.
 */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const words[] = { "ok", "hint", "warning", "problem" };

static enum severity worst;
static bool is_quiet;
static bool some_port_works;

void findings_quiet(bool quiet)
{
	is_quiet = quiet;
}

void found(enum severity severity, const char *subject, const char *format, ...)
{
	va_list args;

	if (severity > worst)
		worst = severity;
	if (is_quiet && severity == FINE)
		return;
	printf("%-8s %s: ", words[severity], subject);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void cure(const char *format, ...)
{
	va_list args;

	printf("         cure: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void findings_port_works(void)
{
	some_port_works = true;
}

int findings_status(void)
{
	if (worst <= HINT)
		return 0;
	return worst == PROBLEM && !some_port_works ? 2 : 1;
}
