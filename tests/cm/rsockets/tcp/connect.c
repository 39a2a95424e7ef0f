/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connect.c - steps that make, name, connect and end sockets.
 *
 * Covers: librdmacm/rsocket/rs.c, librdmacm/rsocket/socket.c,
 * librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/stream/accept.c,
 * librdmacm/rsocket/dgram/dgram.c
 */
#include "steps.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static struct sockaddr_in loopback(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static struct sockaddr_in name_of(int fd)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = sizeof(addr);

	CALL(getsockname, fd, (struct sockaddr *)&addr, &len);
	return addr;
}

/* Returns the address of a port without a listener. The port stays bound until the program ends. */
static struct sockaddr_in unused_address(void)
{
	static struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int fd;

	if (addr.sin_port)
		return addr;
	addr = loopback();
	fd = CALL(socket, AF_INET, SOCK_STREAM, 0);
	MUST(fd >= 0 && !CALL(bind, fd, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!CALL(getsockname, fd, (struct sockaddr *)&addr, &len));
	return addr;
}

/* Returns the address that a word names: "loopback", "any", "nobody", "family" (an invalid family),
 * or an end. */
static struct sockaddr_in address_of(const char *word)
{
	struct sockaddr_in addr = loopback();

	if (!strcmp(word, "nobody"))
		return unused_address();
	if (!strcmp(word, "any"))
		addr.sin_addr.s_addr = htonl(INADDR_ANY);
	else if (!strcmp(word, "family"))
		addr.sin_family = 99;
	else if (strcmp(word, "loopback") != 0)
		addr = name_of(end_find(word)->fd);
	if (addr.sin_addr.s_addr == htonl(INADDR_ANY) && strcmp(word, "any") != 0)
		addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

/* Returns the length of an address, which the last word may shorten. */
static socklen_t length_of(const struct step *step, int word)
{
	return (socklen_t)step_number(step, word, sizeof(struct sockaddr_in));
}

static int type_of(const struct step *step, int word)
{
	int type = SOCK_STREAM;

	for (; step->words[word]; word++) {
		if (!strcmp(step->words[word], "dgram"))
			type = SOCK_DGRAM | (type & SOCK_NONBLOCK);
		else if (!strcmp(step->words[word], "nonblock"))
			type |= SOCK_NONBLOCK;
	}
	return type;
}

static void run_socket(struct step *step)
{
	int fd = CALL(socket, AF_INET, type_of(step, 2), 0);

	end_new(step->words[1], fd);
	step_say(step, "%s", fd < 0 ? say_errno(errno) : "made");
}

/* make DOMAIN TYPE PROTOCOL: prints whether such sockets exist */
static void run_make(struct step *step)
{
	int fd = CALL(socket, step_number(step, 1, 0), step_number(step, 2, 0),
		      step_number(step, 3, 0));

	step_say(step, "%s", fd < 0 ? say_errno(errno) : "made");
	if (fd >= 0)
		CALL(close, fd);
}

static void run_bind(struct step *step)
{
	struct sockaddr_in addr = address_of(step->words[2]);

	step_say_result(step, CALL(bind, end_find(step->words[1])->fd, (struct sockaddr *)&addr,
				   length_of(step, 3)));
}

static void say_address(struct step *step, const struct sockaddr_in *addr)
{
	struct sockaddr_in other;

	for (int i = 0; addr->sin_port && end_at(i); i++) {
		if (end_at(i)->is_set || end_at(i)->fd < 0)
			continue;
		other = name_of(end_at(i)->fd);
		if (other.sin_port == addr->sin_port)
			step_say(step, " %s's", end_at(i)->name);
	}
	step_say(step, " family %d %s port %s", addr->sin_family,
		 addr->sin_addr.s_addr == htonl(INADDR_ANY) ? "any" : "address",
		 addr->sin_port ? "yes" : "no");
}

static void run_name(struct step *step)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = length_of(step, 2);
	int ret = CALL(getsockname, end_find(step->words[1])->fd, (struct sockaddr *)&addr, &len);

