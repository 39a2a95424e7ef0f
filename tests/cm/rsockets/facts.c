/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * facts.c - the promises of rsockets, tested with both ends in one program: errors, polling, both
 * sides closing at once, a killed peer, a reader and a writer on one socket, edge-triggered sets.
 *
 * Covers: librdmacm/rsocket/stream/stream.c, librdmacm/rsocket/stream/io.c,
 * librdmacm/rsocket/options.c, librdmacm/rsocket/stream/accept.c,
 * librdmacm/rsocket/poll/poll.c,
 * librdmacm/rsocket/poll/epoll.c, librdmacm/rsocket/io.c, librdmacm/rsocket/config.c,
 * librdmacm/rsocket/stream/traffic.c, librdmacm/rsocket/poll/select.h
 */
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif

static int port = 18000;

struct ends {
	int listener, client, server;
};

static struct sockaddr_in loopback_at(int at)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(at) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static int listen_here(int mappings, int buffer)
{
	struct sockaddr_in addr = loopback_at(++port);
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	MUST(socket >= 0);
	if (mappings)
		MUST(!rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)));
	if (buffer)
		MUST(!rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)));
	MUST(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(socket, 4));
	return socket;
}

static void *accept_one(void *argument)
{
	struct ends *ends = argument;

	ends->server = raccept(ends->listener, NULL, NULL);
	return NULL;
}

static void connect_to_listener(struct ends *ends, int mappings)
{
	struct sockaddr_in addr = loopback_at(port);
	pthread_t thread;

	ends->client = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(ends->client >= 0);
	if (mappings)
		rsetsockopt(ends->client, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings));
	MUST(!pthread_create(&thread, NULL, accept_one, ends));
	MUST(!rconnect(ends->client, (struct sockaddr *)&addr, sizeof(addr)));
	pthread_join(thread, NULL);
	MUST(ends->server >= 0);
}

static struct ends connect_with(int mappings, int buffer)
{
	struct ends ends = { .listener = listen_here(mappings, buffer) };

	connect_to_listener(&ends, mappings);
	return ends;
}

static struct ends connect_ends(void)
{
	return connect_with(0, 0);
}

static void close_ends(struct ends *ends)
{
	if (ends->client >= 0)
		rclose(ends->client);
	if (ends->server >= 0)
		rclose(ends->server);
	rclose(ends->listener);
}

static int events_of(int socket, int timeout)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN | POLLOUT | POLLRDHUP };

	return rpoll(&fd, 1, timeout) < 0 ? -1 : fd.revents;
}

static void wrong_calls_are_refused(void)
{
	struct sockaddr_in addr = loopback_at(1);
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	char byte;

	say_topic("errors");
	errno = 0;
	say_check(rsend(777, "x", 1, 0) == -1 && errno == EBADF,
		  "rsend on what is no rsocket: EBADF");
	say_check(rpoll(&(struct pollfd){ .fd = 777, .events = POLLIN }, 1, 0) == 1,
		  "rpoll tells POLLNVAL");
	say_check(rsend(socket, "x", 1, 0) == -1 && errno == ENOTCONN,
		  "rsend before connecting: ENOTCONN");
	say_check(rrecv(socket, &byte, 1, 0) == -1 && errno == ENOTCONN,
		  "rrecv before connecting: ENOTCONN");
	say_check(raccept(socket, NULL, NULL) == -1 && errno == EINVAL,
		  "raccept without rlisten: EINVAL");
	say_check(rgetpeername(socket, (struct sockaddr *)&addr, &(socklen_t){ sizeof(addr) }) ==
				  -1 &&
			  errno == ENOTCONN,
		  "rgetpeername before connecting: ENOTCONN");
	say_check(rsocket(AF_UNIX, SOCK_STREAM, 0) == -1, "rsocket of AF_UNIX fails");
	addr = loopback_at(1);
	say_check(rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
			  errno == ECONNREFUSED,
		  "nobody listens: ECONNREFUSED");
	addr = loopback_at(++port);
	say_check(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)) || errno,
		  "rbind after that");
	rclose(socket);
	say_check(rread(socket, &byte, 1) == -1 && errno == EBADF, "closed: EBADF");
}

