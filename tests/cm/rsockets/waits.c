/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits.c - several threads wait for one socket or in one set. Whichever sees an event first, the
 * others must wake too. A sleep that misses its end lasts for wake_up_interval, 5 s by default; up
 * to 3 s are tolerated, as a woken thread may have to wait for a CPU.
 *
 * Covers: librdmacm/rsocket/stream/wait.c, librdmacm/rsocket/poll/waiter.c
 */
#include "repoll.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/bits.h"

enum { ROUNDS = 40, MOST_MS = 3000, FILLING = 1 << 14, QUIET_MS = 400 };
/* one after the other, they would take longer than MOST_MS */
enum { LIMITED = 10, LIMIT_MS = 400 };

static int port = 21000;

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

struct ends {
	int listener, client, server;
};

static struct sockaddr_in loopback_at(int at)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(at) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static int listen_here(void)
{
	struct sockaddr_in addr = loopback_at(++port);
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(socket, 4));
	return socket;
}

static void *accept_one(void *argument)
{
	struct ends *ends = argument;

	ends->server = raccept(ends->listener, NULL, NULL);
	return NULL;
}

static struct ends connect_ends(void)
{
	struct ends ends = { .listener = listen_here() };
	struct sockaddr_in addr = loopback_at(port);
	pthread_t thread;

	ends.client = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(ends.client >= 0 && !pthread_create(&thread, NULL, accept_one, &ends));
	MUST(!rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)));
	pthread_join(thread, NULL);
	MUST(ends.server >= 0);
	return ends;
}

static void close_ends(struct ends *ends)
{
	MUST(!rclose(ends->client) && !rclose(ends->server) && !rclose(ends->listener));
}

struct waiter {
	pthread_t thread;
	int (*wait)(int fd);
	int fd, result;
	int64_t woken_us;
};

static void *waiter_wait(void *argument)
{
	struct waiter *waiter = argument;

	waiter->result = waiter->wait(waiter->fd);
	waiter->woken_us = now_us();
	return NULL;
}

static void waiter_start(struct waiter *waiter, int (*wait)(int fd), int fd)
{
	*waiter = (struct waiter){ .wait = wait, .fd = fd };
	MUST(!pthread_create(&waiter->thread, NULL, waiter_wait, waiter));
}

/* Rounds wait for different times, so that events meet the threads in every state between call and
 * sleep. */
static void round_delay(int round)
{
	if (round % 4)
		usleep(round % 4 * 1500 + round % 7 * 100);
}

static int64_t worst_us;

/* Joins a thread, which the event at START_US must have woken with RESULT. */
static bool waiter_is_woken(struct waiter *waiter, int64_t start_us, int result)
{
	int64_t us;

	pthread_join(waiter->thread, NULL);
	us = waiter->woken_us - start_us;
	if (us > worst_us)
		worst_us = us;
	return waiter->result == result && us < MOST_MS * 1000;
}

static void end_case(bool good, const char *what)
{
	say_check(good, "%s: no sleep misses its end (%s)", what,
		  worst_us < MOST_MS * 1000 ? "all in time" : "one took longer");
	if (!good)
		printf("# %s: the worst took %lld ms\n", what, (long long)worst_us / 1000);
	worst_us = 0;
}

static bool is_told; /* tells the threads that wait in a loop to end */

static int wait_in_rpoll(int fd, short events)
{
	struct pollfd poll = { .fd = fd, .events = events };

	return rpoll(&poll, 1, -1) == 1 && poll.revents == events;
}

static int wait_to_read(int fd)
{
	return wait_in_rpoll(fd, POLLIN);
}

static int wait_to_write(int fd)
{
	return wait_in_rpoll(fd, POLLOUT);
}

static int wait_in_rselect(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return rselect(fd + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(fd, &set);
}

static int wait_in_set(int set)
{
	struct epoll_event event;

	return repoll_wait_fn(set, &event, 1, -1);
}

static int wait_in_rrecv(int fd)
{
	char byte;

	return rrecv(fd, &byte, 1, 0) == 1;
}

static int wait_in_raccept(int fd)
{
	return raccept(fd, NULL, NULL) == -1 && errno == EINVAL;
}

static int wait_in_own_set(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = repoll_create_fn(1), ret;

	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, fd, &event));
	ret = wait_in_set(set);
	close(set);
	return ret;
}

