/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * races.c - a thread reads an event before the call that caused it has returned. kernel_calls.c
 * replaces the library's write() and delays its return after the kernel has executed the command.
 *
 * Covers: librdmacm/event.c, librdmacm/cmd.c
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <time.h>

#include "tests/cm/cm.h"
#include "own.h"
#include "tests/lib/kernel/kernel_calls.h"

enum { HELD_UP_MS = 300 };

static struct rdma_event_channel *channel;
static struct rdma_cm_id *raced;

static bool event_comes(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	bool good;

	if (rdma_get_cm_event(channel, &event))
		return false;
	good = event->event == type && !event->status;
	return !rdma_ack_cm_event(event) && good;
}

static bool is_own_event(const void *command)
{
	return ((const struct rdma_ucm_cmd_hdr *)command)->cmd == RDMA_USER_CM_CMD_WRITE_CM_EVENT;
}

static struct rdma_addrinfo *taken;

static void take_what_was_found(const void *command)
{
	(void)command;
	if (event_comes(RDMA_CM_EVENT_ADDRINFO_RESOLVED))
		rdma_query_addrinfo(raced, &taken);
}

static void names_are_there_with_their_event(void)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_DNS, .ai_port_space = RDMA_PS_TCP };

	MUST(!rdma_create_id(channel, &raced, NULL, RDMA_PS_TCP));
	kernel_calls.is_next = is_own_event;
	kernel_calls.after_next = take_what_was_found;
	MUST(!rdma_resolve_addrinfo(raced, "127.0.0.1", "7471", &hints));
	say_check(taken && taken->ai_family == AF_INET, "names: taken when the event is read");
	rdma_freeaddrinfo(taken);
	MUST(!rdma_destroy_id(raced));
}

static bool is_join(const void *command)
{
	return ((const struct rdma_ucm_cmd_hdr *)command)->cmd == RDMA_USER_CM_CMD_JOIN_MCAST;
}

static struct sockaddr_in group = { .sin_family = AF_INET };
static pthread_t leaver;
static bool has_ended;

static void *leave_when_joined(void *unused)
{
	(void)unused;
	return event_comes(RDMA_CM_EVENT_MULTICAST_JOIN) &&
			       !rdma_leave_multicast(raced, (struct sockaddr *)&group)
		       ? &group
		       : NULL;
}

static void *left;

/* Starts the thread that leaves the group. It may have to wait for the number that the join
 * returns, so it is joined after the call then. */
static void leave_at_once(const void *command)
{
	struct timespec end;

	(void)command;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += HELD_UP_MS * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	MUST(!pthread_create(&leaver, NULL, leave_when_joined, NULL));
	has_ended = !pthread_timedjoin_np(leaver, &left, &end);
}

static void a_group_is_left_as_soon_as_it_is_joined(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET };

	group.sin_addr.s_addr = inet_addr("239.1.2.3");
	here.sin_addr.s_addr = inet_addr("198.18.0.1"); /* address of the first port */
	MUST(!rdma_create_id(channel, &raced, NULL, RDMA_PS_UDP));
	MUST(!rdma_bind_addr(raced, (struct sockaddr *)&here));
	kernel_calls.is_next = is_join;
	kernel_calls.after_next = leave_at_once;
	MUST(!rdma_join_multicast(raced, (struct sockaddr *)&group, NULL));
	if (!has_ended)
		MUST(!pthread_join(leaver, &left));
	say_check(left, "groups: left when the event is read");
	MUST(!rdma_destroy_id(raced));
}

void own_races(void)
{
	say_topic("races");
	channel = rdma_create_event_channel();
	MUST(channel);
	names_are_there_with_their_event();
	a_group_is_left_as_soon_as_it_is_joined();
	rdma_destroy_event_channel(channel);
}