static void connected_sockets_refuse_to_begin_again(void)
{
	struct ends ends = connect_ends();
	struct sockaddr_in addr = loopback_at(port);
	int size = 100;

	say_topic("connected");
	say_check(rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
			  errno == EISCONN,
		  "rconnect again: EISCONN");
	say_check(rbind(ends.client, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
			  errno == EINVAL,
		  "rbind: EINVAL");
	say_check(rlisten(ends.client, 1) == -1 && errno == EINVAL, "rlisten: EINVAL");
	say_check(rsetsockopt(ends.client, SOL_RDMA, RDMA_SQSIZE, &size, sizeof(size)) == -1 &&
			  errno == EINVAL,
		  "RDMA_SQSIZE: EINVAL");
	close_ends(&ends);
}

static void half_closed_connections_carry_the_other_half(void)
{
	struct ends ends = connect_ends();
	char text[8] = "";

	say_topic("shutdown");
	MUST(rsend(ends.client, "last", 4, 0) == 4);
	say_check(!rshutdown(ends.client, SHUT_WR), "SHUT_WR");
	say_check(rsend(ends.client, "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE,
		  "no more can be sent: EPIPE");
	say_check(rrecv(ends.server, text, 8, MSG_WAITALL) == 4 && !strcmp(text, "last"),
		  "the other side gets what was sent before");
	say_check(rrecv(ends.server, text, 8, 0) == 0, "and then the end");
	say_check((events_of(ends.server, 1000) & (POLLIN | POLLOUT | POLLHUP | POLLRDHUP)) ==
			  (POLLIN | POLLOUT | POLLRDHUP),
		  "rpoll: POLLIN, POLLOUT, POLLRDHUP");
	say_check(rsend(ends.server, "back", 4, 0) == 4 && rrecv(ends.client, text, 4, 0) == 4,
		  "the other direction goes on");
	say_check(!rshutdown(ends.server, SHUT_RDWR), "SHUT_RDWR");
	say_check(rrecv(ends.client, text, 8, 0) == 0, "the end");
	say_check(events_of(ends.client, 1000) & POLLHUP, "rpoll: POLLHUP");
	close_ends(&ends);
}

static void *close_it(void *argument)
{
	return (void *)(intptr_t)rclose(*(int *)argument);
}

static void both_sides_may_close_at_once(void)
{
	pthread_t threads[2];

	say_topic("close");
	for (int i = 0; i < 8; i++) {
		struct ends ends = connect_ends();

		MUST(rsend(ends.client, "unread", 6, 0) == 6 &&
		     rsend(ends.server, "unread", 6, 0) == 6);
		MUST(!pthread_create(&threads[0], NULL, close_it, &ends.client));
		MUST(!pthread_create(&threads[1], NULL, close_it, &ends.server));
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		rclose(ends.listener);
	}
	say_check(true, "both sides at once, 8 times");
}

/* Runs in the child: tries to connect until there is a listener. */
static void connect_and_wait(int at)
{
	struct sockaddr_in addr = loopback_at(at);
	int socket, ret = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case the test ends early */
	while (ret) {
		socket = rsocket(AF_INET, SOCK_STREAM, 0);
		ret = rconnect(socket, (struct sockaddr *)&addr, sizeof(addr));
		if (ret) {
			rclose(socket);
			usleep(20000);
		}
	}
	rsend(socket, "hello", 5, 0);
	pause();
	_exit(1);
}

/* Runs first, as an adapter that was opened before fork() belongs to the parent alone. */
static void killed_peers_are_noticed(void)
{
	pid_t child = fork();
	int listener, socket, status;
	char text[8] = "";

	say_topic("killed");
	if (!child)
		connect_and_wait(port + 1);
	listener = listen_here(0, 0);
	socket = raccept(listener, NULL, NULL);
	MUST(socket >= 0 && rrecv(socket, text, 5, MSG_WAITALL) == 5);
	kill(child, SIGKILL);
	MUST(waitpid(child, &status, 0) == child);
	say_check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		  "the peer has lived until then");
	say_check(rrecv(socket, text, 5, 0) <= 0, "a reader that waits is told");
	say_check(events_of(socket, 1000) & POLLHUP, "rpoll: POLLHUP");
	say_check(rsend(socket, "x", 1, MSG_NOSIGNAL) == -1, "nothing can be sent");
	say_check(!rshutdown(socket, SHUT_RDWR) && !rclose(socket), "rshutdown and rclose return");
	rclose(listener);
}

/* ---- polling ---- */

static void rpoll_takes_other_descriptors_too(void)
{
	struct ends ends = connect_ends();
	int pipes[2];
	struct pollfd fds[2];
	fd_set set;
	char byte;

	say_topic("rpoll");
	MUST(!pipe(pipes));
	fds[0] = (struct pollfd){ .fd = ends.server, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	say_check(rpoll(fds, 2, 20) == 0, "nothing: after the time");
	MUST(write(pipes[1], "x", 1) == 1);
	say_check(rpoll(fds, 2, 1000) == 1 && !fds[0].revents && fds[1].revents == POLLIN,
		  "a pipe");
	MUST(rsend(ends.client, "y", 1, 0) == 1);
	MUST(read(pipes[0], &byte, 1) == 1);
	say_check(rpoll(fds, 2, 1000) == 1 && fds[0].revents == POLLIN && !fds[1].revents,
		  "an rsocket");
	FD_ZERO(&set);
	FD_SET(ends.server, &set);
	say_check(rselect(ends.server + 1, &set, NULL, NULL, &(struct timeval){ -1, 0 }) == -1 &&
			  errno == EINVAL,
		  "rselect: EINVAL for a time below 0");
	MUST(rrecv(ends.server, &byte, 1, 0) == 1);
	say_check(rpoll(fds, 2, 0) == 0, "nothing again");
	close(pipes[0]);
	close(pipes[1]);
	close_ends(&ends);
}

/* Offsets that the library chooses must not overlap. */
static void offsets_are_chosen_apart(void)
{
	struct ends ends = connect_with(4, 0);
	static char memory[3][5001];
	off_t at[3];
	bool apart = true;

	for (int i = 0; i < 3; i++) {
		at[i] = riomap(ends.server, memory[i], sizeof(memory[i]), PROT_WRITE, 0, -1);
		MUST(at[i] >= 0);
		for (int k = 0; k < i; k++)
			apart &= at[i] >= at[k] + (off_t)sizeof(memory[k]) ||
				 at[k] >= at[i] + (off_t)sizeof(memory[i]);
	}
	say_check(apart, "mappings whose offsets are chosen do not overlap");
	close_ends(&ends);
}

static void *receive_byte(void *argument)
{
	const struct ends *ends = argument;
	char byte;

	MUST(rrecv(ends->client, &byte, 1, 0) == 1);
	return NULL;
}

/* A mapping uses up one of the peer's messages, so the peer has to grant it again. */
static void mappings_are_granted_again(void)
{
	struct ends ends = { .listener = listen_here(4, 0) };
	struct sockaddr_in addr = loopback_at(port);
	int queue = 8, mappings = 4;
	static char memory[4096];
	pthread_t thread;

	ends.client = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(!rsetsockopt(ends.client, SOL_RDMA, RDMA_RQSIZE, &queue, sizeof(queue)));
	MUST(!rsetsockopt(ends.client, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)));
	MUST(!pthread_create(&thread, NULL, accept_one, &ends));
	MUST(!rconnect(ends.client, (struct sockaddr *)&addr, sizeof(addr)));
	pthread_join(thread, NULL);
	MUST(!pthread_create(&thread, NULL, receive_byte, &ends));
	for (int i = 0; i < 3 * queue; i++) {
		MUST(riomap(ends.server, memory, sizeof(memory), PROT_WRITE, 0, 0) == 0);
		MUST(!riounmap(ends.server, memory, sizeof(memory)));
	}
	say_check(rsend(ends.server, "x", 1, 0) == 1, "many mappings leave room for data");
	pthread_join(thread, NULL);
	close_ends(&ends);
}

/* Replaces the time of day by one an hour ahead, as if an administrator had set the clock, so time
 * limits must not change. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, now);

	if (!ret && clock == CLOCK_REALTIME)
		now->tv_sec += 3600;
	return ret;
}

/* While the program is in no call, only the keepalive thread handles what arrives, so only that can
 * grant the peer more room. */
static bool grants_in_no_call(const struct ends *ends)
{
	while (rsend(ends->client, "x", 1, MSG_DONTWAIT) == 1)
		;
	return rpoll(&(struct pollfd){ .fd = ends->client, .events = POLLOUT }, 1, 10000) == 1;
}

static void keepalives_do_not_follow_the_time_of_day(void)
{
	struct ends ends = connect_ends();
	int on = 1, idle = 1;

	say_topic("keepalive");
	MUST(!rsetsockopt(ends.server, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)));
	MUST(!rsetsockopt(ends.server, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
	say_check(grants_in_no_call(&ends), "they come when the time of the day is another one");
	close_ends(&ends);
}

static void accepted_sockets_keep_alive(void)
{
	struct ends ends = { .listener = listen_here(0, 0) };
	int on = 1, idle = 1;

	MUST(!rsetsockopt(ends.listener, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)));
	MUST(!rsetsockopt(ends.listener, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
	connect_to_listener(&ends, 0);
	say_check(grants_in_no_call(&ends),
		  "they come from who was accepted, as the listener says");
	close_ends(&ends);
}

static atomic_bool options_settled;

/* Sets options of each kind: without a lock, with a lock, and one that is no number. */
static void *set_options(void *argument)
{
	const int socket = *(int *)argument;
	struct linger linger = { 1, 5 };

	for (int value = 0; !options_settled; value = !value) {
		MUST(!rsetsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value)));
		MUST(!rsetsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &value, sizeof(value)));
		MUST(!rsetsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ 7 }, sizeof(int)));
		linger.l_linger = 5 + value;
		MUST(!rsetsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
		MUST(!rsetsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 3, value },
				  sizeof(struct timeval)));
		usleep(100);
	}
	return NULL;
}

