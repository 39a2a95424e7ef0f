/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_close.c - notices the last close of files that are memory of this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "softhca/front/process/last_close.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { PATH_BYTES = 32 };

static void path_of(int memfd, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "/proc/self/fd/%d", memfd);
}

int last_close_open(struct last_closes *closes, struct last_close *file, int memfd, int *fd)
{
	char path[PATH_BYTES];
	int ret;

	path_of(memfd, path);
	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return errno;
	file->watch = inotify_add_watch(closes->watch.fd, path, IN_CLOSE_WRITE);
	if (file->watch < 0) {
		ret = errno;
		close(*fd);
		return ret;
	}
	file->memfd = memfd;
	LIST_INSERT_HEAD(&closes->all, file, in_all);
	return 0;
}

void last_close_forget(struct last_closes *closes, struct last_close *file)
{
	LIST_REMOVE(file, in_all);
	inotify_rm_watch(closes->watch.fd, file->watch);
}

/* Returns whether no program has the file open. Linux gives a lease for reading only while nobody
 * has a description for writing (fcntl(2), F_SETLEASE); the description of memfd_create() does not
 * count. An open meanwhile waits and sends a signal; SIGURG is one that harms nobody. */
static bool is_closed(const struct last_close *file)
{
	char path[PATH_BYTES];
	bool closed;
	int fd;

	path_of(file->memfd, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	closed = !fcntl(fd, F_SETSIG, SIGURG) && !fcntl(fd, F_SETLEASE, F_RDLCK);
	close(fd);
	return closed;
}

static void find_closed(struct last_closes *closes)
{
	struct last_close *file, *next;

	for (file = LIST_FIRST(&closes->all); file; file = next) {
		next = LIST_NEXT(file, in_all);
		if (is_closed(file))
			closes->closed(file);
	}
}

static void close_watched(struct last_closes *closes, int watch)
{
	struct last_close *file;

	LIST_FOREACH(file, &closes->all, in_all) {
		if (file->watch == watch) {
			closes->closed(file);
			return;
		}
	}
}

static void event_handle(struct last_closes *closes, const struct inotify_event *event)
{
	if (event->mask & IN_IGNORED) /* a forgotten file */
		return;
	if (event->mask & IN_CLOSE_WRITE)
		close_watched(closes, event->wd);
	if (event->mask & IN_Q_OVERFLOW)
		log_note("events of closed files were lost: looking at all files");
	if (event->mask & IN_Q_OVERFLOW || closes->look_again)
		find_closed(closes);
	closes->look_again = event->mask & IN_Q_OVERFLOW;
}

/* Handles some of the waiting events. Returns whether there were any. */
static bool settle_some(struct last_closes *closes)
{
	union {
		struct inotify_event event;
		char room[4096];
	} buf;
	ssize_t n = read(closes->watch.fd, &buf, sizeof(buf));

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *event = (const void *)(buf.room + at);

		event_handle(closes, event);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return n > 0;
}

void last_closes_settle(struct last_closes *closes)
{
	while (settle_some(closes))
		;
}

/* Handles one read's worth of events, so that other descriptors of the loop get their turn. */
static void closes_ready(struct watch *watch, uint32_t events)
{
	(void)events;
	settle_some(container_of(watch, struct last_closes, watch));
}

int last_closes_start(struct last_closes *closes, void (*closed)(struct last_close *file))
{
	int ret;

	*closes = (struct last_closes){
		.watch = { inotify_init1(IN_CLOEXEC | IN_NONBLOCK), closes_ready },
		.closed = closed,
	};
	if (closes->watch.fd < 0)
		return errno;
	ret = watch_add(&closes->watch, EPOLLIN);
	if (ret)
		last_closes_stop(closes);
	return ret;
}

void last_closes_stop(struct last_closes *closes)
{
	if (closes->watch.fd >= 0)
		close(closes->watch.fd);
	closes->watch.fd = -1;
}
