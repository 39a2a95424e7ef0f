/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options_test.c - rsetsockopt() and rgetsockopt(): values of each option, limits, options that a
 * type of socket refuses, and each errno. The sockets are the test's.
 *
 * Covers: librdmacm/rsocket/options.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/options.c"

enum { SOCKET = 5 };

static struct {
	struct rs rs;
	struct rs_kind kind;
	bool has_queues;
	unsigned int shields, told, asked_unlocked;
	int told_level, told_name, refusal, segment, error;
} it;

static struct rs_page page = { .sockets = { [SOCKET] = &it.rs } };
struct rs_page *rdmacm_rs_pages[RS_PAGES] = { &page };

void rdmacm_rs_shield(void)
{
	it.shields++;
}

void rdmacm_rs_unshield(void)
{
	it.shields--;
}

static bool kind_has_queues(struct rs *rs)
{
	assert_ptr_equal(rs, &it.rs);
	if (cm_lock_try(&rs->lock)) {
		it.asked_unlocked++;
		cm_lock_drop(&rs->lock);
	}
	return it.has_queues;
}

static int kind_option_set(struct rs *rs, int level, int name)
{
	assert_true(cm_lock_try(&rs->lock));
	cm_lock_drop(&rs->lock);
	assert_int_equal(it.shields, 1);
	it.told++;
	it.told_level = level;
	it.told_name = name;
	return it.refusal;
}

static int kind_segment_size(struct rs *rs)
{
	assert_true(cm_lock_try(&rs->lock)); /* takes it */
	cm_lock_drop(&rs->lock);
	assert_int_equal(it.shields, 1); /* the kernel call may log */
	return it.segment;
}

static int kind_error(struct rs *rs)
{
	int error = it.error;

	(void)rs;
	assert_int_equal(it.shields, 1); /* reads events */
	it.error = 0;
	return error;
}

static int open_socket(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.kind = (struct rs_kind){ .has_queues = kind_has_queues,
				    .option_set = kind_option_set,
				    .segment_size = kind_segment_size,
				    .error = kind_error };
	it.rs.kind = &it.kind;
	it.rs.fd = -1;
	it.rs.domain = AF_INET;
	it.rs.type = SOCK_STREAM;
	it.rs.options.ip_tos = -1;
	cm_lock_init(&it.rs.lock);
	return 0;
}

static int close_socket(void **state)
{
	(void)state;
	assert_int_equal(it.shields, 0);
	assert_true(cm_lock_try(&it.rs.lock));
	cm_lock_drop(&it.rs.lock);
	free(it.rs.options.route);
	return 0;
}

/* Returns 0 or the errno of rsetsockopt(). */
static int option_set(int level, int name, int value)
{
	errno = 0;
	return rsetsockopt(SOCKET, level, name, &value, sizeof(value)) ? errno : 0;
}

static int option_get(int level, int name)
{
	int value = 0x5a5a5a5a;
	socklen_t len = sizeof(value) + 4;
	uint8_t room[sizeof(value) + 4];

	assert_int_equal(rgetsockopt(SOCKET, level, name, room, &len), 0);
	assert_int_equal(len, sizeof(value));
	memcpy(&value, room, sizeof(value));
	return value;
}