/* Under the thread sanitizer, reading a value while another thread sets it is an error, so it must
 * not happen. */
static void listeners_options_change_meanwhile(void)
{
	struct ends ends = { .listener = listen_here(0, 0) };
	socklen_t size = sizeof(struct linger);
	struct timeval limit;
	struct linger linger;
	pthread_t thread;

	options_settled = false;
	MUST(!pthread_create(&thread, NULL, set_options, &ends.listener));
	for (int i = 0; i < 3; i++) {
		connect_to_listener(&ends, 0);
		MUST(!rgetsockopt(ends.listener, SOL_SOCKET, SO_LINGER, &linger, &size));
		MUST(!rgetsockopt(ends.listener, SOL_SOCKET, SO_RCVTIMEO, &limit,
				  &(socklen_t){ sizeof(limit) }));
		MUST(!rgetsockopt(ends.server, SOL_SOCKET, SO_LINGER, &linger, &size));
		say_check(linger.l_onoff && linger.l_linger <= 6,
			  "accepted with the listener's linger, before or after: %d",
			  linger.l_onoff);
		rclose(ends.client);
		rclose(ends.server);
	}
	options_settled = true;
	pthread_join(thread, NULL);
	rclose(ends.listener);
}

static void connecting_need_not_wait(void)
{
	int listener = listen_here(0, 0), client = rsocket(AF_INET, SOCK_STREAM, 0), server;
	struct sockaddr_in addr = loopback_at(port);
	int error = -1;

	say_topic("nonblocking");
	MUST(!rfcntl(client, F_SETFL, O_NONBLOCK) && rfcntl(client, F_GETFL, 0) == O_NONBLOCK);
	MUST(!rfcntl(listener, F_SETFL, O_NONBLOCK));
	say_check(raccept(listener, NULL, NULL) == -1 && errno == EAGAIN, "raccept: EAGAIN");
	say_check(rconnect(client, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
			  errno == EINPROGRESS,
		  "rconnect: EINPROGRESS");
	do
		server = rpoll(&(struct pollfd){ .fd = client, .events = POLLOUT }, 1, 10) < 0
				 ? -1
				 : raccept(listener, NULL, NULL);
	while (server < 0 && errno == EAGAIN);
	say_check(server >= 0, "raccept, when the request is there");
	say_check(events_of(client, 5000) & POLLOUT, "rpoll: POLLOUT");
	MUST(!rgetsockopt(client, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof(error) }));
	say_check(error == 0, "SO_ERROR: 0");
	say_check(rrecv(client, &error, 1, 0) == -1 && errno == EAGAIN, "rrecv: EAGAIN");
	rclose(client);
	rclose(server);
	rclose(listener);
}

