/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork.c - rsockets and fork(): connections stay the parent's, listeners are shared, and a child
 * makes its own connections. Linux lets no process write to another one's rdma_cm file, not even to
 * its parent's.
 *
 * Covers: librdmacm/rsocket/forked.c, librdmacm/rsocket/listener.c, librdmacm/rsocket/share.c
 */
#include "forks.h"
#include "repoll.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tries the calls of a parent's socket. Each step that fails has a status of its own. */
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

/* The parent opened the adapter before it forked, so the child must open its own. */
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

/* connections that each worker echoes */
enum { WORKERS = 3, EACH = 2 };

static int serve_some(int listener)
{
	for (int i = 0; i < EACH; i++) {
		if (child_echo(listener))
			return 1;
	}
	return 0;
}

static bool are_served(int connections)
{
	int sockets[WORKERS * EACH];
	bool good = true;

	for (int i = 0; i < connections; i++) {
		sockets[i] = connect_here();
		good &= sockets[i] >= 0 && comes_back(sockets[i], "to any");
		if (sockets[i] >= 0)
			rclose(sockets[i]);
	}
	return good;
}

static bool all_end_well(const pid_t *children, int count)
{
	bool good = true;

	for (int i = 0; i < count; i++)
		good &= ends_well(children[i]);
	return good;
}

static void workers_share_a_listener(void)
{
	int listener = listen_here();
	pid_t children[WORKERS];

	say_topic("workers");
	for (int i = 0; i < WORKERS; i++)
		children[i] = child_that(serve_some, listener);
	say_check(are_served(WORKERS * EACH), "each connection is one worker's");
	say_check(all_end_well(children, WORKERS), "each worker has had its share");
	MUST(!rclose(listener));
	say_check(connect_here() < 0 && errno == ECONNREFUSED, "nobody has the listener any more");
}

/* ---- the process that listens goes ---- */

static int serve_after_parent(int listener)
{
	await_leaver();
	return serve_some(listener);
}

static int gate[2]; /* closing the writing side lets all waiting processes go on at once */

static void await_gate(void)
{
	char byte;

	close(gate[1]);
	MUST(!read(gate[0], &byte, 1));
}

static int listen_and_leave(int listener)
{
	child_that_reports(serve_after_parent, listener);
	return 0;
}

static void a_listener_outlives_its_process(void)
{
	say_topic("a daemon");
	MUST(listen_in_child(listen_and_leave));
	say_check(are_served(EACH), "the process that listened has ended, its child serves");
	say_check(reports_well(), "all of it");
	results_close();
}

static int wait_then_serve(int listener)
{
	await_gate();
	return serve_some(listener);
}

static int leave_two(int listener)
{
	child_that_reports(serve_after_parent, listener);
	child_that_reports(wait_then_serve, listener);
	return 0;
}

static void a_listener_outlives_the_next_process_too(void)
{
	say_topic("a daemon's workers");
	MUST(!pipe(gate));
	MUST(listen_in_child(leave_two));
	close(gate[0]);
	say_check(are_served(EACH) && reports_well(), "the first one serves, and ends");
	close(gate[1]);
	say_check(are_served(EACH) && reports_well(), "then the other one does");
	results_close();
}

enum { NUMBERS = 64 };

static int serve_once_there_is_room(int listener)
{
	struct rlimit all, few;
	int numbers[NUMBERS], count = 0, ret;

	await_leaver();
	if (getrlimit(RLIMIT_NOFILE, &all))
		return 2;
	few = (struct rlimit){ NUMBERS, all.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &few))
		return 2;
	while ((numbers[count] = dup(listener)) >= 0)
		count++;
	ret = raccept(listener, NULL, NULL) == -1 && errno == EMFILE ? 0 : 3;
	while (count--)
		close(numbers[count]);
	if (setrlimit(RLIMIT_NOFILE, &all))
		return 2;
	return ret ? ret : child_echo(listener);
}

/* Accepts with all descriptors in use, and frees one more at each try. The first connection has
 * opened the adapter already. */
static int serve_with_one_number_more(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };
	struct rlimit few;
	int numbers[NUMBERS], count = 0, socket;
	char bytes[64];

	if (child_echo(listener) || rpoll(&fd, 1, 20000) != 1 || getrlimit(RLIMIT_NOFILE, &few))
		return 2;
	few.rlim_cur = NUMBERS;
	if (setrlimit(RLIMIT_NOFILE, &few) || rfcntl(listener, F_SETFL, O_NONBLOCK))
		return 2;
	while ((numbers[count] = dup(listener)) >= 0)
		count++;
	while ((socket = raccept(listener, NULL, NULL)) < 0 && errno == EMFILE && count)
		close(numbers[--count]);
	if (socket < 0)
		return 3;
	return rrecv(socket, bytes, 6, MSG_WAITALL) != 6 || rsend(socket, bytes, 6, 0) != 6 ||
	       rclose(socket);
}

