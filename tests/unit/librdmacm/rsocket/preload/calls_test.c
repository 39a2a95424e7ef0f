/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls_test.c - the preload library: copies of an rsocket's number by dup(), dup2() and fcntl(),
 * fallback to TCP for services without RDMA, and the sockets that become rsockets. The library is
 * linked into this program; a plain file replaces an rsocket.
 *
 * Covers: librdmacm/rsocket/preload/
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNTOUCHED = EXDEV };

static int closed = -1;

/* Calls of librdmacm that the library makes */
int rclose(int rsocket)
{
	closed = rsocket;
	return 0;
}

static int flags_of_rsocket;

int rfcntl(int rsocket, int command, ...)
{
	va_list args;

	(void)rsocket;
	if (command == F_GETFL)
		return flags_of_rsocket;
	va_start(args, command);
	flags_of_rsocket = (int)va_arg(args, long);
	va_end(args);
	return 0;
}

static int connect_error;
static bool keeps_alive = true;
static int type_of_rsocket = SOCK_STREAM;
static struct sockaddr_in name_of_rsocket, name_by_connect;

/* Gives the rsocket a name if it has none, as rdma_cm does. */
int rconnect(int rsocket, const struct sockaddr *addr, socklen_t len)
{
	(void)rsocket, (void)addr, (void)len;
	if (!name_of_rsocket.sin_port)
		name_of_rsocket = name_by_connect;
	errno = connect_error;
	return -1;
}

static int answer_error = -1; /* error of the peer's answer; negative: no answer yet */

int rpoll(struct pollfd *fds, nfds_t count, int timeout)
{
	assert_int_equal(count, 1);
	assert_int_equal(fds->events, POLLOUT);
	assert_int_equal(timeout, 0); /* 0, as it must not wait for the answer */
	return answer_error >= 0;
}

int rgetsockname(int rsocket, struct sockaddr *addr, socklen_t *len)
{
	(void)rsocket;
	memset(addr, 0, *len);
	memcpy(addr, &name_of_rsocket, sizeof(name_of_rsocket));
	*len = sizeof(name_of_rsocket);
	return 0;
}

static struct linger linger; /* of the rsocket */

int rgetsockopt(int rsocket, int level, int name, void *value, socklen_t *len)
{
	const struct timeval limit = { 3, 500000 };
	int *number = value;

	(void)rsocket;
	if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
		assert_true(*len >= sizeof(limit));
		memcpy(value, &limit, sizeof(limit));
		*len = sizeof(limit);
		return 0;
	}
	if (level == SOL_SOCKET && name == SO_LINGER) {
		memcpy(value, &linger, sizeof(linger));
		*len = sizeof(linger);
		return 0;
	}
	*number = name == SO_DOMAIN                       ? AF_INET
		  : name == SO_TYPE                       ? type_of_rsocket
		  : name == SO_KEEPALIVE                  ? keeps_alive
		  : name == SO_ERROR                      ? answer_error
		  : level == IPPROTO_IP && name == IP_TOS ? 0x48
							  : 0;
	*len = sizeof(*number);
	return 0;
}

static struct {
	int sq, rq, inline_size, others;
} sizes;

static struct timeval receive_limit; /* timeout set on the rsocket */

int rsetsockopt(int rsocket, int level, int name, const void *value, socklen_t len)
{
	const int *size = value;

	(void)rsocket;
	if (level == SOL_RDMA && name == RDMA_SQSIZE)
		sizes.sq = *size;
	else if (level == SOL_RDMA && name == RDMA_RQSIZE)
		sizes.rq = *size;
	else if (level == SOL_RDMA && name == RDMA_INLINE)
		sizes.inline_size = *size;
	else if (level == SOL_SOCKET && name == SO_LINGER)
		memcpy(&linger, value, sizeof(linger));
	else
		sizes.others++;
	if (level == SOL_SOCKET && name == SO_RCVTIMEO) {
		assert_int_equal(len, sizeof(receive_limit));
		memcpy(&receive_limit, value, sizeof(receive_limit));
	}
	return 0;
}

static char written[16];

ssize_t rwrite(int rsocket, const void *bytes, size_t size)
{
	(void)rsocket;
	assert_true(size < sizeof(written));
	memcpy(written, bytes, size);
	return size;
}

static int message_flags = -1; /* flags of the last message; -1: sent by TCP */

ssize_t rrecvmsg(int rsocket, struct msghdr *msg, int flags)
{
	(void)rsocket, (void)msg;
	message_flags = flags;
	return 3;
}

ssize_t rsendmsg(int rsocket, const struct msghdr *msg, int flags)
{
	(void)rsocket, (void)msg;
	message_flags = flags;
	return 4;
}

static size_t send_room; /* bytes until the rsocket is full */

ssize_t rsend(int rsocket, const void *bytes, size_t size, int flags)
{
	(void)flags;
	if (!send_room) {
		errno = EAGAIN;
		return -1;
	}
	size = size < send_room ? size : send_room;
	send_room -= size;
	return rwrite(rsocket, bytes, size);
}

static int accept_error, accepted_count;

int raccept(int listener, struct sockaddr *addr, socklen_t *len)
{
	(void)listener, (void)addr, (void)len;
	accepted_count++;
	errno = accept_error;
	return accept_error ? -1 : preload_file(0);
}

static int rsocket_error;

