/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rs_test.c - calls on an rsocket's number: each reaches the function of the socket's kind with its
 * arguments, and returns its errno. The kind is the test's.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/rs.h"

enum { REFUSED = EDOM, UNREAD = 1234, BACKLOG = 17 };

static struct sockaddr_storage the_addr = { .ss_family = AF_INET };

static struct {
	struct rs rs, accepted;
	const char *called;
	int error, backlog, how, created_domain;
	bool is_stream;
	const struct sockaddr *addr;
	socklen_t *len;
} it;

static int call_record(struct rs *rs, const char *what)
{
	assert_ptr_equal(rs, &it.rs);
	it.called = what;
	return it.error;
}

static int kind_bind(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	assert_int_equal(len, sizeof(the_addr));
	it.addr = addr;
	return call_record(rs, "bind");
}

static int kind_connect(struct rs *rs, const struct sockaddr *addr, socklen_t len)
{
	assert_int_equal(len, sizeof(the_addr));
	it.addr = addr;
	return call_record(rs, "connect");
}

static int kind_listen(struct rs *rs, int backlog)
{
	it.backlog = backlog;
	return call_record(rs, "listen");
}

static int kind_accept(struct rs *rs, struct rs **out)
{
	*out = &it.accepted;
	return call_record(rs, "accept");
}

static int kind_local_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	it.addr = addr;
	it.len = len;
	return call_record(rs, "local_name");
}

static int kind_peer_name(struct rs *rs, struct sockaddr *addr, socklen_t *len)
{
	it.addr = addr;
	it.len = len;
	if (rs == &it.accepted) {
		it.called = "peer_name of accepted";
		return 0;
	}
	return call_record(rs, "peer_name");
}

static int kind_shutdown(struct rs *rs, int how)
{
	it.how = how;
	return call_record(rs, "shutdown");
}

static void kind_close(struct rs *rs)
{
	call_record(rs, "close");
}

static int kind_unread(struct rs *rs, int *bytes)
{
	*bytes = UNREAD;
	return call_record(rs, "unread");
}

static const struct rs_kind kind = {
	.bind = kind_bind,
	.connect = kind_connect,
	.listen = kind_listen,
	.accept = kind_accept,
	.local_name = kind_local_name,
	.peer_name = kind_peer_name,
	.shutdown = kind_shutdown,
	.close = kind_close,
	.unread = kind_unread,
};

/* A kind without what datagrams lack. */
static const struct rs_kind poor_kind = {
	.local_name = kind_local_name,
	.peer_name = kind_peer_name,
	.close = kind_close,
};

int __wrap_rdmacm_stream_create(int domain, struct rs **rs) __attribute__((visibility("default")));
int __wrap_rdmacm_dgram_create(int domain, struct rs **rs) __attribute__((visibility("default")));
int __wrap_rdmacm_rs_set_close(int fd) __attribute__((visibility("default")));

static int socket_create(int domain, struct rs **rs, bool is_stream)
{
	it.created_domain = domain;
	it.is_stream = is_stream;
	if (!it.error)
		*rs = &it.rs;
	return it.error;
}

int __wrap_rdmacm_stream_create(int domain, struct rs **rs)
{
	return socket_create(domain, rs, true);
}

int __wrap_rdmacm_dgram_create(int domain, struct rs **rs)
{
	return socket_create(domain, rs, false);
}

int __wrap_rdmacm_rs_set_close(int fd)
{
	(void)fd;
	it.called = "set_close";
	return it.error;
}

static int socket_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.rs.kind = it.accepted.kind = &kind;
	it.rs.fd = dup(0);
	it.accepted.fd = 999;
	return rdmacm_rs_table_add(&it.rs);
}

static int socket_end(void **state)
{
	(void)state;
	rdmacm_rs_table_remove(&it.rs);
	close(it.rs.fd);
	return 0;
}

static const struct sockaddr *addr_of_test(void)
{
	return (const struct sockaddr *)&the_addr;
}

static int call_bind(int fd)
{
	return rbind(fd, addr_of_test(), sizeof(the_addr));
}

static int call_connect(int fd)
{
	return rconnect(fd, addr_of_test(), sizeof(the_addr));
}

static int call_listen(int fd)
{
	return rlisten(fd, BACKLOG);
}

static int call_shutdown(int fd)
{
	return rshutdown(fd, SHUT_WR);
}

static int call_local_name(int fd)
{
	socklen_t len = sizeof(the_addr);

	return rgetsockname(fd, (struct sockaddr *)&the_addr, &len);
}

static int call_peer_name(int fd)
{
	socklen_t len = sizeof(the_addr);

	return rgetpeername(fd, (struct sockaddr *)&the_addr, &len);
}

static int call_unread(int fd)
{
	int bytes = 0, ret = rfcntl(fd, FIONREAD, &bytes);

	if (!ret)
		assert_int_equal(bytes, UNREAD);
	return ret;
}

static const struct {
	const char *name;
	int (*call)(int fd);
	bool is_everyones; /* every kind has it */
} calls[] = {
	{ "bind", call_bind, false },
	{ "connect", call_connect, false },
	{ "listen", call_listen, false },
	{ "shutdown", call_shutdown, false },
	{ "local_name", call_local_name, true },
	{ "peer_name", call_peer_name, true },
	{ "unread", call_unread, false },
};

static void a_call_is_the_kinds(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		it.called = "";
		it.error = 0;
		assert_int_equal(calls[i].call(it.rs.fd), 0);
		assert_string_equal(it.called, calls[i].name);
		it.error = REFUSED;
		assert_int_equal(calls[i].call(it.rs.fd), -1);
		assert_int_equal(errno, REFUSED);
	}
	assert_ptr_equal(it.addr, &the_addr);
	assert_int_equal(it.backlog, BACKLOG);
	assert_int_equal(it.how, SHUT_WR);
}