/* Non-blocking programs call rgetpeername() to learn whether a socket is connected, so it must fail
 * for a refused one. */
static void refused_sockets_have_no_peer(void)
{
	struct sockaddr_in addr = loopback_at(++port), name = { 0 }, bound = loopback_at(++port),
			   self = { 0 };
	int client = rsocket(AF_INET, SOCK_STREAM, 0), listener, server;

	say_topic("refused");
	MUST(!rbind(client, (struct sockaddr *)&bound, sizeof(bound)));
	say_check(rconnect(client, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
			  errno == ECONNREFUSED,
		  "rconnect: ECONNREFUSED");
	say_check(rgetpeername(client, (struct sockaddr *)&name, &(socklen_t){ sizeof(name) }) ==
				  -1 &&
			  errno == ENOTCONN,
		  "rgetpeername: ENOTCONN");
	listener = listen_here(0, 0);
	addr = loopback_at(port);
	say_check(!rconnect(client, (struct sockaddr *)&addr, sizeof(addr)), "another try");
	say_check(!rgetpeername(client, (struct sockaddr *)&name, &(socklen_t){ sizeof(name) }) &&
			  name.sin_port == addr.sin_port,
		  "rgetpeername: whom the second try was for");
	say_check(!rgetsockname(client, (struct sockaddr *)&self, &(socklen_t){ sizeof(self) }) &&
			  self.sin_port == bound.sin_port,
		  "rgetsockname: what the socket is bound to");
	server = raccept(listener, NULL, NULL);
	memset(&self, 0, sizeof(self));
	say_check(!rgetpeername(server, (struct sockaddr *)&self, &(socklen_t){ sizeof(self) }) &&
			  self.sin_port == bound.sin_port,
		  "the other side's rgetpeername, too");
	rclose(client);
	rclose(server);
	rclose(listener);
}

/* time without a call, in which sockets of the system would still make progress */
enum { ELSEWHERE_MS = 600 };

static void connections_are_made_without_calls(void)
{
	int listener = listen_here(0, 0), client = rsocket(AF_INET, SOCK_STREAM, 0), server;
	struct sockaddr_in addr = loopback_at(port);
	char byte = 0;

	say_topic("in no call");
	say_check(!rconnect(client, (struct sockaddr *)&addr, sizeof(addr)),
		  "rconnect returns before raccept is called");
	say_check(rsend(client, "x", 1, 0) == 1, "data can be sent");
	say_check(events_of(listener, 1000) & POLLIN, "rpoll: POLLIN");
	server = raccept(listener, NULL, NULL);
	say_check(server >= 0 && rrecv(server, &byte, 1, 0) == 1 && byte == 'x',
		  "raccept, and the data are there");
	rclose(client);
	rclose(server);

	client = rsocket(AF_INET, SOCK_STREAM, 0);
	MUST(!rfcntl(client, F_SETFL, O_NONBLOCK));
	MUST(rconnect(client, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
	     errno == EINPROGRESS);
	usleep(ELSEWHERE_MS * 1000);
	say_check(events_of(client, 0) & POLLOUT, "one that did not wait is connected meanwhile");
	rclose(listener);
	say_check(events_of(client, 5000) & POLLHUP,
		  "what nobody has accepted ends with the listener");
	rclose(client);
}

/* Runs only where the library has these calls, as they are newer than the library that this program
 * is linked with. */
static void sets_report_edges(void)
{
	int (*create)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "repoll_create");
	int (*change)(int, int, int, struct epoll_event *) =
		(int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_DEFAULT, "repoll_ctl");
	int (*wait_for)(int, struct epoll_event *, int, int) =
		(int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_DEFAULT, "repoll_wait");
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = 7 }, got;
	struct ends ends;
	char byte;
	int set;

	say_topic("repoll");
	MUST(create && change && wait_for);
	ends = connect_ends();
	set = create(1);
	MUST(set >= 0);
	say_check(!change(set, EPOLL_CTL_ADD, ends.server, &event), "added");
	say_check(change(set, EPOLL_CTL_ADD, ends.server, &event) == -1 && errno == EEXIST,
		  "again: EEXIST");
	say_check(wait_for(set, &got, 1, 20) == 0, "nothing: after the time");
	MUST(rsend(ends.client, "ab", 2, 0) == 2);
	say_check(wait_for(set, &got, 1, 1000) == 1 && got.events == EPOLLIN && got.data.u32 == 7,
		  "data");
	say_check(wait_for(set, &got, 1, 20) == 0, "not twice");
	MUST(rsend(ends.client, "c", 1, 0) == 1);
	say_check(wait_for(set, &got, 1, 1000) == 1, "more data");
	event.events = EPOLLIN;
	MUST(!change(set, EPOLL_CTL_MOD, ends.server, &event));
	say_check(wait_for(set, &got, 1, 1000) == 1 && wait_for(set, &got, 1, 1000) == 1,
		  "level: twice");
	while (rrecv(ends.server, &byte, 1, MSG_DONTWAIT) == 1)
		;
	say_check(!change(set, EPOLL_CTL_DEL, ends.server, NULL), "removed");
	close(set);
	close_ends(&ends);
}

