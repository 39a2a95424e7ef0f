/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff.c - rsocket-diff [TOPIC...]: makes right and wrong calls of rsockets and prints their
 * results, to compare them with those of the distribution's library. Calls on which that library
 * crashes or hangs are left out. Where it contradicts sockets, facts.c tests our behaviour instead.
 *
 * Covers: librdmacm/rsocket/rs.c, librdmacm/rsocket/options.c, librdmacm/rsocket/io.c,
 * librdmacm/rsocket/stream/iomap.c, librdmacm/rsocket/stream/accept.c,
 * librdmacm/rsocket/stream/conn.c
 */
#include "tests/cm/cm.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <infiniband/sa.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/bits.h"

static void say_count(ssize_t ret, const char *fmt, ...) SAY_FORMAT(2);

static void say_count(ssize_t ret, const char *fmt, ...)
{
	int error = errno;
	char what[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (ret < 0)
		say("%s: %s", what, say_errno(error));
	else
		say("%s: %zd", what, ret);
}

#define SAY_COUNT(call, ...) (errno = 0, say_count((ssize_t)(call), __VA_ARGS__))

static int port = 21000;

static struct sockaddr_in loopback_at(int at)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(at) };

	addr.sin_addr.s_addr = inet_addr(cm_host());
	return addr;
}

static int new_socket(int type)
{
	int socket = rsocket(AF_INET, type, 0);

	MUST(socket >= 0);
	return socket;
}

/* Ends the socket, but does not close a datagram socket that has sent nothing: the distribution's
 * rclose() would not return. */
static void socket_end(int socket, int type)
{
	if (type == SOCK_STREAM)
		rclose(socket);
}

struct ends {
	int listener, client, server;
};

static void *accept_one(void *argument)
{
	struct ends *ends = argument;

	ends->server = raccept(ends->listener, NULL, NULL);
	return NULL;
}

static struct ends connect_ends(int mappings)
{
	struct ends ends = { .listener = new_socket(SOCK_STREAM),
			     .client = new_socket(SOCK_STREAM) };
	struct sockaddr_in addr = loopback_at(++port);
	pthread_t thread;

	MUST(!rsetsockopt(ends.listener, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)));
	MUST(!rsetsockopt(ends.client, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)));
	MUST(!rbind(ends.listener, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(ends.listener, 4));
	MUST(!pthread_create(&thread, NULL, accept_one, &ends));
	MUST(!rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)));
	pthread_join(thread, NULL);
	MUST(ends.server >= 0);
	return ends;
}

static void close_ends(struct ends *ends)
{
	rclose(ends->client);
	rclose(ends->server);
	rclose(ends->listener);
}

static void topic_sockets(void)
{
	static const int domains[] = { AF_INET, AF_INET6, AF_IB, AF_UNIX, AF_UNSPEC, 99 };
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, 0 };
	static const int protocols[] = { 0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP };
	int socket;

	for (size_t i = 0; i < ARRAY_SIZE(domains); i++)
		for (size_t k = 0; k < ARRAY_SIZE(types); k++)
			for (size_t m = 0; m < ARRAY_SIZE(protocols); m++) {
				errno = 0;
				socket = rsocket(domains[i], types[k], protocols[m]);
				say_ret(socket < 0 ? -1 : 0, "domain %d type %d protocol %d",
					domains[i], types[k], protocols[m]);
				if (socket >= 0)
					socket_end(socket, types[k]);
			}
}