int rsocket(int domain, int type, int protocol)
{
	(void)domain, (void)type, (void)protocol;
	errno = rsocket_error;
	return rsocket_error ? -1 : preload_file(0);
}

int repoll_ctl(int set, int op, int rsocket, struct epoll_event *event)
{
	(void)set, (void)op, (void)rsocket, (void)event;
	return 0;
}

static int by_dup(int number)
{
	return dup(number);
}

static int by_dup2(int number)
{
	return dup2(number, 100);
}

static int by_fcntl(int number)
{
	return fcntl(number, F_DUPFD, 0);
}

static int by_fcntl_cloexec(int number)
{
	return fcntl(number, F_DUPFD_CLOEXEC, 0);
}

static int (*const ways[])(int number) = { by_dup, by_dup2, by_fcntl, by_fcntl_cloexec };

static void a_copy_leaves_errno_alone(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0), copy;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		errno = UNTOUCHED;
		copy = ways[i](number);
		assert_true(copy >= 0);
		assert_int_equal(errno, UNTOUCHED);
		assert_int_equal(preload_find(copy), rsocket);
		assert_int_equal(close(copy), 0);
	}
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, rsocket);
	assert_int_equal(close(rsocket), 0);
}

static void a_copy_of_a_file_leaves_errno_alone(void **state)
{
	int file = preload_file(0), copy;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		errno = UNTOUCHED;
		copy = ways[i](file);
		assert_true(copy >= 0);
		assert_int_equal(errno, UNTOUCHED);
		assert_int_equal(preload_find(copy), -1);
		assert_int_equal(close(copy), 0);
	}
	assert_int_equal(close(file), 0);
}

static void the_last_copy_closes_the_rsocket(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0), copy = dup(number);

	(void)state;
	closed = -1;
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, -1);
	assert_int_equal(close(copy), 0);
	assert_int_equal(closed, rsocket);
	assert_int_equal(close(rsocket), 0);
}

/* A child of vfork() has its own descriptors, but the parent's memory, so a copy there must not
 * change the parent's table. */
static void a_copy_in_a_child_by_vfork_is_none_of_the_parents(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);
	volatile int copy = -1;
	int status;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		pid_t child = vfork();

		if (!child) {
			copy = ways[i](number);
			_exit(copy < 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(preload_find(copy), -1);
		assert_int_equal(fcntl(copy, F_GETFD), -1);
	}
	closed = -1;
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, rsocket);
	real()->close(rsocket);
}

static void dup2_onto_another_rsocket_closes_that(void **state)
{
	int first = preload_file(0), second = preload_file(0);
	int number = preload_number(first, 0), other = preload_number(second, 0);

	(void)state;
	closed = -1;
	assert_int_equal(dup2(number, other), other);
	assert_int_equal(closed, second);
	assert_int_equal(preload_find(other), first);
	close(number);
	close(other);
	assert_int_equal(closed, first);
	close(first);
	close(second);
}

static void dup2_onto_a_set_closes_that(void **state)
{
	int set = epoll_create1(0), file = preload_file(0);

	(void)state;
	closed = -1;
	assert_int_equal(dup2(file, set), set);
	assert_int_equal(closed, set);
	closed = -1;
	assert_int_equal(close(set), 0);
	assert_int_equal(closed, -1);
	close(file);
}

/* Closes the set by a system call that the library does not replace, so the library does not
 * know. */
static void a_set_that_is_gone_leaves_its_number_to_an_rsocket(void **state)
{
	int rsocket = preload_file(0), set = epoll_create1(0), number;

	(void)state;
	real()->close(set);
	number = preload_number(rsocket, 0);
	assert_int_equal(number, set);
	assert_int_equal(close(number), 0);
	assert_int_equal(closed, rsocket);
	closed = -1;
	assert_int_equal(close(preload_file(0)), 0); /* the same number again */
	assert_int_equal(closed, -1);
	real()->close(rsocket);
}

/* Sockets may be created or accepted as nonblocking. The rsocket and its number's file must agree,
 * as either may be asked. */
static void a_number_that_waits_has_an_rsocket_that_waits(void **state)
{
	int rsocket = preload_file(0), number;

	(void)state;
	flags_of_rsocket = O_NONBLOCK;
	number = preload_number(rsocket, SOCK_NONBLOCK);
	assert_int_equal(fcntl(number, F_SETFL, O_RDWR), 0);
	assert_int_equal(preload_find_synced(number), rsocket);
	assert_int_equal(flags_of_rsocket, 0);
	close(number);
	real()->close(rsocket);
}

static void a_congestion_control_is_accepted(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);

	(void)state;
	sizes.others = 0;
	assert_int_equal(setsockopt(number, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3), 0);
	assert_int_equal(sizes.others, 0);
	close(number);
	real()->close(rsocket);
}