/* ---- one socket ---- */

static void two_see_what_arrives(const char *what, int (*first)(int), int (*second)(int))
{
	struct ends ends = connect_ends();
	struct waiter waiters[2];
	char bytes[2];
	bool good = true;
	int64_t start;

	for (int i = 0; i < ROUNDS && good; i++) {
		waiter_start(&waiters[0], first, ends.server);
		waiter_start(&waiters[1], second, ends.server);
		round_delay(i);
		start = now_us();
		MUST(rsend(ends.client, "ab", 2, 0) == 2);
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		/* one byte is missing if a thread has read it */
		MUST(rrecv(ends.server, bytes, 2, 0) > 0);
	}
	end_case(good, what);
	close_ends(&ends);
}

static size_t fill_ring(int socket)
{
	static const char bytes[FILLING];
	size_t sum = 0;
	ssize_t done;

	while ((done = rsend(socket, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		sum += done;
	return sum;
}

static void drain_bytes(int socket, size_t size)
{
	static char bytes[FILLING];
	ssize_t done;

	for (; size; size -= done) {
		done = rrecv(socket, bytes, size < sizeof(bytes) ? size : sizeof(bytes), 0);
		MUST(done > 0);
	}
}

/* Room to write comes with the same completions as the byte. The reader may process them, and must
 * wake the writer. */
static void reader_leaves_room_to_the_writer(void)
{
	struct ends ends = connect_ends();
	struct waiter reader, writer;
	size_t size;
	bool good = true;
	int64_t start;

	for (int i = 0; i < ROUNDS && good; i++) {
		size = fill_ring(ends.client);
		waiter_start(&reader, wait_in_rrecv, ends.client);
		waiter_start(&writer, wait_to_write, ends.client);
		round_delay(i);
		drain_bytes(ends.server, size);
		/* from now on, as draining takes time, and may already make room for one */
		start = now_us();
		MUST(rsend(ends.server, "x", 1, 0) == 1);
		good &= waiter_is_woken(&writer, start, 1);
		good &= waiter_is_woken(&reader, start, 1);
	}
	end_case(good, "rrecv and rpoll for room");
	close_ends(&ends);
}

static void two_readers_have_a_byte_each(void)
{
	struct ends ends = connect_ends();
	struct waiter waiters[2];
	bool good = true;
	int64_t start;

	for (int i = 0; i < ROUNDS && good; i++) {
		waiter_start(&waiters[0], wait_in_rrecv, ends.server);
		waiter_start(&waiters[1], wait_in_rrecv, ends.server);
		round_delay(i);
		start = now_us();
		MUST(rsend(ends.client, "ab", 2, 0) == 2);
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
	}
	end_case(good, "two in rrecv");
	close_ends(&ends);
}

static void datagrams_are_seen_by_two(void)
{
	int server = rsocket(AF_INET, SOCK_DGRAM, 0), client = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in addr = loopback_at(++port);
	struct waiter waiters[2];
	bool good = true;
	char byte;
	int64_t start;

	MUST(!rbind(server, (struct sockaddr *)&addr, sizeof(addr)));
	for (int i = 0; i < ROUNDS && good; i++) {
		waiter_start(&waiters[0], wait_to_read, server);
		waiter_start(&waiters[1], wait_to_read, server);
		round_delay(i);
		start = now_us();
		MUST(rsendto(client, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)) == 1);
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		MUST(rrecv(server, &byte, 1, 0) == 1);
	}
	end_case(good, "datagrams, two in rpoll");
	MUST(!rclose(server) && !rclose(client));
}

static int receive_in_time(int fd)
{
	char byte;

	return rrecv(fd, &byte, 1, 0) == -1 && errno == EAGAIN;
}

static int send_in_time(int fd)
{
	return rsend(fd, "x", 1, 0) == -1 && errno == EAGAIN;
}

/* Threads take turns at a direction, and each one's limit counts from its own call. */
static void limits_count_from_the_call(int fd, int option, int (*wait)(int), const char *what)
{
	const struct timeval limit = { .tv_usec = LIMIT_MS * 1000 };
	struct waiter waiters[LIMITED];
	int64_t start = now_us();
	bool good = true;

	MUST(!rsetsockopt(fd, SOL_SOCKET, option, &limit, sizeof(limit)));
	for (int i = 0; i < LIMITED; i++)
		waiter_start(&waiters[i], wait, fd);
	for (int i = 0; i < LIMITED; i++)
		good &= waiter_is_woken(&waiters[i], start, 1);
	end_case(good, what);
}

static void limits_of_many(void)
{
	struct ends ends = connect_ends();

	limits_count_from_the_call(ends.client, SO_RCVTIMEO, receive_in_time,
				   "SO_RCVTIMEO of ten threads");
	fill_ring(ends.client);
	while (rsend(ends.client, "x", 1, MSG_DONTWAIT) == 1)
		;
	limits_count_from_the_call(ends.client, SO_SNDTIMEO, send_in_time,
				   "SO_SNDTIMEO of ten threads");
	close_ends(&ends);
}

static int64_t cpu_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000LL + used.tv_nsec / 1000;
}

/* A datagram wakes all three threads, and one gets it. The two others must not wake each other
 * again and again, as they would take a CPU each. */
static void datagram_leaves_others_asleep(void)
{
	int server = rsocket(AF_INET, SOCK_DGRAM, 0), client = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in addr = loopback_at(++port);
	struct waiter waiters[3];
	int64_t used_us;
	bool good = true;

	MUST(!rbind(server, (struct sockaddr *)&addr, sizeof(addr)));
	for (int i = 0; i < 3; i++)
		waiter_start(&waiters[i], wait_in_rrecv, server);
	usleep(20000); /* a moment, so that all fall asleep */
	MUST(rsendto(client, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)) == 1);
	usleep(20000); /* a moment, so that the two others fall asleep again */
	used_us = cpu_us();
	usleep(QUIET_MS * 1000);
	used_us = cpu_us() - used_us;
	for (int i = 0; i < 2; i++)
		MUST(rsendto(client, "x", 1, 0, (struct sockaddr *)&addr, sizeof(addr)) == 1);
	for (int i = 0; i < 3; i++) {
		pthread_join(waiters[i].thread, NULL);
		good &= waiters[i].result == 1;
	}
	say_check(good && used_us < QUIET_MS * 1000 / 5,
		  "datagrams, three in rrecv: two sleep while nothing comes");
	printf("# of %d ms they were busy for %lld\n", QUIET_MS, (long long)used_us / 1000);
	MUST(!rclose(server) && !rclose(client));
}