static void each_option_keeps_what_it_is_set_to(void **state)
{
	static const struct {
		int level, name, value, want;
		bool is_told;
	} rows[] = {
		{ SOL_SOCKET, SO_SNDBUF, 5000, 10000, false },
		{ SOL_SOCKET, SO_SNDBUF, 2048, 4096, false },
		{ SOL_SOCKET, SO_SNDBUF, 2047, 4096, false },
		{ SOL_SOCKET, SO_SNDBUF, 2049, 4098, false },
		{ SOL_SOCKET, SO_SNDBUF, -1, 4096, false },
		{ SOL_SOCKET, SO_SNDBUF, 1 << 29, 1 << 30, false },
		{ SOL_SOCKET, SO_SNDBUF, 3 << 28, 1 << 30, false },
		{ SOL_SOCKET, SO_SNDBUF, INT32_MAX, 1 << 30, false },
		{ SOL_SOCKET, SO_RCVBUF, 300, 600, false },
		{ SOL_SOCKET, SO_RCVBUF, 0, 0, false },
		{ SOL_SOCKET, SO_RCVBUF, -1, 0, false },
		{ SOL_SOCKET, SO_REUSEADDR, 2, 1, false },
		{ SOL_SOCKET, SO_REUSEADDR, 0, 0, false },
		{ SOL_SOCKET, SO_OOBINLINE, 1, 1, false },
		{ SOL_SOCKET, SO_KEEPALIVE, 4, 1, true },
		{ SOL_SOCKET, SO_KEEPALIVE, 0, 0, true },
		{ IPPROTO_TCP, TCP_NODELAY, 8, 1, false },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 1, 1, false },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 77, 77, false },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 9, 1, false },
		{ IPPROTO_TCP, TCP_KEEPCNT, 9, 1, false },
		{ IPPROTO_TCP, TCP_MAXSEG, 9, 2048, false },
		{ IPPROTO_IP, IP_TOS, 0x1ff, 0xfc, false },
		{ IPPROTO_IPV6, IPV6_TCLASS, 0x17, 0x14, false },
		{ IPPROTO_IPV6, IPV6_TCLASS, -1, 0, false },
		{ IPPROTO_IPV6, IPV6_TCLASS, 0xff, 0xfc, false },
		{ IPPROTO_IPV6, IPV6_V6ONLY, 1, 1, true },
		{ SOL_RDMA, RDMA_SQSIZE, 12, 12, false },
		{ SOL_RDMA, RDMA_SQSIZE, 0xfffd, 0xfffd, false },
		{ SOL_RDMA, RDMA_SQSIZE, 0xffff, 0xfffe, false },
		{ SOL_RDMA, RDMA_RQSIZE, -1, 0xfffe, false },
		{ SOL_RDMA, RDMA_RQSIZE, 13, 13, false },
		{ SOL_RDMA, RDMA_INLINE, 0, 0, false },
		{ SOL_RDMA, RDMA_INLINE, 99, 99, false },
		{ SOL_RDMA, RDMA_IOMAPSIZE, 128, 128, false },
		{ SOL_RDMA, RDMA_IOMAPSIZE, 129, 128, false },
		{ SOL_RDMA, RDMA_IOMAPSIZE, 513, 512, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		it.told = 0;
		assert_int_equal(option_set(rows[i].level, rows[i].name, rows[i].value), 0);
		assert_int_equal(it.told, rows[i].is_told);
		if (it.told) {
			assert_int_equal(it.told_level, rows[i].level);
			assert_int_equal(it.told_name, rows[i].name);
		}
		if (option_get(rows[i].level, rows[i].name) != rows[i].want)
			fail_msg("row %u: %d", i, option_get(rows[i].level, rows[i].name));
	}
}

