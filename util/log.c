/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.c - writes log lines. See log.h for the rules.
 *
 * Each library that links this has its own copy of the threshold; all read the same environment and
 * append to the same file.
 */
#include "util/log.h"
#include "util/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int verbs_log_threshold = -1;

static const char *const level_names[] = {
	[VERBS_LOG_OFF] = "off",   [VERBS_LOG_ERROR] = "error", [VERBS_LOG_WARN] = "warn",
	[VERBS_LOG_INFO] = "info", [VERBS_LOG_DEBUG] = "debug",
};

/* The log file. A program may close every descriptor and then get this number for a file of its
 * own, so the number counts only while the file behind it has this inode. */
struct log_file {
	struct log_file *before; /* the file's earlier entry: another thread may still read it */
	int fd;
	dev_t dev;
	ino_t ino;
	char path[]; /* absolute, as the program may change its directory */
};

static struct log_file *log_file;
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

/* Opens PATH at a number above those of the standard streams: the program may have closed these,
 * and expects them free. */
static int fd_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644), above;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return above;
}

/* Opens the file at PATH, or returns NULL with errno. */
static struct log_file *file_open(const char *path)
{
	int fd = fd_open(path);
	char *whole = fd < 0 ? NULL : realpath(path, NULL);
	size_t size = strlen(whole ? whole : path) + 1;
	struct log_file *file = fd < 0 ? NULL : malloc(sizeof(*file) + size);
	struct stat st;

	if (file && !fstat(fd, &st)) {
		*file = (struct log_file){ NULL, fd, st.st_dev, st.st_ino };
		memcpy(file->path, whole ? whole : path, size);
	} else if (fd >= 0) {
		close(fd);
		free(file);
		file = NULL;
	}
	free(whole);
	return file;
}

/* Writes PATH with the process's number in place of each %p. Returns false if it is too long. */
static bool path_expand(const char *path, char *to, size_t size)
{
	size_t len = 0;

	while (*path && len < size) {
		if (path[0] == '%' && path[1] == 'p') {
			len += (size_t)snprintf(to + len, size - len, "%d", (int)getpid());
			path += 2;
		} else {
			to[len++] = *path++;
		}
	}
	if (len >= size)
		return false;
	to[len] = '\0';
	return true;
}

static struct log_file *open_log(const char *path)
{
	struct log_file *file = NULL;
	char own[PATH_MAX];

	if (!path || !*path)
		return NULL;
	errno = ENAMETOOLONG;
	if (path_expand(path, own, sizeof(own))) {
		path = own;
		file = file_open(own);
	}
	if (!file)
		dprintf(STDERR_FILENO, "rdmakit error: log file %s: %s\n", path, strerror(errno));
	return file;
}

static bool file_is_open(const struct log_file *file)
{
	struct stat st;

	return !fstat(file->fd, &st) && st.st_dev == file->dev && st.st_ino == file->ino;
}

/* Returns the descriptor for lines: standard error, or the log file's, reopened if the program has
 * closed it. Returns -1 if it cannot be reopened. */
static int log_descriptor(void)
{
	struct log_file *file = __atomic_load_n(&log_file, __ATOMIC_ACQUIRE), *again;

	if (!file)
		return STDERR_FILENO;
	if (file_is_open(file))
		return file->fd;
	again = file_open(file->path);
	if (!again)
		return -1;
	again->before = file;
	if (__atomic_compare_exchange_n(&log_file, &file, again, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return again->fd;
	close(again->fd);
	free(again);
	return file->fd;
}

static void set_log(struct log_file *file)
{
	if (file)
		file->before = log_file;
	__atomic_store_n(&log_file, file, __ATOMIC_RELEASE);
}

int verbs_log_init(void)
{
	int saved = errno, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&init_lock);
	if (verbs_log_threshold < 0) {
		int level = parse_level(getenv("VERBS_LOG"));

		/* secure_getenv: a set-uid program must not write to a file of its caller's
		 * choice. */
		if (level > VERBS_LOG_OFF)
			set_log(open_log(secure_getenv("VERBS_LOG_FILE")));
		__atomic_store_n(&verbs_log_threshold, level, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&init_lock);
	pthread_setcancelstate(state, NULL);
	errno = saved;
	return verbs_log_threshold;
}

void verbs_log_prefer(const char *path, enum verbs_log_level level)
{
	static bool done;
	const char *own_path = getenv("VERBS_LOG_FILE"), *own_level = getenv("VERBS_LOG");
	int state;

	verbs_log_on(VERBS_LOG_ERROR); /* first, as the environment has precedence */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&init_lock);
	if (!done && path && !(own_path && *own_path))
		set_log(open_log(path));
	if (!done && level > VERBS_LOG_OFF && !(own_level && *own_level))
		__atomic_store_n(&verbs_log_threshold, level, __ATOMIC_RELEASE);
	done = true;
	pthread_mutex_unlock(&init_lock);
	pthread_setcancelstate(state, NULL);
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
	/* write() is a cancellation point, and the caller may hold locks. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (write(log_descriptor(), line, n) < 0) {
		/* Nowhere is left to report it. */
	}
	pthread_setcancelstate(state, NULL);
	errno = saved;
}
