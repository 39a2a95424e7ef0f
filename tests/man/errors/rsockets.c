/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rsockets.c - pages on rsockets.
 *
 * Covers: librdmacm/rsocket/
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include "errors.h"

NEWER(repoll_create);
NEWER(repoll_ctl);
NEWER(repoll_wait);
NEWER(rselect);

enum { NOT_A_SOCKET = 0 };

static struct sockaddr_in address(const char *host, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	MUST(inet_pton(AF_INET, host, &in.sin_addr) == 1);
	return in;
}

static int stream(void)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0);
	return fd;
}

static int datagram(void)
{
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);

	MUST(fd >= 0);
	return fd;
}

static int bind_to(int fd, const char *host, int port)
{
	struct sockaddr_in in = address(host, port);

	return RET(rbind(fd, (struct sockaddr *)&in, sizeof(in)));
}

static int connect_to(int fd, const char *host, int port)
{
	struct sockaddr_in in = address(host, port);

	return RET(rconnect(fd, (struct sockaddr *)&in, sizeof(in)));
}

static int port_of(int fd)
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	MUST(!rgetsockname(fd, (struct sockaddr *)&in, &len));
	return ntohs(in.sin_port);
}

static int bound_socket(void)
{
	int fd = stream();

	MUST(!bind_to(fd, "127.0.0.1", 0));
	return fd;
}

static int listening(void)
{
	int fd = bound_socket();

	MUST(!rlisten(fd, 4));
	return fd;
}

struct ends {
	int near, far;
};

static void *connect_near(void *near_and_port)
{
	int *args = near_and_port;

	MUST(!connect_to(args[0], "127.0.0.1", args[1]));
	return NULL;
}

static struct ends connected(void)
{
	int listener = listening();
	int args[2] = { stream(), port_of(listener) };
	struct ends ends = { .near = args[0] };
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, connect_near, args));
	ends.far = raccept(listener, NULL, NULL);
	MUST(ends.far >= 0 && !pthread_join(thread, NULL));
	return ends;
}