static void a_passing_lack_loses_no_request(void)
{
	int listener = listen_here();
	pid_t child = child_that(serve_with_one_number_more, listener);

	say_topic("a child without a free descriptor");
	say_check(are_served(2), "accepts once it has enough of them");
	say_check(ends_well(child), "and was told EMFILE before");
	MUST(!rclose(listener));
}

static int leave_without_room(int listener)
{
	child_that_reports(serve_once_there_is_room, listener);
	return 0;
}

static void a_passing_lack_loses_no_listener(void)
{
	say_topic("a daemon without a free descriptor");
	MUST(listen_in_child(leave_without_room));
	say_check(are_served(1), "serves when it has some again");
	say_check(reports_well(), "and was told EMFILE before");
	results_close();
}

static bool is_served(void)
{
	int socket = connect_patiently();
	bool good = socket >= 0 && comes_back(socket, "to one");

	return good && !rclose(socket);
}

enum { PLAIN_NUMBERS = 512 }; /* below the numbers of channels, as softhca puts those above */

/* The program takes over the numbers of the library's descriptors. fork() wakes the listener's
 * thread, which must not write to them. The listener is at the wildcard address, as it opens no
 * adapter there. */
static int numbers_take(int unused)
{
	struct sockaddr_in any = forks_here();
	bool was_there[PLAIN_NUMBERS];
	int pair[2], listener, count = 0;
	char byte;

	(void)unused;
	any.sin_addr.s_addr = INADDR_ANY;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	for (int fd = 0; fd < PLAIN_NUMBERS; fd++)
		was_there[fd] = fcntl(fd, F_GETFD) >= 0;
	listener = rsocket(AF_INET, SOCK_STREAM, 0);
	if (rbind(listener, (struct sockaddr *)&any, sizeof(any)) || rlisten(listener, 4))
		return 2;
	for (int fd = 0; fd < PLAIN_NUMBERS; fd++) {
		if (!was_there[fd] && fd != listener && fcntl(fd, F_GETFD) >= 0)
			count += dup2(pair[1], fd) == fd;
	}
	if (!count || !ends_well(child_that(close, listener)))
		return 3;
	if (recv(pair[0], &byte, 1, MSG_DONTWAIT) != -1)
		return 4;
	return child_echo(listener);
}

static void numbers_are_the_programs(void)
{
	pid_t server;

	say_topic("numbers that the program has taken");
	forks_port++;
	server = child_that(numbers_take, 0);
	say_check(is_served() && ends_well(server), "nothing is written there, the listener works");
}

enum { NOBODY = 65534 };

/* Serves after setuid(), as Linux refuses writes to the rdma_cm file from then on, even if the user
 * stays the same. */
static int serve_as_nobody(int listener)
{
	return setuid(getuid() ? getuid() : NOBODY) || child_echo(listener);
}

static int listen_then_serve_as_nobody(int unused)
{
	(void)unused;
	forks_port--;
	return serve_as_nobody(listen_here());
}

static int hold_as_nobody(int unused)
{
	int listener;
	pid_t child;

	(void)unused;
	forks_port--;
	listener = listen_here();
	child = child_that(serve_some, listener);
	return setuid(getuid() ? getuid() : NOBODY) || !ends_well(child);
}

static int serve_after_parent_as_nobody(int listener)
{
	await_leaver();
	return serve_as_nobody(listener);
}

static int leave_to_nobody(int listener)
{
	child_that_reports(serve_after_parent_as_nobody, listener);
	return 0;
}

static void a_listener_changes_its_user(void)
{
	pid_t server;

	say_topic("a change of user");
	forks_port++;
	server = child_that(listen_then_serve_as_nobody, 0);
	say_check(is_served() && ends_well(server), "after rlisten(): raccept() goes on");
	forks_port++;
	server = child_that(hold_as_nobody, 0);
	say_check(is_served() && are_served(EACH - 1) && ends_well(server),
		  "of the process that reads requests for its child");
	MUST(listen_in_child(leave_to_nobody));
	say_check(are_served(1) && reports_well(), "of the next process that does");
	results_close();
}

static int poll_and_serve(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };

	return rpoll(&fd, 1, 20000) != 1 || fd.revents != POLLIN || child_echo(listener);
}

static void *accept_in_thread(void *listener)
{
	return (void *)(intptr_t)child_echo(*(int *)listener);
}

static void waiting_begins_before_the_fork(void)
{
	int listener = listen_here();
	pthread_t thread;
	void *result;
	pid_t child;

	say_topic("a thread of the parent's waits");
	MUST(!pthread_create(&thread, NULL, accept_in_thread, &listener));
	usleep(50000);
	child = child_that(poll_and_serve, listener);
	say_check(are_served(2), "it and the child have a connection each");
	say_check(ends_well(child), "the child has slept in rpoll()");
	say_check(!pthread_join(thread, &result) && !result, "the thread in raccept()");
	MUST(!rclose(listener));
}

