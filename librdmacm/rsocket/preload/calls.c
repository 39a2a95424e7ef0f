/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - libc's socket calls, except those that wait for several descriptors (waiting.c). They
 * call librdmacm for rsockets, and the system for all other descriptors.
 */
#include "librdmacm/rsocket/preload/either.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- socket() and accept() ---- */

enum { TYPE_FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC };

static int number_marked(int fd, enum pending pending)
{
	if (fd >= 0)
		preload_mark(fd, pending);
	return fd;
}

PRELOAD_EXPORT int socket(int domain, int type, int protocol)
{
	int fd = -1;

	if (!preload_inside && preload_wants(domain, type & ~TYPE_FLAGS, protocol)) {
		if ((type & ~TYPE_FLAGS) == SOCK_STREAM && preload_forks())
			return number_marked(real()->socket(domain, type, protocol), PENDING_NEW);
		fd = INSIDE(preload_rsocket(domain, type, protocol));
		if (fd < 0 && preload_is_own_limit(errno))
			return -1;
	}
	return fd < 0 ? real()->socket(domain, type, protocol) : preload_number(fd, type);
}

static void close_file(void *file)
{
	real()->close(*(int *)file);
}

/* Accepts a connection. Gets the descriptor number first: without one, the connection stays queued,
 * as for TCP. */
static int accept_as_number(int listener, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	int file = preload_file(flags), rsocket, error;

	if (file < 0)
		return -1;
	pthread_cleanup_push(close_file, &file);
	rsocket = INSIDE(raccept(listener, addr, addrlen));
	pthread_cleanup_pop(0);
	if (rsocket >= 0)
		return preload_number_by(file, rsocket);
	error = errno;
	real()->close(file);
	errno = error;
	return -1;
}

PRELOAD_EXPORT int accept(int socket, struct sockaddr *addr, socklen_t *addrlen)
{
	int fd = preload_use(socket, 0);

	if (preload_pending(socket) == PENDING_LISTENER)
		return number_marked(real()->accept(socket, addr, addrlen), PENDING_ASKED);
	return fd < 0 ? real()->accept(socket, addr, addrlen)
		      : accept_as_number(fd, addr, addrlen, 0);
}

