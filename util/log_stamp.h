/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log_stamp.h - when and where a log line was written.
 */
#ifndef UTIL_LOG_STAMP_H
#define UTIL_LOG_STAMP_H

#include <stddef.h>
#include <time.h>

/* Writes time WHEN in UTC, the process id and the thread id: "2026-11-29T16:40:12.123456Z
 * 1200/1201". Unlike the C library's calendar functions, takes no lock, so that a child of fork()
 * cannot wait for a lock that a thread of its parent held. */
int verbs_log_stamp(char *to, size_t size, const struct timespec *when);

#endif