static void some_options_are_only_read(void **state)
{
	(void)state;
	it.error = ECONNRESET;
	assert_int_equal(option_get(SOL_SOCKET, SO_ERROR), ECONNRESET);
	assert_int_equal(option_get(SOL_SOCKET, SO_ERROR), 0);
	assert_int_equal(option_get(SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	assert_int_equal(option_get(SOL_SOCKET, SO_DOMAIN), AF_INET);
	assert_int_equal(option_get(SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
	assert_int_equal(option_get(IPPROTO_IP, IP_TOS), 0);
	it.segment = 1440;
	assert_int_equal(option_get(IPPROTO_TCP, TCP_MAXSEG), 1440);
	it.kind = (struct rs_kind){ .option_set = NULL };
	it.error = EIO;
	assert_int_equal(option_get(SOL_SOCKET, SO_ERROR), 0);
	assert_int_equal(option_get(IPPROTO_TCP, TCP_MAXSEG), 2048);
	it.rs.type = SOCK_DGRAM;
	assert_int_equal(option_get(SOL_SOCKET, SO_PROTOCOL), IPPROTO_UDP);
	it.rs.type = SOCK_STREAM;
	assert_int_equal(option_set(SOL_SOCKET, SO_TYPE, 1), EOPNOTSUPP);
	assert_int_equal(option_set(SOL_SOCKET, SO_ERROR, 1), EOPNOTSUPP);
}

/* The kind sets is_sound while there is no error, so that SO_ERROR takes no lock and no system
 * call. */
static void a_sound_socket_is_not_asked_for_its_error(void **state)
{
	int value = -1;
	socklen_t len = sizeof(value);

	(void)state;
	it.rs.is_sound = true;
	it.error = ECONNRESET;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_ERROR, &value, &len), 0);
	assert_int_equal(value, 0);
	assert_int_equal(it.error, ECONNRESET);
	it.rs.is_sound = false;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_ERROR, &value, &len), 0);
	assert_int_equal(value, ECONNRESET);
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_ERROR, &value, &len), 0);
	assert_int_equal(value, 0);
}

/* Another thread may be connecting the socket, which makes its queues under the lock. So the
 * number is set, and the queues are asked for, under it. */
static void sizes_are_set_while_no_queues_can_come(void **state)
{
	static const int names[] = { RDMA_SQSIZE, RDMA_RQSIZE, RDMA_INLINE, RDMA_IOMAPSIZE };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		it.has_queues = false;
		it.asked_unlocked = 0;
		assert_int_equal(option_set(SOL_RDMA, names[i], 256), 0);
		assert_int_equal(it.asked_unlocked, 0);
		it.has_queues = true;
		assert_int_equal(option_set(SOL_RDMA, names[i], 512), EINVAL);
		assert_int_equal(option_get(SOL_RDMA, names[i]), 256);
		assert_true(cm_lock_try(&it.rs.lock));
		cm_lock_drop(&it.rs.lock);
	}
}

static void a_kind_without_an_ear_is_not_told(void **state)
{
	(void)state;
	it.kind.option_set = NULL;
	assert_int_equal(option_set(SOL_RDMA, RDMA_SQSIZE, 3), 0);
	assert_int_equal(option_get(SOL_RDMA, RDMA_SQSIZE), 3);
	it.kind.has_queues = NULL;
	assert_int_equal(option_set(SOL_SOCKET, SO_SNDBUF, 5000), 0);
	assert_int_equal(option_get(SOL_SOCKET, SO_SNDBUF), 10000);
}

static void what_the_kind_refuses_stays_as_it_was(void **state)
{
	(void)state;
	assert_int_equal(option_set(IPPROTO_IPV6, IPV6_V6ONLY, 1), 0);
	it.refusal = EINVAL;
	assert_int_equal(option_set(IPPROTO_IPV6, IPV6_V6ONLY, 0), EINVAL);
	assert_int_equal(option_get(IPPROTO_IPV6, IPV6_V6ONLY), 1);
	it.refusal = EACCES;
	assert_int_equal(option_set(SOL_SOCKET, SO_KEEPALIVE, 1), EACCES);
	assert_int_equal(option_get(SOL_SOCKET, SO_KEEPALIVE), 0);
	assert_int_equal(option_set(SOL_RDMA, RDMA_RQSIZE, 7), 0); /* the kind is not told */
}

