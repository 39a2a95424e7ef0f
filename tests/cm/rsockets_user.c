/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rsockets_user.c - rsockets in a process that changes its user. To Linux's rdma_cm each of its
 * threads, and the library's, is another writer from then on, even if the user stays the same. An
 * argument is an address of this host that rdma_cm reaches, if that is not 127.0.0.1.
 *
 * The library's open() comes here first, as the program exports its symbols: where a channel of the
 * process's own cannot be had, what is connected has to do without. So does its write(), by which
 * the user changes between two commands of one step, and its sendmsg(), which counts what goes by
 * UDP.
 */
#include "forks.h"
#include "tests/lib/say.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, PATIENCE_S = 20, LATE_US = 300000, WAY_US = 20000 };

static int why_no_channel; /* what opening one is answered by, or 0 */
static int refusals;

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	int (*const real)(const char *, int, mode_t) =
		(int (*)(const char *, int, mode_t))(uintptr_t)dlsym(RTLD_NEXT, "open");
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (!why_no_channel || strcmp(path, "/dev/infiniband/rdma_cm"))
		return real(path, flags, mode);
	refusals++;
	errno = why_no_channel;
	return -1;
}

/* Threads but the program's first wait before the command HELD until the user has changed;
 * meanwhile the first finds no events. */
enum { NONE = -1 };
static pthread_t program_thread;
static atomic_int held = NONE;
static atomic_bool is_waiting;

static bool is_cm_command(const void *bytes, size_t size, int number)
{
	const struct rdma_ucm_cmd_hdr *hdr = bytes;

	return size >= sizeof(*hdr) && hdr->cmd == (uint32_t)number &&
	       hdr->in + sizeof(*hdr) == size;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
	ssize_t (*const real)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "write");

	if (held == NONE)
		return real(fd, bytes, size);
	if (pthread_equal(pthread_self(), program_thread)) {
		if (!is_cm_command(bytes, size, RDMA_USER_CM_CMD_GET_EVENT))
			return real(fd, bytes, size);
		errno = EAGAIN;
		return -1;
	}
	if (is_cm_command(bytes, size, held)) {
		const int before = held;

		is_waiting = true;
		while (held == before)
			usleep(1000);
	}
	return real(fd, bytes, size);
}

static bool has_no_thread; /* for the library to start */

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
			uintptr_t)dlsym(RTLD_NEXT, "pthread_create");

	return has_no_thread ? EAGAIN : real(thread, attr, run, arg);
}

static int by_udp; /* datagrams, with those by which two sockets come together */

__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t (*const real)(int, const struct msghdr *, int) =
		(ssize_t(*)(int, const struct msghdr *, int))(uintptr_t)dlsym(RTLD_NEXT, "sendmsg");

	by_udp++;
	return real(fd, msg, flags);
}

/* A process that hangs ends by a signal. */
static int change_user(void)
{
	alarm(PATIENCE_S);
	return setuid(getuid() ? getuid() : NOBODY);
}

/* Who waits does not turn in circles meanwhile. */
static bool is_idle(void)
{
	struct rusage usage;

	return !getrusage(RUSAGE_SELF, &usage) &&
	       usage.ru_utime.tv_sec + usage.ru_stime.tv_sec < PATIENCE_S / 2;
}

static struct sockaddr_in next_port(void)
{
	forks_port++;
	return forks_here();
}

static bool is_served(void)
{
	int socket = connect_patiently();

	return socket >= 0 && comes_back(socket, "hello") && !rclose(socket);
}

/* ---- sockets that are made before ---- */

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

/* ---- connections ---- */

/* This side's end says nothing by the queues: the other one learns of it by rdma_cm alone. */
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

enum { UDEV_TRIES = 100 }; /* the first time that there is no file, udev gets a moment to make it */

/* As after chroot(), or while the program has too many files: the events of a connection that works
 * are not to be had, and there is one already, which says that it was made. */
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

/* Without events the connection still sleeps rather than turning in circles. */
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

/* That the connection was made is an event, too, which nobody can read. */
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

enum { DEAF_LOOKS = 20 };