/* ---- sockets that are not connected yet ---- */

static int listen_on(int socket)
{
	return rlisten(socket, 4) || child_echo(socket);
}

static int connect_by(int socket)
{
	struct sockaddr_in addr = forks_here();

	return rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) ||
	       !comes_back(socket, "mine") || rclose(socket);
}

static void new_sockets_are_of_who_uses_them(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0), peer;
	struct sockaddr_in addr;
	pid_t child, server;

	say_topic("a bound socket");
	forks_port++;
	addr = forks_here();
	MUST(!rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	server = child_that(listen_on, socket);
	peer = connect_patiently();
	say_check(peer >= 0 && comes_back(peer, "bound"), "a child listens with it");
	MUST(!rclose(peer) && !rclose(socket));
	say_check(ends_well(server), "its end is seen");

	say_topic("a new socket");
	socket = listen_here();
	server = child_that(child_echo, socket);
	MUST(!rclose(socket));
	socket = rsocket(AF_INET, SOCK_STREAM, 0);
	child = child_that(connect_by, socket);
	say_check(ends_well(child) && ends_well(server), "a child connects it");
	MUST(!rclose(socket));
}

/* Does nothing: the queues are made after the fork, so they are the parent's alone. */
static int leave_it(int unused)
{
	return unused;
}

static void what_was_shared_once_is_the_parents(void)
{
	int listener = listen_here(), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = forks_here(), name = here;
	pid_t server = child_that(child_echo, listener);

	say_topic("bound, forked, then connected");
	name.sin_port = 0;
	MUST(!rbind(socket, (struct sockaddr *)&name, sizeof(name)));
	MUST(ends_well(child_that(leave_it, 0)));
	MUST(!rconnect(socket, (struct sockaddr *)&here, sizeof(here)));
	say_check(comes_back(socket, "before"), "the parent uses it");
	say_check(ends_well(child_that(try_parents, socket)), "the next child cannot");
	say_check(comes_back(socket, "after"), "the parent can, whatever the child did");
	MUST(!rclose(socket));
	say_check(ends_well(server), "the end is seen");
	MUST(!rclose(listener));
}

static int told[2];

/* The parent has connected the socket first. */
static int come_too_late(int socket)
{
	struct sockaddr_in addr = forks_here();
	char byte;

	return read(told[0], &byte, 1) != 1 ||
	       rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) != -1 || rclose(socket);
}

static void what_the_parent_uses_is_not_the_childs(void)
{
	int listener = listen_here(), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = forks_here(), name = here;
	pid_t server = child_that(child_echo, listener), child;

	say_topic("bound, forked, and used by the parent");
	name.sin_port = 0;
	MUST(!rbind(socket, (struct sockaddr *)&name, sizeof(name)) && !pipe(told));
	child = child_that(come_too_late, socket);
	MUST(!rconnect(socket, (struct sockaddr *)&here, sizeof(here)));
	say_check(comes_back(socket, "before"), "the parent has it");
	MUST(write(told[1], "x", 1) == 1);
	say_check(ends_well(child), "the child comes too late");
	say_check(comes_back(socket, "after"), "and does no harm");
	MUST(!rclose(socket) && !close(told[0]) && !close(told[1]));
	say_check(ends_well(server), "the end is seen");
	MUST(!rclose(listener));
}

/* A socket that the child has connected is lost when the child ends, as the connection is the
 * child's. The parent's next call on it fails; after that, it can connect the socket again, as
 * after any failure. */
static void what_a_child_has_used_up_begins_anew(void)
{
	int listener = listen_here(), socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = forks_here(), name = here;
	pid_t server = child_that(child_echo, listener);

	say_topic("bound, forked, and used by the child");
	name.sin_port = 0;
	MUST(!rbind(socket, (struct sockaddr *)&name, sizeof(name)));
	MUST(ends_well(child_that(connect_by, socket)) && ends_well(server));
	server = child_that(child_echo, listener);
	say_check(rconnect(socket, (struct sockaddr *)&here, sizeof(here)) == -1,
		  "the parent has lost it");
	MUST(!rconnect(socket, (struct sockaddr *)&here, sizeof(here)));
	say_check(comes_back(socket, "anew"), "and connects it anew");
	MUST(!rclose(socket));
	say_check(ends_well(server), "the end is seen");
	MUST(!rclose(listener));
}

enum { ALARM_US = 50000 };

static volatile sig_atomic_t forked = -1; /* fork()'s result, once it was called */

/* Forks once. The alarm repeats until the wait has seen it, because on a slow machine the first may
 * come before the wait. A child inherits no alarm, so it sets its own. */
