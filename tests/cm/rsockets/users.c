/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * users.c - rsockets in a process with threads of two users. A thread that has changed its user
 * cannot write to the channel of an older socket; if it cannot open another channel, its failure
 * must not affect the first thread, which still can. Arguments are those of changes_run().
 *
 * Covers: librdmacm/rsocket/stream/conn.c
 */
#include "changes.h"
#include "forks.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static int by_other_user(void *(*act)(void *), int socket)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, act, &socket))
		return -1;
	pthread_join(thread, &result);
	return (int)(intptr_t)result;
}

static int begin_as_other_user(void)
{
	alarm(PATIENCE_S);
	why_no_channel = EMFILE;
	return change_user_of_thread();
}

static int error_of(int socket)
{
	socklen_t len = sizeof(int);
	int error;

	return rgetsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &len) ? errno : error;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* long, as the pauses before this one are of 1, 2 and 4 s */
enum { REFUSALS = 4, PAUSE_MS = 8000, LEFT_MS = 1500 };

static void *ask_again_and_again(void *socket)
{
	bool failed = begin_as_other_user();

	while (!failed && refusals < REFUSALS) {
		failed = error_of(*(int *)socket);
		usleep(1000);
	}
	return (void *)(intptr_t)failed;
}

/* The new attempt uses a new id, so the pause of the old one must not hold for it. */
static int connect_within_the_pause(int told)
{
	struct sockaddr_in here = forks_here();
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	int64_t began;

	if (!rconnect(socket, (struct sockaddr *)&here, sizeof(here)) || errno != ECONNREFUSED ||
	    by_other_user(ask_again_and_again, socket))
		return 2;
	why_no_channel = 0;
	began = now_ms();
	if (write(told, "x", 1) != 1)
		return 3;
	while (rconnect(socket, (struct sockaddr *)&here, sizeof(here))) {
		if (errno != ECONNREFUSED)
			return 4;
	}
	if (now_ms() > began + PAUSE_MS - LEFT_MS)
		return 5;
	return !comes_back(socket, "hello") || rclose(socket) || !is_idle();
}

static void a_pause_ends_with_its_id(void)
{
	say_topic("refused before");
	say_check(connects_when_somebody_listens(connect_within_the_pause),
		  "who may use the channel connects at once");
}

/* Returns an address that no host has: one reserved for documentation, or one of the same
 * network. */
static struct sockaddr_in unreachable_address(void)
{
	struct sockaddr_in addr = forks_here();

	if (ntohl(addr.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
		addr.sin_addr.s_addr = inet_addr("203.0.113.9");
	else
		addr.sin_addr.s_addr ^= htonl(0x60);
	return addr;
}

/* Fails to connect in a thread of another user. The answer to the first resolution is on the
 * channel, so this thread may not read it. */
static void *fail_to_connect(void *socket)
{
	struct sockaddr_in here = forks_here();
	bool failed = begin_as_other_user() || error_of(*(int *)socket) != EMFILE ||
		      !rconnect(*(int *)socket, (struct sockaddr *)&here, sizeof(here)) ||
		      errno != EMFILE;

	return (void *)(intptr_t)failed;
}

static int connect_after_another(int unused)
{
	struct pollfd event = { .events = POLLIN };
	struct sockaddr_in here = forks_here();
	int socket;

	(void)unused;
	has_no_thread = true; /* the library's thread would read the answer */
	program_thread = pthread_self();
	held = RDMA_USER_CM_CMD_NOTIFY; /* never sent, so no command is held */
	socket = begin_to_connect(unreachable_address());
	event.fd = socket; /* the socket's number is the channel's */
	if (poll(&event, 1, PATIENCE_S * 1000) != 1)
		return 2;
	has_no_thread = false;
	held = NONE;
	if (by_other_user(fail_to_connect, socket))
		return 3;
	why_no_channel = 0;
	if (rfcntl(socket, F_SETFL, 0) || rconnect(socket, (struct sockaddr *)&here, sizeof(here)))
		return 4;
	return !comes_back(socket, "hello") || rclose(socket) || !is_idle();
}

static void a_failed_id_has_no_say(void)
{
	int listener;
	pid_t child;

	say_topic("failed before");
	listener = listen_here();
	child = child_that(connect_after_another, 0);
	say_check(is_echoed_or_ends(listener, child), "who may use the channel connects");
	rclose(listener);
}

int main(int argc, char *argv[])
{
	static const struct topic topics[] = {
		{ "refused", a_pause_ends_with_its_id },
		{ "failed", a_failed_id_has_no_say },
	};

	return changes_run(topics, ARRAY_SIZE(topics), argc, argv);
}
