/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.c - rsetsockopt() and rgetsockopt(). A table has the options with numeric values, most of
 * which are stored in struct rs_options.
 *
 * Buffer sizes are doubled when they are set, as in Linux. Options that size the queues must be set
 * before the socket connects.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/rs.h"
#include "librdmacm/rsocket/wire.h"

#include <fcntl.h>
#include <infiniband/sa.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MIN_TX = 4096, MAX_WR = 0xfffe, MSS = 2048, DEFAULT_IDLE = 7200, MAX_LIMIT = INT_MAX };

enum option_way {
	SHIELDED, /* may be a cancellation point, so cancellation is disabled */
	LOCKED,   /* set() only accesses memory, under the socket's lock; get() needs no lock */
	ATOMIC,   /* set() and get() only access memory, without a lock; set() takes each value */
};

struct option {
	int (*set)(struct rs *rs, int value);
	int (*get)(struct rs *rs);
	/* Fast path of rsetsockopt() for an int of a stream; returns the call's result. NULL:
	 * none. */
	int (*quick)(struct rs *rs, int value);
	enum option_way way;
	bool tell; /* the socket's option_set() is called after set(), and may refuse the value */
};

static int __attribute__((noinline))
set_slowly(struct rs *rs, int level, int name, const void *value, socklen_t len);

#define FLAG(field)                                      \
	static int set_##field(struct rs *rs, int value) \
	{                                                \
		rs_flag_set(&rs->flags.field, value);    \
		return 0;                                \
	}                                                \
	static int get_##field(struct rs *rs)            \
	{                                                \
		return rs_flag(&rs->flags.field);        \
	}

FLAG(reuse_addr)
FLAG(v6_only)
FLAG(no_delay)
FLAG(oob_inline)

/* ---- sizes ---- */

static int double_size(int value)
{
	return value > (1 << 29) ? 1 << 30 : value * 2;
}

static bool has_queues(struct rs *rs)
{
	return rs->kind->has_queues && rs->kind->has_queues(rs);
}

/* Sets the size of the send buffer. If it is too late, ignores the value, as sockets do. */
static int set_tx(struct rs *rs, int value)
{
	if (!has_queues(rs))
		rs_number_set(&rs->flags.tx_size, value < MIN_TX / 2 ? MIN_TX : double_size(value));
	return 0;
}

static int get_tx(struct rs *rs)
{
	return rs_number(&rs->flags.tx_size);
}

static int set_rx(struct rs *rs, int value)
{
	if (!has_queues(rs))
		rs_number_set(&rs->flags.rx_size, value < 0 ? 0 : double_size(value));
	return 0;
}

static int get_rx(struct rs *rs)
{
	return rs_number(&rs->flags.rx_size);
}

static unsigned int clip_count(int value)
{
	return (unsigned int)value < MAX_WR ? (unsigned int)value : MAX_WR;
}

/* Stores a size, or returns EINVAL if the queues exist. A socket gets its queues under the lock,
 * which the caller holds, so they cannot appear meanwhile. */
static int set_size(struct rs *rs, unsigned int *size, unsigned int value)
{
	if (has_queues(rs))
		return EINVAL;
	*size = value;
	return 0;
}

#define SIZE(field, fitted)                                      \
	static int set_##field(struct rs *rs, int value)         \
	{                                                        \
		return set_size(rs, &rs->options.field, fitted); \
	}                                                        \
	static int quick_##field(struct rs *rs, int value)       \
	{                                                        \
		int ret;                                         \
                                                                 \
		cm_lock_take(&rs->lock);                         \
		ret = set_##field(rs, value);                    \
		cm_lock_drop(&rs->lock);                         \
		return cma_return(ret);                          \
	}                                                        \
	static int get_##field(struct rs *rs)                    \
	{                                                        \
		return (int)rs->options.field;                   \
	}

SIZE(sq_size, clip_count(value))
SIZE(rq_size, clip_count(value))
SIZE(inline_size, clip_count(value))
SIZE(mappings, rdmacm_wire_count_unscale(rdmacm_wire_count_scale(value)))

/* ---- other numbers ---- */