static int non_blocking(int fd)
{
	MUST(!rfcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

CASE(rsocket, EOPNOTSUPP, "The domain, type or protocol is not supported")
{
	return SIZE(rsocket(AF_UNIX, SOCK_STREAM, 0));
}

CASE(rsocket, EOPNOTSUPP, "The domain, type or protocol is not supported")
{
	return SIZE(rsocket(AF_INET, SOCK_RAW, 0));
}

CASE(rsocket, EOPNOTSUPP, "The domain, type or protocol is not supported")
{
	return SIZE(rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
}

CASE(rsocket, ENOMEM, "There is no memory")
{
	return NO_MEMORY(SIZE(rsocket(AF_INET, SOCK_STREAM, 0)));
}

CASE(rsocket, EBADF, "socket is neither an rsocket nor a set")
{
	return RET(rclose(NOT_A_SOCKET));
}

CASE(rsocket, EBADF, "socket is neither an rsocket nor a set")
{
	return RET(rshutdown(NOT_A_SOCKET, SHUT_RDWR));
}

CASE(rsocket, ENOTCONN, "socket is not connected")
{
	return RET(rshutdown(stream(), SHUT_RDWR));
}

CASE(rsocket, EINVAL, "how is another value")
{
	return RET(rshutdown(connected().near, 77));
}

CASE(rsocket, EMFILE, "The process has no descriptor left")
{
	MUST(stream() >= 0);
	descriptors_end();
	return SIZE(rsocket(AF_INET, SOCK_STREAM, 0));
}

CASE(rbind, EBADF, "socket is not an rsocket")
{
	return bind_to(NOT_A_SOCKET, "127.0.0.1", 0);
}

CASE(rbind, EFAULT, "addr is NULL")
{
	return RET(rbind(stream(), NULL, sizeof(struct sockaddr_in)));
}

CASE(rbind, EINVAL, "addrlen is too short for the address family")
{
	struct sockaddr_in in = address("127.0.0.1", 0);

	return RET(rbind(stream(), (struct sockaddr *)&in, 4));
}

CASE(rbind, EINVAL, "socket is already bound")
{
	return bind_to(bound_socket(), "127.0.0.1", 0);
}

CASE(rbind, EINVAL, "socket does not listen")
{
	return SIZE(raccept(bound_socket(), NULL, NULL));
}

CASE(rbind, EADDRINUSE, "The address and port are in use")
{
	int fd = stream();

	/* not the loopback, as that is taken for any address */
	MUST(!bind_to(fd, "198.18.0.1", 0));
	return bind_to(stream(), "198.18.0.1", port_of(fd));
}

CASE(rbind, EADDRNOTAVAIL, "No RDMA device has the address")
{
	return bind_to(stream(), "203.0.113.1", 0);
}

CASE(rbind, EADDRNOTAVAIL, "the port is in use and one of the two addresses is the wildcard")
{
	return bind_to(stream(), "0.0.0.0", port_of(bound_socket()));
}

CASE(rbind, EAGAIN, "socket is non-blocking, and no connection waits")
{
	return SIZE(raccept(non_blocking(listening()), NULL, NULL));
}

/* A connection waits for the listener. */
static int listener_with_request(void)
{
	int fd = non_blocking(listening());
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	MUST(connect_to(non_blocking(stream()), "127.0.0.1", port_of(fd)) == EINPROGRESS);
	MUST(rpoll(&poll_fd, 1, 10000) == 1);
	return fd;
}

CASE(rbind, ENOMEM, "There is no memory")
{
	int fd = listener_with_request();

	return NO_MEMORY(SIZE(raccept(fd, NULL, NULL)));
}

CASE(rbind, EACCES, "The port is below 1024, and the program lacks CAP_NET_BIND_SERVICE")
{
	int fd = stream();

	capabilities_drop();
	return bind_to(fd, "127.0.0.1", 80);
}

CASE(rconnect, EINPROGRESS, "socket is non-blocking")
{
	return connect_to(non_blocking(stream()), "127.0.0.1", port_of(listening()));
}

CASE(rconnect, EALREADY, "An earlier connection attempt is in progress")
{
	int port = port_of(listening()), fd = non_blocking(stream());

	MUST(connect_to(fd, "127.0.0.1", port) == EINPROGRESS);
	return connect_to(fd, "127.0.0.1", port);
}

CASE(rconnect, EISCONN, "socket is already connected")
{
	return connect_to(connected().near, "127.0.0.1", 9);
}

CASE(rconnect, EOPNOTSUPP, "socket listens")
{
	return connect_to(listening(), "127.0.0.1", 9);
}

CASE(rconnect, ECONNREFUSED, "No program listens at addr")
{
	return connect_to(stream(), "127.0.0.1", 9);
}

CASE(rconnect, ENODEV, "No RDMA device leads to addr")
{
	return connect_to(stream(), "203.0.113.1", 9);
}

CASE(rconnect, EFAULT, "addr is NULL")
{
	return RET(rconnect(stream(), NULL, sizeof(struct sockaddr_in)));
}

CASE(rconnect, EINVAL, "addrlen is too short")
{
	struct sockaddr_in in = address("127.0.0.1", 9);

	return RET(rconnect(stream(), (struct sockaddr *)&in, 4));
}

/* ---- repoll_*, rpoll, rselect ---- */

CASE(repoll_create, EINVAL, "size, op or maxevents is out of range")
{
	return repoll_create ? RET(repoll_create(0)) : NO_SUCH_CALL;
}

static int set_ctl(int op, int fd, struct epoll_event *event)
{
	return repoll_create ? RET(repoll_ctl(repoll_create(4), op, fd, event)) : NO_SUCH_CALL;
}

CASE(repoll_create, EINVAL, "size, op or maxevents is out of range")
{
	struct epoll_event event = { .events = EPOLLIN };

	return set_ctl(77, stream(), &event);
}

CASE(repoll_create, EINVAL, "size, op or maxevents is out of range")
{
	struct epoll_event event;

	return repoll_create ? RET(repoll_wait(repoll_create(4), &event, 0, 0)) : NO_SUCH_CALL;
}

CASE(repoll_create, EINVAL,
     "EPOLLEXCLUSIVE is combined with a flag or an operation that epoll_ctl(2) does not allow")
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT };

	return set_ctl(EPOLL_CTL_ADD, stream(), &event);
}

CASE(repoll_create, EEXIST, "fd is already in the set")
{
	struct epoll_event event = { .events = EPOLLIN };
	int set, fd = stream();

	if (!repoll_create)
		return NO_SUCH_CALL;
	set = repoll_create(4);
	MUST(!repoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	return RET(repoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

CASE(repoll_create, ENOENT, "fd is not in the set")
{
	struct epoll_event event = { .events = EPOLLIN };

	return set_ctl(EPOLL_CTL_MOD, stream(), &event);
}

CASE(repoll_create, EFAULT, "event is NULL")
{
	return set_ctl(EPOLL_CTL_ADD, stream(), NULL);
}

CASE(repoll_create, ENOMEM, "There is no memory")
{
	return repoll_create ? NO_MEMORY(SIZE(repoll_create(4))) : NO_SUCH_CALL;
}

CASE(rpoll, EINVAL, "nfds or timeout is out of range")
{
	fd_set set;

	FD_ZERO(&set);
	return RET(rselect(-1, &set, NULL, NULL, NULL));
}

CASE(rpoll, EINVAL, "nfds or timeout is out of range")
{
	struct timeval never = { .tv_sec = -1 };
	fd_set set;

	FD_ZERO(&set);
	return RET(rselect(1, &set, NULL, NULL, &never));
}

CASE(rpoll, EBADF, "a set has a number that is not an open descriptor")
{
	struct timeval now = { 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(999, &set);
	return RET(rselect(1000, &set, NULL, NULL, &now));
}

CASE(rpoll, ENOMEM, "There is no memory for the set")
{
	struct pollfd fds[64];
	int ends[2];

	MUST(!pipe(ends));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = (struct pollfd){ .fd = i ? ends[0] : listening(), .events = POLLIN };
	return NO_MEMORY(SIZE(rpoll(fds, ARRAY_SIZE(fds), 0)));
}

CASE(rgetsockname, EBADF, "socket is not an rsocket")
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	return RET(rgetsockname(NOT_A_SOCKET, (struct sockaddr *)&in, &len));
}

CASE(rgetsockname, ENOTCONN, "socket is not connected")
{
	struct sockaddr_in in;
	socklen_t len = sizeof(in);

	return RET(rgetpeername(stream(), (struct sockaddr *)&in, &len));
}

CASE(rsetsockopt, EBADF, "socket is not an rsocket")
{
	int on = 1;

	return RET(rsetsockopt(NOT_A_SOCKET, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
}

CASE(rsetsockopt, EFAULT, "optval")
{
	return RET(rsetsockopt(stream(), SOL_SOCKET, SO_REUSEADDR, NULL, sizeof(int)));
}

CASE(rsetsockopt, EFAULT, "or the argument of a request, is NULL")
{
	return RET(rfcntl(stream(), FIONREAD, NULL));
}

CASE(rsetsockopt, EINVAL, "FIONREAD: socket listens")
{
	int bytes;

	return RET(rfcntl(listening(), FIONREAD, &bytes));
}

CASE(rsetsockopt, EINVAL, "The length")
{
	int on = 1;

	return RET(rsetsockopt(stream(), SOL_SOCKET, SO_REUSEADDR, &on, 1));
}

CASE(rsetsockopt, EOPNOTSUPP, "The option or command is not supported")
{
	int on = 1;

	return RET(rsetsockopt(stream(), SOL_SOCKET, 7777, &on, sizeof(on)));
}

CASE(rsetsockopt, EOPNOTSUPP, "The option or command is not supported")
{
	int value;
	socklen_t len = sizeof(value);

	return RET(rgetsockopt(stream(), 7777, 1, &value, &len));
}

CASE(rsetsockopt, EINVAL, "the option cannot be set any more")
{
	int size = 64;

	return RET(rsetsockopt(connected().near, SOL_RDMA, RDMA_SQSIZE, &size, sizeof(size)));
}

CASE(rsetsockopt, ENODATA, "the rsocket has no route yet")
{
	char route[256];
	socklen_t len = sizeof(route);

	return RET(rgetsockopt(stream(), SOL_RDMA, RDMA_ROUTE, route, &len));
}

/* ---- data ---- */

CASE(rrecv, EBADF, "socket is not an rsocket")
{
	return SIZE(rrecv(NOT_A_SOCKET, bed->buf, 10, 0));
}

CASE(rrecv, EAGAIN, "the call may not wait")
{
	return SIZE(rrecv(connected().near, bed->buf, 10, MSG_DONTWAIT));
}

CASE(rrecv, ENOTCONN, "socket is not connected")
{
	return SIZE(rrecv(stream(), bed->buf, 10, MSG_DONTWAIT));
}

CASE(rrecv, EINVAL, "iovcnt is negative")
{
	struct iovec piece = { bed->buf, 10 };

	return SIZE(rreadv(connected().near, &piece, -1));
}

CASE(rrecv, EMSGSIZE, "msg has too many buffers")
{
	static struct iovec pieces[2000];
	struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = ARRAY_SIZE(pieces) };

	return SIZE(rrecvmsg(connected().near, &msg, MSG_DONTWAIT));
}

static int failed = -1; /* for the next case: there are no further connections then */

CASE_ON(ON_DYING, rsend, ECONNRESET, "The connection failed while data were in flight")
{
	struct ends ends = connected();
	ssize_t n;

	failed = ends.near;
	adapter_fault("kill");
	while ((n = rsend(ends.near, bed->buf, BED_BUF, 0)) > 0)
		;
	return errno_of_size(n);
}

CASE_ON(ON_DYING, rsend, EPIPE, "or it has failed before")
{
	MUST(failed >= 0);
	return SIZE(rsend(failed, bed->buf, 10, MSG_NOSIGNAL));
}

CASE_ON(ON_DYING, rrecv, ECONNRESET, "The connection has failed")
{
	struct ends ends = connected();

	adapter_fault("kill");
	return SIZE(rrecv(ends.near, bed->buf, 10, 0));
}

CASE(rsend, EBADF, "socket is not an rsocket")
{
	return SIZE(rsend(NOT_A_SOCKET, bed->buf, 10, 0));
}

CASE(rsend, EAGAIN, "the call may not wait")
{
	int near = connected().near;
	ssize_t n;

	while ((n = rsend(near, bed->buf, BED_BUF, MSG_DONTWAIT)) > 0)
		;
	return errno_of_size(n);
}

CASE(rsend, ENOTCONN, "socket is not connected")
{
	return SIZE(rsend(stream(), bed->buf, 10, 0));
}

CASE(rsend, EPIPE, "Sending was shut down")
{
	int near = connected().near;

	MUST(!rshutdown(near, SHUT_WR));
	return SIZE(rsend(near, bed->buf, 10, MSG_NOSIGNAL));
}

CASE(rsend, EMSGSIZE, "A datagram is too long")
{
	struct sockaddr_in in = address("127.0.0.1", 9);

	return SIZE(rsendto(datagram(), bed->buf, BED_BUF, 0, (struct sockaddr *)&in, sizeof(in)));
}

CASE(rsend, EMSGSIZE, "msg has too many buffers")
{
	static struct iovec pieces[2000];
	struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = ARRAY_SIZE(pieces) };

	return SIZE(rsendmsg(connected().near, &msg, 0));
}

CASE(rsend, EDESTADDRREQ, "A datagram has no address, and socket has no default peer")
{
	return SIZE(rsend(datagram(), bed->buf, 10, 0));
}

CASE(rsend, EOPNOTSUPP, "msg has control data")
{
	struct iovec piece = { bed->buf, 10 };
	struct msghdr msg = {
		.msg_iov = &piece, .msg_iovlen = 1, .msg_control = bed->buf, .msg_controllen = 32
	};

	return SIZE(rsendmsg(connected().near, &msg, 0));
}

CASE(rsend, EINVAL, "iovcnt is negative")
{
	struct iovec piece = { bed->buf, 10 };

	return SIZE(rwritev(connected().near, &piece, -1));
}

static int map_at(int fd, void *memory, size_t len, int prot)
{
	return SIZE(riomap(fd, memory, len, prot, 0, -1));
}

CASE(riomap, EBADF, "socket is not an rsocket")
{
	return map_at(NOT_A_SOCKET, bed->buf, 4096, PROT_WRITE);
}

CASE(riomap, EOPNOTSUPP, "socket is not a stream")
{
	return map_at(datagram(), bed->buf, 4096, PROT_WRITE);
}

CASE(riomap, ENOTCONN, "socket is not connected")
{
	return map_at(stream(), bed->buf, 4096, PROT_WRITE);
}

CASE(riomap, EINVAL, "len or prot is invalid, or there is no such mapping")
{
	return map_at(connected().near, bed->buf, 4096, 0x4000);
}

CASE(riomap, EINVAL, "there is no such mapping")
{
	return RET(riounmap(connected().near, bed->buf, 4096));
}

static struct ends with_maps(void)
{
	int listener = listening(), maps = 8;
	int args[2] = { stream(), port_of(listener) };
	struct ends ends = { .near = args[0] };
	pthread_t thread;

	MUST(!rsetsockopt(args[0], SOL_RDMA, RDMA_IOMAPSIZE, &maps, sizeof(maps)));
	MUST(!rsetsockopt(listener, SOL_RDMA, RDMA_IOMAPSIZE, &maps, sizeof(maps)));
	MUST(!pthread_create(&thread, NULL, connect_near, args));
	ends.far = raccept(listener, NULL, NULL);
	MUST(ends.far >= 0 && !pthread_join(thread, NULL));
	return ends;
}

CASE(riomap, ENOMEM, "The peer allows no further mapping")
{
	struct ends ends = with_maps();
	int ret = 0;

	for (int i = 0; i < 1000 && !ret; i++)
		ret = map_at(ends.near, bed->buf + i, 1, PROT_WRITE);
	return ret;
}

CASE(riomap, EPIPE, "The peer has closed the connection")
{
	struct ends ends = with_maps();

	off_t at = riomap(ends.far, bed->buf, 4096, PROT_WRITE, 0, -1);

	MUST(at != -1 && !rclose(ends.far));
	/* a call that has room looks at no event, so the first ones may succeed */
	for (int i = 0; i < 1000; i++)
		if (riowrite(ends.near, bed->buf + 8192, 4096, at, 0) != 4096)
			return errno;
	return 0;
}

CASE(rsetsockopt, EDOM, "tv_usec is negative")
{
	struct timeval wrong = { .tv_usec = -1 };

	return RET(rsetsockopt(stream(), SOL_SOCKET, SO_RCVTIMEO, &wrong, sizeof(wrong)));
}

/* ---- clauses that need time, a second thread or a child ---- */

static void limit_set(int fd, int option)
{
	struct timeval limit = { .tv_usec = 50000 };

	MUST(!rsetsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit)));
}

CASE(rconnect, EINPROGRESS, "or the time of SO_SNDTIMEO has passed")
{
	int port = port_of(listening()), fd = stream();

	limit_set(fd, SO_SNDTIMEO);
	return connect_to(fd, "127.0.0.1", port); /* refused, as no program accepts there */
}

CASE(rrecv, EAGAIN, "or the time of SO_RCVTIMEO has passed")
{
	int near = connected().near;

	limit_set(near, SO_RCVTIMEO);
	return SIZE(rrecv(near, bed->buf, 10, 0));
}

CASE(rsend, EAGAIN, "or the time of SO_SNDTIMEO has passed")
{
	int near = connected().near;
	ssize_t n;

	limit_set(near, SO_SNDTIMEO);
	while ((n = rsend(near, bed->buf, BED_BUF, 0)) > 0)
		;
	return errno_of_size(n);
}

static int of_child(ssize_t (*call)(int fd, void *buf), int fd, void *buf)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child)
		_exit(SIZE(call(fd, buf)));
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	errno = WEXITSTATUS(status);
	return errno;
}