static void fork_in_handler(int signal)
{
	(void)signal;
	if (forked != -1)
		return;
	forked = fork();
	if (!forked)
		ualarm(ALARM_US, ALARM_US);
}

/* Forks in the handler of a signal that interrupts repoll_wait(), from which the child returns as
 * well. */
static void wait_and_fork(int set)
{
	struct sigaction action = { .sa_handler = fork_in_handler };
	struct epoll_event event;

	MUST(!sigaction(SIGALRM, &action, NULL));
	ualarm(ALARM_US, ALARM_US);
	MUST(repoll_wait_fn(set, &event, 1, 20000) == -1 && errno == EINTR);
	ualarm(0, 0);
}

static void a_handler_forks(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int listener = listen_here(), set;

	say_topic("a handler");
	mallopt(M_PERTURB, 0xa5); /* fills freed memory, so that any use of it shows */
	repoll_find();
	set = repoll_create_fn(1);
	MUST(set >= 0 && !repoll_ctl_fn(set, EPOLL_CTL_ADD, listener, &event));
	wait_and_fork(set);
	if (!forked)
		_exit(repoll_wait_fn(set, &event, 1, 20000) != 1 || child_echo(listener) ||
		      rclose(set) || rclose(listener));
	say_check(are_served(1) && ends_well(forked), "forks in a set, which the child uses");
	MUST(!rclose(set) && !rclose(listener));
	mallopt(M_PERTURB, 0);
}

static int send_datagram(int socket)
{
	struct sockaddr_in addr = forks_here();

	return rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)) ||
	       rsend(socket, "datagram", 8, 0) != 8;
}

static void datagrams(void)
{
	int receiver = rsocket(AF_INET, SOCK_DGRAM, 0), sender = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in addr;
	char bytes[8];
	pid_t child;

	say_topic("a datagram socket");
	forks_port++;
	addr = forks_here();
	MUST(!rbind(receiver, (struct sockaddr *)&addr, sizeof(addr)));
	child = child_that(send_datagram, sender);
	say_check(rrecv(receiver, bytes, 8, 0) == 8 && !memcmp(bytes, "datagram", 8),
		  "a child sends by one that its parent has made");
	say_check(ends_well(child), "and ends well");
	MUST(!rclose(receiver) && !rclose(sender));
}

static int try_parents_datagrams(int socket)
{
	char byte;

	if (rsend(socket, "x", 1, 0) != -1 || errno != ENOTCONN)
		return 2;
	if (rrecv(socket, &byte, 1, 0) != -1 || errno != ENOTCONN)
		return 3;
	return rclose(socket);
}

static void datagrams_of_what_was_shared_once(void)
{
	int receiver = rsocket(AF_INET, SOCK_DGRAM, 0), sender = rsocket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in addr;
	char bytes[8];

	say_topic("a datagram socket, forked, then used");
	forks_port++;
	addr = forks_here();
	MUST(!rbind(receiver, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(ends_well(child_that(leave_it, 0)));
	say_check(!send_datagram(sender) && rrecv(receiver, bytes, 8, 0) == 8, "by the parent");
	say_check(ends_well(child_that(try_parents_datagrams, sender)), "the next child cannot");
	say_check(rsend(sender, "datagram", 8, 0) == 8 && rrecv(receiver, bytes, 8, 0) == 8,
		  "the parent can, whatever the child did");
	MUST(!rclose(receiver) && !rclose(sender));
}

static const struct topic topics[] = {
	{ "connections-stay-with-the-parent", connections_stay_with_the_parent },
	{ "listeners-are-of-both", listeners_are_of_both },
	{ "workers-share-a-listener", workers_share_a_listener },
	{ "listener-outlives-its-process", a_listener_outlives_its_process },
	{ "listener-outlives-the-next-process-too", a_listener_outlives_the_next_process_too },
	{ "passing-lack-loses-no-request", a_passing_lack_loses_no_request },
	{ "passing-lack-loses-no-listener", a_passing_lack_loses_no_listener },
	{ "numbers-are-the-programs", numbers_are_the_programs },
	{ "listener-changes-its-user", a_listener_changes_its_user },
	{ "waiting-begins-before-the-fork", waiting_begins_before_the_fork },
	{ "new-sockets-are-of-who-uses-them", new_sockets_are_of_who_uses_them },
	{ "what-was-shared-once-is-the-parents", what_was_shared_once_is_the_parents },
	{ "what-the-parent-uses-is-not-the-childs", what_the_parent_uses_is_not_the_childs },
	{ "what-a-child-has-used-up-begins-anew", what_a_child_has_used_up_begins_anew },
	{ "handler-forks", a_handler_forks },
	{ "datagrams", datagrams },
	{ "datagrams-of-what-was-shared-once", datagrams_of_what_was_shared_once },
};

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