static void a_number_of_no_socket_is_bad(void **state)
{
	static const int numbers[] = { -1, 0, RS_PAGES * RS_PAGE_SIZE, RS_PAGE_SIZE + 1 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(numbers); j++) {
			errno = 0;
			assert_int_equal(calls[i].call(numbers[j]), -1);
			assert_int_equal(errno, EBADF);
		}
	}
	assert_int_equal(raccept(0, NULL, NULL), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(rfcntl(0, F_GETFL), -1);
	assert_int_equal(errno, EBADF);
	assert_null(it.called);
}

static void what_a_kind_lacks_is_not_supported(void **state)
{
	(void)state;
	it.rs.kind = &poor_kind;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		errno = 0;
		assert_int_equal(calls[i].call(it.rs.fd), calls[i].is_everyones ? 0 : -1);
		assert_int_equal(errno, calls[i].is_everyones ? 0 : EOPNOTSUPP);
	}
	assert_int_equal(raccept(it.rs.fd, NULL, NULL), -1);
	assert_int_equal(errno, EOPNOTSUPP);
}

static void an_accepted_socket_has_its_own_number_and_peer(void **state)
{
	socklen_t len = sizeof(the_addr);

	(void)state;
	assert_int_equal(raccept(it.rs.fd, (struct sockaddr *)&the_addr, &len), 999);
	assert_string_equal(it.called, "peer_name of accepted");
	assert_ptr_equal(it.addr, &the_addr);
	assert_ptr_equal(it.len, &len);
	it.error = EAGAIN;
	it.len = NULL;
	assert_int_equal(raccept(it.rs.fd, (struct sockaddr *)&the_addr, &len), -1);
	assert_int_equal(errno, EAGAIN);
	assert_null(it.len);
}

static void a_number_may_be_of_a_set(void **state)
{
	(void)state;
	assert_int_equal(rclose(it.rs.fd), 0);
	assert_string_equal(it.called, "close");
	assert_int_equal(rclose(0), 0);
	assert_string_equal(it.called, "set_close");
	it.error = EBADF;
	assert_int_equal(rclose(0), -1);
	assert_int_equal(errno, EBADF);
}

static void flags_are_those_that_were_set(void **state)
{
	int on = 1, off = 0, fd = it.rs.fd;

	(void)state;
	assert_int_equal(rfcntl(fd, F_GETFL), 0);
	assert_int_equal(rfcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND), 0);
	assert_int_equal(rfcntl(fd, F_GETFL), O_NONBLOCK);
	assert_int_equal(rfcntl(fd, F_SETFL, O_APPEND), 0);
	assert_int_equal(rfcntl(fd, F_GETFL), 0);
	assert_int_equal(rfcntl(fd, FIONBIO, &on), 0);
	assert_int_equal(rfcntl(fd, F_GETFL), O_NONBLOCK);
	assert_int_equal(rfcntl(fd, FIONBIO, &off), 0);
	assert_int_equal(rfcntl(fd, F_GETFL), 0);
	assert_int_equal(rfcntl(fd, FIONBIO, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(rfcntl(fd, FIONREAD, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(rfcntl(fd, F_GETOWN), -1);
	assert_int_equal(errno, EOPNOTSUPP);
}

static void a_new_socket_is_of_the_type_that_is_asked_for(void **state)
{
	static const struct {
		int domain, type, protocol, error;
		bool is_stream;
	} rows[] = {
		{ AF_INET, SOCK_STREAM, 0, 0, true },
		{ AF_INET6, SOCK_STREAM, IPPROTO_TCP, 0, true },
		{ AF_IB, SOCK_STREAM, 0, 0, true },
		{ AF_INET, SOCK_DGRAM, 0, 0, false },
		{ AF_INET6, SOCK_DGRAM, IPPROTO_UDP, 0, false },
		{ AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, true },
		{ AF_INET, SOCK_STREAM, IPPROTO_UDP, EOPNOTSUPP, true },
		{ AF_INET, SOCK_DGRAM, IPPROTO_TCP, EOPNOTSUPP, false },
		{ AF_INET, SOCK_RAW, 0, EOPNOTSUPP, false },
		{ AF_UNIX, SOCK_STREAM, 0, EOPNOTSUPP, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd;

		it.created_domain = -1;
		fd = rsocket(rows[i].domain, rows[i].type, rows[i].protocol);
		assert_int_equal(fd, rows[i].error ? -1 : it.rs.fd);
		if (rows[i].error) {
			assert_int_equal(errno, rows[i].error);
			assert_int_equal(it.created_domain, -1);
		} else {
			assert_int_equal(it.created_domain, rows[i].domain);
			assert_int_equal(it.is_stream, rows[i].is_stream);
			assert_int_equal(it.rs.status_flags, 0);
		}
	}
	assert_true(rsocket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0) >= 0);
	assert_int_equal(it.rs.status_flags, O_NONBLOCK);
	it.error = ENOMEM;
	assert_int_equal(rsocket(AF_INET, SOCK_STREAM, 0), -1);
	assert_int_equal(errno, ENOMEM);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, socket_begin, socket_end)
	const struct CMUnitTest tests[] = {
		CASE(a_call_is_the_kinds),
		CASE(a_number_of_no_socket_is_bad),
		CASE(what_a_kind_lacks_is_not_supported),
		CASE(an_accepted_socket_has_its_own_number_and_peer),
		CASE(a_number_may_be_of_a_set),
		CASE(flags_are_those_that_were_set),
		CASE(a_new_socket_is_of_the_type_that_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
