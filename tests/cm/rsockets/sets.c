/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sets.c - sets of rsockets must report as Linux' epoll_wait() does: edges of a listener, ends that
 * the program did not ask for, and all ready members in turn when there is room for few. A child of
 * fork() has complete sets.
 *
 * Covers: librdmacm/rsocket/poll/epoll.c, librdmacm/rsocket/poll/waiter.c
 */
#include "forks.h"
#include "repoll.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/bits.h"

enum { LONG_MS = 5000, SHORT_MS = 50 };

static int set_with(int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };
	int set = repoll_create_fn(1);

	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, fd, &event));
	return set;
}

static void member_change(int set, int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	MUST(!repoll_ctl_fn(set, op, fd, &event));
}

static uint32_t events_of(int set, int fd, int timeout_ms)
{
	struct epoll_event events[2];

	if (repoll_wait_fn(set, events, 2, timeout_ms) != 1 || events[0].data.fd != fd)
		return 0;
	return events[0].events;
}

static int begin_connect(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in addr = forks_here();

	MUST(socket >= 0);
	MUST(rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) == -1 &&
	     errno == EINPROGRESS);
	return socket;
}

/* Waits until the request has arrived. The client is polled too, because its library continues the
 * connection only inside calls. */
static void await_request(int listener, int client)
{
	struct pollfd fds[2] = { { .fd = listener, .events = POLLIN },
				 { .fd = client, .events = POLLOUT } };

	do
		MUST(rpoll(fds, 2, LONG_MS) > 0);
	while (!fds[0].revents);
}

/* A program accepts until there is nothing, and a request may arrive before it waits again. The set
 * must report that request at once: later, the library's thread may accept it, and that would look
 * like another edge. */
static void an_edge_of_a_listener_is_not_lost(void)
{
	int listener = listen_here(), set, client, accepted;

	say_topic("a listener, by edges");
	MUST(!rfcntl(listener, F_SETFL, O_NONBLOCK));
	set = set_with(listener, EPOLLIN | EPOLLET);
	for (int i = 0; i < 3; i++) {
		client = begin_connect();
		await_request(listener, client);
		say_check(events_of(set, listener, 0) == EPOLLIN, "a request is reported");
		say_check(!events_of(set, listener, 0), "once");
		accepted = raccept(listener, NULL, NULL);
		MUST(accepted >= 0 && !rclose(accepted) && !rclose(client));
		MUST(raccept(listener, NULL, NULL) == -1 && errno == EAGAIN);
	}
	MUST(!rclose(set) && !rclose(listener));
}

struct ends {
	int listener, client, server;
};

static void await_room(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLOUT };

	MUST(rpoll(&fd, 1, LONG_MS) == 1 && fd.revents == POLLOUT);
}

/* Returns a connection on which both sides can write. The side that accepts learns of it later. */
static struct ends connect_ends(void)
{
	struct ends ends = { .listener = listen_here() };

	ends.client = begin_connect();
	ends.server = raccept(ends.listener, NULL, NULL);
	MUST(ends.server >= 0);
	await_room(ends.client);
	await_room(ends.server);
	return ends;
}

static bool is_writable(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLOUT };

	return rpoll(&fd, 1, LONG_MS) == 1 && fd.revents == POLLOUT;
}

static void close_ends(const struct ends *ends)
{
	MUST(!rclose(ends->server) && !rclose(ends->listener));
}

/* Linux adds EPOLLERR and EPOLLHUP to any events that a program asks for, even none, so a set must
 * do the same. */
