/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dgram_test.c - making, naming, connecting and closing a datagram socket. Its UDP socket is the
 * system's; peers, the progress of links and the clock are the test's, and there is no channel.
 *
 * Covers: librdmacm/rsocket/dgram/dgram.c, librdmacm/rsocket/rs.c rsocket rbind rconnect
 * rgetsockname rgetpeername rshutdown rclose
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/dgram/dgram.h"

enum { REFUSED = EDOM, TOS = 0x20 };

static struct {
	int channel_error, peer_error, socket_error;
	struct dgram_peer peer;
	struct sockaddr_storage sought;
	unsigned int progress;
	int64_t now_us;
	int traffic_class;
	struct dgram_link *busy; /* completes its sends after the third progress */
} it;

int __wrap_rdmacm_rs_open_channel(struct rdma_event_channel **channel)
	__attribute__((visibility("default")));
int __wrap_rdmacm_dgram_peer_get(struct dgram *dgram, const struct sockaddr_storage *addr,
				 struct dgram_peer **out) __attribute__((visibility("default")));
bool __wrap_rdmacm_dgram_progress(struct dgram *dgram, bool look_at_udp)
	__attribute__((visibility("default")));
int __wrap_rdmacm_dgram_take_error(struct dgram *dgram) __attribute__((visibility("default")));
int64_t __wrap_rdmacm_rs_now_us(void) __attribute__((visibility("default")));
void __wrap_rdmacm_dgram_link_free(struct dgram_link *link) __attribute__((visibility("default")));

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
	__attribute__((visibility("default")));

/* Stands for the system's call, as emulators have no traffic class. */
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (level != IPPROTO_IPV6 || name != IPV6_TCLASS)
		return __real_setsockopt(fd, level, name, value, len);
	assert_int_equal(len, sizeof(it.traffic_class));
	memcpy(&it.traffic_class, value, len);
	return 0;
}

/* setsockopt() has this name where times have 64 bits and words have 32, so both are wrapped */
int __wrap___setsockopt64(int fd, int level, int name, const void *value, socklen_t len)
	__attribute__((alias("__wrap_setsockopt"), visibility("default")));

int __wrap_rdmacm_rs_open_channel(struct rdma_event_channel **channel)
{
	*channel = NULL;
	return it.channel_error;
}

int __wrap_rdmacm_dgram_peer_get(struct dgram *dgram, const struct sockaddr_storage *addr,
				 struct dgram_peer **out)
{
	(void)dgram;
	it.sought = *addr;
	if (!it.peer_error)
		*out = &it.peer;
	return it.peer_error;
}

bool __wrap_rdmacm_dgram_progress(struct dgram *dgram, bool look_at_udp)
{
	(void)dgram;
	assert_int_equal(look_at_udp, !it.progress);
	it.now_us += 300000;
	if (++it.progress == 3 && it.busy)
		it.busy->sq_done = it.busy->sq_put;
	return false;
}

int __wrap_rdmacm_dgram_take_error(struct dgram *dgram)
{
	(void)dgram;
	return it.socket_error;
}

int64_t __wrap_rdmacm_rs_now_us(void)
{
	return it.now_us;
}

void __wrap_rdmacm_dgram_link_free(struct dgram_link *link)
{
	(void)link;
}

static int test_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	return 0;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static struct sockaddr *sockaddr_of(struct sockaddr_in *addr)
{
	return (struct sockaddr *)addr;
}

static int dgram_new(void)
{
	int fd = rsocket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	return fd;
}

static struct dgram *dgram_of(int fd)
{
	return to_dgram(rdmacm_rs_find(fd));
}