/* ---- what another thread does to a socket or a set ---- */

static void listener_that_is_shut_lets_go(void)
{
	struct waiter waiters[2];
	bool good = true;
	int64_t start;
	int listener;

	for (int i = 0; i < 4 && good; i++) {
		listener = listen_here();
		waiter_start(&waiters[0], wait_in_raccept, listener);
		waiter_start(&waiters[1], wait_in_raccept, listener);
		round_delay(i);
		start = now_us();
		MUST(!rshutdown(listener, SHUT_RDWR));
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		MUST(!rclose(listener));
	}
	end_case(good, "raccept, and rshutdown of the listener");
}

static void shutdown_ends_a_wait(int (*wait)(int), const char *what)
{
	struct waiter waiters[2];
	bool good = true;
	int64_t start;
	struct ends ends;

	for (int i = 0; i < 4 && good; i++) {
		ends = connect_ends();
		waiter_start(&waiters[0], wait, ends.client);
		waiter_start(&waiters[1], wait, ends.client);
		round_delay(i);
		start = now_us();
		MUST(!rshutdown(ends.client, SHUT_RD));
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		close_ends(&ends);
	}
	end_case(good, what);
}

static int wait_for_what_goes(int fd)
{
	return wait_in_rpoll(fd, POLLNVAL);
}

static void socket_that_is_closed_lets_go(void)
{
	struct waiter waiters[2];
	bool good = true;
	int64_t start;
	int listener;

	for (int i = 0; i < 8 && good; i++) {
		listener = listen_here();
		waiter_start(&waiters[0], wait_for_what_goes, listener);
		waiter_start(&waiters[1], wait_for_what_goes, listener);
		/* lets the thread call first: on a number that is no socket it would fail
		 * otherwise */
		usleep(20000);
		start = now_us();
		MUST(!rclose(listener));
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
	}
	end_case(good, "rpoll, and rclose by another thread");
}

