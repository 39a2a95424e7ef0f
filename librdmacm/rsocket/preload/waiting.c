/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waiting.c - libc's calls that wait for several descriptors: poll(), select() and epoll. They
 * replace the program's numbers by the rsockets that these stand for.
 */
#include "librdmacm/rsocket/preload/either.h"
#include "librdmacm/rsocket/poll/select.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdlib.h>

/* Returns whether FDS contains rsockets. If not, or if the memory is invalid or too large, the
 * system handles the call and reports the error. FDS is not const, because gcc with a sanitizer
 * would assume that poll() does not read a const parameter. */
static bool has_rsockets(struct pollfd *fds, nfds_t count)
{
	if (!fds || count > INT_MAX || !preload_is_used() ||
	    !preload_may_write(fds, count * sizeof(*fds)))
		return false;
	for (nfds_t i = 0; i < count; i++) {
		if (preload_find(fds[i].fd) >= 0 || preload_pending(fds[i].fd) >= PENDING_ASKING)
			return true;
	}
	return false;
}

/* Replaces a program's descriptor by its rsocket. A pending connection whose peer has not used it
 * yet is polled for input only: the peer's four zero bytes (pending.c), which make it an
 * rsocket. */
static void translate_fd(struct pollfd *to, const struct pollfd *from)
{
	int found = preload_pending(from->fd) == PENDING_ASKED ? preload_use(from->fd, 0)
							       : preload_find(from->fd);

	*to = *from;
	if (found >= 0)
		to->fd = found;
	else if (preload_pending(from->fd) == PENDING_ASKING)
		to->events = POLLIN;
}

/* Uses the pending connections with input, which usually makes them rsockets. Returns whether there
 * was any input; then the caller must query again. */
static bool advance_all(const struct pollfd *fds, const struct pollfd *asked, nfds_t count)
{
	bool any = false;

	for (nfds_t i = 0; i < count; i++) {
		if (asked[i].revents & POLLIN && preload_pending(fds[i].fd) == PENDING_ASKING) {
			preload_use(fds[i].fd, MSG_DONTWAIT);
			any = true;
		}
	}
	return any;
}

static int time_left(int timeout, int64_t end_ms)
{
	int64_t left = end_ms - preload_now_ms();

	if (timeout < 0)
		return -1;
	return left > 0 ? (int)left : 0;
}

static int poll_translated(struct pollfd *fds, struct pollfd *asked, nfds_t count, int timeout)
{
	int64_t end_ms = preload_now_ms() + timeout;
	int ret;

	preload_settle(NULL);
	do {
		for (nfds_t i = 0; i < count; i++)
			translate_fd(&asked[i], &fds[i]);
		ret = INSIDE(rpoll(asked, count, time_left(timeout, end_ms)));
	} while (ret > 0 && (advance_all(fds, asked, count) || preload_settle(NULL)));
	for (nfds_t i = 0; i < count; i++)
		fds[i].revents = asked[i].revents;
	return ret;
}

static int poll_all(struct pollfd *fds, nfds_t count, int timeout)
{
	struct pollfd *asked = calloc(count, sizeof(*fds));
	int ret;

	if (!asked) {
		errno = ENOMEM;
		return -1;
	}
	pthread_cleanup_push(free, asked);
	ret = poll_translated(fds, asked, count, timeout);
	pthread_cleanup_pop(1);
	return ret;
}

/* Signals to block while this thread sleeps, from ppoll() and its relatives, or NULL. librdmacm
 * sleeps in poll(), where the mask is applied atomically, so no signal arrives between the last
 * check for events and the sleep. */
static __thread const sigset_t *sleep_mask;

static void cancelled_inside(void *unused)
{
	(void)unused;
	preload_inside = 0;
	sleep_mask = NULL;
}

static int sleep_masked(struct pollfd *fds, nfds_t count, int timeout)
{
	const struct timespec time = { timeout / 1000, timeout % 1000 * 1000000L };
	const sigset_t *mask = sleep_mask;
	int ret;

	sleep_mask = NULL; /* a signal handler may wait, too */
	ret = real()->ppoll(fds, count, timeout < 0 ? NULL : &time, mask);
	sleep_mask = mask;
	return ret;
}

