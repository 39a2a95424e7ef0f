/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * select.h - implements select() with poll(), for rselect() and the preload library: converts three
 * sets of descriptors to poll() entries, and the results back.
 */
#ifndef RSOCKET_SELECT_H
#define RSOCKET_SELECT_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/select.h>

static inline bool select_timeout(const struct timeval *timeout, int *ms)
{
	*ms = -1;
	if (!timeout)
		return true;
	if (timeout->tv_sec < 0 || timeout->tv_usec < 0)
		return false;
	*ms = INT_MAX;
	if (timeout->tv_sec < INT_MAX / 1000 && timeout->tv_usec < 1000000)
		*ms = (int)timeout->tv_sec * 1000 + (int)(timeout->tv_usec + 999) / 1000;
	return true;
}

static inline bool select_has(int fd, fd_set *set)
{
	return set && FD_ISSET(fd, set);
}

static inline nfds_t select_to_poll(struct pollfd *fds, int limit, fd_set *read, fd_set *write,
				    fd_set *except)
{
	nfds_t count = 0;

	for (int fd = 0; fd < limit; fd++) {
		short events = (select_has(fd, read) ? POLLIN : 0) |
			       (select_has(fd, write) ? POLLOUT : 0) |
			       (select_has(fd, except) ? POLLPRI : 0);

		if (events)
			fds[count++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return count;
}

static inline int select_keep_if(fd_set *set, int fd, bool condition)
{
	if (!select_has(fd, set))
		return 0;
	if (!condition)
		FD_CLR(fd, set);
	return condition;
}

/* Sets the three sets to the ready descriptors. Returns the total number of members. */
static inline int select_from_poll(const struct pollfd *fds, nfds_t count, fd_set *read,
				   fd_set *write, fd_set *except)
{
	int ready = 0;

	for (nfds_t i = 0; i < count; i++) {
		short events = fds[i].revents;

		ready += select_keep_if(read, fds[i].fd, events & (POLLIN | POLLHUP | POLLERR));
		ready += select_keep_if(write, fds[i].fd, events & (POLLOUT | POLLERR));
		ready += select_keep_if(except, fds[i].fd, events & POLLPRI);
	}
	return ready;
}

#endif