static void *wait_until_told(void *set)
{
	struct epoll_event events[2];
	int count;

	do
		count = repoll_wait_fn(*(int *)set, events, 2, -1);
	while (count >= 0 && !__atomic_load_n(&is_told, __ATOMIC_RELAXED));
	return NULL;
}

/* Threads of a server close sockets on which others wait. In each round a member gets data and is
 * closed, so the waiting thread may be busy with it. */
static void members_go_while_another_waits(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set = repoll_create_fn(1);
	struct ends ends, last = connect_ends();
	pthread_t threads[2];

	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, last.server, &event));
	for (int i = 0; i < 2; i++)
		MUST(!pthread_create(&threads[i], NULL, wait_until_told, &set));
	for (int i = 0; i < ROUNDS; i++) {
		ends = connect_ends();
		MUST(!repoll_ctl_fn(set, EPOLL_CTL_ADD, ends.server, &event));
		round_delay(i);
		MUST(rsend(ends.client, "x", 1, 0) == 1);
		MUST(!rclose(ends.server) && !rclose(ends.client) && !rclose(ends.listener));
	}
	__atomic_store_n(&is_told, true, __ATOMIC_RELAXED);
	MUST(!rclose(set)); /* wakes both */
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	close_ends(&last);
	say_check(true, "repoll_wait, and rclose of members by another thread: all came to an end");
}

/* FIRST, unless -1, is in the set before any thread waits. */
static void member_that_is_added_is_seen(int first, const struct ends *ends, const char *what)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct waiter waiters[2];
	bool good = true;
	int64_t start;
	int set;

	MUST(rsend(ends->client, "x", 1, 0) == 1 && wait_to_read(ends->server));
	for (int i = 0; i < ROUNDS && good; i++) {
		set = repoll_create_fn(1);
		MUST(set >= 0);
		if (first >= 0)
			MUST(!repoll_ctl_fn(set, EPOLL_CTL_ADD, first, &event));
		waiter_start(&waiters[0], wait_in_set, set);
		waiter_start(&waiters[1], wait_in_set, set);
		round_delay(i);
		start = now_us();
		MUST(!repoll_ctl_fn(set, EPOLL_CTL_ADD, ends->server, &event));
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		close(set);
	}
	drain_bytes(ends->server, 1);
	end_case(good, what);
}

static void member_that_is_changed_is_seen(const struct ends *ends)
{
	struct epoll_event event = { .events = EPOLLIN }, changed = { .events = EPOLLOUT };
	struct waiter waiter;
	bool good = true;
	int64_t start;
	int set;

	for (int i = 0; i < ROUNDS && good; i++) {
		set = repoll_create_fn(1);
		MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, ends->server, &event));
		waiter_start(&waiter, wait_in_set, set);
		round_delay(i);
		start = now_us();
		MUST(!repoll_ctl_fn(set, EPOLL_CTL_MOD, ends->server, &changed));
		good &= waiter_is_woken(&waiter, start, 1);
		close(set);
	}
	end_case(good, "repoll_wait, and a member changed by another thread");
}

static int wait_in_set_that_goes(int set)
{
	struct epoll_event event;

	return repoll_wait_fn(set, &event, 1, -1) == -1 && errno == EBADF;
}

static void set_that_is_closed_lets_go(const struct ends *quiet)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct waiter waiters[2];
	bool good = true;
	int64_t start;
	int set;

	for (int i = 0; i < 8 && good; i++) {
		set = repoll_create_fn(1);
		MUST(set >= 0);
		if (i % 2)
			MUST(!repoll_ctl_fn(set, EPOLL_CTL_ADD, quiet->server, &event));
		waiter_start(&waiters[0], wait_in_set_that_goes, set);
		waiter_start(&waiters[1], wait_in_set_that_goes, set);
		/* lets the thread call first: on a number that is no socket it would fail
		 * otherwise */
		usleep(20000);
		start = now_us();
		MUST(!rclose(set));
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		errno = 0;
		MUST(rclose(set) == -1 && errno == EBADF);
	}
	end_case(good, "repoll_wait, and rclose of the set");
}