static void topic_no_socket(void)
{
	static const int numbers[] = { -1, 0, 777, 70000 };
	struct sockaddr_in addr = loopback_at(1);
	socklen_t len = sizeof(addr);
	int value = 1;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		int n = numbers[i];

		/* left out, as the distribution's library reads beyond its table */
		if (n < 0 || n > 65535)
			continue;
		SAY_RET(rbind(n, (struct sockaddr *)&addr, len), "rbind of %d", n);
		SAY_RET(rlisten(n, 1), "rlisten of %d", n);
		SAY_RET(rconnect(n, (struct sockaddr *)&addr, len), "rconnect of %d", n);
		SAY_RET(raccept(n, NULL, NULL), "raccept of %d", n);
		SAY_RET(rshutdown(n, SHUT_RDWR), "rshutdown of %d", n);
		SAY_COUNT(rsend(n, "x", 1, 0), "rsend of %d", n);
		SAY_COUNT(rrecv(n, &value, 1, 0), "rrecv of %d", n);
		SAY_COUNT(rwrite(n, "x", 1), "rwrite of %d", n);
		SAY_COUNT(rread(n, &value, 1), "rread of %d", n);
		SAY_RET(rgetpeername(n, (struct sockaddr *)&addr, &len), "rgetpeername of %d", n);
		SAY_RET(rgetsockname(n, (struct sockaddr *)&addr, &len), "rgetsockname of %d", n);
		SAY_RET(rsetsockopt(n, SOL_SOCKET, SO_SNDBUF, &value, sizeof(value)),
			"rsetsockopt of %d", n);
		SAY_RET(rgetsockopt(n, SOL_SOCKET, SO_SNDBUF, &value, &len), "rgetsockopt of %d",
			n);
		SAY_RET(rfcntl(n, F_GETFL), "rfcntl of %d", n);
		SAY_COUNT(riomap(n, &value, 4, PROT_WRITE, 0, -1), "riomap of %d", n);
		SAY_RET(riounmap(n, &value, 4), "riounmap of %d", n);
		SAY_COUNT(riowrite(n, &value, 4, 0, 0), "riowrite of %d", n);
	}
}

struct option {
	const char *name;
	int level, number;
	bool is_no_number;
};

#define OPTION(level, name)               \
	{                                 \
#name, level, name, false \
	}
#define NO_NUMBER(level, name)           \
	{                                \
#name, level, name, true \
	}

static const struct option options[] = {
	OPTION(SOL_SOCKET, SO_SNDBUF),     OPTION(SOL_SOCKET, SO_RCVBUF),
	OPTION(SOL_SOCKET, SO_REUSEADDR),  OPTION(SOL_SOCKET, SO_KEEPALIVE),
	OPTION(SOL_SOCKET, SO_OOBINLINE),  OPTION(SOL_SOCKET, SO_ERROR),
	NO_NUMBER(SOL_SOCKET, SO_LINGER),  OPTION(SOL_SOCKET, SO_PRIORITY),
	OPTION(SOL_SOCKET, SO_BROADCAST),  OPTION(SOL_SOCKET, SO_RCVLOWAT),
	OPTION(IPPROTO_TCP, TCP_NODELAY),  OPTION(IPPROTO_TCP, TCP_MAXSEG),
	OPTION(IPPROTO_TCP, TCP_KEEPIDLE), OPTION(IPPROTO_TCP, TCP_KEEPINTVL),
	OPTION(IPPROTO_TCP, TCP_KEEPCNT),  OPTION(IPPROTO_TCP, TCP_CORK),
	OPTION(IPPROTO_TCP, TCP_INFO),     OPTION(IPPROTO_TCP, TCP_CONGESTION),
	OPTION(IPPROTO_IP, IP_TTL),        OPTION(IPPROTO_IPV6, IPV6_V6ONLY),
	OPTION(SOL_RDMA, RDMA_SQSIZE),     OPTION(SOL_RDMA, RDMA_RQSIZE),
	OPTION(SOL_RDMA, RDMA_INLINE),     OPTION(SOL_RDMA, RDMA_IOMAPSIZE),
	NO_NUMBER(SOL_RDMA, RDMA_ROUTE),   { "99 of SOL_RDMA", SOL_RDMA, 99, false },
	{ "of level 77", 77, 1, false },
};

/* no larger ones, as the distribution's counters overflow with them */
static const int values[] = { 0, 1, 2, 100, 129, 255, 256, 4096, 30000 };

static void get_option(int socket, const struct option *option, socklen_t size)
{
	union {
		int number;
		struct linger linger;
		char bytes[64];
	} value;
	socklen_t len = size;

	memset(&value, 0x5a, sizeof(value));
	if (SAY_RET(rgetsockopt(socket, option->level, option->number, &value, &len),
		    "get %s of %u bytes", option->name, size))
		return;
	if (option->level == SOL_SOCKET && option->number == SO_LINGER)
		say("  %u bytes: %d %d", len, value.linger.l_onoff, value.linger.l_linger);
	else
		say("  %d", value.number);
}

