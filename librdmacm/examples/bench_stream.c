/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_stream.c - makes the connections of rstream and riostream, and transfers a number of bytes
 * over them.
 */
#include "address.h"
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BUFFER = 1 << 19, SOME_BACKLOG = 128 };

static void set_option(struct bench *bench, int socket, int level, int name, int value)
{
	bench->calls->setsockopt(socket, level, name, &value, sizeof(value));
}

static void set_keepalive(struct bench *bench, int socket)
{
	int on = 0, idle = 0;
	socklen_t len = sizeof(on);

	set_option(bench, socket, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(bench, socket, IPPROTO_TCP, TCP_KEEPIDLE, bench->keepalive);
	bench->calls->getsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, &len);
	len = sizeof(idle);
	bench->calls->getsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &len);
	printf("Keepalive: %s\n  time: %i\n", on ? "ON" : "OFF", idle);
}

static void set_options(struct bench *bench, int socket)
{
	int size = bench->buffer_size ? bench->buffer_size : DEFAULT_BUFFER;

	set_option(bench, socket, SOL_SOCKET, SO_SNDBUF, size);
	set_option(bench, socket, SOL_SOCKET, SO_RCVBUF, size);
	set_option(bench, socket, IPPROTO_TCP, TCP_NODELAY, 1);
	if (bench->flags & MSG_DONTWAIT)
		bench->calls->fcntl(socket, F_SETFL, O_NONBLOCK);
	if (bench->calls != &bench_rsockets)
		return;
	if (bench->inline_size)
		set_option(bench, socket, SOL_RDMA, RDMA_INLINE, bench->inline_size);
	if (bench->mappings)
		set_option(bench, socket, SOL_RDMA, RDMA_IOMAPSIZE, bench->mappings);
}

/* ---- addresses: by either resolver ---- */

struct found {
	struct sockaddr_storage addr;
	socklen_t len;
};

static int find_by_system(struct bench *bench, const char *host, bool passive, struct found *found)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = passive ? AI_PASSIVE : 0 };
	struct addrinfo *info;
	int ret = getaddrinfo(host, bench->port, &hints, &info);

	if (ret) {
		printf("getaddrinfo: %s\n", gai_strerror(ret));
		return -1;
	}
	memcpy(&found->addr, info->ai_addr, info->ai_addrlen);
	found->len = info->ai_addrlen;
	freeaddrinfo(info);
	return 0;
}

static int find_by_cm(struct bench *bench, const char *host, bool passive, struct found *found)
{
	struct rdma_addrinfo *info;
	int ret = passive ? address_resolve_passive(host, bench->port, &bench->hints, &info)
			  : address_resolve(host, bench->port, bench->local, &bench->hints, &info);

	if (ret) {
		printf("rdma_getaddrinfo: %s\n", gai_strerror(ret));
		return -1;
	}
	found->len = passive ? info->ai_src_len : info->ai_dst_len;
	memcpy(&found->addr, passive ? info->ai_src_addr : info->ai_dst_addr, found->len);
	rdma_freeaddrinfo(info);
	return 0;
}

static int find_address(struct bench *bench, const char *host, bool passive, struct found *found)
{
	return bench->use_cm_resolver ? find_by_cm(bench, host, passive, found)
				      : find_by_system(bench, host, passive, found);
}

static int listen_at(struct bench *bench, int *listener)
{
	const struct bench_calls *calls = bench->calls;
	int on = 1;
	struct found at;

	if (find_address(bench, bench->local, true, &at))
		return -1;
	*listener = calls->socket(at.addr.ss_family, SOCK_STREAM, 0);
	if (*listener < 0)
		return complain_errno("rsocket");
	calls->setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	set_options(bench, *listener);
	if (calls->bind(*listener, (struct sockaddr *)&at.addr, at.len))
		return complain_errno("rbind");
	if (calls->listen(*listener, SOME_BACKLOG))
		return complain_errno("rlisten");
	return 0;
}

int bench_wait(struct bench *bench, int socket, short events)
{
	struct pollfd fd = { .fd = socket, .events = events };

	for (;;) {
		if (bench->calls->poll(&fd, 1, -1) > 0)
			return fd.revents & (events | POLLHUP) ? 0 : ECONNABORTED;
		if (errno != EINTR)
			return errno;
	}
}

int bench_accept(struct bench *bench, int listener, int *socket)
{
	do {
		if (bench->flags & MSG_DONTWAIT)
			bench_wait(bench, listener, POLLIN);
		*socket = bench->calls->accept(listener, NULL, NULL);
	} while (*socket < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
	if (*socket < 0)
		return complain_errno("raccept");
	set_options(bench, *socket);
	if (bench->keepalive)
		set_keepalive(bench, *socket);
	return 0;
}

static int await_connection(struct bench *bench, int socket)
{
	int error = bench_wait(bench, socket, POLLOUT);
	socklen_t len = sizeof(error);

	if (!error)
		bench->calls->getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len);
	errno = error;
	return error ? complain_errno("async connect") : 0;
}

