/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stdio.c - stdio files on sockets: fdopen() and dprintf().
 *
 * libc reads and writes such a file with internal calls that cannot be intercepted. So the file of
 * an rsocket is made by fopencookie(), with functions of this library, and fileno() still returns
 * its number. Other files are libc's.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

struct stream {
	LIST_ENTRY(stream) entry;
	FILE *file;
	int fd;
};

static LIST_HEAD(, stream) streams = LIST_HEAD_INITIALIZER(streams);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t stream_read(void *cookie, char *bytes, size_t size)
{
	return read(((struct stream *)cookie)->fd, bytes, size);
}

/* Returns 0 with errno for a failure, because fopencookie() does not accept negative results of a
 * write. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
	ssize_t written = write(((struct stream *)cookie)->fd, bytes, size);

	return written < 0 ? 0 : written;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
	(void)cookie, (void)offset, (void)whence;
	errno = ESPIPE;
	return -1;
}

static int stream_close(void *cookie)
{
	struct stream *stream = cookie;
	int fd = stream->fd;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(stream, entry);
	pthread_mutex_unlock(&lock);
	free(stream);
	return close(fd);
}

static FILE *stream_open(int fd, const char *mode)
{
	const cookie_io_functions_t calls = { stream_read, stream_write, stream_seek,
					      stream_close };
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		errno = ENOMEM;
		return NULL;
	}
	stream->fd = fd;
	stream->file = fopencookie(stream, mode, calls);
	if (!stream->file) {
		free(stream);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&streams, stream, entry);
	pthread_mutex_unlock(&lock);
	return stream->file;
}

static bool is_of_rsocket(int fd)
{
	return preload_find(fd) >= 0 || preload_pending(fd);
}

PRELOAD_EXPORT FILE *fdopen(int fd, const char *mode)
{
	return is_of_rsocket(fd) ? stream_open(fd, mode) : real()->fdopen(fd, mode);
}

/* Returns the number of a file. libc has none for a file of fopencookie(), which stands for an
 * rsocket here. */
PRELOAD_EXPORT int fileno(FILE *file)
{
	int fd = real()->fileno(file);
	struct stream *stream;

	if (fd >= 0)
		return fd;
	pthread_mutex_lock(&lock);
	LIST_FOREACH(stream, &streams, entry) {
		if (stream->file == file)
			fd = stream->fd;
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

PRELOAD_EXPORT int fileno_unlocked(FILE *file)
{
	return fileno(file);
}

/* glibc's; declared here, because no header has it without _FORTIFY_SOURCE */
int __vasprintf_chk(char **text, int flag, const char *format, va_list args);

static int write_all(int fd, const char *text, int size)
{
	ssize_t written;

	for (int done = 0; done < size; done += (int)written) {
		written = write(fd, text + done, size - done);
		if (written < 0)
			return -1;
	}
	return size;
}

/* Prints to FD. FLAG is positive for format checks, as in programs built with _FORTIFY_SOURCE. */
static int print_to(int fd, int flag, const char *format, va_list args)
{
	char *text;
	int size = __vasprintf_chk(&text, flag, format, args);

	if (size < 0)
		return size;
	size = write_all(fd, text, size);
	free(text);
	return size;
}

PRELOAD_EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list args)
{
	return is_of_rsocket(fd) ? print_to(fd, flag, format, args)
				 : real()->__vdprintf_chk(fd, flag, format, args);
}

PRELOAD_EXPORT int vdprintf(int fd, const char *format, va_list args)
{
	return __vdprintf_chk(fd, 0, format, args);
}

PRELOAD_EXPORT int __dprintf_chk(int fd, int flag, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = __vdprintf_chk(fd, flag, format, args);
	va_end(args);
	return size;
}

PRELOAD_EXPORT int dprintf(int fd, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = __vdprintf_chk(fd, 0, format, args);
	va_end(args);
	return size;
}

/* Flushes the files at exit. Skips a file locked by another thread, which may sleep in a call
 * forever. */
void preload_flush_streams(void)
{
	struct stream *stream;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(stream, &streams, entry) {
		if (ftrylockfile(stream->file))
			continue;
		fflush_unlocked(stream->file);
		funlockfile(stream->file);
	}
	pthread_mutex_unlock(&lock);
}

static void stdio_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, stdio_forked);
}