static void sets_see_what_others_do_to_them(void)
{
	struct ends quiet = connect_ends(), ends = connect_ends();

	member_that_is_added_is_seen(-1, &ends, "repoll_wait, an empty set gets a member");
	member_that_is_added_is_seen(quiet.server, &ends, "repoll_wait, another member is added");
	member_that_is_changed_is_seen(&ends);
	set_that_is_closed_lets_go(&quiet);
	close_ends(&quiet);
	close_ends(&ends);
}

static void two_in_one_set_see_what_arrives(void)
{
	struct ends ends = connect_ends();
	struct epoll_event event = { .events = EPOLLIN };
	int set = repoll_create_fn(1);
	struct waiter waiters[2];
	bool good = true;
	int64_t start;

	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, ends.server, &event));
	for (int i = 0; i < ROUNDS && good; i++) {
		waiter_start(&waiters[0], wait_in_set, set);
		waiter_start(&waiters[1], wait_in_set, set);
		round_delay(i);
		start = now_us();
		MUST(rsend(ends.client, "x", 1, 0) == 1);
		good &= waiter_is_woken(&waiters[0], start, 1);
		good &= waiter_is_woken(&waiters[1], start, 1);
		drain_bytes(ends.server, 1);
	}
	end_case(good, "two in repoll_wait of one set");
	close(set);
	close_ends(&ends);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int byte_comes(const struct ends *ends)
{
	struct pollfd poll = { .fd = ends->server, .events = POLLIN };
	char byte;

	return rsend(ends->client, "x", 1, 0) == 1 && rpoll(&poll, 1, MOST_MS) == 1 &&
	       rrecv(ends->server, &byte, 1, MSG_DONTWAIT) == 1;
}

/* A cancelled thread must leave no descriptor and no entry in a list of waiters, which would be on
 * its stack: another thread gets that memory. */
static void cancelled_thread_leaves_nothing(int (*wait)(int), int fd, const struct ends *ends,
					    const char *what)
{
	const int before = count_descriptors();
	struct waiter waiter;
	bool good = true;
	void *result;

	for (int i = 0; i < 4 && good; i++) {
		waiter_start(&waiter, wait, fd);
		usleep(20000); /* a moment, so that it falls asleep */
		MUST(!pthread_cancel(waiter.thread) && !pthread_join(waiter.thread, &result));
		good = result == PTHREAD_CANCELED && byte_comes(ends);
	}
	say_check(good && count_descriptors() == before, "%s, cancelled: the socket goes on", what);
}

static bool is_cancelled;

/* Cancelled before rshutdown(), the thread must still complete the call, as that wakes another
 * thread. */
static void *shut_down(void *argument)
{
	int *socket = argument, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (!__atomic_load_n(&is_cancelled, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	rshutdown(*socket, SHUT_RD);
	*socket = -1;
	return NULL;
}

static void cancelled_thread_finishes_its_call(void)
{
	struct ends ends = connect_ends();
	int64_t start = now_us();
	int socket = ends.client;
	struct waiter waiter;
	pthread_t thread;

	waiter_start(&waiter, wait_to_read, ends.client);
	MUST(!pthread_create(&thread, NULL, shut_down, &socket) && !pthread_cancel(thread));
	usleep(20000); /* a moment, so that the other thread falls asleep */
	__atomic_store_n(&is_cancelled, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	say_check(waiter_is_woken(&waiter, start, 1) && socket == -1,
		  "rshutdown by a thread that is to be cancelled: it wakes another one");
	close_ends(&ends);
}

static void cancelled_threads_leave_nothing(void)
{
	struct ends ends = connect_ends();
	struct epoll_event event = { .events = EPOLLIN };
	int set = repoll_create_fn(1);

	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, ends.server, &event));
	cancelled_thread_leaves_nothing(wait_to_read, ends.server, &ends, "rpoll");
	cancelled_thread_leaves_nothing(wait_in_rselect, ends.server, &ends, "rselect");
	cancelled_thread_leaves_nothing(wait_in_set, set, &ends, "repoll_wait");
	cancelled_thread_leaves_nothing(wait_in_raccept, ends.listener, &ends, "raccept");
	cancelled_thread_leaves_nothing(wait_in_rrecv, ends.server, &ends, "rrecv");
	MUST(!rclose(set));
	close_ends(&ends);
	cancelled_thread_finishes_its_call();
}

/* The failed attempt had its own queues, so the next attempt may keep nothing of them. */
static void socket_that_was_refused_is_woken(void)
{
	struct sockaddr_in addr = loopback_at(++port);
	struct waiter waiter;
	struct ends ends;
	pthread_t thread;
	bool good = true;
	int64_t start;

	ends.client = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(ends.client >= 0);
	MUST(rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)) == -1);
	MUST(errno == ECONNREFUSED);
	ends.listener = listen_here();
	addr = loopback_at(port);
	MUST(!pthread_create(&thread, NULL, accept_one, &ends));
	MUST(!rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)));
	pthread_join(thread, NULL);
	for (int i = 0; i < ROUNDS && good; i++) {
		waiter_start(&waiter, i % 2 ? wait_in_rrecv : wait_to_read, ends.client);
		usleep(20000); /* a moment, so that it falls asleep */
		start = now_us();
		MUST(rsend(ends.server, "x", 1, 0) == 1);
		good &= waiter_is_woken(&waiter, start, 1);
		if (i % 2 == 0)
			drain_bytes(ends.client, 1);
	}
	end_case(good, "a socket that was refused, and is connected then");
	close_ends(&ends);
}

