/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict.c - reports of a strict adapter. See strict.h.
 *
 * The object is in memory that child processes share, so the runner of a program can read the
 * daemon's number of reports. Decision: docs/adr/0037.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/strict.h"
#include "softhca/trace.h"

/* MAX_WRITTEN limits the reports in the file, as a rule that every request breaks would fill the
 * disk. */
enum { MAX_WRITTEN = 500, TEXT_MAX = 400 };

struct strict {
	int fd;
	atomic_uint count;
	char who[STRICT_WHO_MAX];
	char newest[TEXT_MAX];
};

int strict_open(const char *path, const char *who, struct strict **out)
{
	struct strict *strict = mmap(NULL, sizeof(*strict), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (strict == MAP_FAILED)
		return errno;
	strict->fd = -1;
	snprintf(strict->who, sizeof(strict->who), "%s", who);
	if (path) {
		strict->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (strict->fd < 0) {
			ret = errno;
			munmap(strict, sizeof(*strict));
			return ret;
		}
	}
	*out = strict;
	return 0;
}

void strict_close(struct strict *strict)
{
	if (!strict)
		return;
	if (strict->fd >= 0)
		close(strict->fd);
	munmap(strict, sizeof(*strict));
}

/* Writes a line by one call, as several adapters append to the file. */
static void strict_write(const struct strict *strict)
{
	char line[TEXT_MAX + STRICT_WHO_MAX + 8];
	int len = snprintf(line, sizeof(line), "%s  [%s]\n", strict->newest, strict->who);

	if (strict->fd >= 0 && write(strict->fd, line, len) < 0)
		log_error("strict: cannot write: %s", strerror(errno));
}

void strict_report(struct strict *strict, struct trace *trace, const char *rule, const char *format,
		   ...)
{
	unsigned int before = atomic_fetch_add(&strict->count, 1);
	size_t len = snprintf(strict->newest, sizeof(strict->newest), "%s: ", rule);
	va_list args;

	va_start(args, format);
	vsnprintf(strict->newest + len, sizeof(strict->newest) - len, format, args);
	va_end(args);
	trace_line(trace, "strict %s", strict->newest);
	if (before == MAX_WRITTEN)
		log_error("strict: further reports are in the trace only");
	if (before >= MAX_WRITTEN)
		return;
	log_error("strict: %s", strict->newest);
	strict_write(strict);
}

unsigned int strict_count(const struct strict *strict)
{
	return strict ? atomic_load(&strict->count) : 0;
}

const char *strict_newest(const struct strict *strict)
{
	return strict->newest;
}