/* Without a free descriptor, no connection is accepted, as it could not be returned. */
static void a_connection_waits_until_there_is_a_number(void **state)
{
	int rsocket = preload_file(0), listener = preload_number(rsocket, 0), number;
	int next = real()->dup(0);
	struct rlimit before, none;

	(void)state;
	real()->close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ next, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(accept(listener, NULL, NULL), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(accept4(listener, NULL, NULL, SOCK_NONBLOCK), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(accepted_count, 0);
	accept_error = EAGAIN;
	assert_int_equal(accept(listener, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	accept_error = 0;
	number = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	assert_int_equal(number, next); /* EAGAIN leaked none, so this is the next number */
	assert_true(fcntl(number, F_GETFL) & O_NONBLOCK);
	assert_int_equal(accepted_count, 2);
	real()->close(preload_find(number));
	close(number);
	close(listener);
	real()->close(rsocket);
}

static void whose_limit_is_reached_gets_no_other_socket(void **state)
{
	static const int of_process[] = { EMFILE, ENFILE, ENOMEM };
	static const int of_adapter[] = { ENODEV, ENOENT, EACCES };
	int fd;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(of_process); i++) {
		rsocket_error = of_process[i];
		assert_int_equal(socket(AF_INET, SOCK_STREAM, 0), -1);
		assert_int_equal(errno, of_process[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_adapter); i++) {
		rsocket_error = of_adapter[i];
		fd = socket(AF_INET, SOCK_STREAM, 0);
		assert_true(fd >= 0);
		assert_int_equal(preload_find(fd), -1);
		close(fd);
	}
	rsocket_error = 0;
}

/* io_uring is refused, since the library cannot replace requests in its ring. */
static void nobody_gets_a_ring_of_requests(void **state)
{
	char parameters[120] = { 0 }; /* struct io_uring_params */

	(void)state;
	errno = 0;
	assert_int_equal(syscall(SYS_io_uring_setup, 1, parameters), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(syscall(SYS_getpid), getpid());
	assert_int_equal(syscall(SYS_close, -1), -1);
	assert_int_equal(errno, EBADF);
}

/* exit() flushes stdio's buffers after the library has ended connections, so the files must still
 * take bytes. */
static void files_of_rsockets_can_be_written_before_the_end(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);
	FILE *file = fdopen(number, "w");

	(void)state;
	assert_non_null(file);
	assert_int_equal(fputs("the end", file), 1);
	assert_string_equal(written, "");
	preload_flush_streams();
	assert_string_equal(written, "the end");
	fclose(file);
	real()->close(rsocket);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* their poll() looks first */
static void poll_of_no_descriptors_is_refused(void **state)
{
	struct pollfd *volatile none = NULL;
	struct pollfd one = { .fd = 0, .events = POLLIN };
	const struct timespec no_time = { 0, 0 };
	volatile nfds_t most = (nfds_t)-1;

	(void)state;
	assert_int_equal(poll(none, 1, 0), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(ppoll(none, 1, &no_time, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(poll(none, 0, 0), 0);
	assert_int_equal(poll(&one, most, 0), -1);
	assert_int_equal(errno, EINVAL);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Bad pointers fail with EFAULT, as in the kernel. The C library itself reads timeouts. */
static void memory_that_is_not_there_is_refused(void **state)
{
	const struct timespec no_time = { 0, 0 };
	void *volatile nowhere = (void *)8;
	struct timeval soon = { 0, 0 };
	int epoll = epoll_create1(0);

	(void)state;
	preload_mark_set(epoll, true);
	assert_int_equal(poll(nowhere, 1, 0), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(ppoll(nowhere, 1, &no_time, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(select(1, nowhere, NULL, NULL, &soon), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(select(1, NULL, NULL, nowhere, &soon), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(pselect(1, NULL, nowhere, NULL, &no_time, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(epoll_wait(epoll, nowhere, 1, 0), -1);
	assert_int_equal(errno, EFAULT);
	preload_mark_set(epoll, false);
	real()->close(epoll);
}
#endif

/* A socket has no file position, so preadv2() takes position -1 only, and pwritev2() no flags. */
static void vectors_of_an_rsocket_have_no_position(void **state)
{
	const struct {
		off_t offset;
		int flags, error, message_flags;
	} cases[] = {
		{ -1, 0, 0, 0 },
		{ -1, RWF_NOWAIT, 0, MSG_DONTWAIT },
		{ -1, RWF_HIPRI, EOPNOTSUPP, -1 },
		{ -1, RWF_HIPRI | RWF_NOWAIT, EOPNOTSUPP, -1 },
		{ 0, 0, ESPIPE, -1 },
		{ 0, RWF_NOWAIT, ESPIPE, -1 },
		{ 1, RWF_HIPRI, ESPIPE, -1 },
	};
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);
	char byte;
	struct iovec iov = { &byte, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_right = !cases[i].error;

		message_flags = -1;
		assert_int_equal(preadv2(number, &iov, 1, cases[i].offset, cases[i].flags),
				 is_right ? 3 : -1);
		assert_true(is_right || errno == cases[i].error);
		assert_int_equal(message_flags, cases[i].message_flags);
		message_flags = -1;
		assert_int_equal(pwritev2(number, &iov, 1, cases[i].offset, cases[i].flags),
				 is_right ? 4 : -1);
		assert_true(is_right || errno == cases[i].error);
		assert_int_equal(message_flags, cases[i].message_flags);
	}
	assert_int_equal(close(number), 0);
}

/* sendfile() advances the file's position, or the given one, by the bytes sent. */
static void files_are_sent_as_far_as_there_is_room(void **state)
{
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);
	FILE *file = tmpfile();
	off_t at = 2;

	(void)state;
	assert_non_null(file);
	assert_int_equal(fputs("0123456789", file), 1);
	assert_int_equal(fseek(file, 0, SEEK_SET), 0);
	memset(written, 0, sizeof(written));
	send_room = 4;
	assert_int_equal(sendfile(number, fileno(file), NULL, 6), 4);
	assert_string_equal(written, "0123");
	assert_int_equal(lseek(fileno(file), 0, SEEK_CUR), 4);
	assert_int_equal(sendfile(number, fileno(file), NULL, 6), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(lseek(fileno(file), 0, SEEK_CUR), 4);
	send_room = 15;
	memset(written, 0, sizeof(written));
	assert_int_equal(sendfile(number, fileno(file), &at, 5), 5);
	assert_string_equal(written, "23456");
	assert_int_equal(at, 7);
	assert_int_equal(lseek(fileno(file), 0, SEEK_CUR), 4);
	memset(written, 0, sizeof(written));
	assert_int_equal(sendfile(number, fileno(file), &at, 9), 3); /* up to its end */
	assert_string_equal(written, "789");
	assert_int_equal(sendfile(number, fileno(file), &at, 9), 0);
	assert_int_equal(sendfile(number, -1, &at, 9), -1);
	assert_int_equal(errno, EBADF);
	fclose(file);
	assert_int_equal(close(number), 0);
}

static void sets_are_made_with_their_flags(void **state)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	(void)state;
	assert_true(set >= 0);
	assert_int_equal(fcntl(set, F_GETFD), FD_CLOEXEC);
	assert_int_equal(close(set), 0);
	real()->close(set);
	set = epoll_create1(0);
	assert_int_equal(fcntl(set, F_GETFD), 0);
	assert_int_equal(close(set), 0);
	real()->close(set);
	assert_int_equal(epoll_create1(EPOLL_CLOEXEC | 1), -1);
	assert_int_equal(errno, EINVAL);
}

/* ---- services without RDMA ---- */

static int listen_by_tcp(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int listener = real()->socket(AF_INET, SOCK_STREAM, 0);

	*addr = (struct sockaddr_in){ .sin_family = AF_INET };
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(real()->bind(listener, (struct sockaddr *)addr, len), 0);
	assert_int_equal(real()->listen(listener, 4), 0);
	assert_int_equal(real()->getsockname(listener, (struct sockaddr *)addr, &len), 0);
	return listener;
}

static void connect_falls_back_to_tcp(void **state)
{
	static const int errors[] = { ECONNREFUSED, EHOSTUNREACH, ENODEV, ETIMEDOUT, EINVAL };
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), number, copy, rsocket, accepted, on;
	socklen_t len = sizeof(on);
	char byte;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		connect_error = errors[i];
		closed = -1;
		rsocket = preload_file(0);
		number = preload_number(rsocket, 0);
		copy = dup(number);
		assert_int_equal(real()->fcntl(copy, F_SETFD, FD_CLOEXEC), 0);
		assert_int_equal(real()->fcntl(number, F_SETFD, 0), 0);
		assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
		assert_int_equal(closed, rsocket);
		assert_int_equal(preload_find(number), -1);
		assert_int_equal(preload_find(copy), -1);
		assert_int_equal(fcntl(number, F_GETFD), 0);
		assert_int_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
		assert_int_equal(getsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, &len), 0);
		assert_int_equal(on, 1);
		accepted = real()->accept(listener, NULL, NULL);
		assert_int_equal(write(copy, "x", 1), 1);
		assert_int_equal(real()->read(accepted, &byte, 1), 1);
		close(number);
		close(copy);
		/* without SO_LINGER, the peer sees an end and no reset */
		assert_int_equal(real()->read(accepted, &byte, 1), 0);
		real()->close(accepted);
		real()->close(rsocket);
	}
	real()->close(listener);
}

/* An rsocket reads {1, 0} by default, and a TCP socket {0, 0}. */
static void an_abort_is_taken_along_to_tcp(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket, number, accepted;
	char byte;

	(void)state;
	linger = (struct linger){ .l_onoff = 1 };
	rsocket = preload_rsocket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(linger.l_onoff, 0);
	linger = (struct linger){ .l_onoff = 1 }; /* set by the program */
	number = preload_number(rsocket, 0);
	connect_error = ECONNREFUSED;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
	linger = (struct linger){ 0 };
	accepted = real()->accept(listener, NULL, NULL);
	close(number);
	assert_int_equal(real()->read(accepted, &byte, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	real()->close(accepted);
	real()->close(rsocket);
	real()->close(listener);
}

static void connect_by_tcp_keeps_limits_and_service(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0), tos = 0;
	struct timeval limit[2] = { 0 };
	socklen_t len = sizeof(limit[0]);

	(void)state;
	connect_error = ECONNREFUSED;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(preload_find(number), -1);
	assert_int_equal(getsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit[0], &len), 0);
	assert_int_equal(getsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit[1], &len), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(limit[i].tv_sec, 3);
		/* rounded up, as the kernel counts in ticks */
		assert_true(limit[i].tv_usec >= 500000);
	}
	len = sizeof(tos);
	assert_int_equal(getsockopt(number, IPPROTO_IP, IP_TOS, &tos, &len), 0);
	assert_int_equal(tos, 0x48);
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

/* As if both sides announced forks */
static void limits_are_carried_from_tcp_to_an_rsocket(void **state)
{
	const struct timeval limit = { 7, 0 };
	int socket = real()->socket(AF_INET, SOCK_STREAM, 0), rsocket = preload_file(0);

	(void)state;
	memset(&receive_limit, 0, sizeof(receive_limit));
	sizes.others = 0;
	preload_carry_options(socket, real()->getsockopt, rsocket, rsetsockopt);
	assert_int_equal(sizes.others, 0); /* 0, as a new socket has no options to copy */
	real()->setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	preload_carry_options(socket, real()->getsockopt, rsocket, rsetsockopt);
	assert_int_equal(sizes.others, 1);
	assert_int_equal(receive_limit.tv_sec, 7);
	real()->close(socket);
	real()->close(rsocket);
}

/* rdma_cm chose the port, so another TCP socket may have it, and the fallback must not bind to
 * it. */
static void a_name_that_connecting_gave_is_not_taken_along(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0);

	(void)state;
	connect_error = ECONNREFUSED;
	name_by_connect = addr;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(preload_find(number), -1);
	name_of_rsocket = name_by_connect = (struct sockaddr_in){ 0 };
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

static void a_name_that_the_program_gave_is_taken_along(void **state)
{
	struct sockaddr_in addr, name;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0);
	socklen_t len = sizeof(name);

	(void)state;
	connect_error = ECONNREFUSED;
	/* frees the port, so that the next bind succeeds */
	real()->close(listen_by_tcp(&name_of_rsocket));
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(real()->getsockname(number, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(name.sin_port, name_of_rsocket.sin_port);
	name_of_rsocket = (struct sockaddr_in){ 0 };
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

/* A datagram rsocket holds its port by a UDP socket, until its close. */
static void datagrams_fall_back_under_their_name(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) }, name;
	int rsocket = real()->socket(AF_INET, SOCK_DGRAM, 0);
	int number = preload_number(rsocket, SOCK_NONBLOCK);
	socklen_t len = sizeof(name);

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	name = to;
	name.sin_port = 0;
	assert_int_equal(real()->bind(rsocket, (struct sockaddr *)&name, len), 0);
	assert_int_equal(real()->getsockname(rsocket, (struct sockaddr *)&name, &len), 0);
	name_of_rsocket = name;
	type_of_rsocket = SOCK_DGRAM;
	connect_error = ENODEV;
	assert_int_equal(connect(number, (struct sockaddr *)&to, sizeof(to)), 0);
	type_of_rsocket = SOCK_STREAM;
	real()->close(rsocket); /* as rclose() does */
	assert_int_equal(preload_find(number), -1);
	assert_true(fcntl(number, F_GETFL) & O_NONBLOCK);
	assert_int_equal(getsockname(number, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(name.sin_port, name_of_rsocket.sin_port);
	name_of_rsocket = (struct sockaddr_in){ 0 };
	close(number);
}

/* Returns the data of a system socket's event in the set, or 0. */
static uint64_t reported_by(int set)
{
	struct epoll_event event = { 0 };

	return real()->epoll_wait(set, &event, 1, 0) > 0 ? event.data.u64 : 0;
}

static void a_fallback_stays_in_its_sets(void **state)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 77 };
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0);
	int in = epoll_create1(0), left = epoll_create1(0), gone = epoll_create1(0);

	(void)state;
	assert_int_equal(epoll_ctl(in, EPOLL_CTL_ADD, number, &event), 0);
	assert_int_equal(epoll_ctl(left, EPOLL_CTL_ADD, number, &event), 0);
	assert_int_equal(epoll_ctl(gone, EPOLL_CTL_ADD, number, &event), 0);
	event = (struct epoll_event){ .events = EPOLLOUT, .data.u64 = 88 };
	assert_int_equal(epoll_ctl(in, EPOLL_CTL_MOD, number, &event), 0);
	assert_int_equal(epoll_ctl(left, EPOLL_CTL_DEL, number, NULL), 0);
	close(gone);
	gone = real()->epoll_create1(0); /* another set of the same number */
	connect_error = ECONNREFUSED;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(reported_by(in), 88);
	assert_int_equal(epoll_ctl(left, EPOLL_CTL_DEL, number, NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(epoll_ctl(gone, EPOLL_CTL_DEL, number, NULL), -1);
	assert_int_equal(errno, ENOENT);
	close(in);
	close(left);
	real()->close(gone);
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

static void connect_that_does_not_wait_falls_back_when_it_fails_at_once(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, SOCK_NONBLOCK), ret;

	(void)state;
	connect_error = ENODEV;
	ret = connect(number, (struct sockaddr *)&addr, sizeof(addr));
	assert_true(!ret || errno == EINPROGRESS);
	assert_int_equal(preload_find(number), -1);
	assert_true(fcntl(number, F_GETFL) & O_NONBLOCK);
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

/* EINPROGRESS even if the answer is there, as TCP answers so; the next call finds it. */
static void connect_that_does_not_wait_is_in_progress(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, SOCK_NONBLOCK), ret;

	(void)state;
	connect_error = EINPROGRESS;
	answer_error = ECONNREFUSED;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(errno, EINPROGRESS);
	assert_int_equal(preload_find(number), rsocket);
	ret = connect(number, (struct sockaddr *)&addr, sizeof(addr));
	assert_true(!ret || errno == EINPROGRESS || errno == EALREADY || errno == EISCONN);
	assert_int_equal(preload_find(number), -1);
	answer_error = -1;
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

static void answer_that_comes_late_falls_back(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, SOCK_NONBLOCK);

	(void)state;
	connect_error = EINPROGRESS;
	answer_error = -1;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(errno, EINPROGRESS);
	assert_false(preload_settle(NULL));
	assert_int_equal(preload_find(number), rsocket);
	answer_error = ECONNREFUSED;
	assert_true(preload_settle(NULL));
	assert_int_equal(preload_find(number), -1);
	assert_true(fcntl(number, F_GETFL) & O_NONBLOCK);
	answer_error = -1;
	assert_false(preload_settle(NULL));
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

static void answer_after_a_close_of_one_number_keeps_the_mode(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, SOCK_NONBLOCK), copy = dup(number), other;

	(void)state;
	connect_error = EINPROGRESS;
	answer_error = -1;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	close(number);
	other = preload_file(0); /* a blocking one */
	assert_int_equal(other, number);
	answer_error = ECONNREFUSED;
	assert_true(preload_settle(NULL));
	answer_error = -1;
	assert_int_equal(preload_find(copy), -1);
	assert_true(real()->fcntl(copy, F_GETFL) & O_NONBLOCK);
	real()->close(other);
	close(copy);
	real()->close(rsocket);
	real()->close(listener);
}

/* A signal interrupts connect(), after rdma_cm has given the rsocket a name, so the fallback must
 * not bind to that. */
static void answer_after_a_signal_falls_back(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0);

	(void)state;
	connect_error = EINTR;
	name_by_connect = addr;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
		assert_int_equal(errno, EINTR);
	}
	assert_int_equal(preload_find(number), rsocket);
	answer_error = ECONNREFUSED;
	assert_true(preload_settle(NULL));
	answer_error = -1;
	name_of_rsocket = name_by_connect = (struct sockaddr_in){ 0 };
	assert_int_equal(preload_find(number), -1);
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

/* Returns a TCP service that never answers, since its backlog is full. */
static int silent_service(struct sockaddr_in *addr, int in_backlog[2])
{
	int listener = listen_by_tcp(addr);

	assert_int_equal(real()->listen(listener, 0), 0);
	for (int i = 0; i < 2; i++) {
		in_backlog[i] = real()->socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		real()->connect(in_backlog[i], (struct sockaddr *)addr, sizeof(*addr));
	}
	return listener;
}

/* Waiting again would block other threads. */
static void answer_that_comes_late_is_not_waited_for_again(void **state)
{
	struct sockaddr_in addr;
	int in_backlog[2], listener = silent_service(&addr, in_backlog), rsocket = preload_file(0);
	int number = preload_number(rsocket, SOCK_NONBLOCK);

	(void)state;
	connect_error = EINPROGRESS;
	answer_error = -1;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(real()->fcntl(number, F_SETFL, O_RDWR), 0);
	answer_error = ECONNREFUSED;
	alarm(5); /* a limit, as a TCP timeout takes minutes */
	assert_true(preload_settle(NULL));
	alarm(0);
	assert_int_equal(preload_find(number), -1);
	assert_false(real()->fcntl(number, F_GETFL) & O_NONBLOCK);
	answer_error = -1;
	close(number);
	real()->close(rsocket);
	real()->close(in_backlog[0]);
	real()->close(in_backlog[1]);
	real()->close(listener);
}

/* The fallback fails as well, since the program's port is in use by TCP. */
static void an_error_of_both_ways_is_heard_once(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0), error = -1;
	int number = preload_number(rsocket, SOCK_NONBLOCK);
	socklen_t len = sizeof(error);

	(void)state;
	connect_error = EINPROGRESS;
	answer_error = -1;
	name_of_rsocket = addr;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(preload_late_error(rsocket), 0);
	answer_error = ECONNREFUSED;
	for (int i = 0; i < 2; i++) /* no second try */
		assert_false(preload_settle(NULL));
	assert_int_equal(preload_find(number), rsocket);
	assert_int_equal(preload_late_error(rsocket + 1), 0);
	assert_int_equal(getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &len), 0);
	assert_int_equal(error, EADDRINUSE);
	assert_int_equal(preload_late_error(rsocket), 0);
	answer_error = -1;
	name_of_rsocket = (struct sockaddr_in){ 0 };
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

static void rsocket_stays_where_tcp_fails_too(void **state)
{
	struct sockaddr_in addr;
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);

	(void)state;
	real()->close(listen_by_tcp(&addr));
	connect_error = EHOSTUNREACH;
	closed = -1;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_int_equal(preload_find(number), rsocket);
	assert_int_equal(closed, -1);
	close(number);
	real()->close(rsocket);
}

static void a_limit_is_not_hidden_by_tcp(void **state)
{
	struct sockaddr_in addr;
	int rsocket = preload_file(0), number = preload_number(rsocket, 0);

	(void)state;
	real()->close(listen_by_tcp(&addr));
	connect_error = EMFILE;
	assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(preload_find(number), rsocket);
	close(number);
	real()->close(rsocket);
}

static void errors_of_the_call_do_not_fall_back(void **state)
{
	static const int errors[] = { EINPROGRESS, EALREADY, EISCONN, EINTR, EFAULT };
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), rsocket = preload_file(0);
	int number = preload_number(rsocket, 0);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		connect_error = errors[i];
		assert_int_equal(connect(number, (struct sockaddr *)&addr, sizeof(addr)), -1);
		assert_int_equal(errno, errors[i]);
		assert_int_equal(preload_find(number), rsocket);
	}
	close(number);
	real()->close(rsocket);
	real()->close(listener);
}

/* ---- which sockets ---- */

enum { STREAM4 = 1, DGRAM4 = 2, STREAM6 = 4, DGRAM6 = 8, ALL = 15 };

static int wanted_by(const char *text)
{
	struct preload_rules rules = { .count = 0 };
	FILE *file = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	int wanted = 0;

	assert_non_null(file);
	preload_rules_read(&rules, file, "KindOf3");
	fclose(file);
	for (int i = 0; i < 4; i++) {
		int domain = i < 2 ? AF_INET : AF_INET6;
		int type = i % 2 ? SOCK_DGRAM : SOCK_STREAM;
		int protocol = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
		bool by_default = preload_rules_want(&rules, domain, type, 0);

		assert_int_equal(preload_rules_want(&rules, domain, type, protocol), by_default);
		wanted |= by_default << i;
	}
	return wanted;
}

/* Debian's library has the results of the right column for each file. */
static void lines_name_programs_by_their_beginning(void **state)
{
	static const struct {
		const char *text;
		int wanted;
	} cases[] = {
		{ "# only a comment\n", ALL },
		{ "\n", ALL },
		{ "kindof * * *\n", ALL },
		{ "KINDOF3 inet stream tcp\n", STREAM4 },
		{ "KindOf33 * * *\n", 0 },
		{ "other * * *\n", 0 },
		{ "#x\nother * * *", 0 },
		{ "* inet dgram *\n", DGRAM4 },
		{ "* inet6 * *\n", STREAM6 | DGRAM6 },
		{ "Kind * * *\nother inet dgram udp\n", ALL },
		{ "kind inet stream *\nkind inet6 dgram udp", STREAM4 | DGRAM6 },
		{ "kind af_inet sock_stream *", STREAM4 },
		{ "kind INET STREAM UDP", 0 },
		/* words missing or unknown: no rules */
		{ "kind inet\n", ALL },
		{ "kind inet stream 0\n", ALL },
		{ "kind inet 1 6", ALL },
		{ "kind * bogus *", ALL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (wanted_by(cases[i].text) != cases[i].wanted)
			fail_msg("%s: %d", cases[i].text, wanted_by(cases[i].text));
	}
}

static void the_end_of_a_long_line_is_no_line(void **state)
{
	char text[300];

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "# and", 5);
	strcpy(text + 255, "kind inet stream *\n");
	assert_int_equal(wanted_by(text), ALL);
}

static void queues_are_sized_by_the_environment(void **state)
{
	(void)state;
	memset(&sizes, 0, sizeof(sizes));
	setenv("RS_SQ_SIZE", "77", 1);
	setenv("RS_RQ_SIZE", "88", 1);
	setenv("RS_INLINE", "99", 1);
	real()->close(preload_rsocket(AF_INET, SOCK_STREAM, 0));
	assert_int_equal(sizes.sq, 77);
	assert_int_equal(sizes.rq, 88);
	assert_int_equal(sizes.inline_size, 99);
	setenv("RS_SQ_SIZE", "x", 1);
	setenv("RS_RQ_SIZE", "0", 1);
	unsetenv("RS_INLINE");
	real()->close(preload_rsocket(AF_INET, SOCK_STREAM, 0));
	assert_int_equal(sizes.sq, 77);
	assert_int_equal(sizes.rq, 88);
	assert_int_equal(sizes.others, 0);
}

/* The library reads the variable once, so each value needs a process. */
static bool forks_with(const char *value)
{
	pid_t child = fork();
	int status;

	if (!child) {
		setenv("RDMAV_FORK_SAFE", value, 1);
		_exit(preload_forks());
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Debian's library treats these values as on and off. */
static void numbers_other_than_0_announce_forks(void **state)
{
	static const char *const on[] = { "1", "-1", "+2", "1x" };
	static const char *const off[] = { "", "0", "00", " 0", "0x1", "no", "yes" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(on); i++)
		assert_true(forks_with(on[i]));
	for (size_t i = 0; i < ARRAY_SIZE(off); i++)
		assert_false(forks_with(off[i]));
}

/* Before the peer's marker there are no bytes for the program, as it is still open which kind of
 * socket goes on. */
static void an_asking_connection_has_no_bytes(void **state)
{
	struct sockaddr_in addr;
	int listener = listen_by_tcp(&addr), fd = real()->socket(AF_INET, SOCK_STREAM, 0);
	int accepted, count = -1;

	(void)state;
	assert_int_equal(real()->connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	accepted = real()->accept(listener, NULL, NULL);
	preload_mark(fd, PENDING_ASKING);
	assert_int_equal(ioctl(fd, FIONREAD, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(real()->send(accepted, "", 1, 0), 1); /* first byte of the marker */
	while (!real()->ioctl(fd, FIONREAD, &count) && !count)
		;
	assert_int_equal(ioctl(fd, FIONREAD, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(close(fd), 0);
	real()->close(accepted);
	real()->close(listener);
}

static unsigned int inside_of_cancelled = 2;

static void note_inside(void *unused)
{
	(void)unused;
	inside_of_cancelled = preload_inside;
}

static void *sleep_inside(void *pipe_end)
{
	struct pollfd fd = { .fd = *(int *)pipe_end, .events = POLLIN };

	pthread_cleanup_push(note_inside, NULL);
	preload_inside = 1;
	poll(&fd, 1, -1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void who_is_cancelled_is_the_programs_again(void **state)
{
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_inside, &ends[0]), 0);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(inside_of_cancelled, 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- signal handlers that run while their thread sleeps in a call of librdmacm ---- */

static int number_of_handler, error_of_handler, closed_by_handler;

static void use_number(int signal)
{
	const int before = errno;

	(void)signal;
	error_of_handler = write(number_of_handler, "hey", 3) < 0 ? errno : 0;
	closed_by_handler = close(number_of_handler);
	errno = before;
}

static int sleep_in_poll(int set)
{
	(void)set;
	return poll(NULL, 0, 10000);
}

static int sleep_in_set(int set)
{
	struct epoll_event event;

	return epoll_wait(set, &event, 1, 10000);
}

static void handler_meets_the_system(int (*sleep_in)(int set))
{
	const struct itimerval timer = { .it_value.tv_usec = 20000 };
	int rsocket = preload_file(0), set = real()->epoll_create1(0);

	number_of_handler = preload_number(rsocket, 0);
	closed = closed_by_handler = -1;
	signal(SIGALRM, use_number);
	preload_inside = 1;
	setitimer(ITIMER_REAL, &timer, NULL);
	assert_int_equal(sleep_in(set), -1);
	assert_int_equal(errno, EINTR);
	preload_inside = 0;
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(error_of_handler, ENOTCONN);
	assert_int_equal(closed_by_handler, 0);
	assert_int_equal(closed, -1);
	assert_true(preload_drop(number_of_handler));
	real()->close(rsocket);
	real()->close(set);
}

/* The sleeping call uses its rsocket afterwards, and has locked a direction of it: a handler that
 * reached librdmacm could free the rsocket, or wait for its own thread. */
static void handlers_meet_the_system(void **state)
{
	(void)state;
	handler_meets_the_system(sleep_in_poll);
	handler_meets_the_system(sleep_in_set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_meet_the_system),
		cmocka_unit_test(who_is_cancelled_is_the_programs_again),
		cmocka_unit_test(a_copy_leaves_errno_alone),
		cmocka_unit_test(a_copy_of_a_file_leaves_errno_alone),
		cmocka_unit_test(the_last_copy_closes_the_rsocket),
		cmocka_unit_test(a_copy_in_a_child_by_vfork_is_none_of_the_parents),
		cmocka_unit_test(dup2_onto_another_rsocket_closes_that),
		cmocka_unit_test(dup2_onto_a_set_closes_that),
		cmocka_unit_test(a_set_that_is_gone_leaves_its_number_to_an_rsocket),
		cmocka_unit_test(a_number_that_waits_has_an_rsocket_that_waits),
		cmocka_unit_test(a_congestion_control_is_accepted),
		cmocka_unit_test(files_of_rsockets_can_be_written_before_the_end),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(poll_of_no_descriptors_is_refused),
		cmocka_unit_test(memory_that_is_not_there_is_refused),
#endif
		cmocka_unit_test(vectors_of_an_rsocket_have_no_position),
		cmocka_unit_test(files_are_sent_as_far_as_there_is_room),
		cmocka_unit_test(sets_are_made_with_their_flags),
		cmocka_unit_test(connect_falls_back_to_tcp),
		cmocka_unit_test(connect_by_tcp_keeps_limits_and_service),
		cmocka_unit_test(an_abort_is_taken_along_to_tcp),
		cmocka_unit_test(limits_are_carried_from_tcp_to_an_rsocket),
		cmocka_unit_test(a_name_that_connecting_gave_is_not_taken_along),
		cmocka_unit_test(a_name_that_the_program_gave_is_taken_along),
		cmocka_unit_test(datagrams_fall_back_under_their_name),
		cmocka_unit_test(a_fallback_stays_in_its_sets),
		cmocka_unit_test(connect_that_does_not_wait_falls_back_when_it_fails_at_once),
		cmocka_unit_test(connect_that_does_not_wait_is_in_progress),
		cmocka_unit_test(answer_that_comes_late_falls_back),
		cmocka_unit_test(answer_after_a_close_of_one_number_keeps_the_mode),
		cmocka_unit_test(answer_after_a_signal_falls_back),
		cmocka_unit_test(answer_that_comes_late_is_not_waited_for_again),
		cmocka_unit_test(an_error_of_both_ways_is_heard_once),
		cmocka_unit_test(rsocket_stays_where_tcp_fails_too),
		cmocka_unit_test(errors_of_the_call_do_not_fall_back),
		cmocka_unit_test(a_limit_is_not_hidden_by_tcp),
		cmocka_unit_test(lines_name_programs_by_their_beginning),
		cmocka_unit_test(the_end_of_a_long_line_is_no_line),
		cmocka_unit_test(queues_are_sized_by_the_environment),
		cmocka_unit_test(numbers_other_than_0_announce_forks),
		cmocka_unit_test(an_asking_connection_has_no_bytes),
		cmocka_unit_test(a_connection_waits_until_there_is_a_number),
		cmocka_unit_test(whose_limit_is_reached_gets_no_other_socket),
		cmocka_unit_test(nobody_gets_a_ring_of_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
