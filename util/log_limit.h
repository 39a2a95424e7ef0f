/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log_limit.h - leaves out log lines of a kind that comes too often.
 *
 * The lines of one format string are a kind. In each second, the first lines of a kind pass; the
 * others are counted, and the count is reported before the next line that passes, or at exit. A
 * program that polls a full queue would otherwise write thousands of lines.
 */
#ifndef UTIL_LOG_LIMIT_H
#define UTIL_LOG_LIMIT_H

#include <stdbool.h>

enum { LOG_LIMIT_BURST = 10 /* by default */, LOG_LIMIT_TEXT = 104 };

/* Lines of one kind that were left out. */
struct log_left_out {
	unsigned long count;       /* 0: none */
	char text[LOG_LIMIT_TEXT]; /* how the last line that passed begins */
};

/* Returns whether a line of FORMAT passes, of which BURST may in a second, and takes the count of
 * those before it into LEFT_OUT. Waits for another thread, but not for long: then a line passes. */
bool verbs_log_pass(const char *format, unsigned int burst, struct log_left_out *left_out);
/* Notes how a line of FORMAT that has passed begins. */
void verbs_log_note(const char *format, const char *text);
/* Takes the next count that has not been reported; false: there is none in this process. For
 * exit. */
bool verbs_log_left_out(struct log_left_out *left_out);

#endif
