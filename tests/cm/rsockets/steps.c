/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.c - a process changes its user between two rdma_cm commands of one operation. The thread
 * that began the operation must finish it, on a new channel. Arguments are those of changes_run().
 *
 * Covers: librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/stream/accept.c, librdmacm/event.c
 */
#include "changes.h"
#include "forks.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name;
	int number;
};

/* Connects, and changes the user before command NUMBER. Linux refuses that command, so the id moves
 * to another channel; CHANGES_AGAIN: the user changes once more before it has moved. */
static int change_before(int number, bool changes_again)
{
	struct pollfd fd = { .events = POLLOUT };
	struct sockaddr_in here = forks_here();
	int error = 0;
	socklen_t len = sizeof(error);

	alarm(PATIENCE_S);
	program_thread = pthread_self();
	held = number;
	fd.fd = rsocket(AF_INET, SOCK_STREAM, 0);
	if (rfcntl(fd.fd, F_SETFL, O_NONBLOCK) ||
	    !rconnect(fd.fd, (struct sockaddr *)&here, sizeof(here)) || errno != EINPROGRESS)
		return 2;
	if (changes_again && change_when_held(RDMA_USER_CM_CMD_MIGRATE_ID))
		return 6;
	if (change_when_held(NONE) || rpoll(&fd, 1, -1) != 1)
		return 3;
	if (rgetsockopt(fd.fd, SOL_SOCKET, SO_ERROR, &error, &len) || error)
		return 4;
	if (rfcntl(fd.fd, F_SETFL, 0) || !comes_back(fd.fd, "hello"))
		return 5;
	return rclose(fd.fd) || !is_idle();
}

static int change_before_command(int number)
{
	return change_before(number, false);
}

static int change_twice(int number)
{
	return change_before(number, true);
}

static void a_step_is_finished(void)
{
	static const struct command commands[] = {
		{ "QUERY", RDMA_USER_CM_CMD_QUERY },
		{ "QUERY_ROUTE", RDMA_USER_CM_CMD_QUERY_ROUTE },
		{ "RESOLVE_ROUTE", RDMA_USER_CM_CMD_RESOLVE_ROUTE },
		{ "INIT_QP_ATTR", RDMA_USER_CM_CMD_INIT_QP_ATTR },
		{ "CONNECT", RDMA_USER_CM_CMD_CONNECT },
		{ "ACCEPT", RDMA_USER_CM_CMD_ACCEPT },
	};
	int listener;

	say_topic("connecting");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		listener = listen_here();
		say_check(is_echoed_or_ends(listener,
					    child_that(change_before_command, commands[i].number)),
			  "a change before the thread's %s is survived", commands[i].name);
		rclose(listener);
	}
	listener = listen_here();
	say_check(is_echoed_or_ends(listener, child_that(change_twice, RDMA_USER_CM_CMD_QUERY)),
		  "another one while the id moves is survived");
	rclose(listener);
}

static void *accept_in_thread(void *listener)
{
	return (void *)(intptr_t)raccept(*(int *)listener, NULL, NULL);
}

/* a pipe: the client waits for it, because its first request must not be refused for lack of a
 * listener */
static int listening[2];

static int change_while_accepting(int number, bool is_ahead)
{
	int listener, socket;
	pthread_t thread;
	size_t echoed;
	void *result;

	alarm(PATIENCE_S);
	forks_port--;
	listener = listen_here();
	if (write(listening[1], "x", 1) != 1)
		return 4;
	program_thread = pthread_self();
	held = number;
	if (!is_ahead && pthread_create(&thread, NULL, accept_in_thread, &listener))
		return 2;
	if (change_when_held(NONE))
		return 3;
	if (is_ahead)
		result = accept_in_thread(&listener);
	else
		pthread_join(thread, &result);
	socket = (int)(intptr_t)result;
	return socket < 0 || echo(socket, &echoed) || rclose(listener) || !is_idle();
}

static int change_in_raccept(int number)
{
	return change_while_accepting(number, false);
}

static int change_ahead_of_raccept(int number)
{
	return change_while_accepting(number, true);
}