static void an_end_is_reported_to_who_asks_for_nothing(void)
{
	struct ends ends = connect_ends();
	int added = set_with(ends.server, 0), changed = set_with(ends.server, EPOLLOUT);
	int once = set_with(ends.server, EPOLLOUT | EPOLLONESHOT);

	say_topic("no events");
	member_change(changed, EPOLL_CTL_MOD, ends.server, 0);
	say_check(events_of(once, ends.server, LONG_MS) == EPOLLOUT, "EPOLLONESHOT: room");
	say_check(!events_of(added, ends.server, SHORT_MS), "added for none: nothing");
	MUST(!rclose(ends.client));
	say_check(events_of(added, ends.server, LONG_MS) == EPOLLHUP, "the end is reported");
	say_check(events_of(changed, ends.server, LONG_MS) == EPOLLHUP, "changed to none: too");
	say_check(!events_of(once, ends.server, SHORT_MS), "EPOLLONESHOT: nothing before a change");
	member_change(once, EPOLL_CTL_MOD, ends.server, EPOLLONESHOT);
	say_check(events_of(once, ends.server, LONG_MS) == EPOLLHUP, "after it, the end");
	say_check(!events_of(once, ends.server, SHORT_MS), "once");
	MUST(!rclose(added) && !rclose(changed) && !rclose(once));
	close_ends(&ends);
}

enum { TURNS = 8 };

static bool all_are_reported(int set, const int *fds, int count, int room)
{
	struct epoll_event events[2];
	unsigned int seen = 0;
	int got;

	for (int turn = 0; turn < TURNS; turn++) {
		got = repoll_wait_fn(set, events, room, LONG_MS);
		MUST(got > 0 && got <= room);
		for (int i = 0; i < got; i++)
			for (int n = 0; n < count; n++)
				seen |= (unsigned int)(events[i].data.fd == fds[n]) << n;
	}
	return seen == (1u << count) - 1;
}

/* Members that are always ready must leave others their turn. */
static void all_get_their_turn(void)
{
	struct ends ends = connect_ends();
	int pipes[2][2], set = set_with(ends.server, EPOLLOUT);

	say_topic("little room");
	MUST(is_writable(ends.server) && is_writable(ends.client));
	member_change(set, EPOLL_CTL_ADD, ends.client, EPOLLOUT);
	for (int i = 0; i < 2; i++) {
		MUST(!pipe(pipes[i]) && write(pipes[i][1], "x", 1) == 1);
		member_change(set, EPOLL_CTL_ADD, pipes[i][0], EPOLLIN);
	}
	const int all[] = { ends.server, ends.client, pipes[0][0], pipes[1][0] };

	say_check(all_are_reported(set, all, 4, 1), "one event at a time: sockets and pipes");
	say_check(all_are_reported(set, all, 4, 2), "two at a time");
	for (int i = 0; i < 2; i++)
		MUST(!close(pipes[i][0]) && !close(pipes[i][1]));
	MUST(!rclose(set) && !rclose(ends.client));
	close_ends(&ends);
}

/* Exits without closing its socket, and with no message under way to it. */
static int connect_and_die(int unused)
{
	int socket = connect_here();
	char byte;

	(void)unused;
	return socket < 0 || rrecv(socket, &byte, 1, 0) != 1;
}

static int accept_one_that_dies(int listener)
{
	pid_t child = child_that(connect_and_die, 0);
	int server = raccept(listener, NULL, NULL);

	MUST(server >= 0 && rsend(server, "x", 1, 0) == 1 && ends_well(child));
	return server;
}

static bool is_reported_among_others(int set, int fd)
{
	struct epoll_event events[2];
	int got = 0;

	for (int tries = LONG_MS; got != 2 && tries; tries--) {
		got = repoll_wait_fn(set, events, 2, LONG_MS);
		MUST(got >= 1);
		if (got == 1)
			usleep(1000);
	}
	return got == 2 && (events[0].data.fd == fd || events[1].data.fd == fd);
}

/* Only an event of rdma_cm reports that the peer has died, and no thread sleeps on the channel, so
 * the set itself must look there. */
static void a_busy_set_reports_whose_peer_has_died(void)
{
	int fds[2], listener = listen_here(), server = accept_one_that_dies(listener), set;

	say_topic("a busy set");
	MUST(!pipe(fds) && write(fds[1], "x", 1) == 1);
	set = set_with(fds[0], EPOLLIN);
	member_change(set, EPOLL_CTL_ADD, server, EPOLLIN);
	say_check(is_reported_among_others(set, server), "that a peer has died is seen");
	MUST(!close(fds[0]) && !close(fds[1]) && !rclose(set) && !rclose(server));
	MUST(!rclose(listener));
}