/* ---- bytes ---- */

enum { LOTS = 8 << 20 };

struct direction {
	int socket;
	unsigned int seed;
	bool is_right;
};

static uint8_t byte_at(size_t i, unsigned int seed)
{
	return (uint8_t)(i * 7 + (i >> 12) + seed);
}

static void *send_lots(void *argument)
{
	struct direction *direction = argument;
	uint8_t piece[7001];
	size_t done = 0;
	ssize_t sent;

	while (done < LOTS) {
		size_t size = LOTS - done < sizeof(piece) ? LOTS - done : 1 + done % sizeof(piece);

		for (size_t i = 0; i < size; i++)
			piece[i] = byte_at(done + i, direction->seed);
		sent = rsend(direction->socket, piece, size, 0);
		MUST(sent > 0);
		done += sent;
	}
	return NULL;
}

static void *receive_lots(void *argument)
{
	struct direction *direction = argument;
	uint8_t piece[9001];
	size_t done = 0;
	ssize_t got;

	while (done < LOTS) {
		got = rrecv(direction->socket, piece, 1 + done % sizeof(piece), 0);
		MUST(got > 0);
		for (ssize_t i = 0; i < got; i++)
			direction->is_right &= piece[i] == byte_at(done + i, direction->seed);
		done += got;
	}
	return NULL;
}

static void reader_and_writer_share_a_socket(void)
{
	struct ends ends = connect_with(0, 5000);
	struct direction there[2] = { { ends.client, 1, true }, { ends.server, 1, true } };
	struct direction back[2] = { { ends.server, 2, true }, { ends.client, 2, true } };
	pthread_t threads[4];

	say_topic("threads");
	MUST(!pthread_create(&threads[0], NULL, send_lots, &there[0]));
	MUST(!pthread_create(&threads[1], NULL, receive_lots, &there[1]));
	MUST(!pthread_create(&threads[2], NULL, send_lots, &back[0]));
	MUST(!pthread_create(&threads[3], NULL, receive_lots, &back[1]));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	say_check(there[1].is_right && back[1].is_right, "both directions at once, every byte");
	close_ends(&ends);
}

/* Sends more messages than the peer has receives, but far less than half of its ring of bytes, so
 * credits must come back before the ring's half does. */
static void many_small_messages_go_one_way(void)
{
	struct ends ends = connect_ends();
	bool is_right = true;
	char byte;

	say_topic("small messages");
	for (int i = 0; i < 3000; i++) {
		MUST(rsend(ends.client, &(char){ (char)i }, 1, 0) == 1);
		MUST(rrecv(ends.server, &byte, 1, 0) == 1);
		is_right &= byte == (char)i;
	}
	say_check(is_right, "one byte at a time, every byte");
	close_ends(&ends);
}