/* Runs poll() for librdmacm, which sleeps only here. A thread cancelled here runs its cleanup
 * handlers with interception on again. */
static int poll_inside(struct pollfd *fds, nfds_t count, int timeout)
{
	int ret;

	pthread_cleanup_push(cancelled_inside, NULL);
	ret = timeout && sleep_mask ? sleep_masked(fds, count, timeout)
				    : real()->poll(fds, count, timeout);
	pthread_cleanup_pop(0);
	return ret;
}

/* For a zero timeout: delivers pending signals of the mask, if there was no event, as ppoll() and
 * pselect() do. */
static int let_signals_in(const sigset_t *mask)
{
	const struct timespec no_time = { 0, 0 };

	return real()->ppoll(NULL, 0, &no_time, mask);
}

static int poll_all_masked(struct pollfd *fds, nfds_t count, int timeout, const sigset_t *mask)
{
	int ret;

	sleep_mask = mask;
	ret = poll_all(fds, count, timeout);
	sleep_mask = NULL;
	return !ret && !timeout && mask ? let_signals_in(mask) : ret;
}

bool preload_timespec_ms(const struct timespec *timeout, int *ms)
{
	*ms = -1;
	if (!timeout)
		return true;
	if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000)
		return false;
	*ms = INT_MAX;
	if (timeout->tv_sec < INT_MAX / 1000)
		*ms = (int)timeout->tv_sec * 1000 + (int)((timeout->tv_nsec + 999999) / 1000000);
	return true;
}

PRELOAD_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (preload_inside)
		return poll_inside(fds, count, timeout);
	return has_rsockets(fds, count) ? poll_all(fds, count, timeout)
					: real()->poll(fds, count, timeout);
}

PRELOAD_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
			 const sigset_t *mask)
{
	int ms;

	if (preload_inside || !preload_timespec_ms(timeout, &ms) || !has_rsockets(fds, count))
		return real()->ppoll(fds, count, timeout, mask);
	return poll_all_masked(fds, count, ms, mask);
}

/* Returns whether a descriptor is closed: poll() reports it in its entry, but select() must fail
 * with EBADF. */
static bool has_closed(const struct pollfd *fds, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++) {
		if (fds[i].revents & POLLNVAL)
			return true;
	}
	return false;
}

/* Runs select() as poll(), because an rsocket's number differs from the program's. */
static int select_all(struct pollfd *fds, nfds_t count, fd_set *read, fd_set *write, fd_set *except,
		      int ms, const sigset_t *mask)
{
	if (poll_all_masked(fds, count, ms, mask) < 0)
		return -1;
	if (!has_closed(fds, count))
		return select_from_poll(fds, count, read, write, except);
	errno = EBADF;
	return -1;
}

static bool set_is_there(const fd_set *set, int limit)
{
	enum { BITS = 8 * sizeof(long) };

	return !set || preload_may_write(set, (limit + BITS - 1) / BITS * sizeof(long));
}

/* Returns whether to handle the sets here. Invalid sets and sets without rsockets go to the system,
 * which reports errors. */
static bool sets_are_there(int limit, const fd_set *read, const fd_set *write, const fd_set *except)
{
	return !preload_inside && limit >= 0 && limit <= FD_SETSIZE && preload_is_used() &&
	       set_is_there(read, limit) && set_is_there(write, limit) &&
	       set_is_there(except, limit);
}

/* Sets *TIMEOUT to the remaining time, as Linux' select() does, since programs rely on it. */
static void set_time_left(struct timeval *timeout, int64_t end_ms)
{
	int left = time_left(0, end_ms);

	*timeout = (struct timeval){ left / 1000, left % 1000 * 1000 };
}

PRELOAD_EXPORT int select(int limit, fd_set *restrict read, fd_set *restrict write,
			  fd_set *restrict except, struct timeval *restrict timeout)
{
	struct pollfd fds[FD_SETSIZE];
	int64_t end_ms;
	nfds_t count;
	int ms, ret;

	if (!sets_are_there(limit, read, write, except) || !select_timeout(timeout, &ms))
		return real()->select(limit, read, write, except, timeout);
	count = select_to_poll(fds, limit, read, write, except);
	if (!has_rsockets(fds, count))
		return real()->select(limit, read, write, except, timeout);
	end_ms = preload_now_ms() + ms;
	ret = select_all(fds, count, read, write, except, ms, NULL);
	if (timeout)
		set_time_left(timeout, end_ms);
	return ret;
}