/* The default idle time is the system's. */
static void keepalive_has_an_idle_time(void **state)
{
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_keepalive_time", "re");
	int want = 7200;

	(void)state;
	if (file) {
		assert_int_equal(fscanf(file, "%d", &want), 1);
		fclose(file);
	}
	assert_int_equal(option_set(SOL_SOCKET, SO_KEEPALIVE, 0), 0);
	assert_int_equal(option_get(IPPROTO_TCP, TCP_KEEPIDLE), 0);
	assert_int_equal(option_set(SOL_SOCKET, SO_KEEPALIVE, 1), 0);
	assert_int_equal(option_get(IPPROTO_TCP, TCP_KEEPIDLE), want);
	it.told = 0;
	assert_int_equal(option_set(IPPROTO_TCP, TCP_KEEPIDLE, 5), 0);
	assert_int_equal(it.told, 1);
	assert_int_equal(option_set(SOL_SOCKET, SO_KEEPALIVE, 1), 0);
	assert_int_equal(option_get(IPPROTO_TCP, TCP_KEEPIDLE), 5);
	assert_int_equal(option_set(IPPROTO_TCP, TCP_KEEPIDLE, 0), EINVAL);
	assert_int_equal(option_set(IPPROTO_TCP, TCP_KEEPIDLE, -1), EINVAL);
	assert_int_equal(option_get(IPPROTO_TCP, TCP_KEEPIDLE), 5);
	assert_int_equal(option_set(SOL_SOCKET, SO_KEEPALIVE, 0), 0);
	it.told = 0;
	assert_int_equal(option_set(IPPROTO_TCP, TCP_KEEPIDLE, 6), 0);
	assert_int_equal(it.told, 0);
}

static void queues_that_exist_keep_their_sizes(void **state)
{
	(void)state;
	option_set(SOL_SOCKET, SO_SNDBUF, 5000);
	option_set(SOL_SOCKET, SO_RCVBUF, 600);
	option_set(SOL_RDMA, RDMA_SQSIZE, 3);
	it.has_queues = true;
	assert_int_equal(option_set(SOL_SOCKET, SO_SNDBUF, 6000), 0);
	assert_int_equal(option_set(SOL_SOCKET, SO_RCVBUF, 700), 0);
	assert_int_equal(option_get(SOL_SOCKET, SO_SNDBUF), 10000);
	assert_int_equal(option_get(SOL_SOCKET, SO_RCVBUF), 1200);
	assert_int_equal(option_set(SOL_RDMA, RDMA_SQSIZE, 4), EINVAL);
	assert_int_equal(option_get(SOL_RDMA, RDMA_SQSIZE), 3);
	assert_int_equal(option_set(IPPROTO_TCP, TCP_NODELAY, 1), 0);
}

static void calls_are_refused(void **state)
{
	int value = 1;
	socklen_t len = sizeof(value);

	(void)state;
	errno = 0;
	assert_int_equal(rsetsockopt(SOCKET + 1, SOL_SOCKET, SO_SNDBUF, &value, len), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(rgetsockopt(SOCKET + 1, SOL_SOCKET, SO_SNDBUF, &value, &len), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_SNDBUF, NULL, len), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_SNDBUF, NULL, &len), -1);
	assert_int_equal(errno, EFAULT);
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_SNDBUF, &value, NULL), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_SNDBUF, &value, len - 1), -1);
	assert_int_equal(errno, EINVAL);
	len = -1;
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_SNDBUF, &value, &len), -1);
	assert_int_equal(errno, EINVAL);
	len = sizeof(value);
	assert_int_equal(option_set(IPPROTO_IPV6, IPV6_TCLASS, 0x100), EINVAL);
	assert_int_equal(option_set(IPPROTO_IPV6, IPV6_TCLASS, -2), EINVAL);
	assert_int_equal(option_set(SOL_SOCKET, SO_BROADCAST, 1), EOPNOTSUPP);
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_BROADCAST, &value, &len), -1);
	assert_int_equal(errno, EOPNOTSUPP);
}

static void linger_is_a_structure(void **state)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 7 }, got = { 0 };
	socklen_t len = sizeof(linger);

	(void)state;
	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_LINGER, &linger, len), 0);
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, SO_LINGER, &got, &len), 0);
	assert_int_equal(got.l_onoff, 1);
	assert_int_equal(got.l_linger, 7);
	errno = 0;
	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_LINGER, &linger, len - 1), -1);
	assert_int_equal(errno, EINVAL);
}