static void a_socket_has_the_name_that_it_is_bound_to(void **state)
{
	struct sockaddr_in addr = loopback(0), name;
	socklen_t len = sizeof(name);
	int fd = dgram_new();

	(void)state;
	assert_int_equal(rgetsockname(fd, sockaddr_of(&name), &len), 0);
	assert_int_equal(name.sin_port, 0);
	assert_int_equal(rbind(fd, sockaddr_of(&addr), sizeof(addr)), 0);
	memset(&name, 0xee, sizeof(name));
	assert_int_equal(rgetsockname(fd, sockaddr_of(&name), &len), 0);
	assert_int_equal(len, sizeof(name));
	assert_int_equal(name.sin_family, AF_INET);
	assert_int_not_equal(name.sin_port, 0);
	assert_int_equal(name.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(rbind(fd, sockaddr_of(&addr), sizeof(addr)), -1); /* bound already */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rgetpeername(fd, sockaddr_of(&name), &len), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(rclose(fd), 0);
}

static void options_are_set_before_the_first_use(void **state)
{
	struct sockaddr_in addr = loopback(0);
	int fd = dgram_new(), value = 0;
	struct dgram *dgram = dgram_of(fd);
	socklen_t len = sizeof(value);

	(void)state;
	rs_flag_set(&dgram->rs.flags.reuse_addr, true);
	dgram->rs.options.ip_tos = TOS;
	assert_int_equal(rbind(fd, sockaddr_of(&addr), sizeof(addr)), 0);
	assert_true(dgram->is_set_up);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, &len), 0);
	assert_int_equal(value, 1);
	assert_int_equal(getsockopt(fd, IPPROTO_IP, IP_TOS, &value, &len), 0);
	assert_int_equal(value, TOS);
	assert_int_equal(rclose(fd), 0);
}

static void a_socket_of_ipv6_has_options_of_its_own(void **state)
{
	int fd = rsocket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), value = 0;
	struct dgram *dgram;
	socklen_t len = sizeof(value);

	(void)state;
	if (fd < 0 && errno == EAFNOSUPPORT)
		return; /* skipped on a machine without IPv6 */
	dgram = dgram_of(fd);
	rs_flag_set(&dgram->rs.flags.v6_only, true);
	dgram->rs.options.ip_tos = TOS;
	assert_int_equal(rdmacm_dgram_set_up(dgram), 0);
	assert_int_equal(getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &value, &len), 0);
	assert_int_equal(value, 1);
	assert_int_equal(it.traffic_class, TOS);
	value = -1;
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &value, &len), 0);
	assert_int_equal(value, 0);
	dgram->rs.options.ip_tos = -1;
	rs_flag_set(&dgram->rs.flags.v6_only, false);
	assert_int_equal(rdmacm_dgram_set_up(dgram), 0); /* once */
	assert_int_equal(rclose(fd), 0);
}

static void a_connection_is_one_to_a_peer(void **state)
{
	struct sockaddr_in addr = loopback(7777), name;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	socklen_t len = sizeof(name);
	int fd = dgram_new();
	struct dgram *dgram = dgram_of(fd);

	(void)state;
	dgram->port = 5;
	assert_int_equal(rconnect(fd, sockaddr_of(&addr), sizeof(addr)), 0);
	assert_ptr_equal(dgram->connected, &it.peer);
	assert_int_equal(dgram->port, 0);
	assert_memory_equal(&it.sought, &addr, sizeof(addr));
	assert_int_equal(rgetpeername(fd, sockaddr_of(&name), &len), 0);
	assert_int_equal(name.sin_port, htons(7777));
	assert_int_equal(rconnect(fd, &none, sizeof(none)), 0);
	assert_null(dgram->connected);
	assert_int_equal(rgetpeername(fd, sockaddr_of(&name), &len), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_int_equal(rclose(fd), 0);
}

static void a_peer_that_no_device_reaches_is_not_connected(void **state)
{
	struct sockaddr_in addr = loopback(7777), name;
	socklen_t len = sizeof(name);
	int fd = dgram_new();
	struct dgram *dgram = dgram_of(fd);

	(void)state;
	assert_int_equal(rconnect(fd, sockaddr_of(&addr), sizeof(addr)), 0);
	it.peer_error = ENETUNREACH;
	assert_int_equal(rconnect(fd, sockaddr_of(&addr), sizeof(addr)), -1);
	assert_int_equal(errno, ENETUNREACH);
	assert_null(dgram->connected);
	assert_int_equal(rgetpeername(fd, sockaddr_of(&name), &len), -1);
	it.peer_error = 0;
	assert_int_equal(rconnect(fd, sockaddr_of(&addr), 3), -1); /* refused by the UDP socket */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rclose(fd), 0);
}