PRELOAD_EXPORT int pselect(int limit, fd_set *restrict read, fd_set *restrict write,
			   fd_set *restrict except, const struct timespec *restrict timeout,
			   const sigset_t *restrict mask)
{
	struct pollfd fds[FD_SETSIZE];
	nfds_t count;
	int ms;

	if (!sets_are_there(limit, read, write, except) || !preload_timespec_ms(timeout, &ms))
		return real()->pselect(limit, read, write, except, timeout, mask);
	count = select_to_poll(fds, limit, read, write, except);
	if (!has_rsockets(fds, count))
		return real()->pselect(limit, read, write, except, timeout, mask);
	return select_all(fds, count, read, write, except, ms, mask);
}

static __thread int flags_of_set;

/* Creates every set with repoll_create(), since the program may add rsockets to the set later.
 * repoll_create() calls this function with interception off, and gets the kernel's set. */
PRELOAD_EXPORT int epoll_create1(int flags)
{
	int fd;

	if (preload_inside)
		return real()->epoll_create1(flags | flags_of_set);
	flags_of_set = flags;
	fd = preload_mark_set(INSIDE(repoll_create(1)), true);
	flags_of_set = 0;
	return fd;
}

PRELOAD_EXPORT int epoll_create(int size)
{
	if (size > 0)
		return epoll_create1(0);
	errno = EINVAL;
	return -1;
}

PRELOAD_EXPORT int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	int rsocket = preload_use(fd, PRELOAD_WAIT), ret;

	if (rsocket == PRELOAD_FAILED)
		return -1;
	if (rsocket < 0 || (op != EPOLL_CTL_DEL && !preload_may_read(event, sizeof(*event))))
		return real()->epoll_ctl(epfd, op, fd, event);
	if (INSIDE(repoll_ctl(epfd, op, rsocket, event)))
		return -1;
	ret = preload_member_noted(epfd, op, fd, rsocket, event);
	if (!ret)
		return 0;
	INSIDE(repoll_ctl(epfd, EPOLL_CTL_DEL, rsocket, NULL));
	errno = ret;
	return -1;
}

static int wait_in_set(int set, struct epoll_event *events, int room, int timeout)
{
	int64_t end_ms = preload_now_ms() + timeout;
	const struct preload_report report = { set, events, &(int){ 0 } };

	if (room > 0 && !preload_may_write(events, sizeof(*events))) {
		errno = EFAULT;
		return -1;
	}
	preload_settle(NULL);
	do
		*report.count = INSIDE(repoll_wait(set, events, room, time_left(timeout, end_ms)));
	while (*report.count > 0 && preload_settle(&report) && !*report.count);
	return *report.count;
}

PRELOAD_EXPORT int epoll_wait(int epfd, struct epoll_event *events, int room, int timeout)
{
	if (preload_inside)
		return real()->epoll_wait(epfd, events, room, timeout);
	return wait_in_set(epfd, events, room, timeout);
}

static bool is_of_system(int set)
{
	return preload_inside || !preload_is_set(set);
}

static int wait_in_set_masked(int set, struct epoll_event *events, int room, int timeout,
			      const sigset_t *mask)
{
	int ret;

	sleep_mask = mask;
	ret = wait_in_set(set, events, room, timeout);
	sleep_mask = NULL;
	return ret;
}

PRELOAD_EXPORT int epoll_pwait(int set, struct epoll_event *events, int room, int timeout,
			       const sigset_t *mask)
{
	if (is_of_system(set))
		return real()->epoll_pwait(set, events, room, timeout, mask);
	return wait_in_set_masked(set, events, room, timeout, mask);
}

PRELOAD_EXPORT int epoll_pwait2(int set, struct epoll_event *events, int room,
				const struct timespec *timeout, const sigset_t *mask)
{
	int ms;

	if (!is_of_system(set) && preload_timespec_ms(timeout, &ms))
		return wait_in_set_masked(set, events, room, ms, mask);
	if (real_epoll_pwait2())
		return real_epoll_pwait2()(set, events, room, timeout, mask);
	errno = ENOSYS;
	return -1;
}