static ssize_t receive_some(int fd, void *buf)
{
	return rrecv(fd, buf, 10, MSG_DONTWAIT);
}

static ssize_t send_some(int fd, void *buf)
{
	return rsend(fd, buf, 10, MSG_DONTWAIT);
}

CASE(rrecv, ENOTCONN, "or its connection belongs to the parent process")
{
	return of_child(receive_some, connected().near, bed->buf);
}

CASE(rsend, ENOTCONN, "or its connection belongs to the parent process")
{
	return of_child(send_some, connected().near, bed->buf);
}

CASE(rsend, EPIPE, "the peer has closed the connection")
{
	struct ends ends = connected();
	struct pollfd wait = { .fd = ends.near, .events = POLLIN };

	MUST(!rclose(ends.far));
	MUST(rpoll(&wait, 1, 10000) == 1);
	return SIZE(rsend(ends.near, bed->buf, 10, MSG_NOSIGNAL));
}

/* Closes a socket while another thread waits for its peer. */
static void *close_later(void *fd)
{
	usleep(200000);
	MUST(!rclose(*(int *)fd));
	return NULL;
}

CASE(rsend, ECONNRESET, "or the peer closed it while a call waited for room")
{
	struct ends ends = connected();
	pthread_t thread;
	ssize_t n;

	MUST(!pthread_create(&thread, NULL, close_later, &ends.far));
	while ((n = rsend(ends.near, bed->buf, BED_BUF, MSG_NOSIGNAL)) > 0)
		;
	return errno_of_size(n);
}