enum { ENTRIES = 24, FEW_DESCRIPTORS = 25, SOON_US = 50000 };

static void *send_soon(void *socket)
{
	usleep(SOON_US);
	MUST(rsend(*(int *)socket, "x", 1, 0) == 1);
	return NULL;
}

/* Linux' poll() takes at most RLIMIT_NOFILE entries. An rsocket needs several, so the library must
 * not pass on all at once. */
static void a_limit_of_descriptors_holds_for_entries(void)
{
	struct ends ends = connect_ends();
	struct pollfd fds[ENTRIES];
	struct rlimit before, few;
	pthread_t thread;

	for (int i = 0; i < ENTRIES; i++)
		fds[i] = (struct pollfd){ .fd = ends.server, .events = POLLIN };
	MUST(!getrlimit(RLIMIT_NOFILE, &before));
	few = (struct rlimit){ FEW_DESCRIPTORS, before.rlim_max };
	say_topic("few descriptors");
	MUST(!setrlimit(RLIMIT_NOFILE, &few));
	say_check(!rpoll(fds, ENTRIES, SHORT_MS), "as many entries of rpoll: nothing");
	MUST(!pthread_create(&thread, NULL, send_soon, &ends.client));
	say_check(rpoll(fds, ENTRIES, LONG_MS) == ENTRIES, "a byte that comes is seen");
	pthread_join(thread, NULL);
	MUST(!setrlimit(RLIMIT_NOFILE, &before) && !rclose(ends.client));
	close_ends(&ends);
}

/* Makes two calls about FD. Their results are 0 or an errno. */
static void ask_twice(int fd, const uint32_t *events, const int *ops, int *results)
{
	int set = repoll_create_fn(1);
	struct epoll_event event;

	MUST(set >= 0);
	for (int i = 0; i < 2; i++) {
		event = (struct epoll_event){ .events = events[i] };
		results[i] = repoll_ctl_fn(set, ops[i], fd, &event) ? errno : 0;
	}
	MUST(!rclose(set));
}

/* The results must equal those of Linux for a pipe. */
static void exclusive_members_are_as_those_of_linux(void)
{
	static const struct {
		uint32_t events[2];
		int second;
	} cases[] = {
		{ { EPOLLEXCLUSIVE | EPOLLIN, EPOLLIN }, EPOLL_CTL_MOD },
		{ { EPOLLEXCLUSIVE | EPOLLIN | EPOLLOUT | EPOLLET | EPOLLERR | EPOLLHUP, 0 },
		  EPOLL_CTL_DEL },
		{ { EPOLLEXCLUSIVE | EPOLLIN | EPOLLONESHOT, EPOLLIN }, EPOLL_CTL_MOD },
		{ { EPOLLEXCLUSIVE | EPOLLIN | EPOLLRDHUP, EPOLLIN }, EPOLL_CTL_ADD },
		{ { EPOLLEXCLUSIVE | EPOLLPRI, EPOLLEXCLUSIVE | EPOLLIN }, EPOLL_CTL_MOD },
		{ { EPOLLIN, EPOLLEXCLUSIVE | EPOLLIN }, EPOLL_CTL_MOD },
		{ { EPOLLIN, EPOLLEXCLUSIVE | EPOLLIN }, EPOLL_CTL_ADD },
		{ { EPOLLIN, EPOLLEXCLUSIVE | EPOLLONESHOT }, EPOLL_CTL_ADD },
	};
	int fds[2], socket = rsocket(AF_INET, SOCK_STREAM, 0), ours[2], linux_says[2];

	say_topic("EPOLLEXCLUSIVE");
	MUST(!pipe(fds) && socket >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const int ops[2] = { EPOLL_CTL_ADD, cases[i].second };

		ask_twice(fds[0], cases[i].events, ops, linux_says);
		ask_twice(socket, cases[i].events, ops, ours);
		say_check(!memcmp(ours, linux_says, sizeof(ours)), "case %zu: as Linux", i);
	}
	MUST(!close(fds[0]) && !close(fds[1]) && !rclose(socket));
}

