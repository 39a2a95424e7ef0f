/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * close.c - rsocket-close serve PORT: measures rclose() after the peer has shut down both
 * directions without reading what was sent. rsocket-close shut PORT is that peer, which then stays
 * for a while. The two may run on different libraries, which differ in whether a shutdown or only
 * rclose() ends the connection.
 *
 * Covers: librdmacm/rsocket/stream/stream.c
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/say.h"

enum { AT_ONCE_MS = 1000, STAY_S = 8 };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static struct sockaddr_in loopback_at(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

/* Fills the connection, so that later bytes wait for the peer. The first byte tells the peer that
 * the rest is under way. */
static void fill_stream(int socket)
{
	static const char bytes[4096];

	MUST(rsend(socket, bytes, 1, 0) == 1);
	MUST(!rfcntl(socket, F_SETFL, O_NONBLOCK));
	while (rsend(socket, bytes, sizeof(bytes), 0) > 0)
		;
}

static int port_serve(int port)
{
	int listener = rsocket(AF_INET, SOCK_STREAM, 0), socket;
	struct sockaddr_in addr = loopback_at(port);
	struct pollfd fd;
	int64_t ms;

	MUST(listener >= 0 && !rbind(listener, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(listener, 1));
	socket = raccept(listener, NULL, NULL);
	MUST(socket >= 0);
	fill_stream(socket);
	fd = (struct pollfd){ .fd = socket };
	MUST(rpoll(&fd, 1, 10000) == 1 && fd.revents & POLLHUP);
	ms = now_ms();
	MUST(!rclose(socket));
	ms = now_ms() - ms;
	printf("rclose took %lld ms\n", (long long)ms);
	rclose(listener);
	return ms >= AT_ONCE_MS;
}

static int port_shut(int port)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr = loopback_at(port);
	char byte;

	MUST(socket >= 0 && !rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(rrecv(socket, &byte, 1, 0) == 1);
	rshutdown(socket, SHUT_RDWR);
	sleep(STAY_S);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return port_serve(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "shut"))
		return port_shut(atoi(argv[2]));
	fprintf(stderr, "usage: %s serve|shut PORT\n", argv[0]);
	return 2;
}