/* Returns whether the option's value comes from the UDP socket below a datagram rsocket: ours
 * returns it, the distribution's library can only set it. */
static bool is_of_udp(int socket, const struct option *option)
{
	static const int names[] = { SO_BROADCAST, SO_RCVLOWAT, SO_PRIORITY };
	socklen_t len = sizeof(int);
	int type;

	if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &len))
		return false; /* false, as the number of a stream is no socket of the system */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (option->level == SOL_SOCKET && option->number == names[i])
			return true;
	}
	return option->level == IPPROTO_IP;
}

static void get_options(int socket)
{
	/* no shorter length, as the distribution's library writes beyond the value with one */
	static const socklen_t sizes[] = { 8, 64 };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		for (size_t k = 0; k < ARRAY_SIZE(sizes) && !is_of_udp(socket, &options[i]); k++)
			get_option(socket, &options[i], sizes[k]);
}

static void set_option(int socket, const struct option *option, int number, socklen_t size)
{
	int value[16] = { number, 3 };

	SAY_RET(rsetsockopt(socket, option->level, option->number, value, size),
		"set %s to %d of %u bytes", option->name, number, size);
	get_option(socket, option, 8);
}

static void set_options(int socket)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i].is_no_number || is_of_udp(socket, &options[i]))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(values); k++)
			set_option(socket, &options[i], values[k], 4);
	}
}

/* The options are set in SET, and read from another socket in another state. */
static void topic_options(void)
{
	struct sockaddr_in addr = loopback_at(++port);
	int socket = new_socket(SOCK_STREAM);

	get_options(socket);
	set_options(socket);
	rclose(socket);
	say_topic("options, IPv6");
	socket = rsocket(AF_INET6, SOCK_STREAM, 0);
	MUST(socket >= 0);
	get_options(socket);
	rclose(socket);
	say_topic("options, bound");
	socket = new_socket(SOCK_STREAM);
	MUST(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	get_options(socket);
	set_options(socket);
	rclose(socket);
	say_topic("options, datagrams");
	socket = new_socket(SOCK_DGRAM);
	get_options(socket);
	set_options(socket);
}

/* Listens at the device's address, as the distribution's rsetsockopt() crashes on listeners of the
 * loopback, which have no device. */
static int listen_on_device(void)
{
	struct sockaddr_in addr = loopback_at(++port);
	int socket = new_socket(SOCK_STREAM);

	if (!getenv("CM_ADDRESS"))
		addr.sin_addr.s_addr = inet_addr("198.18.0.1");
	MUST(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)) && !rlisten(socket, 4));
	return socket;
}

static void topic_options_connected(void)
{
	struct ends ends = connect_ends(0);
	int listener;

	get_options(ends.client);
	set_options(ends.client);
	say_topic("options, accepted");
	get_options(ends.server);
	say_topic("options, listening");
	listener = listen_on_device();
	get_options(listener);
	set_options(listener);
	MUST(!rclose(listener));
	close_ends(&ends);
}

static void say_name(int ret, const char *what, const struct sockaddr_in *addr, socklen_t len)
{
	char text[64] = "";

	if (say_ret(ret, "%s", what))
		return;
	inet_ntop(AF_INET, &addr->sin_addr, text, sizeof(text));
	say("  family %d address %s port %d, %u bytes", addr->sin_family, text, addr->sin_port != 0,
	    len);
}

static void names_of(int socket, const char *state)
{
	struct sockaddr_in addr;
	char what[64];
	socklen_t len;

	say("%s", state);
	memset(&addr, 0, sizeof(addr));
	len = sizeof(addr);
	snprintf(what, sizeof(what), "rgetsockname");
	errno = 0;
	say_name(rgetsockname(socket, (struct sockaddr *)&addr, &len), what, &addr, len);
	memset(&addr, 0, sizeof(addr));
	len = 8;
	errno = 0;
	say_name(rgetsockname(socket, (struct sockaddr *)&addr, &len), "into 8 bytes", &addr, len);
}