static int bind_local(struct bench *bench, int socket)
{
	struct found local;
	const char *port = bench->port;
	int ret;

	if (!bench->local)
		return 0;
	bench->port = NULL;
	ret = find_by_system(bench, bench->local, true, &local);
	bench->port = port;
	if (ret)
		return ret;
	return bench->calls->bind(socket, (struct sockaddr *)&local.addr, local.len)
		       ? complain_errno("rbind")
		       : 0;
}

static int connect_stream(struct bench *bench, int *socket)
{
	struct found to;

	if (find_address(bench, bench->host, false, &to))
		return -1;
	*socket = bench->calls->socket(to.addr.ss_family, SOCK_STREAM, 0);
	if (*socket < 0)
		return complain_errno("rsocket");
	set_options(bench, *socket);
	if (bind_local(bench, *socket))
		return -1;
	if (bench->calls->connect(*socket, (struct sockaddr *)&to.addr, to.len)) {
		if (errno != EINPROGRESS)
			return complain_errno("rconnect");
		if (await_connection(bench, *socket))
			return -1;
	}
	if (bench->keepalive)
		set_keepalive(bench, *socket);
	return 0;
}

static bool try_again(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int bench_send(struct bench *bench, int socket, size_t size)
{
	size_t done = 0;
	ssize_t ret;

	if (bench->verify)
		bench_fill(bench, bench->buffer, size);
	while (done < size) {
		if (bench->use_poll)
			bench_wait(bench, socket, POLLOUT);
		ret = bench->calls->send(socket, bench->buffer + done, size - done, bench->flags);
		if (ret > 0)
			done += ret;
		else if (!try_again())
			return complain_errno("rsend");
	}
	return 0;
}

int bench_receive(struct bench *bench, int socket, size_t size)
{
	size_t done = 0;
	ssize_t ret;

	while (done < size) {
		if (bench->use_poll)
			bench_wait(bench, socket, POLLIN);
		ret = bench->calls->recv(socket, bench->buffer + done, size - done, bench->flags);
		if (!ret) {
			errno = ECONNRESET;
			return complain_errno("rrecv");
		}
		if (ret > 0)
			done += ret;
		else if (!try_again())
			return complain_errno("rrecv");
	}
	return bench->verify ? bench_check(bench, bench->buffer, size) : 0;
}

int bench_sync(struct bench *bench, int socket)
{
	int ret = bench->host ? bench_send(bench, socket, BENCH_SYNC_SIZE)
			      : bench_receive(bench, socket, BENCH_SYNC_SIZE);

	if (ret)
		return ret;
	return bench->host ? bench_receive(bench, socket, BENCH_SYNC_SIZE)
			   : bench_send(bench, socket, BENCH_SYNC_SIZE);
}

static int alloc_buffer(struct bench *bench)
{
	size_t size = bench->is_custom ? (size_t)bench->size : BENCH_MAX_SIZE;

	bench->buffer_room = size < BENCH_SYNC_SIZE ? BENCH_SYNC_SIZE : size;
	bench->buffer = calloc(1, bench->buffer_room);
	if (bench->buffer)
		return 0;
	perror("malloc");
	return -1;
}

int bench_run_connection(struct bench *bench, int socket, bool latency, bench_run run)
{
	int ret;

	bench->sent = bench->received = 0;
	ret = bench_run_all(bench, socket, latency, run);
	bench->calls->shutdown(socket, SHUT_RDWR);
	bench->calls->close(socket);
	return ret;
}

static int run_next_connection(struct bench *bench, int listener, bool latency, bench_run run)
{
	int socket;
	int ret = bench->host ? connect_stream(bench, &socket)
			      : bench_accept(bench, listener, &socket);

	return ret ? ret : bench_run_connection(bench, socket, latency, run);
}

static int run_connections(struct bench *bench, int listener, bench_run run)
{
	int ret = run_next_connection(bench, listener, true, run);

	return ret || bench->is_custom ? ret : run_next_connection(bench, listener, false, run);
}

static int run_server(struct bench *bench, bench_run run,
		      int (*serve)(struct bench *bench, int listener))
{
	int listener;
	int ret = listen_at(bench, &listener);

	if (ret)
		return ret;
	ret = serve ? serve(bench, listener) : run_connections(bench, listener, run);
	bench->calls->close(listener);
	return ret;
}

int bench_run_streams(struct bench *bench, bench_run run,
		      int (*serve)(struct bench *bench, int listener))
{
	int ret;

	if (alloc_buffer(bench))
		return 1;
	bench_print_heading();
	ret = bench->host ? run_connections(bench, -1, run) : run_server(bench, run, serve);
	free(bench->buffer);
	return ret;
}