PRELOAD_EXPORT int accept4(int socket, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	int fd = preload_use(socket, 0);

	if (preload_pending(socket) == PENDING_LISTENER)
		return number_marked(real()->accept4(socket, addr, addrlen, flags), PENDING_ASKED);
	return fd < 0 ? real()->accept4(socket, addr, addrlen, flags)
		      : accept_as_number(fd, addr, addrlen, flags);
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

	/* librdmacm's own thread connects while it holds locks that settling needs */
	if (preload_find(socket) >= 0)
		preload_settle(NULL);
	if (!preload_pending(socket)) {
		rsocket = preload_find_synced(socket);
		return rsocket < 0 ? real()->connect(socket, addr, addrlen)
				   : INSIDE(preload_connect(rsocket, addr, addrlen));
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

/* ---- dup() and close() ---- */

PRELOAD_EXPORT int close(int fd)
{
	int rsocket = preload_find(fd);
	bool last;

	/* refused: a program that closes all descriptors must not close librdmacm's */
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

/* Records COPY, a new duplicate of FD: like a duplicate of a file, it stands for the same rsocket
 * or has the same pending state. Returns COPY, or -1 with errno. */
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

/* Duplicates FD. In a child of vfork(), does not record the duplicate: the child shares the
 * parent's table, but not its descriptors. */
PRELOAD_EXPORT int dup(int fd)
{
	int rsocket;

	if (preload_is_foreign())
		return real()->dup(fd);
	rsocket = preload_use(fd, PRELOAD_WAIT);
	if (rsocket == PRELOAD_FAILED)
		return -1;
	return copy_made(fd, rsocket, real()->dup(fd));
}

/* Duplicates FD to TO. If TO stands for another rsocket or is an epoll set, closes it first,
 * because dup3() of the system would not close the rsocket or set. */
static int dup_onto(int fd, int to, int flags)
{
	int rsocket = preload_use(fd, PRELOAD_WAIT);

	if (rsocket == PRELOAD_FAILED || real()->fcntl(fd, F_GETFD) < 0)
		return -1;
	if (preload_find(to) >= 0 || preload_is_set(to))
		close(to);
	return copy_made(fd, rsocket, real()->dup3(fd, to, flags));
}

PRELOAD_EXPORT int dup2(int fd, int to)
{
	return preload_is_foreign() || fd == to ? real()->dup2(fd, to) : dup_onto(fd, to, 0);
}

PRELOAD_EXPORT int dup3(int fd, int to, int flags)
{
	return preload_is_foreign() || fd == to ? real()->dup3(fd, to, flags)
						: dup_onto(fd, to, flags);
}

/* Closes the descriptors FIRST to LAST: rsockets and epoll sets by close(), which the preload
 * intercepts, and the descriptors between them, which may be many, by close_range(). */
static int close_all(unsigned int first, unsigned int last)
{
	unsigned int ours;
	int ret = 0;

	while (!ret && first <= last) {
		ours = preload_first_known(first, last);
		if (ours > first)
			ret = real_close_range()(first, ours - 1, 0);
		if (!ret && ours <= last)
			close(ours);
		first = ours + 1;
	}
	return ret;
}

/* Lets the system handle calls with flags, which close nothing now, or only in an unshared
 * table. */
PRELOAD_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	const unsigned int most = PRELOAD_NUMBERS - 1;
	int ret;

	if (!real_close_range()) {
		errno = ENOSYS;
		return -1;
	}
	if (flags || first > last || first > most || preload_inside || preload_is_foreign())
		return real_close_range()(first, last, flags);
	ret = close_all(first, last < most ? last : most);
	return ret || last <= most ? ret : real_close_range()(most + 1, last, 0);
}

PRELOAD_EXPORT void closefrom(int low)
{
	const unsigned int first = low < 0 ? 0 : low;

	if (close_range(first, ~0U, 0))
		for (int fd = first; fd < PRELOAD_NUMBERS; fd++)
			close(fd);
}

/* Duplicates a descriptor of an rsocket. Passes other commands to the system: they apply to the
 * file behind the descriptor, which has the flags, and need no rsocket. */
PRELOAD_EXPORT int fcntl(int fd, int cmd, ...)
{
	bool copies = (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && !preload_is_foreign();
	int rsocket = copies ? preload_use(fd, PRELOAD_WAIT) : -1;
	va_list args;
	long argument;

	va_start(args, cmd);
	/* va_arg() is harmless for commands without an argument, which ignore it */
	argument = va_arg(args, long);
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

/* ---- several messages ---- */

/* Receives several messages. Like Linux, checks the time only after each message. */
static int receive_many(int rsocket, struct mmsghdr *messages, int count, int flags, int64_t end_ms)
{
	ssize_t got = 0;
	int done = 0;

	while (done < count && (!done || preload_now_ms() < end_ms)) {
		got = INSIDE(rrecvmsg(rsocket, &messages[done].msg_hdr, flags & ~MSG_WAITFORONE));
		if (got < 0)
			break;
		messages[done++].msg_len = got;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
	}
	return done || !got ? done : -1;
}

static int at_once(unsigned int count)
{
	return count < IOV_MAX ? (int)count : IOV_MAX;
}

PRELOAD_EXPORT int recvmmsg(int socket, struct mmsghdr *messages, unsigned int count, int flags,
			    struct timespec *timeout)
{
	int rsocket = preload_use(socket, flags), ms;

	if (rsocket == PRELOAD_FAILED)
		return -1;
	if (rsocket < 0)
		return real()->recvmmsg(socket, messages, count, flags, timeout);
	if (!preload_timespec_ms(timeout, &ms)) {
		errno = EINVAL;
		return -1;
	}
	return receive_many(rsocket, messages, at_once(count), flags,
			    timeout ? preload_now_ms() + ms : INT64_MAX);
}

static int send_many(int rsocket, struct mmsghdr *messages, int count, int flags)
{
	ssize_t sent = 0;
	int done = 0;

	while (done < count) {
		sent = INSIDE(rsendmsg(rsocket, &messages[done].msg_hdr, flags));
		if (sent < 0)
			break;
		messages[done++].msg_len = sent;
	}
	return done || !sent ? done : -1;
}

PRELOAD_EXPORT int sendmmsg(int socket, struct mmsghdr *messages, unsigned int count, int flags)
{
	int rsocket = preload_use(socket, flags);

	if (rsocket == PRELOAD_FAILED)
		return -1;
	return rsocket < 0 ? real()->sendmmsg(socket, messages, count, flags)
			   : send_many(rsocket, messages, at_once(count), flags);
}

/* ---- vectors with a position ---- */

/* Returns whether position and flags are valid for a socket: no position (-1), and no flag except
 * RWF_NOWAIT. */
static bool is_for_socket(off_t offset, int flags)
{
	errno = offset != -1 ? ESPIPE : EOPNOTSUPP;
	return offset == -1 && !(flags & ~RWF_NOWAIT);
}

static int message_flags(int flags)
{
	return flags & RWF_NOWAIT ? MSG_DONTWAIT : 0;
}

PRELOAD_EXPORT ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = count };
	int rsocket = preload_use(fd, message_flags(flags));

	if (rsocket < 0)
		return rsocket == PRELOAD_FAILED ? -1
						 : real()->preadv2(fd, iov, count, offset, flags);
	if (!is_for_socket(offset, flags))
		return -1;
	return INSIDE(rrecvmsg(rsocket, &msg, message_flags(flags)));
}

PRELOAD_EXPORT ssize_t pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	const struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = count };
	int rsocket = preload_use(fd, message_flags(flags));

	if (rsocket < 0)
		return rsocket == PRELOAD_FAILED ? -1
						 : real()->pwritev2(fd, iov, count, offset, flags);
	if (!is_for_socket(offset, flags))
		return -1;
	return INSIDE(rsendmsg(rsocket, &msg, message_flags(flags)));
}