static void bind_to(const char *what, int domain, int type, const void *addr, socklen_t len)
{
	int socket = rsocket(domain, type, 0);

	MUST(socket >= 0);
	SAY_RET(rbind(socket, addr, len), "rbind to %s", what);
	socket_end(socket, type);
}

static void topic_bind(void)
{
	struct sockaddr_in loopback = loopback_at(0), foreign = loopback_at(0),
			   any = loopback_at(0), taken;
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6 }, loopback6 = any6;
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };

	loopback6.sin6_addr.s6_addr[15] = 1;
	foreign.sin_addr.s_addr = htonl(0xc6336401);
	any.sin_addr.s_addr = 0;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		int socket = new_socket(types[i]), other = new_socket(types[i]);

		taken = loopback_at(++port);
		bind_to("the loopback", AF_INET, types[i], &loopback, sizeof(loopback));
		bind_to("any", AF_INET, types[i], &any, sizeof(any));
		bind_to("a foreign one", AF_INET, types[i], &foreign, sizeof(foreign));
		bind_to("any of IPv6", AF_INET6, types[i], &any6, sizeof(any6));
		bind_to("the loopback of IPv6", AF_INET6, types[i], &loopback6, sizeof(loopback6));
		SAY_RET(rbind(socket, (struct sockaddr *)&taken, sizeof(taken)), "rbind to a port");
		SAY_RET(rbind(other, (struct sockaddr *)&taken, sizeof(taken)), "to the same port");
		names_of(socket, "bound");
		socket_end(socket, types[i]);
		SAY_RET(rbind(other, (struct sockaddr *)&taken, sizeof(taken)), "when it is free");
		socket_end(other, types[i]);
	}
}

static void fcntl_of(int socket, const char *state)
{
	SAY_RET(rfcntl(socket, F_GETFL), "%s: F_GETFL", state);
	SAY_RET(rfcntl(socket, F_SETFL, O_NONBLOCK), "%s: F_SETFL O_NONBLOCK", state);
	SAY_RET(rfcntl(socket, F_GETFL), "%s: F_GETFL", state);
	SAY_RET(rfcntl(socket, F_SETFL, 0), "%s: F_SETFL 0", state);
	SAY_RET(rfcntl(socket, F_GETFL), "%s: F_GETFL", state);
	SAY_RET(rfcntl(socket, F_GETFD), "%s: F_GETFD", state);
	SAY_RET(rfcntl(socket, F_SETFD, 1), "%s: F_SETFD", state);
	SAY_RET(rfcntl(socket, F_SETLK, NULL), "%s: F_SETLK", state);
}

static void poll_of(int socket, const char *state)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN | POLLOUT };

	SAY_COUNT(rpoll(&fd, 1, 0), "%s: rpoll", state);
	say("  events 0x%x", fd.revents);
}

