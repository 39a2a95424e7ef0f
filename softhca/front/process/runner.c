/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runner.c - connections of runners until their hello. See runner.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/front/process/link.h"
#include "softhca/front/process/listener.h"
#include "softhca/front/process/program/refused_users.h"
#include "softhca/front/process/runner.h"
#include "softhca/front/process/timer.h"
#include "softhca/front/process/watch.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { HELLO_MS = 1000, MAX_SILENT = 64 /* per user */ };

/* A connection of `softhca run` that has not sent its hello message yet. */
struct runner {
	struct watch watch; /* must be first */
	struct timer silence;
	uid_t user;
	TAILQ_ENTRY(runner) in_all; /* oldest first */
};
static TAILQ_HEAD(, runner) runners = TAILQ_HEAD_INITIALIZER(runners);

static void runner_close(struct runner *runner)
{
	timer_stop(&runner->silence);
	watch_remove(&runner->watch);
	TAILQ_REMOVE(&runners, runner, in_all);
	close(runner->watch.fd);
	free(runner);
}

/* Returns whether the runner has not sent its hello. The message may wait in the socket, if this
 * thread was too busy to read it. */
static bool runner_is_silent(const struct runner *runner)
{
	char byte;

	return recv(runner->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static void silence_ended(struct timer *silence)
{
	struct runner *runner = container_of(silence, struct runner, silence);

	if (runner_is_silent(runner))
		runner_close(runner);
}

static bool is_refused(int link)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(link, SOL_SOCKET, SO_PEERCRED, &peer, &len) ||
	       refused_users_has(peer.uid, timer_now());
}

static void runner_answer(int link)
{
	int listener, memory = -1, ret = link_receive_hello(link, &listener);

	if (ret) {
		if (ret != ECONNRESET)
			log_error("a runner that cannot be understood: %s", strerror(ret));
		return;
	}
	/* Refuse further messages, which would use memory here. */
	shutdown(link, SHUT_RD);
	ret = is_refused(link) ? EAGAIN : listener_add(listener, link, &memory);
	link_send_welcome(link, ret, memory);
	close(ret ? listener : memory);
}

/* Handles a runner's hello message. The listener keeps a descriptor of the connection, so that the
 * connection closes when this process ends in any way: the holder notices our death by that. */
static void runner_ready(struct watch *watch, uint32_t events)
{
	(void)events;
	runner_answer(watch->fd);
	runner_close((struct runner *)watch);
	listeners_stop_if_unused();
}

static int runner_create(int fd, struct runner **out)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	int ret;

	if (!runner)
		return ENOMEM;
	runner->watch = (struct watch){ fd, runner_ready };
	runner->silence.expired = silence_ended;
	ret = watch_add(&runner->watch, EPOLLIN);
	if (ret) {
		free(runner);
		return ret;
	}
	TAILQ_INSERT_TAIL(&runners, runner, in_all);
	*out = runner;
	return 0;
}

int runner_add_own(int fd)
{
	struct runner *runner;

	return runner_create(fd, &runner);
}

/* If USER has MAX_SILENT connections without a hello, closes the oldest, so that one user cannot
 * use up the descriptors of all. */
static void close_oldest_of(uid_t user)
{
	struct runner *runner, *oldest = NULL;
	unsigned int count = 0;

	TAILQ_FOREACH(runner, &runners, in_all) {
		if (runner->user != user)
			continue;
		if (!oldest && runner_is_silent(runner))
			oldest = runner;
		count++;
	}
	if (oldest && count >= MAX_SILENT)
		runner_close(oldest);
}

int runner_add(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct runner *runner;
	int ret;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return errno;
	close_oldest_of(peer.uid);
	ret = runner_create(fd, &runner);
	if (ret)
		return ret;
	runner->user = peer.uid;
	timer_start(&runner->silence, timer_now() + HELLO_MS * NS_PER_MS);
	return 0;
}

void runners_close(void)
{
	while (!TAILQ_EMPTY(&runners))
		runner_close(TAILQ_FIRST(&runners));
}