/* off_t has 64 bits in this library on every machine, so both names do the same. */
PRELOAD_EXPORT ssize_t preadv64v2(int fd, const struct iovec *iov, int count, off64_t offset,
				  int flags)
{
	return preadv2(fd, iov, count, offset, flags);
}

PRELOAD_EXPORT ssize_t pwritev64v2(int fd, const struct iovec *iov, int count, off64_t offset,
				   int flags)
{
	return pwritev2(fd, iov, count, offset, flags);
}

/* ---- files ---- */

enum { FILE_PIECE = 65536 };

static ssize_t read_piece(int file, off_t *offset, void *buf, size_t size)
{
	return offset ? pread(file, buf, size, *offset) : real()->read(file, buf, size);
}

/* Advances the position only by the bytes sent, so that bytes read but not sent are read again. */
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

/* off_t has 64 bits in this library on every machine, so both names do the same. */
PRELOAD_EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t count)
{
	_Static_assert(sizeof(off_t) == sizeof(off64_t), "one type");
	return sendfile(out, in, (off_t *)offset, count);
}

/* Refuses rsockets with EINVAL, after which programs copy the bytes themselves: splice() moves
 * pages of files, which an rsocket does not have. */
PRELOAD_EXPORT ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
			      unsigned int flags)
{
	if (preload_find(in) < 0 && preload_find(out) < 0)
		return real()->splice(in, in_offset, out, out_offset, size, flags);
	errno = EINVAL;
	return -1;
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

/* Returns whether the option only requests control messages, which rsockets lack, or messages about
 * network errors. */
static bool asks_for_control(int level, int name)
{
	static const struct {
		int level, name;
	} asking[] = {
		{ SOL_SOCKET, SO_TIMESTAMP },
		{ SOL_SOCKET, SO_TIMESTAMPNS },
		{ SOL_SOCKET, SO_TIMESTAMPING },
		{ SOL_SOCKET, SO_RXQ_OVFL },
		{ IPPROTO_IP, IP_PKTINFO },
		{ IPPROTO_IP, IP_RECVOPTS },
		{ IPPROTO_IP, IP_RETOPTS },
		{ IPPROTO_IP, IP_RECVERR },
		{ IPPROTO_IP, IP_RECVTTL },
		{ IPPROTO_IP, IP_RECVTOS },
		{ IPPROTO_IP, IP_PASSSEC },
		{ IPPROTO_IP, IP_RECVORIGDSTADDR },
		{ IPPROTO_IP, IP_CHECKSUM },
		{ IPPROTO_IP, IP_RECVFRAGSIZE },
		{ IPPROTO_IPV6, IPV6_2292PKTINFO },
		{ IPPROTO_IPV6, IPV6_2292HOPOPTS },
		{ IPPROTO_IPV6, IPV6_2292DSTOPTS },
		{ IPPROTO_IPV6, IPV6_2292RTHDR },
		{ IPPROTO_IPV6, IPV6_2292HOPLIMIT },
		{ IPPROTO_IPV6, IPV6_RECVERR },
		{ IPPROTO_IPV6, IPV6_RECVPKTINFO },
		{ IPPROTO_IPV6, IPV6_RECVHOPLIMIT },
		{ IPPROTO_IPV6, IPV6_RECVHOPOPTS },
		{ IPPROTO_IPV6, IPV6_RECVRTHDR },
		{ IPPROTO_IPV6, IPV6_RECVDSTOPTS },
		{ IPPROTO_IPV6, IPV6_RECVPATHMTU },
		{ IPPROTO_IPV6, IPV6_RECVTCLASS },
		{ IPPROTO_IPV6, IPV6_RECVORIGDSTADDR },
		{ IPPROTO_IPV6, IPV6_RECVFRAGSIZE },
		{ IPPROTO_UDP, UDP_SEGMENT },
		{ IPPROTO_UDP, UDP_GRO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(asking); i++) {
		if (asking[i].level == level && asking[i].name == name)
			return true;
	}
	return false;
}

/* Returns whether the value switches the option on; a program may always switch it off. An IPv4
 * option may have one byte. */
static bool is_on(const void *value, socklen_t len)
{
	int number = 0;

	memcpy(&number, value, len < sizeof(number) ? len : sizeof(number));
	return number;
}

/* Sets an option. TCP_CONGESTION is accepted and ignored: librdmacm would refuse it, which socket
 * programs do not expect, and the adapter has its own congestion control. */
PRELOAD_EXPORT int setsockopt(int socket, int level, int name, const void *value, socklen_t len)
{
	if (level == IPPROTO_TCP && name == TCP_CONGESTION && preload_find(socket) >= 0)
		return 0;
	if (value && asks_for_control(level, name) && is_on(value, len) &&
	    preload_find(socket) >= 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return EITHER(socket, rsetsockopt, setsockopt, level, name, value, len);
}

static int late_error(int socket, int level, int name, socklen_t len)
{
	int rsocket;

	if (level != SOL_SOCKET || name != SO_ERROR || len < sizeof(int))
		return 0;
	if (preload_find(socket) < 0)
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

/* Returns 0 readable bytes while a connection is pending, because bytes on its TCP connection
 * belong to the handshake. */
static int count_of_pending(int fd, int *count)
{
	int ret = real()->ioctl(fd, FIONREAD, count);

	if (!ret)
		*count = 0;
	return ret;
}

/* Asks the rsocket for FIONREAD only: FIONBIO and FIOCLEX apply to the file behind the descriptor,
 * which has the flags. */
PRELOAD_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	int rsocket = request == FIONREAD ? preload_use(fd, MSG_DONTWAIT) : -1;
	void *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (rsocket == PRELOAD_FAILED)
		return errno == EAGAIN ? count_of_pending(fd, argument) : -1;
	return rsocket < 0 ? real()->ioctl(fd, request, argument)
			   : INSIDE(rfcntl(rsocket, FIONREAD, argument));
}
