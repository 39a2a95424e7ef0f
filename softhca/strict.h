/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict.h - where the adapter reports what one in hardware would not do as its software hopes.
 *
 * Each report names the rule, and the work request, queue or command with the field that breaks it.
 * It goes to the log, to the trace and, for tests, to a file that all adapters of a test append to.
 * Who starts the adapter can ask for the count, also when the adapter is in a child process.
 */
#ifndef SOFTHCA_STRICT_H
#define SOFTHCA_STRICT_H

struct strict;
struct trace;

/* More of a command line is cut off; a test knows its program by the path, which may be long. */
enum { STRICT_WHO_MAX = 4000 };

/* Opens reports that are appended to the file at PATH, or to none if PATH is NULL. WHO is said in
 * the file with each report. It returns 0, or the errno of opening the file. */
int strict_open(const char *path, const char *who, struct strict **strict);
void strict_close(struct strict *strict);

void strict_report(struct strict *strict, struct trace *trace, const char *rule, const char *format,
		   ...) __attribute__((format(printf, 4, 5)));

/* Returns how many reports there were; with STRICT NULL, none. */
unsigned int strict_count(const struct strict *strict);
/* Returns the text of the newest report, which begins with the rule, or "". */
const char *strict_newest(const struct strict *strict);

#endif
