/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * log.c - writes log lines. See log.h for the rules.
 *
 * Each library that links this has its own copy of the threshold; all read the same environment and
 * append to the same file.
 */
#include "util/log.h"
#include "util/bits.h"
#include "util/log_limit.h"
#include "util/log_stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int verbs_log_threshold = -1;
bool verbs_log_hinted;

static const char *const level_names[] = {
	[VERBS_LOG_OFF] = "off",   [VERBS_LOG_ERROR] = "error", [VERBS_LOG_WARN] = "warn",
	[VERBS_LOG_INFO] = "info", [VERBS_LOG_DEBUG] = "debug",
};

/* The log file. A program may close every descriptor, and then get the same number for a file of
 * its own. So the number is used only while it refers to the file with this dev and ino. */
struct log_file {
	struct log_file *before; /* the file's earlier entry: another thread may still read it */
	int fd;
	dev_t dev;
	ino_t ino;
	char path[]; /* absolute, as the program may change its directory */
};

static struct log_file *log_file;
static bool log_stamp;         /* VERBS_LOG_STAMP */
static unsigned int log_burst; /* VERBS_LOG_LIMIT: lines of a kind in a second; 0: all */
static bool log_is_asked;      /* a variable has chosen the level */

/* Identity of the file that standard error was when the log was first asked for. A program may
 * close standard error later, and get its number for a file of its own, which must get no lines. */
static struct stat first_stderr;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the level that VERBS_LOG_LEVEL has as a digit from 0 to 4. Returns -1 for other texts, or
 * if VERBS_LOG_FILE is not set. */
static int parse_number(const char *number)
{
	if (!number || !getenv("VERBS_LOG_FILE") || strlen(number) != 1 || *number < '0' ||
	    *number > '4')
		return -1;
	return *number - '0';
}

static int parse_level(const char *variable, const char *name)
{
	if (!name || !*name)
		return -1;
	for (unsigned int i = 0; i < ARRAY_SIZE(level_names); i++)
		if (!strcmp(name, level_names[i]))
			return (int)i;
	dprintf(STDERR_FILENO, "rdmakit error: %s=%s is not one of off, error, warn, info, debug\n",
		variable, name);
	return VERBS_LOG_ERROR;
}

static int level_of_environment(void)
{
	int level = parse_level("VERBS_LOG", getenv("VERBS_LOG"));

	if (level < 0)
		level = parse_number(getenv("VERBS_LOG_LEVEL"));
	log_is_asked = level >= 0;
	if (level < 0)
		level = parse_level("VERBS_LOG_DEFAULT", getenv("VERBS_LOG_DEFAULT"));
	return level < 0 ? VERBS_LOG_ERROR : level;
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

/* Copies PATH to TO with the process id in place of each %p. Returns false if the result is too
 * long. */
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

/* Returns whether a line may go to standard error although no variable asked for the log. A program
 * may close standard error, and get its number for a file or a connection of its own. */
static bool stderr_takes_lines(void)
{
	struct stat st;

	if (log_is_asked)
		return true;
	if (fstat(STDERR_FILENO, &st))
		return false;
	if (st.st_dev == first_stderr.st_dev && st.st_ino == first_stderr.st_ino)
		return true;
	if (S_ISREG(st.st_mode))
		return fcntl(STDERR_FILENO, F_GETFL) & O_APPEND;
	return !S_ISSOCK(st.st_mode) && !S_ISBLK(st.st_mode);
}

/* Returns the descriptor for lines: standard error, or the log file, which is reopened if the
 * program has closed it. Returns -1 if there is none. */
static int log_descriptor(void)
{
	struct log_file *file = __atomic_load_n(&log_file, __ATOMIC_ACQUIRE), *again;

	if (!file)
		return stderr_takes_lines() ? STDERR_FILENO : -1;
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

static unsigned int burst_of_environment(void)
{
	const char *number = getenv("VERBS_LOG_LIMIT");
	char *end;
	unsigned long burst;

	if (!number || !*number)
		return LOG_LIMIT_BURST;
	burst = strtoul(number, &end, 10);
	if (*end || *number == '-' || burst > INT_MAX) {
		dprintf(STDERR_FILENO, "rdmakit error: VERBS_LOG_LIMIT=%s is no number of lines\n",
			number);
		return LOG_LIMIT_BURST;
	}
	return (unsigned int)burst;
}

static bool env_is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strcmp(value, "0") != 0;
}

int verbs_log_init(void)
{
	int saved = errno, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&init_lock);
	if (verbs_log_threshold < 0) {
		int level = level_of_environment();

		/* secure_getenv: a set-uid program must not write to a file of its caller's
		 * choice. */
		log_stamp = env_is_set("VERBS_LOG_STAMP");
		log_burst = burst_of_environment();
		if (fstat(STDERR_FILENO, &first_stderr))
			memset(&first_stderr, 0, sizeof(first_stderr));
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
	if (!done && level > VERBS_LOG_OFF && !(own_level && *own_level)) {
		log_is_asked = true;
		__atomic_store_n(&verbs_log_threshold, level, __ATOMIC_RELEASE);
	}
	done = true;
	pthread_mutex_unlock(&init_lock);
	pthread_setcancelstate(state, NULL);
}

static int level_now(void)
{
	return __atomic_load_n(&verbs_log_threshold, __ATOMIC_RELAXED);
}

/* Writes the beginning of a line of LEVEL, with a stamp if log_stamp is set. Returns its length. */
static int prefix_format(char *line, size_t size, enum verbs_log_level level)
{
	struct timespec now;
	char stamp[64];

	if (!log_stamp)
		return snprintf(line, size, "rdmakit %s: ", level_names[level]);
	clock_gettime(CLOCK_REALTIME, &now);
	verbs_log_stamp(stamp, sizeof(stamp), &now);
	return snprintf(line, size, "rdmakit %s [%s]: ", level_names[level], stamp);
}

/* Writes LINE and a newline. LINE has N characters, and room for the newline. */
static void line_write(char *line, int n)
{
	int state;

	line[n++] = '\n';
	/* write() is a cancellation point, and the caller may hold locks. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (write(log_descriptor(), line, n) < 0) {
		/* Nowhere is left to report it. */
	}
	pthread_setcancelstate(state, NULL);
}

