/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peers.c - the peers of a datagram rsocket. It forgets the one that was silent for longest, and
 * repeats a resolution that failed.
 *
 * The program exports write() and its kin, so the library calls these instead of libc's. They
 * refuse one kind of rdma_cm's commands for a while, and count the messages sent by UDP: a message
 * that goes by a UD QP is not among them.
 *
 * Covers: librdmacm/rsocket/dgram/dgram.c, librdmacm/rsocket/dgram/peer.c,
 * librdmacm/rsocket/dgram/io.c,
 * librdmacm/rsocket/dgram/channel.c, librdmacm/rsocket/dgram/link.c
 */
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static bool no_address_is_resolved;
static int events_without_memory; /* number of events that will fail with ENOMEM */
static unsigned int questions, sent_by_udp;

#define HOOK             __attribute__((visibility("default")))
#define REAL(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

HOOK ssize_t write(int fd, const void *bytes, size_t size)
{
	const struct rdma_ucm_cmd_hdr *command = bytes;

	if (size > sizeof(*command) && command->cmd == RDMA_USER_CM_CMD_GET_EVENT &&
	    events_without_memory) {
		events_without_memory--;
		errno = ENOMEM;
		return -1;
	}
	if (size > sizeof(*command) && command->cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR) {
		questions++;
		if (no_address_is_resolved) {
			errno = EHOSTUNREACH;
			return -1;
		}
	}
	return REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
}

HOOK ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	sent_by_udp++;
	return REAL(ssize_t(*)(int, const struct msghdr *, int), "sendmsg")(fd, message, flags);
}

static unsigned int identities; /* number of getresuid() calls */

HOOK int getresuid(uid_t *real, uid_t *effective, uid_t *saved)
{
	identities++;
	return REAL(int (*)(uid_t *, uid_t *, uid_t *), "getresuid")(real, effective, saved);
}

static int bound_socket(struct sockaddr_in *name)
{
	int socket = rsocket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*name);

	*name = (struct sockaddr_in){ .sin_family = AF_INET };
	name->sin_addr.s_addr = inet_addr("127.0.0.1");
	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)name, len));
	MUST(!rgetsockname(socket, (struct sockaddr *)name, &len));
	return socket;
}

static bool datagram_goes(int socket, const struct sockaddr_in *to)
{
	return rsendto(socket, "x", 1, 0, (const struct sockaddr *)to, sizeof(*to)) == 1;
}

static bool datagram_arrives(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };
	char byte;

	return rpoll(&fd, 1, 5000) == 1 && rrecv(socket, &byte, 1, 0) == 1;
}

/* Exchanges datagrams, with calls on both sides, so that both can answer resolutions. */
static bool sockets_exchange(int one, const struct sockaddr_in *one_is, int other,
			     const struct sockaddr_in *other_is)
{
	return datagram_goes(one, other_is) && datagram_arrives(other) &&
	       datagram_goes(other, one_is) && datagram_arrives(one);
}

struct pair {
	int one, other;
	struct sockaddr_in one_is, other_is;
};

static struct pair pair_open(void)
{
	struct pair pair;

	pair.one = bound_socket(&pair.one_is);
	pair.other = bound_socket(&pair.other_is);
	return pair;
}

static void pair_close(const struct pair *pair)
{
	rclose(pair->other);
	rclose(pair->one);
}

static bool pair_exchange(const struct pair *pair)
{
	return sockets_exchange(pair->one, &pair->one_is, pair->other, &pair->other_is);
}

static bool is_way_found(const struct pair *pair)
{
	bool good = true;
	unsigned int before;

	for (int i = 0; good && i < 100; i++) {
		usleep(50000);
		good = pair_exchange(pair);
	}
	before = sent_by_udp;
	return good && pair_exchange(pair) && sent_by_udp == before;
}

static void a_way_is_asked_for_again(void)
{
	struct pair pair = pair_open();
	bool good = true;

	say_topic("a way");
	no_address_is_resolved = true;
	for (int i = 0; i < 5; i++)
		good &= pair_exchange(&pair);
	say_check(good, "that is not found: data goes by UDP");
	say_check(questions > 0 && questions <= 4, "and not each message asks");
	no_address_is_resolved = false;
	say_check(is_way_found(&pair), "is found later, and taken");
	pair_close(&pair);
}

static void a_passing_lack_of_memory_is_survived(void)
{
	struct pair pair = pair_open();

	say_topic("a way");
	events_without_memory = 1;
	say_check(is_way_found(&pair) && !events_without_memory,
		  "is found although there was no memory for an event");
	pair_close(&pair);
}

enum { EACH = 33500 }; /* peers on each of two hosts */

/* A socket that never forgot a peer would fail with ENOBUFS here. */
static void peers_are_forgotten(void)
{
	struct sockaddr_in one_is, other_is, to;
	int one = bound_socket(&one_is), other = bound_socket(&other_is);
	unsigned int sent = 0;

	say_topic("peers");
	MUST(sockets_exchange(one, &one_is, other, &other_is));
	to = other_is;
	for (int host = 2; host <= 3; host++) {
		to.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + host);
		for (int port = 1024; port < 1024 + EACH; port++) {
			to.sin_port = htons(port);
			sent += datagram_goes(one, &to);
		}
	}
	say_check(sent == 2 * EACH, "all of 67000 are sent to");
	say_check(sockets_exchange(one, &one_is, other, &other_is),
		  "the first one is learnt again");
	rclose(other);
	rclose(one);
}

static void change_user(int signal)
{
	(void)signal;
	if (setuid(getuid()))
		_exit(2);
}

enum { SOON_NS = 200000000 };

/* Another thread could change the user of the sleeping one, so the library compares them after each
 * sleep. A program of one thread needs no such comparison, and must not pay for it. */
static void a_handler_that_changes_the_user_ends_a_wait(void)
{
	const struct sigaction action = { .sa_handler = change_user };
	const struct itimerspec soon = { .it_value = { .tv_nsec = SOON_NS } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM };
	struct pair pair = pair_open();
	timer_t timer;
	char byte;

	say_topic("a program of one thread");
	MUST(!sigaction(SIGVTALRM, &action, NULL));
	MUST(!timer_create(CLOCK_MONOTONIC, &event, &timer) &&
	     !timer_settime(timer, 0, &soon, NULL));
	say_check(rrecv(pair.one, &byte, 1, 0) < 0 && errno == EINTR,
		  "a signal whose handler changes the user ends rrecv()");
	MUST(!timer_delete(timer));
	say_check(!identities, "who the thread is was not asked");
	pair_close(&pair);
}

static const struct topic topics[] = {
	{ "handler-that-changes-the-user-ends-a-wait",
	  a_handler_that_changes_the_user_ends_a_wait },
	{ "way-is-asked-for-again", a_way_is_asked_for_again },
	{ "passing-lack-of-memory-is-survived", a_passing_lack_of_memory_is_survived },
	{ "peers-are-forgotten", peers_are_forgotten },
};

int main(int argc, char **argv)
{
	alarm(110);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
