/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - the calls of libc that a program uses sockets by. They go to librdmacm for rsockets,
 * and to the system for all other descriptors.
 */
#include "preload.h"
#include "../select.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The macro makes a call of librdmacm, whose own calls of the system are not for rsockets. */
#define INSIDE(call)                      \
	({                                \
		__typeof__(call) result_; \
		preload_inside++;         \
		result_ = (call);         \
		preload_inside--;         \
		result_;                  \
	})

/* In the common case a call is the same under two names, and the rsocket that FD stands for
 * takes the place of FD. */
#define EITHER(fd, rcall, call, ...)                               \
	({                                                         \
		int found_ = preload_find(fd);                     \
		found_ < 0 ? real()->call(fd, ##__VA_ARGS__)       \
			   : INSIDE(rcall(found_, ##__VA_ARGS__)); \
	})

/* The same for a call that uses a connection: one that is pending becomes an rsocket before.
 * FLAGS are those of recv(). */
#define EITHER_USED(fd, flags, rcall, call, ...)                           \
	({                                                                 \
		int found_ = preload_use(fd, flags);                       \
		found_ == PRELOAD_FAILED ? -1                              \
		: found_ < 0             ? real()->call(fd, ##__VA_ARGS__) \
					 : INSIDE(rcall(found_, ##__VA_ARGS__));       \
	})

/* ---- making ---- */

enum { TYPE_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC };

static int number_marked(int fd, enum pending pending)
{
	if (fd >= 0)
		preload_mark(fd, pending);
	return fd;
}

/* Without an adapter the program gets an ordinary socket. */
PRELOAD_EXPORT int socket(int domain, int type, int protocol)
{
	int fd = -1;

	if (!preload_inside && preload_wants(domain, type & ~TYPE_FLAGS, protocol)) {
		if ((type & ~TYPE_FLAGS) == SOCK_STREAM && preload_forks())
			return number_marked(real()->socket(domain, type, protocol), PENDING_NEW);
		fd = INSIDE(preload_rsocket(domain, type, protocol));
	}
	return fd < 0 ? real()->socket(domain, type, protocol) : preload_number(fd, type);
}

PRELOAD_EXPORT int accept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	int fd = preload_use(socket, 0);

	if (preload_pending(socket) == PENDING_LISTENER)
		return number_marked(real()->accept(socket, addr, addrlen), PENDING_ASKED);
	return fd < 0 ? real()->accept(socket, addr, addrlen)
		      : preload_number(INSIDE(raccept(fd, addr, addrlen)), 0);
}

PRELOAD_EXPORT int accept4(int socket, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	int fd = preload_use(socket, 0);

	if (preload_pending(socket) == PENDING_LISTENER)
		return number_marked(real()->accept4(socket, addr, addrlen, flags), PENDING_ASKED);
	return fd < 0 ? real()->accept4(socket, addr, addrlen, flags)
		      : preload_number(INSIDE(raccept(fd, addr, addrlen)), flags);
}

PRELOAD_EXPORT int bind(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	return EITHER(socket, rbind, bind, addr, addrlen);
}

PRELOAD_EXPORT int listen(int socket, int backlog)
{
	int ret;

	if (preload_pending(socket) != PENDING_NEW)
		return EITHER(socket, rlisten, listen, backlog);
	ret = real()->listen(socket, backlog);
	if (!ret)
		preload_mark(socket, PENDING_LISTENER);
	return ret;
}

PRELOAD_EXPORT int connect(int socket, const struct sockaddr *addr, socklen_t addrlen)
{
	int ret, rsocket;

	preload_settle(NULL);
	if (!preload_pending(socket)) {
		rsocket = preload_find_synced(socket);
		return rsocket < 0 ? real()->connect(socket, addr, addrlen)
				   : INSIDE(preload_connect(socket, rsocket, addr, addrlen));
	}
	ret = real()->connect(socket, addr, addrlen);
	if (!ret || errno == EINPROGRESS)
		preload_mark(socket, PENDING_ASKING);
	return ret;
}

PRELOAD_EXPORT int shutdown(int socket, int how)
{
	return EITHER_USED(socket, PRELOAD_WAIT, rshutdown, shutdown, how);
}

/* ---- copies and the end ---- */

PRELOAD_EXPORT int close(int fd)
{
	int rsocket = preload_find(fd);
	bool last;

	/* the program closes all descriptors that there are */
	if (rsocket < 0 && preload_is_rsocket(fd)) {
		errno = EBADF;
		return -1;
	}
	if (rsocket < 0 && preload_is_set(fd) && !preload_is_foreign()) {
		preload_mark_set(fd, false);
		preload_members_of_set_gone(fd);
		return INSIDE(rclose(fd));
	}
	if (rsocket < 0 || preload_is_foreign()) {
		if (preload_pending(fd) && !preload_is_foreign())
			preload_mark(fd, PENDING_NOT);
		return real()->close(fd);
	}
	preload_members_of_number_gone(fd, rsocket);
	last = preload_drop(fd);
	if (last)
		preload_late_gone(rsocket);
	real()->close(fd);
	return last ? INSIDE(rclose(rsocket)) : 0;
}

/* COPY, a new copy of FD, stands for the same rsocket as FD, or is pending as FD is. Returns
 * COPY, or -1 with errno. */
static int copy_made(int fd, int rsocket, int copy)
{
	int ret;

	if (copy < 0 || rsocket < 0)
		return number_marked(copy, preload_pending(fd));
	ret = preload_add_copy(copy, rsocket);
	if (!ret)
		return copy;
	real()->close(copy);
	errno = ret;
	return -1;
}

PRELOAD_EXPORT int dup(int fd)
{
	int rsocket = preload_use(fd, PRELOAD_WAIT);

	if (rsocket == PRELOAD_FAILED)
		return -1;
	return copy_made(fd, rsocket, real()->dup(fd));
}

/* The number that the program asks for may be that of another rsocket or of a set. */
PRELOAD_EXPORT int dup2(int fd, int to)
{
	int rsocket;

	if (preload_is_foreign())
		return real()->dup2(fd, to);
	rsocket = preload_use(fd, PRELOAD_WAIT);
	if (rsocket == PRELOAD_FAILED)
		return -1;
	if (fd == to)
		return real()->dup2(fd, to);
	if (preload_find(to) >= 0 || preload_is_set(to))
		close(to);
	return copy_made(fd, rsocket, real()->dup2(fd, to));
}

/* A command that does not copy is about the number's own file, which has the flags. */
PRELOAD_EXPORT int fcntl(int fd, int cmd, ...)
{
	bool copies = cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC;
	int rsocket = copies ? preload_use(fd, PRELOAD_WAIT) : -1;
	va_list args;
	long argument;

	va_start(args, cmd);
	argument = va_arg(args, long); /* commands without an argument do not look at it */
	va_end(args);
	if (rsocket == PRELOAD_FAILED)
		return -1;
	if (copies)
		return copy_made(fd, rsocket, real()->fcntl(fd, cmd, argument));
	return real()->fcntl(fd, cmd, argument);
}

PRELOAD_EXPORT int fcntl64(int fd, int cmd, ...)
{
	va_list args;
	long argument;

	va_start(args, cmd);
	argument = va_arg(args, long);
	va_end(args);
	return fcntl(fd, cmd, argument);
}

/* ---- bytes ---- */

PRELOAD_EXPORT ssize_t recv(int socket, void *buf, size_t len, int flags)
{
	return EITHER_USED(socket, flags, rrecv, recv, buf, len, flags);
}

PRELOAD_EXPORT ssize_t recvfrom(int socket, void *restrict buf, size_t len, int flags,
				struct sockaddr *restrict from, socklen_t *restrict addrlen)
{
	return EITHER_USED(socket, flags, rrecvfrom, recvfrom, buf, len, flags, from, addrlen);
}

PRELOAD_EXPORT ssize_t recvmsg(int socket, struct msghdr *msg, int flags)
{
	return EITHER_USED(socket, flags, rrecvmsg, recvmsg, msg, flags);
}

PRELOAD_EXPORT ssize_t read(int fd, void *buf, size_t count)
{
	return EITHER_USED(fd, 0, rread, read, buf, count);
}

PRELOAD_EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
	return EITHER_USED(fd, 0, rreadv, readv, iov, count);
}

PRELOAD_EXPORT ssize_t send(int socket, const void *buf, size_t len, int flags)
{
	return EITHER_USED(socket, flags, rsend, send, buf, len, flags);
}

PRELOAD_EXPORT ssize_t sendto(int socket, const void *buf, size_t len, int flags,
			      const struct sockaddr *to, socklen_t addrlen)
{
	return EITHER_USED(socket, flags, rsendto, sendto, buf, len, flags, to, addrlen);
}

PRELOAD_EXPORT ssize_t sendmsg(int socket, const struct msghdr *msg, int flags)
{
	return EITHER_USED(socket, flags, rsendmsg, sendmsg, msg, flags);
}

PRELOAD_EXPORT ssize_t write(int fd, const void *buf, size_t count)
{
	return EITHER_USED(fd, 0, rwrite, write, buf, count);
}

PRELOAD_EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
	return EITHER_USED(fd, 0, rwritev, writev, iov, count);
}

/* ---- files ---- */

enum { FILE_PIECE = 65536 };

static ssize_t read_piece(int file, off_t *offset, void *buf, size_t size)
{
	return offset ? pread(file, buf, size, *offset) : real()->read(file, buf, size);
}

/* What was read and not sent is read again next time, so the file's own position goes back by
 * it. */
static void advance_file(int file, off_t *offset, ssize_t got, ssize_t sent)
{
	if (sent < 0)
		sent = 0;
	if (offset)
		*offset += sent;
	else if (sent < got)
		lseek(file, sent - got, SEEK_CUR);
}

static ssize_t send_file(int rsocket, int file, off_t *offset, size_t count)
{
	char buf[FILE_PIECE];
	ssize_t got, sent = 0, done = 0;

	while (count) {
		got = read_piece(file, offset, buf, count < sizeof(buf) ? count : sizeof(buf));
		if (got <= 0)
			return done ? done : got;
		sent = INSIDE(rsend(rsocket, buf, got, 0));
		advance_file(file, offset, got, sent);
		if (sent < 0)
			return done ? done : sent;
		done += sent;
		count -= sent;
		if (sent < got)
			break;
	}
	return done;
}

PRELOAD_EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t count)
{
	int rsocket = preload_use(out, 0);

	if (rsocket == PRELOAD_FAILED)
		return -1;
	return rsocket < 0 ? real()->sendfile(out, in, offset, count)
			   : send_file(rsocket, in, offset, count);
}

/* off_t has 64 bits wherever this library is built. */
PRELOAD_EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t count)
{
	_Static_assert(sizeof(off_t) == sizeof(off64_t), "one type");
	return sendfile(out, in, (off_t *)offset, count);
}

/* ---- names and options ---- */

PRELOAD_EXPORT int getpeername(int socket, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	return EITHER(socket, rgetpeername, getpeername, addr, len);
}

PRELOAD_EXPORT int getsockname(int socket, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	return EITHER(socket, rgetsockname, getsockname, addr, len);
}

/* librdmacm refuses TCP's ways to control congestion, which programs for sockets do not expect; an
 * adapter has a way of its own, whatever is asked for. */
PRELOAD_EXPORT int setsockopt(int socket, int level, int name, const void *value, socklen_t len)
{
	if (level == IPPROTO_TCP && name == TCP_CONGESTION && preload_find(socket) >= 0)
		return 0;
	return EITHER(socket, rsetsockopt, setsockopt, level, name, value, len);
}

/* The function returns the error that SO_ERROR is to report, if the program asks for that. */
static int late_error(int socket, int level, int name, socklen_t len)
{
	int rsocket;

	if (level != SOL_SOCKET || name != SO_ERROR || len < sizeof(int))
		return 0;
	preload_settle(NULL);
	rsocket = preload_find(socket);
	return rsocket < 0 ? 0 : preload_late_error(rsocket);
}

PRELOAD_EXPORT int getsockopt(int socket, int level, int name, void *restrict value,
			      socklen_t *restrict len)
{
	int error = value && len ? late_error(socket, level, name, *len) : 0;

	if (error) {
		memcpy(value, &error, sizeof(error));
		*len = sizeof(error);
		return 0;
	}
	return EITHER(socket, rgetsockopt, getsockopt, level, name, value, len);
}

/* ---- waiting ---- */

/* FDS is not const: gcc with a sanitizer believes of a const parameter that poll() has nothing
 * to read there. */
static bool has_rsockets(struct pollfd *fds, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++) {
		if (preload_find(fds[i].fd) >= 0 || preload_pending(fds[i].fd) >= PENDING_ASKING)
			return true;
	}
	return false;
}