static void a_shutdown_is_of_a_connected_socket(void **state)
{
	struct sockaddr_in addr = loopback(7777);
	int fd = dgram_new();
	struct dgram *dgram = dgram_of(fd);

	(void)state;
	assert_int_equal(rshutdown(fd, 9), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(dgram->rs.arrivals, 0);
	assert_int_equal(rshutdown(fd, SHUT_RD), -1);
	assert_int_equal(errno, ENOTCONN);
	assert_false(dgram->read_shut || dgram->write_shut);
	assert_int_equal(rconnect(fd, sockaddr_of(&addr), sizeof(addr)), 0);
	assert_int_equal(rshutdown(fd, SHUT_RD), 0);
	assert_true(dgram->read_shut && !dgram->write_shut);
	dgram->read_shut = false;
	assert_int_equal(rshutdown(fd, SHUT_WR), 0);
	assert_true(!dgram->read_shut && dgram->write_shut);
	dgram->write_shut = false;
	assert_int_equal(rshutdown(fd, SHUT_RDWR), 0);
	assert_true(dgram->read_shut && dgram->write_shut);
	assert_int_equal(dgram->rs.arrivals, 4);
	assert_int_equal(rclose(fd), 0);
}

static void a_close_waits_for_sends_but_not_forever(void **state)
{
	struct dgram_link link = { .sq_put = 5, .sq_done = 4 };
	int fd = dgram_new();

	(void)state;
	LIST_INSERT_HEAD(&dgram_of(fd)->links, &link, entry);
	it.busy = &link;
	assert_int_equal(rclose(fd), 0);
	assert_int_equal(it.progress, 3);
	memset(&it, 0, sizeof(it));
	link.sq_done = 4;
	fd = dgram_new();
	LIST_INSERT_HEAD(&dgram_of(fd)->links, &link, entry);
	assert_int_equal(rclose(fd), 0);
	assert_int_equal(it.progress, 4); /* a second, in steps of 0.3 */
	assert_int_equal(rclose(fd), -1);
	assert_int_equal(errno, EBADF);
}

static void options_of_queues_come_before_the_queues(void **state)
{
	struct dgram_link link = { 0 };
	int fd = dgram_new();
	struct rs *rs = rdmacm_rs_find(fd);

	(void)state;
	/* none has an effect beyond its value, so the kind need not hear of it */
	assert_null(rs->kind->option_set);
	assert_false(rs->kind->has_queues(rs));
	LIST_INSERT_HEAD(&to_dgram(rs)->links, &link, entry);
	to_dgram(rs)->link_count = 1;
	assert_true(rs->kind->has_queues(rs));
	it.socket_error = ECONNREFUSED;
	assert_int_equal(rs->kind->error(rs), ECONNREFUSED);
	it.progress = 0;
	rs->kind->inherit(rs);
	assert_true(to_dgram(rs)->is_channel_of_parent);
	assert_int_equal(rclose(fd), 0);
}

static void a_socket_without_a_channel_is_none(void **state)
{
	int lowest = dup(0), again;

	(void)state;
	close(lowest);
	it.channel_error = EMFILE;
	assert_int_equal(rsocket(AF_INET, SOCK_DGRAM, 0), -1);
	assert_int_equal(errno, EMFILE);
	again = dup(0);
	assert_int_equal(again, lowest); /* the lowest again, as no descriptor is left */
	close(again);
	it.channel_error = 0;
	assert_int_equal(rsocket(AF_UNIX, SOCK_DGRAM, 0), -1);
	assert_int_equal(errno, EOPNOTSUPP);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, test_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_socket_has_the_name_that_it_is_bound_to),
		CASE(options_are_set_before_the_first_use),
		CASE(a_socket_of_ipv6_has_options_of_its_own),
		CASE(a_connection_is_one_to_a_peer),
		CASE(a_peer_that_no_device_reaches_is_not_connected),
		CASE(a_shutdown_is_of_a_connected_socket),
		CASE(a_close_waits_for_sends_but_not_forever),
		CASE(options_of_queues_come_before_the_queues),
		CASE(a_socket_without_a_channel_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
