/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watch.c - descriptors in the daemon's one poll loop.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "softhca/front/process/watch.h"

static int epoll_fd = -1;
static bool finishing;

int watch_start(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? errno : 0;
}

void watch_stop(void)
{
	close(epoll_fd);
}

int watch_add(struct watch *watch, uint32_t epoll_events)
{
	struct epoll_event event = { .events = epoll_events, .data.ptr = watch };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) ? errno : 0;
}

void watch_change(struct watch *watch, uint32_t epoll_events)
{
	struct epoll_event event = { .events = epoll_events, .data.ptr = watch };

	epoll_ctl(epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

void watch_remove(struct watch *watch)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

void watch_finish(void)
{
	finishing = true;
}

/* Takes one event at a time, as a callback may free the watch of a later event in the same
 * batch. */
void watch_loop(void)
{
	struct epoll_event event;

	while (!finishing) {
		if (epoll_wait(epoll_fd, &event, 1, -1) == 1) {
			struct watch *watch = event.data.ptr;

			watch->ready(watch, event.events);
		}
	}
}