	step_say_result(step, ret);
	if (ret)
		return;
	step_say(step, " of %u bytes", len);
	if (length_of(step, 2) >= sizeof(addr))
		say_address(step, &addr);
}

static void run_peer(struct step *step)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = length_of(step, 2);
	int ret = CALL(getpeername, end_find(step->words[1])->fd, (struct sockaddr *)&addr, &len);

	step_say_result(step, ret);
	if (ret)
		return;
	step_say(step, " of %u bytes", len);
	if (length_of(step, 2) >= sizeof(addr))
		say_address(step, &addr);
}

static void run_listen(struct step *step)
{
	step_say_result(step, CALL(listen, end_find(step->words[1])->fd, step_number(step, 2, 4)));
}

/* connect A ADDRESS [LENGTH] */
static void run_connect(struct step *step)
{
	struct sockaddr_in addr = address_of(step->words[2]);

	step_say_result(step, CALL(connect, end_find(step->words[1])->fd, (struct sockaddr *)&addr,
				   length_of(step, 3)));
}

/* unconnect A: of datagrams */
static void run_unconnect(struct step *step)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	step_say_result(step, CALL(connect, end_find(step->words[1])->fd, &none, sizeof(none)));
}

static void run_accept(struct step *step)
{
	struct sockaddr_in addr = { 0 };
	socklen_t len = sizeof(addr);
	int fd = CALL(accept, end_find(step->words[2])->fd, (struct sockaddr *)&addr, &len);

	step_say(step, "%s", fd < 0 ? say_errno(errno) : "accepted");
	if (fd < 0)
		return;
	end_new(step->words[1], fd);
	say_address(step, &addr);
}

static void *accept_one(void *listener)
{
	return (void *)(intptr_t)CALL(accept, *(int *)listener, NULL, NULL);
}

/* pair A B: two ends that are connected */
static void run_pair(struct step *step)
{
	int listener = CALL(socket, AF_INET, SOCK_STREAM, 0);
	int fd = CALL(socket, AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr = loopback();
	pthread_t thread;
	void *accepted;

	MUST(!CALL(bind, listener, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!CALL(listen, listener, 1));
	addr = name_of(listener);
	MUST(!pthread_create(&thread, NULL, accept_one, &listener));
	MUST(!CALL(connect, fd, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!pthread_join(thread, &accepted) && (intptr_t)accepted >= 0);
	CALL(close, listener);
	end_new(step->words[1], fd);
	end_new(step->words[2], (int)(intptr_t)accepted);
	step_say(step, "connected");
}

/* shutdown A rd|wr|rdwr|NUMBER */
static void run_shutdown(struct step *step)
{
	static const char *const names[] = { "rd", "wr", "rdwr" };
	int how = step_number(step, 2, 0);

	for (int i = 0; i < 3; i++) {
		if (!strcmp(step->words[2], names[i]))
			how = i;
	}
	step_say_result(step, CALL(shutdown, end_find(step->words[1])->fd, how));
}

static void run_close(struct step *step)
{
	struct end *end = end_find(step->words[1]);

	step_say_result(step, CALL(close, end->fd));
	end->fd = -1;
}

/* abort A: closes it with a linger of no time, which an rsocket also reads by default: it has to
 * change */
static void run_abort(struct step *step)
{
	const struct linger off = { 0 }, hard = { .l_onoff = 1 };
	int fd = end_find(step->words[1])->fd;

	MUST(!CALL(setsockopt, fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off)));
	MUST(!CALL(setsockopt, fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)));
	run_close(step);
}

/* forget A: the number stays in the table, but is no longer a socket's */
static void run_forget(struct step *step)
{
	struct end *end = end_find(step->words[1]);

	step_say_result(step, CALL(close, end->fd));
}

const struct command connect_commands[] = {
	{ "abort", run_abort },   { "accept", run_accept },       { "bind", run_bind },
	{ "close", run_close },   { "connect", run_connect },     { "forget", run_forget },
	{ "listen", run_listen }, { "make", run_make },           { "name", run_name },
	{ "pair", run_pair },     { "peer", run_peer },           { "shutdown", run_shutdown },
	{ "socket", run_socket }, { "unconnect", run_unconnect }, { NULL, NULL },
};
