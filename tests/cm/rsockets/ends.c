/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ends.c - streams must end as TCP's do: when a server closes a socket right after accepting it,
 * when a side shuts its reading after bytes have arrived, and when both sides have shut their
 * writing. And a signal must interrupt rconnect().
 *
 * Covers: librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/stream/io.c
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

enum { ROUNDS = 20, PATIENCE_MS = 5000, BACKLOG = 2 };

static int listen_somewhere(struct sockaddr_in *addr)
{
	int listener = rsocket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*addr);

	*addr = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	MUST(listener >= 0 && !rbind(listener, (struct sockaddr *)addr, sizeof(*addr)));
	MUST(!rlisten(listener, BACKLOG) && !rgetsockname(listener, (struct sockaddr *)addr, &len));
	return listener;
}

static void *accept_one(void *listener)
{
	return (void *)(intptr_t)raccept(*(int *)listener, NULL, NULL);
}

struct both {
	int client, server;
};

static struct both connect_both(void)
{
	struct sockaddr_in addr;
	int listener = listen_somewhere(&addr);
	struct both both = { .client = rsocket(AF_INET, SOCK_STREAM, 0) };
	pthread_t thread;
	void *server;

	MUST(!pthread_create(&thread, NULL, accept_one, &listener));
	MUST(!rconnect(both.client, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!pthread_join(thread, &server) && (intptr_t)server >= 0);
	both.server = (int)(intptr_t)server;
	MUST(!rclose(listener));
	return both;
}

static void close_both(const struct both *both)
{
	MUST(!rclose(both->client) && !rclose(both->server));
}

static void *accept_and_close(void *listener)
{
	int socket = raccept(*(int *)listener, NULL, NULL);

	MUST(socket >= 0 && !rclose(socket));
	return NULL;
}

static void connect_to_one_that_closes(void)
{
	struct sockaddr_in addr;
	int listener = listen_somewhere(&addr), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;
	ssize_t n;
	char byte;

	MUST(!pthread_create(&thread, NULL, accept_and_close, &listener));
	say_check(!rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)), "it connects");
	n = rrecv(socket, &byte, 1, 0);
	say_check(!n, "the stream is at its end");
	MUST(!pthread_join(thread, NULL) && !rclose(socket) && !rclose(listener));
}

static void server_closes_at_once(void)
{
	for (int i = 0; i < ROUNDS; i++)
		connect_to_one_that_closes();
}

static void text_arrives(int socket, const char *text)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	char bytes[16];

	MUST(rpoll(&fd, 1, PATIENCE_MS) == 1);
	say_check(rrecv(socket, bytes, sizeof(bytes), MSG_DONTWAIT) == (ssize_t)strlen(text) &&
			  !memcmp(bytes, text, strlen(text)),
		  "what was sent %s is read", text);
}

static void bytes_stay_after_reading_was_shut(void)
{
	struct both both = connect_both();
	struct pollfd fd = { .fd = both.server, .events = POLLIN };
	char byte;

	MUST(rsend(both.client, "before", 6, 0) == 6 && rpoll(&fd, 1, PATIENCE_MS) == 1);
	MUST(!rshutdown(both.server, SHUT_RD));
	text_arrives(both.server, "before");
	say_check(!rrecv(both.server, &byte, 1, MSG_DONTWAIT), "and then the end");
	close_both(&both);
}

static void hangs_up(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLRDHUP };
	int64_t tries = 0;

	while (rpoll(&fd, 1, PATIENCE_MS) == 1 && !(fd.revents & POLLHUP) && tries++ < 1000)
		;
	say_check(fd.revents & POLLHUP, "POLLHUP comes when both sides have shut their writing");
}

static void both_sides_end(void)
{
	struct both both = connect_both();
	struct pollfd fd = { .fd = both.server, .events = POLLRDHUP };

	MUST(!rshutdown(both.client, SHUT_WR));
	MUST(rpoll(&fd, 1, PATIENCE_MS) == 1);
	say_check(fd.revents & POLLRDHUP && !(fd.revents & POLLHUP), "one side is half an end");
	MUST(!rshutdown(both.server, SHUT_WR));
	hangs_up(both.client);
	hangs_up(both.server);
	close_both(&both);
}

static void interrupted(int signal)
{
	(void)signal;
}

/* Sends the process a signal every MS, because the first may come before the call sleeps. */
static void signal_every_ms(int ms)
{
	const struct itimerval timer = { { 0, ms * 1000 }, { 0, ms * 1000 } };
	const struct sigaction action = { .sa_handler = interrupted };

	MUST(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &timer, NULL));
}

static int connect_to(const struct sockaddr_in *addr, int socket)
{
	return rconnect(socket, (const struct sockaddr *)addr, sizeof(*addr));
}

static void interrupted_connection_goes_on(void)
{
	struct sockaddr_in addr;
	int listener = listen_somewhere(&addr), clients[BACKLOG + 1], servers[BACKLOG + 1], ret;
	struct pollfd fd = { .events = POLLOUT };

	for (int i = 0; i <= BACKLOG; i++)
		clients[i] = rsocket(AF_INET, SOCK_STREAM, 0);
	for (int i = 0; i < BACKLOG; i++)
		MUST(!connect_to(&addr, clients[i]));
	fd.fd = clients[BACKLOG];
	signal_every_ms(20);
	ret = connect_to(&addr, fd.fd); /* in progress, as no call accepts it yet */
	say_check(ret == -1 && errno == EINTR, "a signal ends rconnect()");
	signal_every_ms(0);
	for (int i = 0; i <= BACKLOG; i++)
		MUST((servers[i] = raccept(listener, NULL, NULL)) >= 0);
	say_check(rpoll(&fd, 1, PATIENCE_MS) == 1 && fd.revents == POLLOUT, "it is connected");
	say_check(!connect_to(&addr, fd.fd), "the next rconnect() says so");
	say_check(connect_to(&addr, fd.fd) == -1 && errno == EISCONN, "and then EISCONN");
	for (int i = 0; i <= BACKLOG; i++)
		MUST(!rclose(clients[i]) && !rclose(servers[i]));
	MUST(!rclose(listener));
}

static const struct topic topics[] = {
	{ "closes-at-once", server_closes_at_once },
	{ "read-shut", bytes_stay_after_reading_was_shut },
	{ "hang-up", both_sides_end },
	{ "interrupted", interrupted_connection_goes_on },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