static void peeks_see_what_comes_later(const struct ends *ends)
{
	char bytes[8];
	ssize_t seen = 0;

	MUST(rsend(ends->client, "ab", 2, 0) == 2);
	MUST(rrecv(ends->server, bytes, 5, MSG_PEEK) == 2);
	MUST(rsend(ends->client, "cde", 3, 0) == 3);
	for (int tries = 0; tries < 5000 && seen < 5; tries++) {
		seen = rrecv(ends->server, bytes, 5, MSG_PEEK);
		usleep(seen < 5 ? 1000 : 0);
	}
	say_check(seen == 5 && !memcmp(bytes, "abcde", 5), "a peek sees what comes later");
}

static void parts_and_peeks(void)
{
	struct ends ends = connect_ends();
	char a[3] = "", b[4] = "";
	struct iovec out[] = { { "ab", 2 }, { "cde", 3 } }, in[] = { { a, 2 }, { b, 3 } };

	say_topic("parts");
	say_check(rwritev(ends.client, out, 2) == 5, "rwritev");
	say_check(rrecv(ends.server, b, 3, MSG_PEEK) == 3 && !strcmp(b, "abc"), "a peek");
	say_check(rreadv(ends.server, in, 2) == 5 && !strcmp(a, "ab") && !strcmp(b, "cde"),
		  "rreadv, after it");
	say_check(rrecv(ends.server, b, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN,
		  "then nothing: EAGAIN");
	peeks_see_what_comes_later(&ends);
	close_ends(&ends);
}

static void mapped_memory_is_written(void)
{
	struct ends ends = connect_with(4, 0);
	static char memory[4][4096];
	char byte;
	off_t offset;

	say_topic("riomap");
	for (int i = 0; i < 4; i++) {
		offset =
			riomap(ends.server, memory[i], sizeof(memory[i]), PROT_WRITE, 0, i * 10000);
		MUST(offset == i * 10000);
	}
	say_check(riomap(ends.server, &byte, 1, PROT_WRITE, 0, 99999) == -1, "no room for a fifth");
	MUST(rsend(ends.server, "m", 1, 0) == 1 && rrecv(ends.client, &byte, 1, 0) == 1);
	say_check(riowrite(ends.client, "written", 7, 20100, 0) == 7, "riowrite");
	say_check(!riowrite(ends.client, "x", 1, 5000, 0), "outside of all mappings: refused");
	say_check(!riowrite(ends.client, "x", 1, 24096, 0), "nor just behind one");
	MUST(rsend(ends.client, "w", 1, 0) == 1 && rrecv(ends.server, &byte, 1, 0) == 1);
	say_check(!memcmp(memory[2] + 100, "written", 7),
		  "it is there before what was sent after it");
	say_check(!riounmap(ends.server, memory[2], sizeof(memory[2])), "riounmap");
	MUST(rsend(ends.server, "u", 1, 0) == 1 && rrecv(ends.client, &byte, 1, 0) == 1);
	say_check(!riowrite(ends.client, "x", 1, 20100, 0), "then nothing is written");
	close_ends(&ends);
}

static void keepalive_stays_quiet(void)
{
	struct ends ends = connect_ends();
	int on = 1, idle = 1;

	say_topic("keepalive");
	MUST(!rsetsockopt(ends.client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
	MUST(!rsetsockopt(ends.client, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle)));
	usleep(1300000);
	say_check(events_of(ends.server, 0) == POLLOUT && events_of(ends.client, 0) == POLLOUT,
		  "nobody notices");
	close_ends(&ends);
}

/* ---- datagrams ---- */

struct datagrams {
	int server, client;
	struct sockaddr_in at;
};

/* Returns two sockets, of which only the server is bound. */
static struct datagrams open_datagrams(void)
{
	struct datagrams ends = { .server = rsocket(AF_INET, SOCK_DGRAM, 0),
				  .client = rsocket(AF_INET, SOCK_DGRAM, IPPROTO_UDP),
				  .at = loopback_at(++port) };

	MUST(ends.server >= 0 && ends.client >= 0);
	MUST(!rbind(ends.server, (struct sockaddr *)&ends.at, sizeof(ends.at)));
	return ends;
}

static void close_datagrams(struct datagrams *ends)
{
	MUST(!rclose(ends->client));
	MUST(!rclose(ends->server));
}

static void datagrams_fail_as_those_of_udp(void)
{
	struct datagrams ends = open_datagrams();
	struct sockaddr *at = (struct sockaddr *)&ends.at;
	static char bytes[2100];

	say_topic("errors of datagrams");
	say_check(rsend(ends.client, bytes, 4, 0) < 0 && errno == EDESTADDRREQ,
		  "sending to nobody");
	say_check(rlisten(ends.client, 1) && errno == EOPNOTSUPP, "listening");
	say_check(rrecv(ends.server, bytes, 4, MSG_DONTWAIT) < 0 && errno == EAGAIN,
		  "nothing there");
	say_check(rsendto(ends.client, bytes, sizeof(bytes), 0, at, sizeof(ends.at)) < 0 &&
			  errno == EMSGSIZE,
		  "too much");
	say_check(rbind(ends.client, at, sizeof(ends.at)) && errno == EADDRINUSE,
		  "a second one there");
	say_check(rshutdown(ends.client, SHUT_WR) && errno == ENOTCONN,
		  "shutdown of the unconnected");
	say_check(rsocket(AF_INET, SOCK_DGRAM, IPPROTO_TCP) < 0 && errno == EOPNOTSUPP,
		  "datagrams of TCP");
	close_datagrams(&ends);
}

/* The first message of each side goes by UDP, later ones by UD, as a side learns of the other by
 * its first message. */
static bool goes_both_ways(struct datagrams *ends)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char bytes[16];

	return rsendto(ends->client, "question", 8, 0, (struct sockaddr *)&ends->at,
		       sizeof(ends->at)) == 8 &&
	       rrecvfrom(ends->server, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len) ==
		       8 &&
	       !memcmp(bytes, "question", 8) && len == sizeof(from) &&
	       rsendto(ends->server, "answer", 6, 0, (struct sockaddr *)&from, len) == 6 &&
	       rrecvfrom(ends->client, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len) ==
		       6 &&
	       !memcmp(bytes, "answer", 6) && from.sin_port == ends->at.sin_port &&
	       from.sin_addr.s_addr == ends->at.sin_addr.s_addr;
}

static void datagrams_keep_their_ends_and_senders(void)
{
	struct datagrams ends = open_datagrams();
	struct iovec iov = { (char[4]){ 0 }, 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	bool all = true;

	say_topic("datagrams");
	for (int i = 0; i < 50; i++) {
		all &= goes_both_ways(&ends);
		usleep(i < 5 ? 10000 : 0);
	}
	say_check(all, "there and back, from where they came");
	MUST(!rconnect(ends.client, (struct sockaddr *)&ends.at, sizeof(ends.at)));
	MUST(rsend(ends.client, "longer", 6, 0) == 6 && !rsend(ends.client, "", 0, 0));
	say_check(rpoll(&(struct pollfd){ .fd = ends.server, .events = POLLIN }, 1, 1000) == 1,
		  "rpoll sees one");
	say_check(rrecv(ends.server, iov.iov_base, 4, MSG_PEEK) == 4, "a peek leaves it");
	say_check(rrecvmsg(ends.server, &msg, 0) == 4 && msg.msg_flags == MSG_TRUNC,
		  "what does not fit is lost");
	say_check(!rrecv(ends.server, iov.iov_base, 4, 0), "one may be empty");
	close_datagrams(&ends);
}

static void *receive_greetings(void *argument)
{
	const struct datagrams *ends = argument;
	char bytes[16];

	for (int i = 0; i < 10; i++)
		MUST(rrecv(ends->server, bytes, sizeof(bytes), 0) == 8);
	return NULL;
}

/* a sleep that misses its end lasts this long by default (wake_up_interval) */
enum { WAKE_MS = 5000 };

/* Each client's first message comes by UDP. A sender on the same socket may read it first, so it
 * must leave it to the receiver. */
static void sender_does_not_keep_datagrams_from_reader(void)
{
	struct datagrams ends = open_datagrams();
	struct sockaddr_in to = loopback_at(++port);
	struct timespec start, end;
	pthread_t thread;
	int clients[10];

	say_topic("datagrams, two threads");
	MUST(!pthread_create(&thread, NULL, receive_greetings, &ends));
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < 10; i++) {
		clients[i] = rsocket(AF_INET, SOCK_DGRAM, 0);
		MUST(rsendto(clients[i], "greeting", 8, 0, (struct sockaddr *)&ends.at,
			     sizeof(ends.at)) == 8);
		for (int k = 0; k < 20; k++)
			rsendto(ends.server, "x", 1, 0, (struct sockaddr *)&to, sizeof(to));
	}
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	say_check((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 <
			  WAKE_MS,
		  "no sleep is missed");
	for (int i = 0; i < 10; i++)
		MUST(!rclose(clients[i]));
	close_datagrams(&ends);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void handle_signal(int number)
{
	(void)number;
	handled = 1;
}

static void handle_signal_once(int number)
{
	handled = 1;
	signal(number, SIG_IGN);
}

/* A thread or process that is sent a signal, and the result of its wait. */
struct interrupted {
	struct ends ends;
	pthread_t waiter;
	void (*end_wait)(struct ends *ends);
	bool ends_after_signal;
	const struct sigaction *action; /* set again before each signal */
	atomic_bool is_over;
};

/* Number of signals. The first may come before the thread waits, so there are several; signals that
 * must end the wait are repeated until they do, up to a limit. */
enum { SIGNALS = 4, MOST_SIGNALS = 100 };

static void *interrupt(void *argument)
{
	struct interrupted *of = argument;

	for (int i = 0; i < (of->ends_after_signal ? SIGNALS : MOST_SIGNALS) && !of->is_over; i++) {
		usleep(30000);
		MUST(!sigaction(SIGUSR1, of->action, NULL));
		pthread_kill(of->waiter, SIGUSR1);
	}
	usleep(30000);
	if (!of->is_over)
		of->end_wait(&of->ends);
	return NULL;
}

static int wait_in_rrecv(const struct ends *ends)
{
	char byte;

	return rrecv(ends->server, &byte, 1, 0) == 1 ? 0 : errno;
}

static void send_byte(struct ends *ends)
{
	MUST(rsend(ends->client, "x", 1, 0) == 1);
}

static int accepted = -1;

static int wait_in_raccept(const struct ends *ends)
{
	accepted = raccept(ends->listener, NULL, NULL);
	return accepted < 0 ? errno : 0;
}

static void connect_another(struct ends *ends)
{
	struct sockaddr_in addr = loopback_at(port);
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);

	(void)ends;
	MUST(socket >= 0 && !rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)));
	rclose(socket);
}

