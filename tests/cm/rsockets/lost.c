/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lost.c - errors of rsockets that lose something while a thread waits: their number, which the
 * next socket gets, or the adapter. The program's own descriptors, and options that another thread
 * sets meanwhile, must not be lost.
 *
 * Covers: librdmacm/rsocket/table.c, librdmacm/rsocket/stream/wait.c, librdmacm/rsocket/cancel.c
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/control.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

enum { PORT = 23000, PATIENCE_MS = 5000, AT_ONCE_MS = 2000 };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* The thread's next poll() returns only when goes_on is set, so that the test can act in
 * between. */
static __thread bool is_held_up;
static sem_t sleeps, goes_on;

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*const real)(struct pollfd *, nfds_t, int) =
		(int (*)(struct pollfd *, nfds_t, int))(uintptr_t)dlsym(RTLD_NEXT, "poll");
	int ret;

	if (!is_held_up || !timeout)
		return real(fds, count, timeout);
	is_held_up = false;
	sem_post(&sleeps);
	ret = real(fds, count, timeout);
	while (sem_wait(&goes_on))
		;
	return ret;
}

/* If not NULL, the next pthread_create() calls this and fails. */
static void (*instead_of_thread)(void);

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
			uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
	void (*const act)(void) = instead_of_thread;

	if (!act)
		return real(thread, attr, run, argument);
	instead_of_thread = NULL;
	act();
	return EAGAIN;
}

struct waiting {
	struct pollfd fd;
	int result;
	int64_t ms;
};

static void *wait_for_data(void *argument)
{
	struct waiting *waiting = argument;
	int64_t from = now_ms();

	is_held_up = true;
	waiting->result = rpoll(&waiting->fd, 1, PATIENCE_MS);
	waiting->ms = now_ms() - from;
	return NULL;
}

static int listen_on(const char *host, int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	addr.sin_addr.s_addr = inet_addr(host);
	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(socket, 1));
	return socket;
}

static int listen_at(int port)
{
	return listen_on("127.0.0.1", port);
}

static void number_is_another_sockets(void)
{
	struct waiting waiting = { .fd = { .fd = listen_at(PORT), .events = POLLIN } };
	int next;
	pthread_t thread;

	MUST(!sem_init(&sleeps, 0, 0) && !sem_init(&goes_on, 0, 0));
	MUST(!pthread_create(&thread, NULL, wait_for_data, &waiting));
	MUST(!sem_wait(&sleeps));
	MUST(!rclose(waiting.fd.fd));
	next = listen_at(PORT + 1);
	MUST(next == waiting.fd.fd);
	sem_post(&goes_on);
	MUST(!pthread_join(thread, NULL));
	say_check(waiting.result == 1 && waiting.fd.revents == POLLNVAL,
		  "rpoll() says POLLNVAL of a socket whose number another one has by now");
	say_check(waiting.ms < AT_ONCE_MS, "at once");
	MUST(!rclose(next));
}

static unsigned int count_eventfds(void)
{
	unsigned int count = 0;
	char path[32], target[64];
	ssize_t len;

	for (int fd = 0; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = 0;
		count += !!strstr(target, "eventfd");
	}
	return count;
}

/* A program that closes all unknown descriptors gives their numbers to its own files, so a sleeping
 * thread must not wait on them. */
static void sleeping_keeps_no_descriptor(void)
{
	struct pollfd fd = { .fd = listen_at(PORT + 3), .events = POLLIN };
	unsigned int before = count_eventfds();

	for (int i = 0; i < 3; i++)
		MUST(!rpoll(&fd, 1, 20));
	say_check(count_eventfds() == before, "who has slept leaves no descriptor behind");
	MUST(!rclose(fd.fd));
}

static int socket_of_both;