/* Reads the system's idle time. Not by stdio, which would take ten times the instructions. */
static int keepalive_default(void)
{
	const int fd = open("/proc/sys/net/ipv4/tcp_keepalive_time", O_RDONLY | O_CLOEXEC);
	ssize_t size = -1;
	char text[12], *end = text;
	long seconds;

	if (fd >= 0) {
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[size > 0 ? size : 0] = '\0';
	seconds = strtol(text, &end, 10);
	return end != text && seconds > 0 && seconds <= INT_MAX ? (int)seconds : DEFAULT_IDLE;
}

static int set_keepalive(struct rs *rs, int value)
{
	rs->options.keepalive = !!value;
	if (value && !rs->options.keepalive_idle)
		rs->options.keepalive_idle = keepalive_default();
	return 0;
}

static int get_keepalive(struct rs *rs)
{
	return rs->options.keepalive;
}

static int set_idle(struct rs *rs, int value)
{
	if (value <= 0)
		return EINVAL;
	rs->options.keepalive_idle = value;
	return 0;
}

/* Stores the idle time at once if keepalive is off, so that the time has no effect yet. Otherwise
 * takes the slow path, which informs the socket's kind by option_set(). */
static int quick_idle(struct rs *rs, int value)
{
	int ret = EAGAIN;

	cm_lock_take(&rs->lock);
	if (!rs->options.keepalive)
		ret = set_idle(rs, value);
	cm_lock_drop(&rs->lock);
	return ret == EAGAIN ? set_slowly(rs, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof(value))
			     : cma_return(ret);
}

static int get_idle(struct rs *rs)
{
	return rs->options.keepalive_idle;
}

/* Ignores the value, because the transport retransmits by itself, with parameters fixed at
 * connection setup. */
static int set_ignored(struct rs *rs, int value)
{
	(void)rs;
	(void)value;
	return 0;
}

static int get_one(struct rs *rs)
{
	(void)rs;
	return 1;
}

static int get_mss(struct rs *rs)
{
	int size = rs->kind->segment_size ? rs->kind->segment_size(rs) : 0;

	return size ? size : MSS;
}

static int __attribute__((noinline)) look_for_error(struct rs *rs)
{
	int error = 0;

	rdmacm_rs_shield();
	if (rs->kind->error)
		error = rs->kind->error(rs);
	rdmacm_rs_unshield();
	return error;
}

static int get_error(struct rs *rs)
{
	return rs_flag(&rs->is_sound) ? 0 : look_for_error(rs);
}

static int get_listening(struct rs *rs)
{
	return rs->kind->is_listening && rs->kind->is_listening(rs);
}

static int get_type(struct rs *rs)
{
	return rs->type;
}

static int get_domain(struct rs *rs)
{
	return rs->domain;
}

static int get_protocol(struct rs *rs)
{
	return rs->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
}

/* Sets the TOS. A stream's ECN bits belong to the transport, as with TCP. */
static int set_tos(struct rs *rs, int value)
{
	rs->options.ip_tos = value & (rs->type == SOCK_STREAM ? 0xfc : 0xff);
	return 0;
}

static int set_class(struct rs *rs, int value)
{
	if (value < -1 || value > 0xff)
		return EINVAL;
	return set_tos(rs, value < 0 ? 0 : value);
}

static int get_tos(struct rs *rs)
{
	return rs->options.ip_tos < 0 ? 0 : rs->options.ip_tos;
}

static const struct option of_socket[] = {
	[SO_SNDBUF] = { set_tx, get_tx, set_tx, ATOMIC, false },
	[SO_RCVBUF] = { set_rx, get_rx, set_rx, ATOMIC, false },
	[SO_REUSEADDR] = { set_reuse_addr, get_reuse_addr, set_reuse_addr, ATOMIC, false },
	[SO_KEEPALIVE] = { set_keepalive, get_keepalive, NULL, SHIELDED, true },
	[SO_OOBINLINE] = { set_oob_inline, get_oob_inline, set_oob_inline, ATOMIC, false },
	[SO_ERROR] = { NULL, get_error, NULL, LOCKED, false },
	[SO_ACCEPTCONN] = { NULL, get_listening, NULL, LOCKED, false },
	[SO_TYPE] = { NULL, get_type, NULL, LOCKED, false },
	[SO_DOMAIN] = { NULL, get_domain, NULL, LOCKED, false },
	[SO_PROTOCOL] = { NULL, get_protocol, NULL, LOCKED, false },
};

static const struct option of_tcp[] = {
	[TCP_NODELAY] = { set_no_delay, get_no_delay, set_no_delay, ATOMIC, false },
	[TCP_MAXSEG] = { set_ignored, get_mss, NULL, SHIELDED, false },
	[TCP_KEEPIDLE] = { set_idle, get_idle, quick_idle, LOCKED, true },
	[TCP_KEEPINTVL] = { set_ignored, get_one, NULL, LOCKED, false },
	[TCP_KEEPCNT] = { set_ignored, get_one, NULL, LOCKED, false },
};

static const struct option of_ip[] = {
	[IP_TOS] = { set_tos, get_tos, NULL, LOCKED, false },
};

static const struct option of_ipv6[] = {
	[IPV6_V6ONLY] = { set_v6_only, get_v6_only, NULL, SHIELDED, true },
	[IPV6_TCLASS] = { set_class, get_tos, NULL, LOCKED, false },
};

static const struct option of_rdma[] = {
	[RDMA_SQSIZE] = { set_sq_size, get_sq_size, quick_sq_size, LOCKED, false },
	[RDMA_RQSIZE] = { set_rq_size, get_rq_size, quick_rq_size, LOCKED, false },
	[RDMA_INLINE] = { set_inline_size, get_inline_size, quick_inline_size, LOCKED, false },
	[RDMA_IOMAPSIZE] = { set_mappings, get_mappings, quick_mappings, LOCKED, false },
};

static const struct option no_option;

static inline const struct option *option_at(const struct option *options, size_t count, int name)
{
	return name >= 0 && (size_t)name < count ? &options[name] : &no_option;
}

/* Returns the option, or an entry without functions if there is none. */
static inline const struct option *option_of(int level, int name)
{
	if (level == SOL_SOCKET)
		return option_at(of_socket, ARRAY_SIZE(of_socket), name);
	if (level == IPPROTO_TCP)
		return option_at(of_tcp, ARRAY_SIZE(of_tcp), name);
	if (level == IPPROTO_IP)
		return option_at(of_ip, ARRAY_SIZE(of_ip), name);
	if (level == IPPROTO_IPV6)
		return option_at(of_ipv6, ARRAY_SIZE(of_ipv6), name);
	return level == SOL_RDMA ? option_at(of_rdma, ARRAY_SIZE(of_rdma), name) : &no_option;
}

/* ---- options that are not numbers ---- */

/* Copies as much of a value as fits, as sockets do, so that programs with an older struct work. */
static int hand_out_part(const void *from, size_t size, void *value, socklen_t *len)
{
	if (*len > INT_MAX)
		return EINVAL;
	if (*len > size)
		*len = size;
	memcpy(value, from, *len);
	return 0;
}

static int64_t *limit_of(struct rs *rs, int level, int name)
{
	if (level != SOL_SOCKET)
		return NULL;
	return name == SO_RCVTIMEO   ? &rs->options.receive_limit_us
	       : name == SO_SNDTIMEO ? &rs->options.send_limit_us
				     : NULL;
}

/* Sets a time limit. As for sockets, zero means no limit, and a negative time means not to wait. */
static int set_limit(struct rs *rs, int64_t *limit_us, const void *value, socklen_t len)
{
	struct timeval time;
	int64_t us;

	if (len < sizeof(time))
		return EINVAL;
	memcpy(&time, value, sizeof(time));
	if (time.tv_usec < 0 || time.tv_usec >= 1000000)
		return EDOM;
	us = time.tv_sec > MAX_LIMIT ? 0 : time.tv_sec * 1000000LL + time.tv_usec;
	cm_lock_take(&rs->lock);
	*limit_us = time.tv_sec < 0 ? -1 : us;
	cm_lock_drop(&rs->lock);
	return 0;
}

static int get_limit(int64_t limit_us, void *value, socklen_t *len)
{
	struct timeval time = { 0 };

	if (limit_us > 0)
		time = (struct timeval){ limit_us / 1000000, limit_us % 1000000 };
	return hand_out_part(&time, sizeof(time), value, len);
}

/* Sets the linger time. The default is {1, 0}, but a close waits nevertheless, as in release 65.0.
 * Writing back the default that was read changes nothing; {1, 0} after another value aborts. */
static int __attribute__((noinline)) set_linger(struct rs *rs, const void *value, socklen_t len)
{
	struct linger linger;

	if (len < sizeof(linger))
		return cma_return(EINVAL);
	memcpy(&linger, value, sizeof(linger));
	linger.l_onoff = linger.l_onoff != 0; /* as Linux reads it back */
	cm_lock_take(&rs->lock);
	if (memcmp(&rs->options.linger, &linger, sizeof(linger))) {
		rs->options.linger = linger;
		rs->options.aborts = linger.l_onoff && !linger.l_linger;
	}
	cm_lock_drop(&rs->lock);
	return 0;
}

static int set_route(struct rs *rs, const void *value, socklen_t len)
{
	void *copy;

	if (!len || len % sizeof(struct ibv_path_data))
		return EINVAL;
	copy = malloc(len);
	if (!copy)
		return ENOMEM;
	memcpy(copy, value, len);
	cm_lock_take(&rs->lock);
	free(rs->options.route);
	rs->options.route = copy;
	rs->options.route_size = len;
	cm_lock_drop(&rs->lock);
	return 0;
}

static int hand_out(const void *from, size_t size, void *value, socklen_t *len)
{
	if (*len < size)
		return EINVAL;
	memcpy(value, from, size);
	*len = size;
	return 0;
}

static int get_route(struct rs *rs, void *value, socklen_t *len)
{
	if (*len < sizeof(struct ibv_path_data))
		return EINVAL;
	if (!rs->options.route)
		return ENODATA;
	return hand_out(rs->options.route, rs->options.route_size, value, len);
}

/* ---- the calls ---- */

/* Calls option_set() of the kind. If it refuses, restores only this option's old value, because
 * others may have changed meanwhile. */
static int __attribute__((noinline))
tell_kind(struct rs *rs, const struct option *option, int level, int name, int before)
{
	int ret;

	if (option->way != SHIELDED)
		rdmacm_rs_shield();
	ret = rs->kind->option_set(rs, level, name);
	if (option->way != SHIELDED)
		rdmacm_rs_unshield();
	if (ret) {
		cm_lock_take(&rs->lock);
		option->set(rs, before);
		cm_lock_drop(&rs->lock);
	}
	return ret;
}

/* Reads a number. IP options may be one byte, or empty, which means 0. Returns false if the value
 * is too short. */
static bool read_number(int level, const void *value, socklen_t len, int *number)
{
	if (len >= sizeof(*number) && len <= INT_MAX)
		memcpy(number, value, sizeof(*number));
	else if (len < sizeof(*number) && level == IPPROTO_IP)
		*number = len ? *(const uint8_t *)value : 0;
	else
		return false;
	return true;
}

/* Hands out a number. As Linux does, an IP option with room for less than an int gets one byte, if
 * the number fits. */
static int hand_out_number(int level, int number, void *value, socklen_t *len)
{
	uint8_t byte = number;

	if (level != IPPROTO_IP || !*len || *len >= sizeof(number) || byte != number)
		return hand_out_part(&number, sizeof(number), value, len);
	*len = sizeof(byte);
	memcpy(value, &byte, sizeof(byte));
	return 0;
}

static bool has_effect(const struct rs *rs, const struct option *option)
{
	return option->tell && rs->kind->option_set &&
	       (option->set != set_idle || rs->options.keepalive);
}

static int set_and_tell(struct rs *rs, const struct option *option, int level, int name, int number)
{
	int before, ret;
	bool tells;

	cm_lock_take(&rs->lock);
	before = option->tell ? option->get(rs) : 0;
	ret = option->set(rs, number);
	tells = !ret && has_effect(rs, option);
	cm_lock_drop(&rs->lock);
	return tells ? tell_kind(rs, option, level, name, before) : ret;
}

static int set_number(struct rs *rs, const struct option *option, int level, int name,
		      const void *value, socklen_t len)
{
	int number, ret;

	if (!option->set)
		return EOPNOTSUPP;
	if (!read_number(level, value, len, &number))
		return EINVAL;
	if (option->way != SHIELDED)
		return set_and_tell(rs, option, level, name, number);
	rdmacm_rs_shield();
	ret = set_and_tell(rs, option, level, name, number);
	rdmacm_rs_unshield();
	return ret;
}

static int __attribute__((noinline)) get_shielded(struct rs *rs, const struct option *option)
{
	int number;

	rdmacm_rs_shield();
	number = option->get(rs);
	rdmacm_rs_unshield();
	return number;
}

/* Returns whether a datagram socket's option is stored here. All others are set on its UDP
 * socket. */
static bool is_of_datagrams(const struct rs *rs, int level, int name)
{
	static const int sockets[] = { SO_SNDBUF, SO_RCVBUF, SO_REUSEADDR, SO_KEEPALIVE,
				       SO_OOBINLINE };

	if (level == SOL_RDMA || (level == IPPROTO_IP && name == IP_TOS) ||
	    (level == IPPROTO_IPV6 && rs->domain == AF_INET6 &&
	     (name == IPV6_TCLASS || name == IPV6_V6ONLY)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
		if (level == SOL_SOCKET && name == sockets[i])
			return true;
	}
	return false;
}

static int set_option(struct rs *rs, int level, int name, const void *value, socklen_t len)
{
	const struct option *option = option_of(level, name);

	if (!value)
		return EFAULT;
	if (limit_of(rs, level, name))
		return set_limit(rs, limit_of(rs, level, name), value, len);
	if (level == SOL_RDMA && has_queues(rs))
		return EINVAL;
	if (level == SOL_RDMA && name == RDMA_ROUTE)
		return set_route(rs, value, len);
	if (rs->type == SOCK_DGRAM && !is_of_datagrams(rs, level, name))
		return setsockopt(rs->fd, level, name, value, len) ? errno : 0;
	return option->get ? set_number(rs, option, level, name, value, len) : EOPNOTSUPP;
}

static int set_slowly(struct rs *rs, int level, int name, const void *value, socklen_t len)
{
	return cma_return(set_option(rs, level, name, value, len));
}

static bool is_of_udp(int level)
{
	return level == SOL_SOCKET || level == IPPROTO_IP || level == IPPROTO_IPV6;
}

static bool is_in_parts(struct rs *rs, int level, int name)
{
	return (level == SOL_SOCKET && name == SO_LINGER) || limit_of(rs, level, name) ||
	       (level == SOL_RDMA && name == RDMA_ROUTE);
}

/* Gets an option of several words. The caller holds the lock, because another thread may be setting
 * the option. */
static int get_parts(struct rs *rs, int level, int name, void *value, socklen_t *len)
{
	if (level == SOL_RDMA)
		return get_route(rs, value, len);
	if (limit_of(rs, level, name))
		return get_limit(*limit_of(rs, level, name), value, len);
	return hand_out_part(&rs->options.linger, sizeof(rs->options.linger), value, len);
}

static int __attribute__((noinline))
get_other(struct rs *rs, int level, int name, void *value, socklen_t *len)
{
	int ret;

	if (is_in_parts(rs, level, name)) {
		cm_lock_take(&rs->lock);
		ret = get_parts(rs, level, name, value, len);
		cm_lock_drop(&rs->lock);
		return ret;
	}
	if (rs->type == SOCK_DGRAM && is_of_udp(level))
		return getsockopt(rs->fd, level, name, value, len) ? errno : 0;
	return EOPNOTSUPP;
}

static int __attribute__((noinline)) get_option(struct rs *rs, const struct option *option,
						int level, int name, void *value, socklen_t *len)
{
	if (!value || !len)
		return EFAULT;
	if (!option->get)
		return get_other(rs, level, name, value, len);
	return hand_out_number(level,
			       option->way == SHIELDED ? get_shielded(rs, option) : option->get(rs),
			       value, len);
}

CMA_EXPORT int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen)
{
	const struct option *option = option_of(level, optname);
	struct rs *rs = rs_find(socket);
	int number;

	if (!rs)
		return cma_return(EBADF);
	if (option->quick && optval && optlen == sizeof(number) && rs->type != SOCK_DGRAM) {
		memcpy(&number, optval, sizeof(number));
		return option->quick(rs, number);
	}
	if (level == SOL_SOCKET && optname == SO_LINGER && optval)
		return set_linger(rs, optval, optlen);
	return set_slowly(rs, level, optname, optval, optlen);
}

/* Has a fast path for an int that needs no system call. */
CMA_EXPORT int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen)
{
	const struct option *option = option_of(level, optname);
	struct rs *rs = rs_find(socket);
	int number;

	if (!rs)
		return cma_return(EBADF);
	if (option->way == SHIELDED || !optval || !optlen || *optlen != sizeof(number))
		return cma_return(get_option(rs, option, level, optname, optval, optlen));
	number = option->get(rs);
	memcpy(optval, &number, sizeof(number));
	return 0;
}