static int wait_in_rpoll(const struct ends *ends)
{
	return rpoll(&(struct pollfd){ .fd = ends->server, .events = POLLIN }, 1, -1) > 0 ? 0
											  : errno;
}

static void signal_meets_wait(const struct sigaction *action, int (*wait)(const struct ends *ends),
			      void (*end_wait)(struct ends *ends), int error, const char *what)
{
	struct sigaction before;
	struct interrupted of = { .ends = connect_ends(),
				  .waiter = pthread_self(),
				  .end_wait = end_wait,
				  .ends_after_signal = !error,
				  .action = action };
	pthread_t thread;
	int got;

	handled = 0;
	MUST(!sigaction(SIGUSR1, action, &before));
	MUST(!pthread_create(&thread, NULL, interrupt, &of));
	got = wait(&of.ends);
	of.is_over = true;
	say_check(got == error, "%s, a handler %s SA_RESTART%s: %s", what,
		  action->sa_flags ? "with" : "without",
		  action->sa_handler == handle_signal_once ? " that is gone then" : "",
		  say_errno(error));
	pthread_join(thread, NULL);
	say_check(handled, "the handler has run");
	if (accepted >= 0)
		rclose(accepted);
	accepted = -1;
	MUST(!sigaction(SIGUSR1, &before, NULL));
	close_ends(&of.ends);
}

