/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * user.c - rsockets in a process that changes its user after it has made, connected or listened on
 * them. Arguments are those of changes_run().
 *
 * Covers: librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/listener.c, librdmacm/id.c
 */
#include "changes.h"
#include "forks.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int listen_afterwards(int is_bound)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = forks_here();

	if (is_bound && rbind(socket, (struct sockaddr *)&here, sizeof(here)))
		return 2;
	if (change_user())
		return 3;
	if (!is_bound && rbind(socket, (struct sockaddr *)&here, sizeof(here)))
		return 4;
	return rlisten(socket, 4) ? 5 : child_echo(socket) || rclose(socket);
}

static int connect_afterwards(int unused)
{
	struct sockaddr_in here = forks_here();
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	(void)unused;
	if (change_user() || rconnect(socket, (struct sockaddr *)&here, sizeof(here)))
		return 2;
	return !comes_back(socket, "hello") || rclose(socket);
}

static void sockets_are_of_the_new_user(void)
{
	int listener;
	pid_t child;

	say_topic("made before");
	for (int is_bound = 0; is_bound < 2; is_bound++) {
		next_port();
		child = child_that(listen_afterwards, is_bound);
		say_check(is_served() && ends_well(child), "%s, a socket listens",
			  is_bound ? "bound" : "new");
	}
	listener = listen_here();
	child = child_that(connect_afterwards, 0);
	MUST(!child_echo(listener) && !rclose(listener));
	say_check(ends_well(child), "a socket connects");
}

/* Exits after an exchange: its queues send no farewell, so the peer learns of the end only by
 * rdma_cm. */
static int connect_and_die(int unused)
{
	int socket = connect_patiently();
	char byte;

	(void)unused;
	_exit(socket < 0 || rsend(socket, "x", 1, 0) != 1 || rrecv(socket, &byte, 1, 0) != 1);
}

static int see_the_end(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	char byte;

	if (socket < 0 || rrecv(socket, &byte, 1, 0) != 1)
		return 2;
	if (change_user())
		return 3;
	if (rsend(socket, "y", 1, 0) != 1 || rpoll(&fd, 1, -1) != 1 ||
	    rrecv(socket, &byte, 1, 0) > 0)
		return 4;
	return rclose(socket) || !is_idle();
}

static int lose_a_peer(int is_ahead)
{
	int listener;

	forks_port--;
	listener = listen_here();
	if (is_ahead)
		usleep(LATE_US);
	return see_the_end(raccept(listener, NULL, NULL));
}

static void the_end_of_a_connection_is_seen(void)
{
	pid_t server, client;

	say_topic("connected before");
	for (int is_ahead = 0; is_ahead < 2; is_ahead++) {
		next_port();
		server = child_that(lose_a_peer, is_ahead);
		client = child_that(connect_and_die, 0);
		say_check(ends_well(client) && ends_well(server), "%s: the peer's end is seen",
			  is_ahead ? "by the thread" : "by raccept()");
	}
}

/* when the file is first missing, the library gives udev a moment to make it */
enum { UDEV_TRIES = 100 };

/* No channel can be opened, as after chroot() or with too many open files, so the connection gets
 * no events. One event was there already: the connection is established. */
static int serve_without_channel(int why)
{
	int listener, socket;
	size_t echoed;

	forks_port--;
	listener = listen_here();
	socket = raccept(listener, NULL, NULL);
	why_no_channel = why;
	if (socket < 0 || change_user())
		return 2;
	if (echo(socket, &echoed) || !echoed)
		return 3;
	return !refusals || refusals > UDEV_TRIES + PATIENCE_S || !is_idle();
}

/* Without events, the connection must sleep rather than poll, as polling would take a CPU. */
static bool works_for_a_while(void)
{
	int socket = connect_patiently();
	bool good = socket >= 0;

	for (int i = 0; i < 5 && good; i++) {
		good = comes_back(socket, "hello");
		usleep(LATE_US);
	}
	return good && !rclose(socket);
}

/* The event "established" cannot be read either, so the side that accepted must be able to send
 * first. */
static int speak_first(int why)
{
	int listener, socket;

	alarm(PATIENCE_S);
	forks_port--;
	listener = listen_here();
	socket = raccept(listener, NULL, NULL);
	why_no_channel = why;
	if (socket < 0 || change_user())
		return 2;
	return !comes_back(socket, "hello") || rclose(socket) || !is_idle();
}

static bool hears_first(void)
{
	struct pollfd fd = { .events = POLLIN };
	size_t echoed;

	fd.fd = connect_patiently();
	return fd.fd >= 0 && rpoll(&fd, 1, PATIENCE_S * 1000 / 2) == 1 && !echo(fd.fd, &echoed) &&
	       echoed;
}

