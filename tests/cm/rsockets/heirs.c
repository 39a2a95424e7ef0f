/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * heirs.c - processes inherit a listener. When the process that reads its requests dies, at any of
 * its system calls, another one must take over.
 *
 * Three processes have the listener. The process that listens ends. The first child then reads the
 * requests, and dies; the second child is held up until then. The program exports open() and
 * others, so the library calls these instead of libc's: they hold up the second child, and end the
 * first one at each of its calls in turn.
 *
 * Covers: librdmacm/rsocket/share.c, librdmacm/rsocket/listener.c
 */
#include "forks.h"
#include "tests/lib/allocator_forks.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

static int calls_left = -1; /* at 0, the next call ends the process; negative: none does */
static void (*before_open)(void);
static bool has_no_number; /* the next message cannot pass a descriptor, for lack of a number */
static bool has_no_thread; /* the library cannot start a thread */

static void count_call(void)
{
	if (!calls_left)
		_exit(0);
	if (calls_left > 0)
		calls_left--;
}

#define HOOK             __attribute__((visibility("default")))
#define REAL(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

/* A process that wants to read the requests opens the pipe, and then locks it. The second child is
 * held up here, before that. */
HOOK int open(const char *path, int flags, ...)
{
	void (*const held_up)(void) = before_open;
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	if (held_up && !strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/"))) {
		before_open = NULL;
		held_up();
	}
	return REAL(int (*)(const char *, int, ...), "open")(path, flags, mode);
}

HOOK int flock(int fd, int operation)
{
	count_call();
	return REAL(int (*)(int, int), "flock")(fd, operation);
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	count_call();
	return REAL(ssize_t(*)(int, const struct msghdr *, int), "sendmsg")(fd, message, flags);
}

HOOK ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	count_call();
	if (has_no_number) {
		has_no_number = false;
		errno = EMFILE;
		return -1;
	}
	return REAL(ssize_t(*)(int, struct msghdr *, int), "recvmsg")(fd, message, flags);
}

HOOK ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
	count_call();
	return REAL(ssize_t(*)(int, void *, size_t, int), "recv")(fd, bytes, size, flags);
}

HOOK int dup3(int from, int to, int flags)
{
	count_call();
	return REAL(int (*)(int, int, int), "dup3")(from, to, flags);
}

HOOK ssize_t write(int fd, const void *bytes, size_t size)
{
	count_call();
	return REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
}

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			void *arg)
{
	if (has_no_thread)
		return EAGAIN;
	return REAL(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
		    "pthread_create")(thread, attr, run, arg);
}

enum { NOT_DEAD = 64, ALARM_S = 20 };

static int turn[2];     /* closed by an heir to let the next one go on */
static int first_is[2]; /* closed by the death of the first heir */
static int deadly_call; /* number of calls after which the first heir dies */

static void await_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) == -1 && errno == EINTR)
		;
}

static int inherit_and_die(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };

	close(turn[1]);
	close(first_is[0]);
	await_end(turn[0]);
	calls_left = deadly_call;
	rpoll(&fd, 1, 20000);
	calls_left = -1;
	return deadly_call >= 0 ? NOT_DEAD : 0;
}

static void let_the_first_go(void)
{
	close(turn[1]);
	await_end(first_is[0]);
}

/* Serves the first connection that sends something. A client that gave up may leave behind a
 * connection that was accepted at the same moment, so one that sends nothing is dropped. */
static int serve_who_speaks(int listener)
{
	size_t echoed;
	int socket, ret;

	do {
		socket = raccept(listener, NULL, NULL);
		if (socket < 0)
			return 1;
		ret = echo(socket, &echoed);
	} while (!echoed);
	return ret;
}

static int inherit_and_serve(int listener)
{
	close(first_is[1]);
	before_open = let_the_first_go;
	await_leaver();
	return serve_who_speaks(listener);
}

static int leave_heirs(int listener)
{
	child_that_reports(inherit_and_die, listener);
	child_that_reports(inherit_and_serve, listener);
	return 0;
}

static void heirs_begin(int call)
{
	deadly_call = call;
	MUST(!pipe(turn) && !pipe(first_is));
	MUST(listen_in_child(leave_heirs));
	close(turn[0]);
	close(turn[1]);
	close(first_is[0]);
	close(first_is[1]);
}

/* The first heir dies only after it has handed the request on, so the request must not be lost. */
static void requests_outlive_the_first_heir(void)
{
	int socket;

	say_topic("an heir that ends");
	heirs_begin(-1);
	socket = connect_here();
	say_check(socket >= 0 && comes_back(socket, "hello"),
		  "the next one has the requests that it had handed on");
	rclose(socket);
	say_check(reports_well() && reports_well(), "both end well");
	results_close();
}

/* Connects again and again, because a connection may be lost with the heir that was about to hand
 * it on. */
