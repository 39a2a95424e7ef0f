/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * select.h - select() by way of poll(), as rselect() and the preload library do it: three sets of
 * descriptors become entries for poll(), and what poll() says becomes sets again.
 */
#ifndef RSOCKET_SELECT_H
#define RSOCKET_SELECT_H

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/select.h>

/* *MS becomes what poll() wants. Returns false if TIMEOUT is no time to wait. */
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

/* FDS has room for LIMIT entries. Returns how many there are. */
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

/* The sets become what is ready. Returns how many members they have. */
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
