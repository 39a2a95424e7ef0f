/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.h - messages to the user, on standard error.
 *
 * Each line begins with "softhca: ". Errors are always printed; --verbose adds notes, and given
 * twice, details of each answered call. Any thread may log, as a line is one write().
 */
#ifndef SOFTHCA_LOG_H
#define SOFTHCA_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_ERROR,
	LOG_NOTE,
	LOG_DETAIL,
};

void log_set_level(enum log_level level);
enum log_level log_level(void);
/* Returns whether this process, or one that it was forked from, has logged an error. */
bool log_has_error(void);
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...)  log_print(LOG_ERROR, __VA_ARGS__)
#define log_note(...)   log_print(LOG_NOTE, __VA_ARGS__)
#define log_detail(...) log_print(LOG_DETAIL, __VA_ARGS__)

#endif