/* Left out, as ThreadSanitizer believes that a thread cancelled in poll() is still there, and
 * misses that the cleanup handler unlocks its locks. */
#ifdef __SANITIZE_THREAD__
enum { CANCELLING_IS_SEEN = 0 };
#else
enum { CANCELLING_IS_SEEN = 1 };
#endif

static void two_wait(void)
{
	two_see_what_arrives("two in rpoll", wait_to_read, wait_to_read);
	two_see_what_arrives("two in rselect", wait_in_rselect, wait_in_rselect);
	two_see_what_arrives("two in sets of their own", wait_in_own_set, wait_in_own_set);
	two_see_what_arrives("rpoll and rrecv", wait_to_read, wait_in_rrecv);
	two_see_what_arrives("a set and rrecv", wait_in_own_set, wait_in_rrecv);
}

static void shutdown_ends_waits(void)
{
	shutdown_ends_a_wait(wait_to_read, "rpoll, and rshutdown by another thread");
	shutdown_ends_a_wait(wait_in_own_set, "repoll_wait, and rshutdown by another thread");
}

static void too_many_are_refused(void)
{
	static volatile nfds_t most = (nfds_t)-1;
	struct pollfd fd = { .fd = rsocket(AF_INET, SOCK_STREAM, 0), .events = POLLIN };

	MUST(fd.fd >= 0);
	errno = 0;
	say_check(rpoll(&fd, most, 0) < 0 && errno == ENOMEM,
		  "rpoll of too many descriptors: ENOMEM");
	MUST(!rclose(fd.fd));
}

static const struct topic topics[] = {
	{ "too-many", too_many_are_refused },
	{ "two-wait", two_wait },
	{ "two-readers-have-a-byte-each", two_readers_have_a_byte_each },
	{ "reader-leaves-room-to-the-writer", reader_leaves_room_to_the_writer },
	{ "two-in-one-set-see-what-arrives", two_in_one_set_see_what_arrives },
	{ "sets-see-what-others-do-to-them", sets_see_what_others_do_to_them },
	{ "listener-that-is-shut-lets-go", listener_that_is_shut_lets_go },
	{ "shutdown", shutdown_ends_waits },
	{ "socket-that-is-closed-lets-go", socket_that_is_closed_lets_go },
	{ "members-go-while-another-waits", members_go_while_another_waits },
	{ "datagrams-are-seen-by-two", datagrams_are_seen_by_two },
	{ "limits-count-from-the-call", limits_of_many },
	{ "datagram-leaves-others-asleep", datagram_leaves_others_asleep },
	{ "socket-that-was-refused-is-woken", socket_that_was_refused_is_woken },
	{ "cancelled", cancelled_threads_leave_nothing },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	repoll_find();
	if (!CANCELLING_IS_SEEN)
		topic_skip("cancelled", "ThreadSanitizer does not see what they unlock");
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	return topics_end();
}
