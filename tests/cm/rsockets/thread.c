/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.c - the library's service thread, in programs that close descriptors which they did not
 * open, as daemons do at their start.
 *
 * The program exports poll() and write(), so the library calls these instead of libc's. poll()
 * notes whether the thread can still be woken; write() can break the pipe by which requests are
 * handed on.
 *
 * Covers: librdmacm/rsocket/service.c, librdmacm/rsocket/stream/keepalive.c,
 * librdmacm/rsocket/signals.c
 */
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
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATIENCE_S = 10, FEW_NUMBERS = 64, SETTLED_US = 300000 };
enum { PLAIN_NUMBERS = 512 }; /* below the numbers of channels, as softhca puts those above */

static pid_t main_thread;
/* sleeps of the thread without a descriptor that wakes it */
static atomic_uint sleeps_without_kick;

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*const real)(struct pollfd *, nfds_t, int) =
		(int (*)(struct pollfd *, nfds_t, int))(uintptr_t)dlsym(RTLD_NEXT, "poll");

	if (timeout && count && fds[0].fd < 0 && gettid() != main_thread)
		sleeps_without_kick++;
	return real(fds, count, timeout);
}

static atomic_bool is_pipe_broken; /* the next write of a request fails */

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
	ssize_t (*const real)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "write");

	if (size != sizeof(struct rdma_ucm_event_resp) || !atomic_exchange(&is_pipe_broken, false))
		return real(fd, bytes, size);
	errno = EPIPE;
	return -1;
}

struct numbers {
	int listener;
	int of_thread[PLAIN_NUMBERS], count; /* descriptors of the thread, without the listener */
};

/* Makes a listener, and finds the descriptors that the library opened for it. At the wildcard
 * address, as it opens no adapter there. */
static bool listener_make(struct numbers *numbers)
{
	struct sockaddr_in any = forks_here();
	bool was_there[PLAIN_NUMBERS];

	any.sin_addr.s_addr = INADDR_ANY;
	for (int fd = 0; fd < PLAIN_NUMBERS; fd++)
		was_there[fd] = fcntl(fd, F_GETFD) >= 0;
	numbers->count = 0;
	numbers->listener = rsocket(AF_INET, SOCK_STREAM, 0);
	if (rbind(numbers->listener, (struct sockaddr *)&any, sizeof(any)) ||
	    rlisten(numbers->listener, 4))
		return false;
	for (int fd = 0; fd < PLAIN_NUMBERS; fd++) {
		if (!was_there[fd] && fd != numbers->listener && fcntl(fd, F_GETFD) >= 0)
			numbers->of_thread[numbers->count++] = fd;
	}
	return numbers->count > 0;
}

static int no_child_setup(int unused)
{
	return unused;
}

/* Forks after the thread has ended: fork() must not write to the thread's closed pipe, which would
 * raise SIGPIPE. */
static int fork_after_closing(int which)
{
	struct numbers numbers;

	main_thread = gettid();
	if (!listener_make(&numbers) || rclose(numbers.listener))
		return 2;
	if (which < numbers.count)
		close(numbers.of_thread[which]);
	return !ends_well(child_that(no_child_setup, 0));
}

static void closing_is_no_signal(void)
{
	bool good = true;

	say_topic("a descriptor of the thread's");
	for (int which = 0; which < 4; which++)
		good &= ends_well(child_that(fork_after_closing, which));
	say_check(good, "any of them may be closed, and nobody gets a signal");
}

/* The descriptor that wakes the thread is gone, and no number is left for another. The thread must
 * still notice that a socket is closed, so it must not sleep for ever. */
static int close_without_numbers(int unused)
{
	struct rlimit few;
	struct numbers numbers;

	(void)unused;
	alarm(PATIENCE_S);
	main_thread = gettid();
	if (!listener_make(&numbers) || getrlimit(RLIMIT_NOFILE, &few))
		return 2;
	few.rlim_cur = FEW_NUMBERS;
	if (setrlimit(RLIMIT_NOFILE, &few))
		return 2;
	while (dup(0) >= 0)
		;
	for (int i = 0; i < numbers.count; i++)
		dup2(0, numbers.of_thread[i]);
	while (!sleeps_without_kick)
		usleep(1000);
	return rclose(numbers.listener);
}

static void nobody_waits_for_a_deaf_thread(void)
{
	say_topic("no number is left");
	say_check(ends_well(child_that(close_without_numbers, 0)),
		  "a thread that nobody can wake lets go of a socket");
}

/* After the program has lowered RLIMIT_NOFILE, poll() refuses the thread's descriptors with EINVAL.
 * The thread must still hand a request on to the child, as that gets requests from it only. */
static int hand_on_without_poll(int unused)
{
	struct rlimit few;
	pid_t child;
	int listener;

	(void)unused;
	alarm(PATIENCE_S);
	forks_port--;
	listener = listen_here();
	child = child_that(child_echo, listener);
	if (getrlimit(RLIMIT_NOFILE, &few))
		return 2;
	few.rlim_cur = 1; /* less than the listener and the thread's own descriptor */
	if (setrlimit(RLIMIT_NOFILE, &few))
		return 2;
	return !ends_well(child) || rclose(listener);
}

static void the_thread_serves_without_poll(void)
{
	int socket;
	pid_t server;

	say_topic("more sockets than poll() takes");
	forks_port++;
	server = child_that(hand_on_without_poll, 0);
	usleep(SETTLED_US);
	socket = connect_patiently();
	say_check(socket >= 0 && comes_back(socket, "hello") && !rclose(socket) &&
			  ends_well(server),
		  "a child gets its requests");
}

static int lose_a_request(int unused)
{
	int listener;
	pid_t child;

	(void)unused;
	alarm(PATIENCE_S);
	forks_port--;
	is_pipe_broken = true;
	listener = listen_here();
	child = child_that(child_echo, listener);
	return !ends_well(child) || rclose(listener);
}

/* A request that is lost on the pipe must be refused, because no process knows of it and the peer
 * would wait forever. */
static void a_lost_request_is_refused(void)
{
	pid_t server;
	int socket;

	say_topic("a request that cannot be handed on");
	forks_port++;
	server = child_that(lose_a_request, 0);
	usleep(SETTLED_US);
	socket = connect_here();
	say_check(socket < 0 && errno == ECONNREFUSED, "is refused");
	socket = connect_here();
	say_check(socket >= 0 && comes_back(socket, "hello") && !rclose(socket) &&
			  ends_well(server),
		  "the next one is served");
}

static const struct topic topics[] = {
	{ "closing-is-no-signal", closing_is_no_signal },
	{ "nobody-waits-for-a-deaf-thread", nobody_waits_for_a_deaf_thread },
	{ "thread-serves-without-poll", the_thread_serves_without_poll },
	{ "lost-request-is-refused", a_lost_request_is_refused },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