static void a_connection_needs_no_channel(void)
{
	static const int whys[] = { EMFILE, ENOENT };
	pid_t server;

	say_topic("no channel to be had");
	for (int i = 0; i < 2; i++) {
		next_port();
		server = child_that(serve_without_channel, whys[i]);
		say_check(works_for_a_while() && ends_well(server), "a connection goes on: %s",
			  strerror(whys[i]));
		next_port();
		server = child_that(speak_first, whys[i]);
		say_check(hears_first() && ends_well(server), "who has accepted may speak first");
	}
}

enum { NAME_ABOVE = 500, PROMPT_S = 4, DEAF_LOOKS = 20 };

/* Asking must not try to open a channel each time, as a refused attempt costs a system call, a
 * warning, and a wake-up of all waiting threads. rconnect() handles events in each call, SO_ERROR
 * of a connected socket in none. */
static int ask_for_errors(int unused)
{
	struct sockaddr_in here = forks_here();
	int listener, socket, error, before;
	socklen_t len = sizeof(error);
	char byte;

	(void)unused;
	forks_port--;
	listener = listen_here();
	socket = raccept(listener, NULL, NULL);
	why_no_channel = EMFILE;
	if (socket < 0 || change_user() || rrecv(socket, &byte, 1, 0) != 1)
		return 2;
	if (!rconnect(socket, (struct sockaddr *)&here, sizeof(here)) || errno != EISCONN)
		return 3;
	before = refusals;
	for (int i = 0; i < DEAF_LOOKS; i++) {
		if (!rconnect(socket, (struct sockaddr *)&here, sizeof(here)) ||
		    rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) || error)
			return 4;
	}
	return !before || refusals > before + 2 || rclose(socket);
}

static void asking_does_not_look_again(void)
{
	pid_t server;
	int socket;

	say_topic("no channel to be had");
	next_port();
	server = child_that(ask_for_errors, 0);
	socket = connect_patiently();
	say_check(socket >= 0 && rsend(socket, "x", 1, 0) == 1 && ends_well(server) &&
			  !rclose(socket),
		  "asking opens none each time");
}

/* Neither an event nor a message reports a killed peer, so the library has to probe it. A peer that
 * has shut its writing still receives, until sending to it fails. */
static int outlive_a_peer(int told)
{
	int listener, socket;
	char bytes[64] = { 0 };

	forks_port--;
	listener = listen_here();
	socket = raccept(listener, NULL, NULL);
	why_no_channel = EMFILE;
	if (socket < 0 || change_user() || rrecv(socket, bytes, 1, 0) != 1)
		return 2;
	/* long, as Linux waits 2.1 s for an acknowledgement on RoCE, and retries seven times */
	alarm(4 * PATIENCE_S);
	if (close(told))
		return 3;
	if (bytes[0] == 'h' && rrecv(socket, bytes, 1, 0))
		return 4;
	while (bytes[0] == 'h' ? rsend(socket, bytes, sizeof(bytes), 0) > 0
			       : rrecv(socket, bytes, 1, 0) > 0)
		;
	return (errno != ECONNRESET && errno != EPIPE) || !is_idle() || rclose(socket);
}

static int wait_to_be_killed(int is_half_closed)
{
	int socket = connect_patiently();

	if (socket < 0 || rsend(socket, is_half_closed ? "h" : "x", 1, 0) != 1)
		return 2;
	if (is_half_closed && rshutdown(socket, SHUT_WR))
		return 3;
	alarm(PATIENCE_S);
	pause();
	return 4;
}

static void a_killed_peer_is_missed(void)
{
	int ready[2], status;
	pid_t server, client;
	char byte;

	say_topic("no channel to be had");
	for (int is_half_closed = 0; is_half_closed < 2; is_half_closed++) {
		next_port();
		MUST(!pipe(ready));
		server = child_that(outlive_a_peer, ready[1]);
		close(ready[1]); /* so that only the server keeps it open */
		client = child_that(wait_to_be_killed, is_half_closed);
		MUST(!read(ready[0], &byte, 1));
		usleep(3 * LATE_US);
		MUST(!kill(client, SIGKILL) && waitpid(client, &status, 0) == client);
		say_check(WIFSIGNALED(status) && ends_well(server), "a killed peer is missed%s",
			  is_half_closed ? " by who sends, too" : "");
		close(ready[0]);
	}
}

static int change_while_connecting(int told)
{
	struct pollfd fd = { .events = POLLOUT };
	struct sockaddr_in here = forks_here();
	int socket = rsocket(AF_INET, SOCK_STREAM, 0), error = 0;
	socklen_t len = sizeof(error);

	fd.fd = socket;
	if (rfcntl(socket, F_SETFL, O_NONBLOCK) ||
	    !rconnect(socket, (struct sockaddr *)&here, sizeof(here)) || errno != EINPROGRESS)
		return 2;
	if (change_user() || close(told))
		return 3;
	if (rpoll(&fd, 1, -1) != 1 || rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) ||
	    error)
		return 4;
	if (rfcntl(socket, F_SETFL, 0) || !comes_back(socket, "hello"))
		return 5;
	return rclose(socket) || !is_idle();
}