static void set_linger(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 7 };

	MUST(!rsetsockopt(socket_of_both, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

/* One option needs the thread, which cannot start. The other is set at that moment, and must
 * stay. */
static void options_stay(void)
{
	struct linger linger = { 0 };
	socklen_t len = sizeof(linger);
	int on = 1;

	socket_of_both = listen_at(PORT + 4);
	instead_of_thread = set_linger;
	say_check(rsetsockopt(socket_of_both, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) == -1 &&
			  !instead_of_thread,
		  "an option is refused");
	MUST(!rgetsockopt(socket_of_both, SOL_SOCKET, SO_LINGER, &linger, &len));
	say_check(linger.l_onoff == 1 && linger.l_linger == 7,
		  "another one that was set meanwhile stays");
	len = sizeof(on);
	MUST(!rgetsockopt(socket_of_both, SOL_SOCKET, SO_KEEPALIVE, &on, &len));
	say_check(!on, "the refused one is what it was");
	MUST(!rclose(socket_of_both));
}

static void adapter_dies(void)
{
	struct pollfd fd = { .fd = listen_on("198.18.0.1", PORT + 2), .events = POLLIN };

	adapter_tell("kill");
	say_check(rpoll(&fd, 1, PATIENCE_MS) == 1,
		  "rpoll() says that a listener's adapter has gone");
	alarm(PATIENCE_MS / 1000);
	errno = 0;
	say_check(raccept(fd.fd, NULL, NULL) == -1 && errno == EINVAL, "raccept(): EINVAL");
	say_check(raccept(fd.fd, NULL, NULL) == -1 && errno == EINVAL, "again");
	alarm(0);
	say_check(rpoll(&fd, 1, PATIENCE_MS) == 1 && fd.revents & POLLERR, "then there is POLLERR");
	say_check(!rclose(fd.fd), "it is closed");
}

/* Runs in each process that shares a listener. Only one process reads the event that the adapter is
 * gone, so the others must learn of it from that one. */
static int says_it_has_gone(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };

	alarm(2 * PATIENCE_MS / 1000);
	if (raccept(listener, NULL, NULL) != -1 || errno != EINVAL)
		return 2;
	if (rpoll(&fd, 1, PATIENCE_MS) != 1 || !(fd.revents & POLLERR))
		return 3;
	return rclose(listener);
}

static pid_t child_with(int listener, int ready)
{
	pid_t child = fork();

	MUST(child >= 0);
	if (!child)
		_exit(write(ready, "x", 1) != 1 || says_it_has_gone(listener));
	return child;
}

static void adapter_of_a_shared_listener_dies(void)
{
	int listener = listen_on("198.18.0.1", PORT + 6), ready[2], status[2];
	pid_t child[2];
	char byte;

	MUST(!pipe(ready));
	for (int i = 0; i < 2; i++) {
		child[i] = child_with(listener, ready[1]);
		MUST(read(ready[0], &byte, 1) == 1);
	}
	adapter_dies();
	say_check(!says_it_has_gone(listener), "a shared listener has gone for its first process");
	alarm(0);
	for (int i = 0; i < 2; i++) {
		MUST(waitpid(child[i], &status[i], 0) == child[i]);
		say_check(!status[i], "and for child %d", i);
	}
}

static void *accept_one(void *listener)
{
	return (void *)(intptr_t)raccept(*(int *)listener, NULL, NULL);
}

static int connect_both(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int listener = listen_at(port), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(!pthread_create(&thread, NULL, accept_one, &listener));
	MUST(!rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!pthread_join(thread, NULL));
	return socket;
}

#define LEAVE_OPEN "leave" /* argument for such a program */

static int leave_open(void)
{
	connect_both(PORT + 5);
	return 0;
}

/* When nothing arrives any more, nothing that is sent completes, so only the linger time can end
 * the close. */
static void lingering_for_no_time_ends_at_once(void)
{
	const struct linger off = { 0 }, none = { .l_onoff = 1 };
	int socket = connect_both(PORT + 7);
	int64_t start;

	adapter_tell("drop:100%");
	MUST(!rsetsockopt(socket, SOL_SOCKET, SO_LINGER, &off,
			  sizeof(off))); /* {1, 0} reads back */
	MUST(!rsetsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof(none)));
	MUST(rsend(socket, "x", 1, 0) == 1);
	start = now_ms();
	MUST(!rclose(socket));
	say_check(now_ms() - start < AT_ONCE_MS, "rclose() does not wait");
}

enum { PARTING_BYTES = 60000, PARTINGS = 10 };

struct reader {
	int listener;
	size_t got;
	int error; /* errno of the failed read; 0: the stream ended */
};

static void *read_to_end(void *argument)
{
	static char bytes[PARTING_BYTES];
	struct reader *reader = argument;
	int socket = raccept(reader->listener, NULL, NULL);
	ssize_t n;

	MUST(socket >= 0);
	while ((n = rrecv(socket, bytes, sizeof(bytes), 0)) > 0)
		reader->got += (size_t)n;
	reader->error = n ? errno : 0;
	MUST(!rclose(socket));
	return NULL;
}

static void send_and_close(int port)
{
	static const char bytes[PARTING_BYTES];
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct reader reader = { .listener = listen_at(port) };
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(!pthread_create(&thread, NULL, read_to_end, &reader));
	MUST(!rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(rsend(socket, bytes, sizeof(bytes), 0) == sizeof(bytes));
	MUST(!rclose(socket));
	MUST(!pthread_join(thread, NULL) && !rclose(reader.listener));
	say_check(reader.got == sizeof(bytes) && !reader.error,
		  "%zu bytes arrive, then the end (errno %s)", reader.got, say_errno(reader.error));
}

/* A close waits until lost packets have been sent again, as the program believes them sent. The
 * adapter loses packets until the program ends. */
static void close_waits_for_what_was_sent(void)
{
	adapter_tell("drop:5%");
	for (int i = 0; i < PARTINGS; i++)
		send_and_close(PORT + 20 + i);
}

static void nothing_is_said_at_the_end(const char *program)
{
	char command[512], line[256] = "";
	FILE *output;

	snprintf(command, sizeof(command), "VERBS_LOG=warn '%s' " LEAVE_OPEN " 2>&1", program);
	output = popen(command, "r");
	MUST(output);
	if (fgets(line, sizeof(line), output))
		say("it says: %s", line);
	say_check(!pclose(output) && !*line,
		  "a program that leaves a connection ends without a word");
}

static const char *program;

static void the_end_is_quiet(void)
{
	nothing_is_said_at_the_end(program);
}

static void numbers(void)
{
	number_is_another_sockets();
	sleeping_keeps_no_descriptor();
}

static const struct topic topics[] = {
	{ "end", the_end_is_quiet },
	{ "numbers", numbers },
	{ "options", options_stay },
	{ "close", close_waits_for_what_was_sent },
	{ "no-linger", lingering_for_no_time_ends_at_once },
	/* the last, because the adapter is gone afterwards */
	{ "adapter", adapter_of_a_shared_listener_dies },
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], LEAVE_OPEN))
		return leave_open();
	program = argv[0];
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