static int connect_soon(void)
{
	struct sockaddr_in addr = forks_here();
	struct pollfd fd = { .events = POLLOUT };
	int socket, error = 0;
	socklen_t len = sizeof(error);

	for (int i = 0; i < 20; i++) {
		socket = rsocket(AF_INET, SOCK_STREAM, 0);
		MUST(socket >= 0 && !rfcntl(socket, F_SETFL, O_NONBLOCK));
		fd.fd = socket;
		if ((!rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) ||
		     errno == EINPROGRESS) &&
		    rpoll(&fd, 1, 1000) == 1 &&
		    !rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) && !error) {
			MUST(!rfcntl(socket, F_SETFL, 0));
			return socket;
		}
		rclose(socket);
	}
	return -1;
}

static bool dies_at(int call)
{
	int socket, result;

	heirs_begin(call);
	socket = connect_soon();
	say_check(socket >= 0 && comes_back(socket, "hello"),
		  "the first heir dies at call %d, the second one serves", call);
	rclose(socket);
	result = results_sum();
	say_check(!result || result == NOT_DEAD, "and ends well");
	return !result && socket >= 0;
}

static int serve_at_the_second_try(int listener)
{
	int socket;
	char bytes[8];

	has_no_number = true;
	socket = raccept(listener, NULL, NULL);
	if (socket >= 0 || errno != EMFILE)
		return 2;
	socket = raccept(listener, NULL, NULL);
	if (socket < 0)
		return 3;
	return rrecv(socket, bytes, 5, MSG_WAITALL) != 5 || rsend(socket, bytes, 5, 0) != 5 ||
	       rclose(socket);
}

static void a_lack_of_numbers_loses_no_request(void)
{
	int listener = listen_here(), socket;
	pid_t child = child_that(serve_at_the_second_try, listener);

	say_topic("a child without a number");
	socket = connect_here();
	say_check(socket >= 0 && comes_back(socket, "hello"), "accepts at the next try");
	rclose(socket);
	say_check(ends_well(child), "and was told EMFILE before");
	MUST(!rclose(listener));
}

/* After its first try, this process owns the listener, but it cannot start the thread that serves
 * it. */
static int serve_without_threads(int listener)
{
	alarm(ALARM_S);
	await_leaver();
	has_no_thread = true;
	for (int i = 0; i < 3; i++) {
		if (raccept(listener, NULL, NULL) >= 0 || errno != ENOMEM)
			return 2;
	}
	has_no_thread = false;
	close(turn[1]);
	return serve_who_speaks(listener);
}

static int leave_without_threads(int listener)
{
	child_that_reports(serve_without_threads, listener);
	close(turn[1]);
	return 0;
}

static void a_lack_of_threads_loses_no_listener(void)
{
	int socket;

	say_topic("an heir without threads");
	MUST(!pipe(turn));
	MUST(listen_in_child(leave_without_threads));
	close(turn[1]);
	await_end(turn[0]);
	close(turn[0]);
	socket = connect_soon();
	say_check(socket >= 0 && comes_back(socket, "hello"), "serves when it may have one");
	rclose(socket);
	say_check(reports_well(), "and was told ENOMEM before");
	results_close();
}

static char empty_root[] = "/tmp/rsocket-heirs.XXXXXX";

static int cannot_inherit(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };

	alarm(ALARM_S);
	if (chdir(empty_root) || chroot("."))
		return 2;
	await_leaver();
	if (raccept(listener, NULL, NULL) >= 0 || errno != EINVAL)
		return 3;
	return rpoll(&fd, 1, -1) != 1 || !(fd.revents & POLLERR) || rclose(listener);
}

static int leave_imprisoned(int listener)
{
	child_that_reports(cannot_inherit, listener);
	return 0;
}

/* In the chroot, neither the pipe nor rdma_cm's file can be opened, so the heir has nothing. */
static void an_heir_in_a_chroot_has_nothing(void)
{
	say_topic("an heir in a chroot");
	if (geteuid()) {
		say("only root may have one: skipped");
		return;
	}
	MUST(mkdtemp(empty_root));
	MUST(listen_in_child(leave_imprisoned));
	say_check(reports_well(), "is told that the listener has gone");
	results_close();
	MUST(!rmdir(empty_root));
}

static void an_heir_may_die_at_any_time(void)
{
	int call = 0;

	say_topic("an heir that dies");
	while (dies_at(call))
		call++;
	say_check(call > 8, "it has had %d calls to die at", call);
}

static const struct topic topics[] = {
	{ "lack-of-numbers", a_lack_of_numbers_loses_no_request },
	{ "first-heir", requests_outlive_the_first_heir },
	{ "death", an_heir_may_die_at_any_time },
	{ "lack-of-threads", a_lack_of_threads_loses_no_listener },
	{ "chroot", an_heir_in_a_chroot_has_nothing },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	alarm(3 * ALARM_S);
	if (!ALLOCATOR_FORKS) /* it forks most of the children */
		topic_skip("death", ALLOCATOR_FORKS_NOT);
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	return topics_end();
}
