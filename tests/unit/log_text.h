/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log_text.h - a test's log goes to memory, where the test reads it.
 *
 * main() calls log_to_memory() before anything is logged.
 */
#ifndef TESTS_UNIT_LOG_TEXT_H
#define TESTS_UNIT_LOG_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOG_TEXT_SIZE = 4096 };

static int log_text_fd;
static off_t log_text_read; /* what the test has seen already */

static inline void log_to_memory(void)
{
	char path[32];

	log_text_fd = memfd_create("log", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", log_text_fd);
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_LIMIT", "0", 1);
	setenv("VERBS_LOG_FILE", path, 1);
}

/* Returns what was logged since the last call. */
static inline const char *log_text(void)
{
	static char text[LOG_TEXT_SIZE];
	ssize_t n = pread(log_text_fd, text, sizeof(text) - 1, log_text_read);

	text[n > 0 ? n : 0] = '\0';
	log_text_read += n > 0 ? n : 0;
	return text;
}

/* The test fails unless WHAT was logged since the last call. */
#define check_logged(what)                                                       \
	do {                                                                     \
		const char *logged_ = log_text();                                \
                                                                                 \
		if (!strstr(logged_, what))                                      \
			fail_msg("\"%s\" is not in the log: %s", what, logged_); \
	} while (0)

#endif