static bool is_first_served(int (*serve)(int), int number)
{
	pid_t server;
	bool is_served;
	int socket;
	char byte;

	next_port();
	server = child_that(serve, number);
	MUST(read(listening[0], &byte, 1) == 1);
	socket = connect_here();
	is_served = socket >= 0 && comes_back(socket, "hello") && !rclose(socket);
	if (!is_served)
		kill(server, SIGKILL);
	return ends_well(server) && is_served;
}

static void *why_not_accepted(void *listener)
{
	return (void *)(intptr_t)(raccept(*(int *)listener, NULL, NULL) < 0 ? errno : 0);
}

/* The request has been read, but its id needs another channel, and none can be opened. The next
 * request can be accepted. */
static int accept_without_channel(int why)
{
	int listener;
	pthread_t thread;
	void *error;

	alarm(PATIENCE_S);
	forks_port--;
	listener = listen_here();
	program_thread = pthread_self();
	held = RDMA_USER_CM_CMD_MIGRATE_ID;
	if (write(listening[1], "x", 1) != 1 ||
	    pthread_create(&thread, NULL, why_not_accepted, &listener))
		return 2;
	while (!is_waiting)
		usleep(1000);
	why_no_channel = why;
	if (change_when_held(NONE))
		return 3;
	pthread_join(thread, &error);
	why_no_channel = 0;
	if (write(listening[1], (intptr_t)error == why ? "y" : "n", 1) != 1)
		return 4;
	return child_echo(listener) || rclose(listener) || !is_idle();
}

static void a_lack_of_channels_is_told(void)
{
	static const int whys[] = { EMFILE, ENOMEM };
	bool good;
	pid_t server;
	char byte;
	int lost;

	say_topic("accepting");
	for (int i = 0; i < 2; i++) {
		next_port();
		MUST(!pipe(listening));
		server = child_that(accept_without_channel, whys[i]);
		close(listening[1]);
		MUST(read(listening[0], &byte, 1) == 1);
		lost = begin_to_connect(forks_here());
		good = read(listening[0], &byte, 1) == 1 && byte == 'y';
		say_check(good, "raccept() says why there is no channel: %s", strerror(whys[i]));
		say_check(good && is_served() && ends_well(server),
			  "and accepts when there is one");
		rclose(lost);
		close(listening[0]);
	}
}

static void a_request_is_answered(void)
{
	static const struct command commands[] = {
		{ "MIGRATE_ID", RDMA_USER_CM_CMD_MIGRATE_ID },
		{ "QUERY_ROUTE", RDMA_USER_CM_CMD_QUERY_ROUTE },
		{ "INIT_QP_ATTR", RDMA_USER_CM_CMD_INIT_QP_ATTR },
		{ "ACCEPT", RDMA_USER_CM_CMD_ACCEPT },
	};

	say_topic("accepting");
	MUST(!pipe(listening));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		say_check(is_first_served(change_in_raccept, commands[i].number),
			  "a change before raccept()'s %s is survived", commands[i].name);
		say_check(is_first_served(change_ahead_of_raccept, commands[i].number),
			  "a change before the thread's %s is survived", commands[i].name);
	}
	close(listening[0]);
	close(listening[1]);
}

/* With NOTIFY held, the program's thread finds no more events, so the first message must establish
 * the connection. */
static int answer_without_events(int unused)
{
	int listener, socket;
	char byte;

	(void)unused;
	alarm(PATIENCE_S);
	forks_port--;
	listener = listen_here();
	socket = raccept(listener, NULL, NULL);
	program_thread = pthread_self();
	held = RDMA_USER_CM_CMD_NOTIFY; /* never sent, so no command is held */
	if (socket < 0 || rrecv(socket, &byte, 1, 0) != 1 || rsend(socket, &byte, 1, 0) != 1)
		return 2;
	held = NONE;
	return rclose(socket) || rclose(listener);
}

static void a_message_overtakes_its_event(void)
{
	int socket;
	pid_t server;
	bool back;

	say_topic("accepting");
	next_port();
	server = child_that(answer_without_events, 0);
	socket = connect_patiently();
	back = socket >= 0 && comes_back(socket, "x");
	say_check(back && !rclose(socket) && ends_well(server),
		  "a message that overtakes its event is answered");
}