static void linger_set(int on, int seconds)
{
	const struct linger linger = { .l_onoff = on, .l_linger = seconds };

	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	assert_int_equal(it.rs.options.linger.l_onoff, on != 0);
	assert_int_equal(it.rs.options.linger.l_linger, seconds);
}

/* The default reads {1, 0}, and a close waits: programs write back what they have read. */
static void a_linger_time_of_0_aborts_unless_it_is_the_default(void **state)
{
	(void)state;
	it.rs.options.linger = (struct linger){ .l_onoff = 1 };
	linger_set(1, 0);
	assert_false(it.rs.options.aborts);
	linger_set(2, 0);
	assert_false(it.rs.options.aborts);
	linger_set(0, 0);
	assert_false(it.rs.options.aborts);
	linger_set(1, 0);
	assert_true(it.rs.options.aborts);
	linger_set(-1, 0);
	assert_true(it.rs.options.aborts);
	linger_set(1, 3);
	assert_false(it.rs.options.aborts);
}

struct room {
	uint8_t bytes[8];
	socklen_t len;
};

static struct room get_into(int level, int name, socklen_t len)
{
	struct room room = { .len = len };

	memset(room.bytes, 0x5a, sizeof(room.bytes));
	assert_int_equal(rgetsockopt(SOCKET, level, name, room.bytes, &room.len), 0);
	return room;
}

static void an_option_of_ip_may_be_one_byte(void **state)
{
	const uint8_t tos[4] = { 0x48, 0xff, 0xff, 0xff };
	struct room room;

	(void)state;
	for (socklen_t len = 1; len < 4; len++) {
		it.rs.options.ip_tos = 0;
		assert_int_equal(rsetsockopt(SOCKET, IPPROTO_IP, IP_TOS, tos, len), 0);
		assert_int_equal(it.rs.options.ip_tos, 0x48);
		room = get_into(IPPROTO_IP, IP_TOS, len);
		assert_int_equal(room.len, 1);
		assert_memory_equal(room.bytes, "\x48\x5a\x5a", 3);
	}
	assert_int_equal(rsetsockopt(SOCKET, IPPROTO_IP, IP_TOS, tos, 0), 0);
	assert_int_equal(it.rs.options.ip_tos, 0);
	assert_int_equal(get_into(IPPROTO_IP, IP_TOS, 0).len, 0);
	assert_int_equal(rsetsockopt(SOCKET, IPPROTO_IPV6, IPV6_TCLASS, tos, 1), -1);
	assert_int_equal(errno, EINVAL);
}

static void a_value_is_cut_to_the_room_for_it(void **state)
{
	const struct linger linger = { .l_onoff = 0x0201, .l_linger = 0x0403 };
	struct room room;

	(void)state;
	it.rs.flags.tx_size = 0x01020304;
	room = get_into(SOL_SOCKET, SO_SNDBUF, 3);
	assert_int_equal(room.len, 3);
	assert_memory_equal(room.bytes, &it.rs.flags.tx_size, 3);
	assert_int_equal(room.bytes[3], 0x5a);
	it.rs.options.linger = linger;
	room = get_into(SOL_SOCKET, SO_LINGER, 7);
	assert_int_equal(room.len, 7);
	assert_memory_equal(room.bytes, &linger, 7);
	assert_int_equal(room.bytes[7], 0x5a);
}

static int limit_set(int name, time_t seconds, suseconds_t us)
{
	const struct timeval time = { seconds, us };

	return rsetsockopt(SOCKET, SOL_SOCKET, name, &time, sizeof(time)) ? errno : 0;
}

