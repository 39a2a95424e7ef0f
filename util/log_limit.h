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
	char text[LOG_LIMIT_TEXT]; /* how the last written line begins */
};

/* Returns whether a line of FORMAT may be written: BURST of them may in a second. Moves the count
 * of the lines left out before it to LEFT_OUT. If the table stays locked by another thread, returns
 * true after a short wait. */
bool verbs_log_pass(const char *format, unsigned int burst, struct log_left_out *left_out);
/* Records how a written line of FORMAT begins. */
void verbs_log_note(const char *format, const char *text);
/* Moves a count that has not been reported to LEFT_OUT. Returns false if this process has none
 * left. Called at exit. */
bool verbs_log_left_out(struct log_left_out *left_out);

#endif