static void topic_states(void)
{
	struct sockaddr_in addr = loopback_at(++port);
	int socket = new_socket(SOCK_STREAM);
	socklen_t len = sizeof(addr);

	fcntl_of(socket, "new");
	fcntl_of(socket, "new, again");
	names_of(socket, "new");
	rclose(socket);
	socket = new_socket(SOCK_STREAM);
	MUST(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	names_of(socket, "bound");
	SAY_RET(rlisten(socket, 3), "rlisten");
	names_of(socket, "listening");
	SAY_RET(rlisten(socket, 3), "rlisten again");
	fcntl_of(socket, "listening");
	MUST(!rfcntl(socket, F_SETFL, O_NONBLOCK));
	SAY_RET(raccept(socket, NULL, NULL), "raccept with nobody there");
	len = sizeof(addr);
	SAY_RET(raccept(socket, (struct sockaddr *)&addr, &len), "the same for a name");
	SAY_RET(rclose(socket), "rclose");
}

/* A blocking connect, as a non-blocking one does not always finish with the distribution's
 * library. */
static void topic_connect(void)
{
	struct sockaddr_in nobody = loopback_at(port + 500), peer;
	int error = 0, socket = new_socket(SOCK_STREAM);
	socklen_t len = sizeof(error);
	struct ends ends;

	SAY_RET(rconnect(socket, (struct sockaddr *)&nobody, sizeof(nobody)), "nobody listens");
	rclose(socket);
	ends = connect_ends(0);
	SAY_RET(rgetsockopt(ends.client, SOL_SOCKET, SO_ERROR, &error, &len), "SO_ERROR");
	say("  %d", error);
	names_of(ends.client, "connected");
	names_of(ends.server, "accepted");
	fcntl_of(ends.server, "accepted");
	len = sizeof(peer);
	errno = 0;
	say_name(rgetpeername(ends.client, (struct sockaddr *)&peer, &len), "rgetpeername", &peer,
		 len);
	say("  its port is the server's: %d", ntohs(peer.sin_port) == port);
	close_ends(&ends);
}

static void shutdown_in_order(const int *orders, int count)
{
	struct ends ends = connect_ends(0);
	char bytes[8];

	for (int i = 0; i < count; i++)
		SAY_RET(rshutdown(ends.client, orders[i]), "rshutdown %d", orders[i]);
	SAY_COUNT(rrecv(ends.server, bytes, sizeof(bytes), 0), "the other side receives");
	if (orders[0] == SHUT_WR) {
		SAY_COUNT(rsend(ends.server, "back", 4, 0), "and sends");
		if (count == 1)
			SAY_COUNT(rrecv(ends.client, bytes, sizeof(bytes), 0), "which arrives");
	}
	SAY_RET(rshutdown(ends.server, SHUT_RDWR), "and shuts down");
	close_ends(&ends);
}

static void topic_shutdown(void)
{
	static const int write[] = { SHUT_WR }, twice[] = { SHUT_WR, SHUT_WR },
			 both[] = { SHUT_RDWR }, again[] = { SHUT_RDWR, SHUT_RDWR };

	shutdown_in_order(write, 1);
	shutdown_in_order(twice, 2);
	shutdown_in_order(both, 1);
	shutdown_in_order(again, 2);
}

static void topic_bytes(void)
{
	struct ends ends = connect_ends(0);
	char bytes[64] = "";

	SAY_COUNT(rrecv(ends.server, bytes, 8, MSG_DONTWAIT), "MSG_DONTWAIT, nothing there");
	SAY_COUNT(rrecv(ends.server, bytes, 8, MSG_DONTWAIT | MSG_PEEK), "with MSG_PEEK");
	SAY_COUNT(rsend(ends.client, "0123456789", 10, MSG_DONTWAIT), "rsend, MSG_DONTWAIT");
	SAY_COUNT(rsend(ends.client, "abc", 3, MSG_NOSIGNAL), "rsend, MSG_NOSIGNAL");
	SAY_COUNT(rrecv(ends.server, bytes, 4, MSG_PEEK), "a peek of 4");
	say("  %.4s", bytes);
	SAY_COUNT(rrecv(ends.server, bytes, 4, 0), "4");
	SAY_COUNT(rrecv(ends.server, bytes, 9, MSG_WAITALL), "the rest");
	say("  %.9s", bytes);
	poll_of(ends.client, "client");
	poll_of(ends.server, "server");
	close_ends(&ends);
}

/* Receives in one piece, as the distribution's library scatters received bytes into one piece
 * only. */
static void send_pieces(struct ends *ends, int count, size_t size)
{
	static char out[8192], in[8192];
	struct iovec vector[64];
	struct msghdr message = { .msg_iov = vector, .msg_iovlen = count };

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7);
	for (int i = 0; i < count; i++)
		vector[i] = (struct iovec){ out + i * size, size };
	SAY_COUNT(rsendmsg(ends->client, &message, 0), "rsendmsg of %d times %zu", count, size);
	memset(in, 0, sizeof(in));
	MUST(rrecv(ends->server, in, count * size, MSG_WAITALL) == (ssize_t)(count * size));
	say("  %s", memcmp(in, out, count * size) ? "other bytes" : "the same bytes");
	SAY_COUNT(rwritev(ends->client, vector, count), "rwritev of %d times %zu", count, size);
	memset(in, 0, sizeof(in));
	MUST(rrecv(ends->server, in, count * size, MSG_WAITALL) == (ssize_t)(count * size));
	say("  %s", memcmp(in, out, count * size) ? "other bytes" : "the same bytes");
}