static void a_limit_is_a_time(void **state)
{
	static const struct {
		time_t seconds, got_seconds;
		suseconds_t us, got_us;
		int64_t kept;
		int error;
	} rows[] = {
		{ 2, 2, 30, 30, 2000030, 0 }, { 0, 0, 1, 1, 1, 0 },
		{ 0, 0, 0, 0, 0, 0 },         { -1, 0, 5, 0, -1, 0 },
		{ INT64_MAX, 0, 5, 0, 0, 0 }, { 1, 0, 1000000, 0, 77, EDOM },
		{ 1, 0, -1, 0, 77, EDOM },    { 1, 1, 999999, 999999, 1999999, 0 },
	};
	static const int names[] = { SO_RCVTIMEO, SO_SNDTIMEO };
	int64_t *kept[] = { &it.rs.options.receive_limit_us, &it.rs.options.send_limit_us };
	struct timeval got;
	socklen_t len;

	(void)state;
	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++)
		for (int k = 0; k < 2; k++)
			for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
				it.rs.type = type;
				*kept[k] = 77;
				assert_int_equal(limit_set(names[k], rows[i].seconds, rows[i].us),
						 rows[i].error);
				assert_int_equal(*kept[k], rows[i].kept);
				len = sizeof(got) + 8;
				assert_int_equal(
					rgetsockopt(SOCKET, SOL_SOCKET, names[k], &got, &len), 0);
				assert_int_equal(len, sizeof(got));
				if (rows[i].error)
					continue;
				assert_int_equal(got.tv_sec, rows[i].got_seconds);
				assert_int_equal(got.tv_usec, rows[i].got_us);
			}
	assert_int_equal(rsetsockopt(SOCKET, SOL_SOCKET, SO_RCVTIMEO, &got, sizeof(got) - 1), -1);
	assert_int_equal(errno, EINVAL);
}

static void a_route_is_a_list_of_paths(void **state)
{
	struct ibv_path_data route[2], got[2];
	socklen_t len = sizeof(got);

	(void)state;
	memset(route, 0x33, sizeof(route));
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, got, &len), -1);
	assert_int_equal(errno, ENODATA);
	assert_int_equal(rsetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, route, 0), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_int_equal(rsetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, route, sizeof(route[0]) + 1),
			 -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rsetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, route, sizeof(route[0])), 0);
	assert_int_equal(rsetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, route, sizeof(route)), 0);
	assert_int_equal(rgetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, got, &len), 0);
	assert_int_equal(len, sizeof(route));
	assert_memory_equal(got, route, sizeof(route));
	len = sizeof(route) - 1;
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, got, &len), -1);
	assert_int_equal(errno, EINVAL);
	len = sizeof(route[0]) - 1;
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_RDMA, RDMA_ROUTE, got, &len), -1);
	assert_int_equal(errno, EINVAL);
}

/* Other options go to the UDP socket, which does not exist here: its errno shows. */
static void options_of_datagrams_are_the_udp_sockets(void **state)
{
	static const struct {
		int level, name, domain;
		bool is_kept;
	} rows[] = {
		{ SOL_SOCKET, SO_SNDBUF, AF_INET, true },
		{ SOL_SOCKET, SO_RCVBUF, AF_INET, true },
		{ SOL_SOCKET, SO_REUSEADDR, AF_INET, true },
		{ SOL_SOCKET, SO_KEEPALIVE, AF_INET, true },
		{ SOL_SOCKET, SO_OOBINLINE, AF_INET, true },
		{ SOL_SOCKET, SO_BROADCAST, AF_INET, false },
		{ IPPROTO_TCP, TCP_NODELAY, AF_INET, false },
		{ IPPROTO_IP, IP_TOS, AF_INET, true },
		{ IPPROTO_IP, IP_TTL, AF_INET, false },
		{ IPPROTO_IPV6, IPV6_TCLASS, AF_INET6, true },
		{ IPPROTO_IPV6, IPV6_V6ONLY, AF_INET6, true },
		{ IPPROTO_IPV6, IPV6_TCLASS, AF_INET, false },
		{ IPPROTO_IPV6, IPV6_V6ONLY, AF_INET, false },
		{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, AF_INET6, false },
		{ SOL_RDMA, RDMA_INLINE, AF_INET, true },
	};

	(void)state;
	it.rs.type = SOCK_DGRAM;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		it.rs.domain = rows[i].domain;
		if (option_set(rows[i].level, rows[i].name, 1) != (rows[i].is_kept ? 0 : EBADF))
			fail_msg("row %u", i);
	}
}