static int parents_client;

/* The parent's members are useless in the child, and each reports an error of its own. */
static int parents_are_apart(int parents_server)
{
	int set = set_with(parents_server, EPOLLIN);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = parents_client };

	if (repoll_ctl_fn(set, EPOLL_CTL_ADD, parents_client, &event) ||
	    repoll_ctl_fn(set, EPOLL_CTL_DEL, parents_server, NULL))
		return 1;
	return !(events_of(set, parents_client, LONG_MS) & EPOLLERR);
}

static void a_child_has_its_parents_connections_one_by_one(void)
{
	struct ends ends = connect_ends();

	say_topic("a child");
	parents_client = ends.client;
	say_check(ends_well(child_that(parents_are_apart, ends.server)),
		  "has its parent's connections in a set, one by one");
	MUST(!rclose(ends.client));
	close_ends(&ends);
}

enum { MEMBERS = 64, CHILDREN = 100, CHILD_S = 20 };

static bool is_over;

static void *report_in_turn(void *set)
{
	struct epoll_event event;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		MUST(repoll_wait_fn(*(int *)set, &event, 1, 0) == 1);
	return NULL;
}

/* Returns a set of new sockets. A new socket is hung up, so it is ready; and both parent and child
 * can use it. */
static int set_with_new_sockets(int *sockets)
{
	struct epoll_event event = { .events = EPOLLHUP };
	int set = repoll_create_fn(1);

	MUST(set >= 0);
	for (int i = 0; i < MEMBERS; i++) {
		sockets[i] = rsocket(AF_INET, SOCK_STREAM, 0);
		event.data.u32 = i;
		MUST(sockets[i] >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, sockets[i], &event));
	}
	return set;
}

static bool has_all_members(int set)
{
	struct epoll_event events[MEMBERS + 1];
	int got = repoll_wait_fn(set, events, MEMBERS + 1, 0);
	uint64_t seen = 0;

	for (int i = 0; i < got; i++)
		seen |= UINT64_C(1) << events[i].data.u32;
	return got == MEMBERS && seen == UINT64_MAX;
}

/* The other thread never allocates, so fork() cannot find it with a lock of the allocator. */
static bool child_has_all_members(int set)
{
	pid_t child = fork();

	MUST(child >= 0);
	if (!child) {
		alarm(CHILD_S);
		_exit(!has_all_members(set));
	}
	return ends_well(child);
}

static void a_set_is_whole_in_a_child(void)
{
	int sockets[MEMBERS], set = set_with_new_sockets(sockets), good = 0;
	pthread_t thread;

	say_topic("a child, and a thread that waits");
	MUST(!pthread_create(&thread, NULL, report_in_turn, &set));
	for (int i = 0; i < CHILDREN; i++)
		good += child_has_all_members(set);
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	say_check(good == CHILDREN, "each child has the whole set (%d of %d)", good, CHILDREN);
	for (int i = 0; i < MEMBERS; i++)
		MUST(!rclose(sockets[i]));
	MUST(!rclose(set));
}

static const struct topic topics[] = {
	{ "edge-of-a-listener-is-not-lost", an_edge_of_a_listener_is_not_lost },
	{ "end-is-reported-to-who-asks-for-nothing", an_end_is_reported_to_who_asks_for_nothing },
	{ "all-get-their-turn", all_get_their_turn },
	{ "busy-set-reports-whose-peer-has-died", a_busy_set_reports_whose_peer_has_died },
	{ "limit-of-descriptors-holds-for-entries", a_limit_of_descriptors_holds_for_entries },
	{ "exclusive-members-are-as-those-of-linux", exclusive_members_are_as_those_of_linux },
	{ "child-has-its-parents-connections-one-by-one",
	  a_child_has_its_parents_connections_one_by_one },
	{ "set-is-whole-in-a-child", a_set_is_whole_in_a_child },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	forks_port = 22000;
	repoll_find();
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	return topics_end();
}
