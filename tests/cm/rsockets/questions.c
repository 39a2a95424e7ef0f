/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * questions.c - answers of rdma_cm that are rare on a fabric: a resolution of an address or a route
 * times out, or the answer names a device of GUID 0, with or without its index.
 *
 * The program exports write() and poll(), so the library calls these instead of libc's. A
 * resolution that shall be lost does not reach the kernel; instead, an event reports its timeout.
 *
 * Covers: librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/dgram/link.c
 */
#include "forks.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ASKED = 16, PATIENCE_S = 20 };

/* number of the next resolutions that are lost */
static unsigned int addrs_to_lose, routes_to_lose;
static unsigned int asked;
static uint32_t patience_ms[MOST_ASKED];
static uint64_t uid; /* of the last id, as in its events */
/* channel of the lost resolution, which must get the event */
static int lost_fd = -1;
static enum rdma_cm_event_type lost_event;
static bool has_no_guid, has_no_index;

struct command {
	struct rdma_ucm_cmd_hdr hdr;
	union {
		struct rdma_ucm_create_id create_id;
		struct rdma_ucm_resolve_addr resolve_addr;
		struct rdma_ucm_resolve_route resolve_route;
		struct rdma_ucm_get_event get_event;
		struct rdma_ucm_query query;
	};
};

#define HOOK             __attribute__((visibility("default")))
#define REAL(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

static bool is_lost(int fd, uint32_t ms, unsigned int *to_lose, enum rdma_cm_event_type event)
{
	if (asked < MOST_ASKED)
		patience_ms[asked++] = ms;
	if (!*to_lose)
		return false;
	--*to_lose;
	lost_fd = fd;
	lost_event = event;
	return true;
}

static bool is_event_of_lost(int fd, const struct command *command)
{
	struct rdma_ucm_event_resp *event;

	if (lost_fd != fd)
		return false;
	event = (struct rdma_ucm_event_resp *)(uintptr_t)command->get_event.response;
	event->uid = uid;
	event->event = lost_event;
	event->status = (uint32_t)-ETIMEDOUT;
	lost_fd = -1;
	return true;
}

/* Returns whether this file answers the command instead of the kernel. */
static bool is_played(int fd, const struct command *command)
{
	switch (command->hdr.cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		uid = command->create_id.uid;
		return false;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		return is_lost(fd, command->resolve_addr.timeout_ms, &addrs_to_lose,
			       RDMA_CM_EVENT_ADDR_ERROR);
	case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
		return is_lost(fd, command->resolve_route.timeout_ms, &routes_to_lose,
			       RDMA_CM_EVENT_ROUTE_ERROR);
	case RDMA_USER_CM_CMD_GET_EVENT:
		return is_event_of_lost(fd, command);
	default:
		return false;
	}
}

static bool is_command(const void *bytes, size_t size)
{
	const struct rdma_ucm_cmd_hdr *hdr = bytes;

	return size > sizeof(*hdr) && size == sizeof(*hdr) + hdr->in &&
	       hdr->cmd <= RDMA_USER_CM_CMD_JOIN_MCAST;
}

static void route_change(struct rdma_ucm_query_route_resp *resp)
{
	if (has_no_guid)
		resp->node_guid = 0;
	if (has_no_index)
		resp->ibdev_index = -1u;
}

HOOK ssize_t write(int fd, const void *bytes, size_t size)
{
	const struct command *command = bytes;
	ssize_t ret;

	if (!is_command(bytes, size))
		return REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
	if (is_played(fd, command))
		return (ssize_t)size;
	ret = REAL(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
	if (ret > 0 && command->hdr.cmd == RDMA_USER_CM_CMD_QUERY_ROUTE)
		route_change((void *)(uintptr_t)command->query.response);
	return ret;
}

HOOK int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	for (nfds_t i = 0; lost_fd >= 0 && i < count; i++)
		fds[i].revents = fds[i].fd == lost_fd ? POLLIN : 0;
	for (nfds_t i = 0; lost_fd >= 0 && i < count; i++) {
		if (fds[i].revents)
			return 1;
	}
	return REAL(int (*)(struct pollfd *, nfds_t, int), "poll")(fds, count, timeout);
}

static int echo_one(int listener)
{
	alarm(PATIENCE_S);
	return child_echo(listener);
}

static bool patience_doubles(size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (patience_ms[from + i] != 1000u << i)
			return false;
	}
	return true;
}

static void questions_are_repeated(unsigned int addrs, unsigned int routes)
{
	int listener = listen_here(), socket;
	pid_t child = child_that(echo_one, listener);

	asked = 0;
	addrs_to_lose = addrs;
	routes_to_lose = routes;
	socket = connect_here();
	say_check(socket >= 0 && comes_back(socket, "hello") && asked == addrs + routes + 2,
		  "%u for an address and %u for a route are repeated", addrs, routes);
	say_check(patience_doubles(0, addrs + 1) && patience_doubles(addrs + 1, routes + 1),
		  "each with a patience of 1, 2, 4, 8 seconds");
	rclose(socket);
	say_check(ends_well(child), "the other side ends well");
	MUST(!rclose(listener));
}

static void there_is_a_last_one(unsigned int addrs, unsigned int routes)
{
	asked = 0;
	addrs_to_lose = addrs;
	routes_to_lose = routes;
	say_check(connect_here() == -1 && errno == ETIMEDOUT && asked == (addrs ? 4 : 5),
		  "%u for an address and %u for a route: ETIMEDOUT", addrs, routes);
}

static void questions_are_lost(void)
{
	int listener;

	say_topic("questions that are lost");
	questions_are_repeated(3, 0);
	questions_are_repeated(0, 3);
	questions_are_repeated(1, 2);
	listener = listen_here();
	there_is_a_last_one(4, 0);
	there_is_a_last_one(0, 4);
	MUST(!rclose(listener));
}

/* Returns the name of the device that an id is bound to by its address; "": none. */
static const char *device_resolved(int *status)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in to = forks_here();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	static char name[64];

	MUST(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000));
	MUST(!rdma_get_cm_event(channel, &event));
	*status = event->status;
	MUST((event->event == RDMA_CM_EVENT_ADDR_RESOLVED) == !*status);
	snprintf(name, sizeof(name), "%s", id->verbs ? ibv_get_device_name(id->verbs->device) : "");
	MUST(!rdma_ack_cm_event(event) && !rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return name;
}

static void guid_0_is_found_by_its_index(void)
{
	char name[64];
	int status;

	say_topic("a device of GUID 0");
	snprintf(name, sizeof(name), "%s", device_resolved(&status));
	MUST(!status && name[0]);
	has_no_guid = true;
	say_check(!strcmp(device_resolved(&status), name) && !status, "its index says which");
	has_no_guid = false;
}

static void no_device_has_guid_0(void)
{
	int status;

	say_topic("a device of GUID 0, without an index");
	has_no_guid = has_no_index = true;
	say_check(!device_resolved(&status)[0], "the id has no device");
	say_check(status == -ENODEV, "is ADDR_ERROR, -ENODEV");
	say_check(connect_here() == -1 && errno == ENODEV, "rconnect(): ENODEV");
	has_no_guid = has_no_index = false;
}

static const struct topic topics[] = {
	{ "questions-are-lost", questions_are_lost },
	{ "guid-0-is-found-by-its-index", guid_0_is_found_by_its_index },
	{ "no-device-has-guid-0", no_device_has_guid_0 },
};

int main(int argc, char **argv)
{
	alarm(3 * PATIENCE_S);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
