/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.c - where log lines go. See log.h for the rules.
 *
 * Each library that links this has its own copy of the threshold; all read the same environment,
 * and all append.
 */
#include "util/log.h"
#include "util/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int verbs_log_threshold = -1;

static const char *const level_names[] = {
	[VERBS_LOG_OFF] = "off",   [VERBS_LOG_ERROR] = "error", [VERBS_LOG_WARN] = "warn",
	[VERBS_LOG_INFO] = "info", [VERBS_LOG_DEBUG] = "debug",
};

static int log_fd = STDERR_FILENO;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

static int parse_number(const char *number)
{
	if (!number || !getenv("VERBS_LOG_FILE") || strlen(number) != 1 || *number < '0' ||
	    *number > '4')
		return VERBS_LOG_ERROR;
	return *number - '0';
}

static int parse_level(const char *name)
{
	if (!name || !*name)
		return parse_number(getenv("VERBS_LOG_LEVEL"));
	for (unsigned int i = 0; i < ARRAY_SIZE(level_names); i++)
		if (!strcmp(name, level_names[i]))
			return (int)i;
	dprintf(STDERR_FILENO,
		"rdmakit error: VERBS_LOG=%s is not one of off, error, warn, info, debug\n", name);
	return VERBS_LOG_ERROR;
}

static int open_log(const char *path)
{
	int fd;

	if (!path || !*path)
		return STDERR_FILENO;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		return fd;
	dprintf(STDERR_FILENO, "rdmakit error: log file %s: %s\n", path, strerror(errno));
	return STDERR_FILENO;
}

int verbs_log_init(void)
{
	int saved = errno;

	pthread_mutex_lock(&init_lock);
	if (verbs_log_threshold < 0) {
		int level = parse_level(getenv("VERBS_LOG"));

		/* secure_getenv: a set-uid program must not write a file of its caller's choice. */
		if (level > VERBS_LOG_OFF)
			log_fd = open_log(secure_getenv("VERBS_LOG_FILE"));
		__atomic_store_n(&verbs_log_threshold, level, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&init_lock);
	errno = saved;
	return verbs_log_threshold;
}

void verbs_log_prefer(const char *path, enum verbs_log_level level)
{
	static bool done;
	const char *own_path = getenv("VERBS_LOG_FILE"), *own_level = getenv("VERBS_LOG");

	verbs_log_on(VERBS_LOG_ERROR); /* reads the environment, which wins */
	pthread_mutex_lock(&init_lock);
	if (!done && path && !(own_path && *own_path))
		log_fd = open_log(path);
	if (!done && level > VERBS_LOG_OFF && !(own_level && *own_level))
		__atomic_store_n(&verbs_log_threshold, level, __ATOMIC_RELEASE);
	done = true;
	pthread_mutex_unlock(&init_lock);
}

void verbs_log_write(enum verbs_log_level level, const char *format, ...)
{
	int saved = errno, state;
	char line[1024];
	va_list args;
	int n, len;

	n = snprintf(line, sizeof(line), "rdmakit %s: ", level_names[level]);
	va_start(args, format);
	errno = saved; /* for %m */
	len = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	va_end(args);
	n += len < 0 ? 0 : len;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	/* A thread that is to be cancelled may have locks here. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (write(log_fd, line, n) < 0) {
		/* There is nowhere left to say so. */
	}
	pthread_setcancelstate(state, NULL);
	errno = saved;
}
