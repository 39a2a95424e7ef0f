/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rsockets_fork.c - rsockets and fork(): connections stay with the parent, listeners are of both,
 * and a child has connections of its own.
 */
#include "tests/lib/say.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int port = 19000;

static struct sockaddr_in here(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static int listen_here(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr;

	port++;
	addr = here();
	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(socket, 4));
	return socket;
}

static int connect_here(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr = here();

	MUST(socket >= 0);
	return rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) ? -1 : socket;
}

/* Accept one connection and send back what comes, until the other side ends. */
static int child_echo(int listener)
{
	int socket = raccept(listener, NULL, NULL);
	char bytes[64];
	ssize_t got;

	if (socket < 0)
		return 1;
	while ((got = rrecv(socket, bytes, sizeof(bytes), 0)) > 0) {
		if (rsend(socket, bytes, got, 0) != got)
			return 1;
	}
	return got || rclose(socket);
}

static bool comes_back(int socket, const char *text)
{
	size_t size = strlen(text);
	char bytes[64];

	return rsend(socket, text, size, 0) == (ssize_t)size &&
	       rrecv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size &&
	       !memcmp(bytes, text, size);
}

static pid_t child_that(int (*serve)(int), int argument)
{
	pid_t child = fork();

	MUST(child >= 0);
	if (!child)
		_exit(serve(argument));
	return child;
}

static bool ends_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && !status;
}

/* Each failed step has a status of its own. */
static int try_parents(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	char byte;

	if (rsend(socket, "x", 1, 0) != -1 || errno != ENOTCONN)
		return 2;
	if (rrecv(socket, &byte, 1, 0) != -1 || errno != ENOTCONN)
		return 3;
	if (rpoll(&fd, 1, 5000) != 1 || !(fd.revents & POLLHUP))
		return 4;
	if (rshutdown(socket, SHUT_RDWR) != -1 || errno != ENOTCONN)
		return 5;
	if (rclose(socket) || rclose(socket) != -1 || errno != EBADF)
		return 6;
	return 0;
}

static void connections_stay_with_the_parent(void)
{
	int listener = listen_here(), socket;
	pid_t server = child_that(child_echo, listener);

	say_topic("a parent's connection");
	socket = connect_here();
	MUST(socket >= 0);
	say_check(comes_back(socket, "before"), "a child serves at its parent's listener");
	say_check(ends_well(child_that(try_parents, socket)),
		  "another child cannot use the parent's");
	say_check(comes_back(socket, "after"), "the parent can, whatever the child did");
	MUST(!rclose(socket));
	say_check(ends_well(server), "the end is seen");
	MUST(!rclose(listener));
}

static int serve_and_close(int listener)
{
	return child_echo(listener) || rclose(listener);
}

/* By now the parent has opened the adapter, which is no use to a child. */
static void listeners_are_of_both(void)
{
	int listener = listen_here(), socket;
	pid_t server;

	say_topic("a listener");
	for (int i = 0; i < 3; i++) {
		server = child_that(serve_and_close, listener);
		socket = connect_here();
		say_check(socket >= 0 && comes_back(socket, "hello"),
			  "a child accepts, then closes it");
		rclose(socket);
		say_check(ends_well(server), "its end is seen");
	}
	server = child_that(child_echo, listener);
	rclose(listener);
	socket = connect_here();
	say_check(socket >= 0 && comes_back(socket, "hello"),
		  "the parent closes it, the child accepts");
	rclose(socket);
	say_check(ends_well(server), "its end is seen");
	say_check(connect_here() < 0 && errno == ECONNREFUSED, "nobody has it any more");
}

int main(void)
{
	connections_stay_with_the_parent();
	listeners_are_of_both();
	return say_failures() != 0;
}