static void signals_end_waits_unless_they_restart(void)
{
	const struct sigaction plain = { .sa_handler = handle_signal };
	const struct sigaction restarting = { .sa_handler = handle_signal, .sa_flags = SA_RESTART };
	const struct sigaction once = { .sa_handler = handle_signal_once };

	say_topic("signals");
	signal_meets_wait(&restarting, wait_in_rrecv, send_byte, 0, "rrecv");
	signal_meets_wait(&plain, wait_in_rrecv, send_byte, EINTR, "rrecv");
	signal_meets_wait(&once, wait_in_rrecv, send_byte, EINTR, "rrecv");
	signal_meets_wait(&restarting, wait_in_raccept, connect_another, 0, "raccept");
	signal_meets_wait(&plain, wait_in_raccept, connect_another, EINTR, "raccept");
	signal_meets_wait(&restarting, wait_in_rpoll, send_byte, EINTR, "rpoll");
}

static const struct topic topics[] = {
	/* first, because its child must have no thread and no adapter yet */
	{ "killed-peers-are-noticed", killed_peers_are_noticed },
	{ "wrong-calls-are-refused", wrong_calls_are_refused },
	{ "connected-sockets-refuse-to-begin-again", connected_sockets_refuse_to_begin_again },
	{ "half-closed-connections-carry-the-other-half",
	  half_closed_connections_carry_the_other_half },
	{ "both-sides-may-close-at-once", both_sides_may_close_at_once },
	{ "rpoll-takes-other-descriptors-too", rpoll_takes_other_descriptors_too },
	{ "listeners-options-change-meanwhile", listeners_options_change_meanwhile },
	{ "connecting-need-not-wait", connecting_need_not_wait },
	{ "refused-sockets-have-no-peer", refused_sockets_have_no_peer },
	{ "connections-are-made-without-calls", connections_are_made_without_calls },
	{ "sets-report-edges", sets_report_edges },
	{ "many-small-messages-go-one-way", many_small_messages_go_one_way },
	{ "parts-and-peeks", parts_and_peeks },
	{ "mapped-memory-is-written", mapped_memory_is_written },
	{ "offsets-are-chosen-apart", offsets_are_chosen_apart },
	{ "mappings-are-granted-again", mappings_are_granted_again },
	{ "keepalive-stays-quiet", keepalive_stays_quiet },
	{ "keepalives-do-not-follow-the-time-of-day", keepalives_do_not_follow_the_time_of_day },
	{ "accepted-sockets-keep-alive", accepted_sockets_keep_alive },
	{ "reader-and-writer-share-a-socket", reader_and_writer_share_a_socket },
	{ "datagrams-fail-as-those-of-udp", datagrams_fail_as_those_of_udp },
	{ "datagrams-keep-their-ends-and-senders", datagrams_keep_their_ends_and_senders },
	{ "sender-does-not-keep-datagrams-from-reader",
	  sender_does_not_keep_datagrams_from_reader },
	{ "signals-end-waits-unless-they-restart", signals_end_waits_unless_they_restart },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
