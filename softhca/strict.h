/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict.h - reports of a strict adapter: misuse that a real adapter does not notice.
 *
 * A report has the broken rule, the work request, queue or command, and its field. It goes to the
 * log, to the trace, and to a file to which all adapters of a test append. The process that starts
 * the adapter can read the count, even if the adapter is in a child process.
 */
#ifndef SOFTHCA_STRICT_H
#define SOFTHCA_STRICT_H

struct strict;
struct trace;

/* Reports cut longer command lines. The limit is large, as a test recognises its program by the
 * path. */
enum { STRICT_WHO_MAX = 4000 };

/* Opens reports that are appended to the file PATH; NULL: to no file. WHO is in the file with each
 * report. Returns 0 or the errno of opening the file. */
int strict_open(const char *path, const char *who, struct strict **strict);
void strict_close(struct strict *strict);

void strict_report(struct strict *strict, struct trace *trace, const char *rule, const char *format,
		   ...) __attribute__((format(printf, 4, 5)));

/* Returns the number of reports; 0 if STRICT is NULL. */
unsigned int strict_count(const struct strict *strict);
/* Returns the newest report, which begins with its rule, or "". */
const char *strict_newest(const struct strict *strict);

#endif