enum { PIECES = 2000 };

static struct iovec *pieces_of(struct bed *bed)
{
	static struct iovec pieces[PIECES];

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		pieces[i] = (struct iovec){ bed->buf, 1 };
	return pieces;
}

CASE(rrecv, EINVAL, "or above IOV_MAX")
{
	return SIZE(rreadv(non_blocking(connected().near), pieces_of(bed), PIECES));
}

CASE(rsend, EINVAL, "or above IOV_MAX")
{
	return SIZE(rwritev(connected().near, pieces_of(bed), PIECES));
}

CASE(rsetsockopt, EDOM, "or 1000000 or more")
{
	struct timeval wrong = { .tv_usec = 1000000 };

	return RET(rsetsockopt(stream(), SOL_SOCKET, SO_SNDTIMEO, &wrong, sizeof(wrong)));
}

CASE(riomap, ENOMEM, "or there is no memory")
{
	int near = with_maps().near;

	return NO_MEMORY(map_at(near, bed->buf, 4096, PROT_WRITE));
}

CASE(riomap, EFAULT, "The memory is not mapped")
{
	void *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	int near = with_maps().near;

	MUST(gone != MAP_FAILED && !munmap(gone, 4096));
	return map_at(near, gone, 4096, PROT_WRITE);
}

CASE(riomap, EFAULT, "or prot has PROT_WRITE and it cannot be written")
{
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(memory != MAP_FAILED);
	return map_at(with_maps().near, memory, 4096, PROT_WRITE);
}

CASE(riomap, EPIPE, "or sending was shut down")
{
	struct ends ends = with_maps();
	off_t at = riomap(ends.far, bed->buf, 4096, PROT_WRITE, 0, -1);

	MUST(at != -1 && !rshutdown(ends.near, SHUT_WR));
	return SIZE(riowrite(ends.near, bed->buf + 8192, 4096, at, 0));
}