/* Each refused channel is a system call, a warning and a wake-up for everybody. */
static int ask_for_errors(int unused)
{
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
	if (rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) || error)
		return 3;
	before = refusals;
	for (int i = 0; i < DEAF_LOOKS; i++) {
		if (rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) || error)
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
		  "SO_ERROR opens none each time");
}

/* No event and no message tells of a peer that is killed: it is asked for. One that has shut its
 * side down before still takes what is sent to it, until nothing more may be sent. */
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
	/* on RoCE Linux waits 2.1 s for an acknowledgement, and retries seven times */
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
		close(ready[1]); /* the server has it alone */
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

static int change_when_held(int held_next)
{
	int ret;

	while (!is_waiting)
		usleep(1000);
	is_waiting = false;
	ret = change_user();
	held = held_next;
	return ret;
}

/* What is refused moves to another channel; there may be another change before it has. */
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

/* The other side of a connection that is not made hears nothing. */
static bool is_echoed_or_ends(int listener, pid_t child)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };
	bool echoed = rpoll(&fd, 1, PATIENCE_S * 1000) == 1 && !child_echo(listener);

	return ends_well(child) && echoed;
}

static void a_step_is_finished(void)
{
	static const struct {
		const char *name;
		int number;
	} commands[] = {
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

/* ---- accepting ---- */

static void *accept_in_thread(void *listener)
{
	return (void *)(intptr_t)raccept(*(int *)listener, NULL, NULL);
}

static int listening[2]; /* a pipe, as the client is to be refused if its first request is */

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

static void a_request_is_answered(void)
{
	static const struct {
		const char *name;
		int number;
	} commands[] = {
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

/* ---- listeners ---- */

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

/* The library's thread is to read the requests for a program that has changed its user. */
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

static void *serve_in_thread(void *listener)
{
	return (void *)(intptr_t)(child_echo(*(int *)listener) || child_echo(*(int *)listener));
}

static int serve_in_threads(int unused)
{
	int listener, ret;
	pthread_t thread;
	void *result;

	(void)unused;
	forks_port--;
	listener = listen_here();
	if (pthread_create(&thread, NULL, serve_in_thread, &listener))
		return 2;
	usleep(LATE_US);
	if (change_user())
		return 3;
	ret = child_echo(listener) || child_echo(listener);
	pthread_join(thread, &result);
	return ret || result || rclose(listener) || !is_idle();
}

static void listeners_go_on(void)
{
	bool good = true;
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
	server = child_that(serve_in_threads, 0);
	for (int i = 0; i < 4; i++)
		good &= is_served();
	say_check(good && ends_well(server), "by threads, as well");
}

/* ---- datagrams ---- */

/* One datagram comes back. The user changes first, if it is to. */
static bool answers_one(int socket, bool changes)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char bytes[16];
	ssize_t got = rrecvfrom(socket, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len);
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	/* the way to who has sent is being looked for */
	if (changes && (change_user() || rpoll(&fd, 1, LATE_US / 1000)))
		return false;
	return got > 0 && rsendto(socket, bytes, got, 0, (struct sockaddr *)&from, len) == got;
}

enum { MOST_DATAGRAMS = 200 };

/* Datagrams go by UDP while the way to who has sent is being looked for. */
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
	/* ADDRESS and groups as say_is_wanted() has them */
	static const struct {
		const char *name;
		void (*run)(void);
	} groups[] = {
		{ "made", sockets_are_of_the_new_user },
		{ "connected", the_end_of_a_connection_is_seen },
		{ "channels", a_connection_needs_no_channel },
		{ "errors", asking_does_not_look_again },
		{ "killed", a_killed_peer_is_missed },
		{ "connecting", a_connection_is_made },
		{ "steps", a_step_is_finished },
		{ "accepting", a_request_is_answered },
		{ "listening", listeners_go_on },
		{ "datagrams", datagrams_go_on },
	};

	if (argc > 1) {
		forks_address = argv[1];
		argc--;
		argv++;
	}
	alarm(16 * PATIENCE_S); /* on an emulated processor, too */
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (say_is_wanted(groups[i].name, argc, argv))
			groups[i].run();
	}
	return say_failures() != 0;
}