static void left_out_write(const struct log_left_out *left_out)
{
	char line[LOG_LIMIT_TEXT + 256];
	int n = prefix_format(line, sizeof(line),
			      level_now() < VERBS_LOG_WARN ? VERBS_LOG_ERROR : VERBS_LOG_WARN);

	n += snprintf(line + n, sizeof(line) - n - 1, "%lu more lines like \"%s...\" were left out",
		      left_out->count, left_out->text);
	line_write(line, n);
}

/* Returns whether lines of LEVEL are limited, because refusals and errors can come with every call
 * of a loop. */
static bool is_limited(enum verbs_log_level level)
{
	return log_burst && level <= VERBS_LOG_WARN && level_now() < VERBS_LOG_DEBUG;
}

/* Writes a line. If KEEPS_BEGINNING, also records how the line begins, for the limit of lines with
 * this FORMAT. */
static void text_write(enum verbs_log_level level, bool keeps_beginning, const char *format,
		       va_list args)
{
	char line[1024];
	int n = prefix_format(line, sizeof(line), level), len;

	len = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	if (keeps_beginning)
		verbs_log_note(format, line + n);
	n += len < 0 ? 0 : len;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line_write(line, n);
}

void verbs_log_write(enum verbs_log_level level, const char *format, ...)
{
	const bool limited = is_limited(level);
	struct log_left_out left_out = { 0 };
	int saved = errno;
	va_list args;

	if (limited && !verbs_log_pass(format, log_burst, &left_out))
		goto out;
	if (left_out.count)
		left_out_write(&left_out);
	va_start(args, format);
	errno = saved; /* for %m */
	text_write(level, limited, format, args);
	va_end(args);
out:
	errno = saved;
}

void verbs_log_write_each(enum verbs_log_level level, const char *format, ...)
{
	int saved = errno;
	va_list args;

	va_start(args, format);
	text_write(level, false, format, args);
	va_end(args);
	errno = saved;
}

/* Reports at exit, after other destructors have written their lines. */
static void __attribute__((destructor(101))) left_out_report(void)
{
	struct log_left_out left_out;

	while (verbs_log_left_out(&left_out))
		left_out_write(&left_out);
}

void verbs_log_hint(void)
{
	if (!verbs_log_on(VERBS_LOG_ERROR) || log_is_asked ||
	    __atomic_exchange_n(&verbs_log_hinted, true, __ATOMIC_RELAXED))
		return;
	verbs_error("a request or a call of RDMA has failed; VERBS_LOG=warn in the environment "
		    "logs each failure with its reason");
}