/* A number that stands for an rsocket is replaced by it in the question. A connection whose
 * other side has not used it yet is not ready for anything; the word that comes shows that it is
 * used. */
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

/* The function returns whether a pending connection has become an rsocket, so that the question
 * must be put again. */
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

static void cancelled_inside(void *unused)
{
	(void)unused;
	preload_inside = 0;
}

/* This is where librdmacm sleeps, and where a thread of the program is cancelled. What that calls
 * then is the program's again, be it close(). */
static int poll_inside(struct pollfd *fds, nfds_t count, int timeout)
{
	int ret;

	pthread_cleanup_push(cancelled_inside, NULL);
	ret = real()->poll(fds, count, timeout);
	pthread_cleanup_pop(0);
	return ret;
}

PRELOAD_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (preload_inside)
		return poll_inside(fds, count, timeout);
	return has_rsockets(fds, count) ? poll_all(fds, count, timeout)
					: real()->poll(fds, count, timeout);
}

/* select() is made a poll(), as numbers are not those of the rsockets they stand for. */
PRELOAD_EXPORT int select(int limit, fd_set *restrict read, fd_set *restrict write,
			  fd_set *restrict except, struct timeval *restrict timeout)
{
	struct pollfd fds[FD_SETSIZE];
	nfds_t count;
	int ms;

	if (preload_inside || limit < 0 || limit > FD_SETSIZE || !select_timeout(timeout, &ms))
		return real()->select(limit, read, write, except, timeout);
	count = select_to_poll(fds, limit, read, write, except);
	if (!has_rsockets(fds, count))
		return real()->select(limit, read, write, except, timeout);
	if (poll_all(fds, count, ms) < 0)
		return -1;
	return select_from_poll(fds, count, read, write, except);
}

/* Any set may come to have rsockets, so all are made by repoll_create(). */
PRELOAD_EXPORT int epoll_create1(int flags)
{
	int fd;

	if (preload_inside)
		return real()->epoll_create1(flags);
	fd = preload_mark_set(INSIDE(repoll_create(1)), true);
	if (fd >= 0 && flags & EPOLL_CLOEXEC)
		real()->fcntl(fd, F_SETFD, FD_CLOEXEC);
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
	if (rsocket < 0)
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