static void *serve_two(void *listener)
{
	return (void *)(intptr_t)(child_echo(*(int *)listener) || child_echo(*(int *)listener));
}

/* The user changes before an id is moved: the listener's, or with MOVED 1 the first request's. The
 * library's thread has been started before. */
static int change_while_inheriting(int listener, int moved)
{
	int other = listen_here();
	pthread_t thread;
	void *result;

	alarm(PATIENCE_S);
	await_leaver();
	usleep(LATE_US);
	program_thread = pthread_self();
	held_later = moved;
	held = RDMA_USER_CM_CMD_MIGRATE_ID;
	if (pthread_create(&thread, NULL, serve_two, &listener) || change_when_held(NONE))
		return 2;
	pthread_join(thread, &result);
	return result || rclose(other) || rclose(listener) || !is_idle();
}

static int change_at_the_listener(int listener)
{
	return change_while_inheriting(listener, 0);
}

static int change_at_a_request(int listener)
{
	return change_while_inheriting(listener, 1);
}

static int ask_for_an_heir(int listener)
{
	alarm(PATIENCE_S);
	await_leaver();
	return rclose(listener) || !is_served();
}

/* Sends a request now, before the heir reads any, so that it waits for the heir. */
static int leave_a_request(int listener, int (*inherit)(int))
{
	child_that_reports(inherit, listener);
	child_that_reports(ask_for_an_heir, listener);
	return 0;
}

static int leave_at_the_listener(int listener)
{
	return leave_a_request(listener, change_at_the_listener);
}

static int leave_at_a_request(int listener)
{
	return leave_a_request(listener, change_at_a_request);
}

static void heirs_go_on(void)
{
	static const struct {
		const char *name;
		int (*leave)(int listener);
	} moments[] = {
		{ "listener", leave_at_the_listener },
		{ "request", leave_at_a_request },
	};
	bool good;

	say_topic("inheriting");
	for (int i = 0; i < 2; i++) {
		MUST(listen_in_child(moments[i].leave));
		good = is_served();
		say_check(!results_sum() && good, "a change before the %s moves is survived",
			  moments[i].name);
	}
}

enum { WAY_US = 20000 };

/* number of datagrams sent by UDP, those that exchange queue pair numbers included */
static int by_udp;

__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*const real)(int, const struct msghdr *, int) =
		(ssize_t(*)(int, const struct msghdr *, int))(uintptr_t)dlsym(RTLD_NEXT, "sendmsg");

	by_udp++;
	return real(fd, msg, flags);
}

/* Echoes one datagram. CHANGES: changes the user first. */
static bool answers_one(int socket, bool changes)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char bytes[16];
	ssize_t got = rrecvfrom(socket, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len);
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	/* the library resolves the sender's address meanwhile */
	if (changes && (change_user() || rpoll(&fd, 1, LATE_US / 1000)))
		return false;
	return got > 0 && rsendto(socket, bytes, got, 0, (struct sockaddr *)&from, len) == got;
}

enum { MOST_DATAGRAMS = 200 };

/* Echoes datagrams until one goes by UD, as they go by UDP until the sender's address is
 * resolved. */
static int answer_until_found(int socket)
{
	int before;

	for (int i = 0; i < MOST_DATAGRAMS; i++) {
		before = by_udp;
		if (!answers_one(socket, false))
			return 1;
		if (by_udp == before)
			return 0;
	}
	return 1;
}

static int answer_datagrams(int ready)
{
	struct sockaddr_in here = forks_here();
	int socket = rsocket(AF_INET, SOCK_DGRAM, 0);

	if (rbind(socket, (struct sockaddr *)&here, sizeof(here)) || write(ready, "x", 1) != 1)
		return 2;
	if (!answers_one(socket, true))
		return 3;
	if (answer_until_found(socket) || write(ready, "x", 1) != 1)
		return 5;
	for (int i = 0; i < 3; i++) {
		if (!answers_one(socket, false))
			return 4;
	}
	return rclose(socket) || !is_idle();
}