static void a_udp_socket_takes_its_options(void **state)
{
	socklen_t len = sizeof(int);
	int value = 0;

	(void)state;
	it.rs.type = SOCK_DGRAM;
	it.rs.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(it.rs.fd >= 0);
	assert_int_equal(option_set(SOL_SOCKET, SO_BROADCAST, 1), 0);
	assert_int_equal(getsockopt(it.rs.fd, SOL_SOCKET, SO_BROADCAST, &value, &len), 0);
	assert_int_equal(value, 1);
	assert_int_equal(option_get(SOL_SOCKET, SO_BROADCAST), 1);
	assert_int_equal(option_set(IPPROTO_IP, IP_TTL, 9), 0);
	assert_int_equal(option_get(IPPROTO_IP, IP_TTL), 9);
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, SOL_SOCKET, 9999, &value, &len), -1);
	assert_int_equal(errno, ENOPROTOOPT);
	errno = 0;
	assert_int_equal(rgetsockopt(SOCKET, IPPROTO_TCP, TCP_CORK, &value, &len), -1);
	assert_int_equal(errno, EOPNOTSUPP);
	close(it.rs.fd);
}

/* The library keeps only these options for datagram sockets. */
static void few_options_are_kept_for_datagrams(void **state)
{
	static const int levels[] = { SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP };
	static const struct {
		int level, name;
	} kept[] = { { SOL_SOCKET, SO_SNDBUF },     { SOL_SOCKET, SO_RCVBUF },
		     { SOL_SOCKET, SO_REUSEADDR },  { SOL_SOCKET, SO_KEEPALIVE },
		     { SOL_SOCKET, SO_OOBINLINE },  { IPPROTO_IP, IP_TOS },
		     { IPPROTO_IPV6, IPV6_TCLASS }, { IPPROTO_IPV6, IPV6_V6ONLY } };
	bool want;

	(void)state;
	it.rs.domain = AF_INET6;
	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++)
		for (int name = -1; name < 200; name++) {
			want = false;
			for (unsigned int k = 0; k < ARRAY_SIZE(kept); k++)
				want |= kept[k].level == levels[i] && kept[k].name == name;
			if (is_of_datagrams(&it.rs, levels[i], name) != want)
				fail_msg("level %d, option %d", levels[i], name);
		}
	assert_true(is_of_datagrams(&it.rs, SOL_RDMA, 77));
	it.rs.domain = AF_INET;
	assert_false(is_of_datagrams(&it.rs, IPPROTO_IPV6, IPV6_TCLASS));
	assert_true(is_of_datagrams(&it.rs, IPPROTO_IP, IP_TOS));
}

#define OPTION_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_socket, close_socket)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTION_TEST(each_option_keeps_what_it_is_set_to),
		OPTION_TEST(some_options_are_only_read),
		OPTION_TEST(a_sound_socket_is_not_asked_for_its_error),
		OPTION_TEST(sizes_are_set_while_no_queues_can_come),
		OPTION_TEST(a_kind_without_an_ear_is_not_told),
		OPTION_TEST(what_the_kind_refuses_stays_as_it_was),
		OPTION_TEST(keepalive_has_an_idle_time),
		OPTION_TEST(queues_that_exist_keep_their_sizes),
		OPTION_TEST(calls_are_refused),
		OPTION_TEST(linger_is_a_structure),
		OPTION_TEST(a_linger_time_of_0_aborts_unless_it_is_the_default),
		OPTION_TEST(an_option_of_ip_may_be_one_byte),
		OPTION_TEST(a_value_is_cut_to_the_room_for_it),
		OPTION_TEST(a_limit_is_a_time),
		OPTION_TEST(a_route_is_a_list_of_paths),
		OPTION_TEST(options_of_datagrams_are_the_udp_sockets),
		OPTION_TEST(few_options_are_kept_for_datagrams),
		OPTION_TEST(a_udp_socket_takes_its_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