static void topic_vectors(void)
{
	struct ends ends = connect_ends(0);

	send_pieces(&ends, 1, 10);
	send_pieces(&ends, 2, 5);
	send_pieces(&ends, 4, 16);
	send_pieces(&ends, 64, 1);
	close_ends(&ends);
}

static void topic_poll(void)
{
	struct pollfd none = { .fd = -1, .events = POLLIN };
	int pipes[2], socket = new_socket(SOCK_STREAM);
	struct timeval zero = { 0, 0 };
	fd_set set;

	MUST(!pipe(pipes));
	SAY_COUNT(rpoll(NULL, 0, 0), "rpoll of nothing");
	SAY_COUNT(rpoll(&none, 1, 0), "rpoll of no descriptor");
	none = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	MUST(write(pipes[1], "x", 1) == 1);
	SAY_COUNT(rpoll(&none, 1, 10), "rpoll of a pipe");
	say("  0x%x", none.revents);
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	SAY_COUNT(rselect(pipes[0] + 1, &set, NULL, NULL, &zero), "rselect of a pipe");
	say("  %d", FD_ISSET(pipes[0], &set) != 0);
	FD_ZERO(&set);
	SAY_COUNT(rselect(0, &set, NULL, NULL, &zero), "rselect of nothing");
	rclose(socket);
	close(pipes[0]);
	close(pipes[1]);
}

static void topic_mappings(void)
{
	struct ends ends = connect_ends(0), mapped = connect_ends(4);
	static char memory[8192] __attribute__((aligned(4096))), source[64] = "mapped";
	off_t offset;
	char byte;

	errno = 0;
	offset = riomap(ends.client, memory, 64, PROT_WRITE, 0, -1);
	say_ret(offset < 0 ? -1 : 0, "riomap where the other side has no room");
	SAY_COUNT(riowrite(ends.client, source, 8, 0, 0), "riowrite without a mapping");
	close_ends(&ends);
	errno = 0;
	offset = riomap(mapped.server, memory, 64, PROT_WRITE, 0, -1);
	say_ret(offset < 0 ? -1 : 0, "riomap");
	errno = 0;
	say_ret(riomap(mapped.server, memory + 4096, 64, PROT_WRITE, 0, 4096) == 4096 ? 0 : -1,
		"riomap at an offset");
	SAY_COUNT(rsend(mapped.server, "m", 1, 0), "a byte after it");
	MUST(rrecv(mapped.client, &byte, 1, 0) == 1);
	SAY_COUNT(riowrite(mapped.client, source, 8, 4096, 0), "riowrite there");
	SAY_COUNT(riowrite(mapped.client, source, 8, 100000, 0), "riowrite elsewhere");
	MUST(rsend(mapped.client, "w", 1, 0) == 1 && rrecv(mapped.server, &byte, 1, 0) == 1);
	say("  %s", memory + 4096);
	SAY_RET(riounmap(mapped.server, memory + 4096, 64), "riounmap");
	SAY_RET(riounmap(mapped.server, source, 64), "riounmap of what is not mapped");
} /* the distribution's rclose() hangs on a side that has mappings left */

static const struct topic topics[] = {
	{ "sockets", topic_sockets }, { "no-socket", topic_no_socket },
	{ "options", topic_options }, { "options-connected", topic_options_connected },
	{ "bind", topic_bind },       { "states", topic_states },
	{ "connect", topic_connect }, { "shutdown", topic_shutdown },
	{ "bytes", topic_bytes },     { "vectors", topic_vectors },
	{ "poll", topic_poll },       { "mappings", topic_mappings },
};

int main(int argc, char *argv[])
{
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	status = topics_main(topics, ARRAY_SIZE(topics), argc, argv);
	fflush(stdout);
	/* _exit(), as the distribution's exit handler waits for datagram sockets */
	_exit(status);
}