static void a_connection_is_made(void)
{
	int listener = listen_here(), ready[2];
	pid_t child;
	char byte;

	say_topic("connecting");
	MUST(!pipe(ready));
	child = child_that(change_while_connecting, ready[1]);
	close(ready[1]);
	MUST(!read(ready[0], &byte, 1));
	close(ready[0]);
	MUST(!child_echo(listener) && !rclose(listener));
	say_check(ends_well(child), "a change in between is survived");
}

/* A refused socket keeps its address. This one has found that no channel could be opened. When one
 * can, it must connect at once, as the time of its next attempt may be far. */
static int connect_again(int told)
{
	struct sockaddr_in here = forks_here(), name = here;
	int socket = rsocket(AF_INET, SOCK_STREAM, 0), error;
	socklen_t len = sizeof(error);
	time_t began;

	name.sin_port = htons(forks_port + NAME_ABOVE);
	if (rbind(socket, (struct sockaddr *)&name, sizeof(name)) ||
	    !rconnect(socket, (struct sockaddr *)&here, sizeof(here)) || errno != ECONNREFUSED)
		return 2;
	why_no_channel = EMFILE;
	if (change_user() || rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) || !refusals)
		return 3;
	why_no_channel = 0;
	if (write(told, "x", 1) != 1)
		return 4;
	began = time(NULL);
	while (rconnect(socket, (struct sockaddr *)&here, sizeof(here))) {
		if (errno != ECONNREFUSED)
			return 5;
	}
	if (time(NULL) > began + PROMPT_S)
		return 6;
	return !comes_back(socket, "hello") || rclose(socket) || !is_idle();
}

static void a_refused_socket_connects(void)
{
	say_topic("refused before");
	say_check(connects_when_somebody_listens(connect_again), "a bound socket connects at once");
}

static int serve_late(int unused)
{
	int listener;

	(void)unused;
	forks_port--;
	listener = listen_here();
	if (change_user())
		return 2;
	usleep(2 * LATE_US);
	return child_echo(listener) || child_echo(listener) || rclose(listener) || !is_idle();
}

/* The library's thread must read the requests of a program that has changed its user, but it cannot
 * start. */
static int serve_without_threads(int unused)
{
	int listener;

	(void)unused;
	forks_port--;
	has_no_thread = true;
	listener = listen_here();
	if (change_user())
		return 2;
	if (raccept(listener, NULL, NULL) >= 0 || errno != ENOMEM)
		return 3;
	has_no_thread = false;
	return child_echo(listener) || child_echo(listener) || rclose(listener) || !is_idle();
}

static void *serve_two(void *listener)
{
	return (void *)(intptr_t)(child_echo(*(int *)listener) || child_echo(*(int *)listener));
}

/* Changes the user while one thread is inside raccept(), and before another one calls it. Then
 * writes to READY, unless negative. */
static int serve_in_threads(int ready)
{
	int listener, ret;
	pthread_t thread;
	void *result;

	forks_port--;
	listener = listen_here();
	if (pthread_create(&thread, NULL, serve_two, &listener))
		return 2;
	usleep(LATE_US);
	if (change_user() || (ready >= 0 && write(ready, "x", 1) != 1))
		return 3;
	ret = child_echo(listener) || child_echo(listener);
	pthread_join(thread, &result);
	return ret || result || rclose(listener) || !is_idle();
}

static bool are_served(int count)
{
	while (count && is_served())
		count--;
	return !count;
}

static bool is_change_slept_through(void)
{
	int ready[2];
	pid_t server;
	char byte;
	bool good;

	MUST(!pipe(ready));
	next_port();
	server = child_that(serve_in_threads, ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	good = are_served(4);
	return ends_well(server) && good;
}

static void listeners_go_on(void)
{
	pid_t server;

	say_topic("listening before");
	next_port();
	server = child_that(serve_late, 0);
	say_check(is_served() && is_served() && ends_well(server),
		  "requests that waited are served");
	next_port();
	server = child_that(serve_without_threads, 0);
	say_check(is_served() && is_served() && ends_well(server),
		  "so they are when there could be no thread before");
	next_port();
	server = child_that(serve_in_threads, -1);
	say_check(are_served(4) && ends_well(server), "by threads, as well");
	say_check(is_change_slept_through(), "also by one that is asleep in raccept()");
}

int main(int argc, char *argv[])
{
	static const struct topic topics[] = {
		{ "made", sockets_are_of_the_new_user },
		{ "connected", the_end_of_a_connection_is_seen },
		{ "channels", a_connection_needs_no_channel },
		{ "errors", asking_does_not_look_again },
		{ "killed", a_killed_peer_is_missed },
		{ "connecting", a_connection_is_made },
		{ "refused", a_refused_socket_connects },
		{ "listening", listeners_go_on },
	};

	return changes_run(topics, ARRAY_SIZE(topics), argc, argv);
}