static bool is_answered(int socket)
{
	struct sockaddr_in to = forks_here();
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	char bytes[16];

	return rsendto(socket, "datagram", 8, 0, (struct sockaddr *)&to, sizeof(to)) == 8 &&
	       rpoll(&fd, 1, PATIENCE_S * 1000 / 2) == 1 &&
	       rrecv(socket, bytes, sizeof(bytes), 0) == 8;
}

static bool is_way_found(int socket, int found)
{
	struct pollfd fd = { .fd = found, .events = POLLIN };
	char byte;

	for (int i = 0; i < MOST_DATAGRAMS && !poll(&fd, 1, 0); i++) {
		if (!is_answered(socket))
			break;
		usleep(WAY_US);
	}
	return read(found, &byte, 1) == 1;
}

static void *answer_in_thread(void *socket)
{
	return (void *)(intptr_t)answer_until_found(*(int *)socket);
}

static int told; /* written when datagrams may come, and when the address is resolved */

/* The address may be resolved only once, in spite of the change. */
static int change_on_the_way(int number)
{
	struct sockaddr_in here = forks_here();
	int socket = rsocket(AF_INET, SOCK_DGRAM, 0);
	pthread_t thread;
	void *result;

	alarm(PATIENCE_S);
	if (rbind(socket, (struct sockaddr *)&here, sizeof(here)))
		return 2;
	program_thread = pthread_self();
	questions = 0;
	held_later = number == RDMA_USER_CM_CMD_QUERY_ROUTE ? 1 : 0;
	held = number;
	if (pthread_create(&thread, NULL, answer_in_thread, &socket) || write(told, "x", 1) != 1 ||
	    change_when_held(NONE))
		return 3;
	pthread_join(thread, &result);
	if (result || questions != 1 || write(told, "x", 1) != 1)
		return 4;
	return rclose(socket) || !is_idle();
}

static void a_way_is_found(void)
{
	static const struct command commands[] = {
		{ "BIND", RDMA_USER_CM_CMD_BIND },
		{ "QUERY_ROUTE", RDMA_USER_CM_CMD_QUERY_ROUTE },
		{ "RESOLVE_ADDR", RDMA_USER_CM_CMD_RESOLVE_ADDR },
		{ "RESOLVE_ROUTE", RDMA_USER_CM_CMD_RESOLVE_ROUTE },
		{ "DESTROY_ID", RDMA_USER_CM_CMD_DESTROY_ID },
	};
	int ready[2], socket;
	pid_t child;
	bool found;
	char byte;

	say_topic("datagrams");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		next_port();
		MUST(!pipe(ready));
		told = ready[1];
		child = child_that(change_on_the_way, commands[i].number);
		close(ready[1]);
		MUST(read(ready[0], &byte, 1) == 1);
		socket = rsocket(AF_INET, SOCK_DGRAM, 0);
		found = is_way_found(socket, ready[0]);
		say_check(ends_well(child) && found, "a change before %s is survived",
			  commands[i].name);
		rclose(socket);
		close(ready[0]);
	}
}

static void datagrams_go_on(void)
{
	int ready[2], socket = rsocket(AF_INET, SOCK_DGRAM, 0), other;
	pid_t child;
	char byte;

	say_topic("datagrams");
	next_port();
	MUST(!pipe(ready));
	child = child_that(answer_datagrams, ready[1]);
	close(ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	say_check(is_answered(socket), "who waits is not caught");
	say_check(is_way_found(socket, ready[0]), "the way that was being looked for is found");
	other = rsocket(AF_INET, SOCK_DGRAM, 0);
	say_check(is_answered(socket) && is_answered(other) && is_answered(other),
		  "peers old and new are answered");
	say_check(ends_well(child), "the end");
	rclose(other);
	rclose(socket);
	close(ready[0]);
}

int main(int argc, char *argv[])
{
	static const struct topic topics[] = {
		{ "connecting", a_step_is_finished },
		{ "accepting", a_request_is_answered },
		{ "overtaken", a_message_overtakes_its_event },
		{ "lacking", a_lack_of_channels_is_told },
		{ "inheriting", heirs_go_on },
		{ "datagrams", datagrams_go_on },
		{ "ways", a_way_is_found },
	};

	return changes_run(topics, ARRAY_SIZE(topics), argc, argv);
}
