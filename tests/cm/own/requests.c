/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * requests.c - connection requests that are never answered. The id of a request belongs to the
 * channel on which it arrived, and ends with that channel, even if the event has moved to another
 * one. softhca's rdma_cm must survive each of them.
 *
 * The peer of such a request waits for its rejection.
 *
 * Covers: librdmacm/event.c, softhca/front/process/ucma/request.c,
 * softhca/front/process/ucma/event.c, softhca/front/process/ucma/file.c
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "tests/cm/cm.h"
#include "own.h"

static void request_await(const struct rdma_event_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	MUST(poll(&fd, 1, WAIT_MS) == 1);
}

static void make_nonblocking(const struct rdma_event_channel *channel)
{
	MUST(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
}

static void rejection_take(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	request_await(channel);
	MUST(!rdma_get_cm_event(channel, &event));
	say_check(event->event == RDMA_CM_EVENT_REJECTED, "whoever asked is told: %s",
		  rdma_event_str(event->event));
	rdma_ack_cm_event(event);
}

/* A client that waits for a listener's answer. */
struct asking {
	struct rdma_event_channel *client_channel, *channel;
	struct rdma_cm_id *client, *listener;
};

static void asking_begin(struct asking *asking)
{
	uint16_t port;

	asking->client_channel = rdma_create_event_channel();
	asking->channel = rdma_create_event_channel();
	MUST(asking->client_channel && asking->channel);
	asking->listener = cm_listening(asking->channel, RDMA_PS_TCP, &port);
	asking->client = cm_resolved(asking->client_channel, RDMA_PS_TCP, port);
	cm_make_qp(asking->client);
	MUST(!rdma_connect(asking->client, NULL));
	request_await(asking->channel);
}

static void asking_end(struct asking *asking)
{
	rdma_destroy_qp(asking->client);
	MUST(!rdma_destroy_id(asking->client));
	rdma_destroy_event_channel(asking->client_channel);
	rdma_destroy_event_channel(asking->channel);
}

/* Moves the listener, and with it the event of the request; the id of the request ends with its
 * first channel. */
static void listener_has_moved(bool reads)
{
	struct rdma_event_channel *next = rdma_create_event_channel(), *before;
	struct rdma_cm_event *event;
	struct asking asking;

	asking_begin(&asking);
	before = asking.channel;
	MUST(!rdma_migrate_id(asking.listener, next));
	asking.channel = next;
	rdma_destroy_event_channel(before);
	rejection_take(asking.client_channel);
	if (reads) {
		make_nonblocking(next);
		request_await(next);
		say_check(rdma_get_cm_event(next, &event) && errno == EAGAIN,
			  "the event of a request that has gone is passed over");
	}
	MUST(!rdma_destroy_id(asking.listener));
	asking_end(&asking);
}

/* Ids of requests have kernel numbers like all others, so any thread may destroy one that was never
 * reported. */
static void request_is_destroyed_unread(void)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_destroy_id body;
	} command = { { RDMA_USER_CM_CMD_DESTROY_ID, sizeof(command.body), sizeof(resp) },
		      { .response = (uintptr_t)&resp } };
	struct rdma_cm_event *event;
	struct asking asking;
	unsigned int destroyed = 0;

	asking_begin(&asking);
	make_nonblocking(asking.channel);
	/* downwards, as the request's number is above the listener's */
	for (uint32_t id = 10000; id; id--) {
		command.body.id = id;
		if (write(asking.channel->fd, &command, sizeof(command)) != sizeof(command))
			continue;
		destroyed++;
		break;
	}
	say_check(destroyed == 1, "the id of an unread request can be destroyed");
	rejection_take(asking.client_channel);
	say_check(rdma_get_cm_event(asking.channel, &event) && errno == EAGAIN,
		  "its event is passed over");
	MUST(!rdma_destroy_id(asking.listener));
	asking_end(&asking);
}

/* When a process ends, its files are closed in the order of their numbers; SWAPS: in reverse
 * order. */
static void process_ends(bool swaps)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child) {
		struct rdma_event_channel *next = rdma_create_event_channel();
		struct rdma_event_channel *third = rdma_create_event_channel();
		struct asking asking;

		asking_begin(&asking);
		MUST(!rdma_migrate_id(asking.listener, swaps ? third : next));
		if (swaps)
			MUST(!rdma_migrate_id(asking.listener, next));
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	say_check(!status, "a process ends with a request that it has not read");
}

/* softhca implements the rdma_cm file as a pipe, from which a program may read a byte that belongs
 * to the library. Serving others must not wait for it. (A kernel's file cannot be read.) */
static void byte_is_taken(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char byte;

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	for (int i = 0; i < 2; i++) {
		MUST(!rdma_write_cm_event(id, RDMA_CM_EVENT_USER, i, 0));
		say_check(read(channel->fd, &byte, 1) <= 1, "a program reads its channel");
		alarm(WAIT_MS / 1000);
		MUST(!rdma_get_cm_event(channel, &event));
		alarm(0);
		say_check(event->event == RDMA_CM_EVENT_USER && event->status == i,
			  "the event comes");
		rdma_ack_cm_event(event);
	}
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

void own_requests(void)
{
	struct asking asking;

	byte_is_taken();
	listener_has_moved(true);
	listener_has_moved(false);
	request_is_destroyed_unread();
	process_ends(false);
	process_ends(true);
	asking_begin(&asking);
	say_check(!rdma_destroy_id(asking.listener), "rdma_cm goes on");
	rejection_take(asking.client_channel);
	asking_end(&asking);
}
