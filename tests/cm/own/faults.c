/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.c - lets each kernel command, adapter command and allocation of a connection's life fail
 * once, on either side. A call or an event must report the failure, and nothing may leak.
 *
 * Both sides are in this process. A life ends at its first failure; then everything is destroyed.
 *
 * Covers: librdmacm/id.c, librdmacm/qp.c, librdmacm/connect.c, librdmacm/ep.c, librdmacm/module.c
 */
#include "tests/verbs/faults/faults.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

struct life_of_cm {
	struct rdma_event_channel *client_channel, *server_channel;
	struct rdma_cm_id *listener, *client, *server;
	int err;
};

/* Returns whether the call succeeded, so that the life goes on; else records its error. */
static bool step_succeeded(struct life_of_cm *life, int ret)
{
	if (!ret)
		return true;
	life->err = errno;
	return false;
}

/* Waits for an event. One that the library could not deliver is lost, so the next one counts. */
static int next_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	do {
		/* no event, as the fault hit the other side, which lost its own */
		if (poll(&fd, 1, 1000) <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
	} while (rdma_get_cm_event(channel, event) && errno == EAGAIN);
	return *event ? 0 : -1;
}

static bool await_event(struct life_of_cm *life, struct rdma_event_channel *channel,
			enum rdma_cm_event_type type, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event = NULL;
	bool is_it;

	if (!step_succeeded(life, next_event(channel, &event)))
		return false;
	is_it = event->event == type;
	if (!is_it)
		life->err = abs(event->status);
	if (id && is_it)
		*id = event->id;
	rdma_ack_cm_event(event);
	return is_it;
}

static struct rdma_event_channel *open_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (channel)
		fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	return channel;
}

static bool make_qp(struct life_of_cm *life, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return step_succeeded(life, rdma_create_qp(id, NULL, &attr));
}

static bool listen_at(struct life_of_cm *life)
{
	struct sockaddr_in addr = cm_loopback(0);

	life->server_channel = open_channel();
	return step_succeeded(life, life->server_channel ? 0 : -1) &&
	       step_succeeded(life, rdma_create_id(life->server_channel, &life->listener, NULL,
						   RDMA_PS_TCP)) &&
	       step_succeeded(life, rdma_bind_addr(life->listener, (struct sockaddr *)&addr)) &&
	       step_succeeded(life, rdma_listen(life->listener, 4));
}

static bool life_resolve(struct life_of_cm *life)
{
	struct sockaddr_in addr = cm_loopback(be16toh(rdma_get_src_port(life->listener)));

	life->client_channel = open_channel();
	return step_succeeded(life, life->client_channel ? 0 : -1) &&
	       step_succeeded(life, rdma_create_id(life->client_channel, &life->client, NULL,
						   RDMA_PS_TCP)) &&
	       step_succeeded(life, rdma_resolve_addr(life->client, NULL, (struct sockaddr *)&addr,
						      RESOLVE_MS)) &&
	       await_event(life, life->client_channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) &&
	       step_succeeded(life, rdma_resolve_route(life->client, RESOLVE_MS)) &&
	       await_event(life, life->client_channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

static bool connect_both(struct life_of_cm *life)
{
	return make_qp(life, life->client) &&
	       step_succeeded(life, rdma_connect(life->client, NULL)) &&
	       await_event(life, life->server_channel, RDMA_CM_EVENT_CONNECT_REQUEST,
			   &life->server) &&
	       make_qp(life, life->server) &&
	       step_succeeded(life, rdma_accept(life->server, NULL)) &&
	       await_event(life, life->client_channel, RDMA_CM_EVENT_ESTABLISHED, NULL) &&
	       await_event(life, life->server_channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static void end_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static void life_end(struct life_of_cm *life)
{
	end_id(life->client);
	end_id(life->server);
	end_id(life->listener);
	if (life->client_channel)
		rdma_destroy_event_channel(life->client_channel);
	if (life->server_channel)
		rdma_destroy_event_channel(life->server_channel);
}

/* Lives once with a fault of KIND. Returns the errno of the failed step, or 0. CHANCES: the number
 * of commands, for example, before everything is destroyed. */
static int life_run(enum fault_kind kind, uint64_t *chances)
{
	struct life_of_cm life = { 0 };
	uint64_t before = fault_count(kind);
	bool all = listen_at(&life) && life_resolve(&life) && connect_both(&life);

	*chances = fault_count(kind) - before;
	life_end(&life);
	return all ? 0 : life.err ? life.err : -1;
}

/* Waits, because the adapter may destroy its objects a little after the calls return. */
static bool nothing_left(uint64_t objects)
{
	for (int i = 0; i < 100 && fault_objects() != objects; i++)
		poll(NULL, 0, 10);
	return fault_objects() == objects;
}

/* Returns whether a second life leaks as well. One leak alone is no defect, as the library's first
 * log line, for example, opens the log for good. */
static bool leaves_nothing(enum fault_kind kind, uint64_t n, int *err)
{
	for (int tries = 0; tries < 2; tries++) {
		uint64_t objects = fault_objects(), ignored;
		long blocks = fault_blocks();

		fault_arm(kind, n);
		*err = life_run(kind, &ignored);
		if (nothing_left(objects) && fault_blocks() == blocks)
			return true;
	}
	say("%s %d: something is left, error %s", fault_name(kind), (int)n, say_errno(*err));
	return false;
}

/* softhca's front may continue without a command of its own, so a fault there may fail no call. */
static void fail_each(enum fault_kind kind)
{
	unsigned int silent = 0, lost = 0, left = 0;
	uint64_t chances;
	int err;

	/* once before, as the first life also creates what stays for good, such as contexts */
	MUST(!life_run(kind, &chances));
	MUST(!life_run(kind, &chances) && chances);
	for (uint64_t n = 1; n <= chances; n++) {
		left += !leaves_nothing(kind, n, &err);
		silent += !err;
		lost += err == ETIMEDOUT;
	}
	fprintf(stderr, "%s: %d chances, %u without effect, %u events lost\n", fault_name(kind),
		(int)chances, silent, lost);
	say_check(!left, "%s: nothing is left behind", fault_name(kind));
	if (kind != FAULT_ADAPTER)
		say_check(!silent, "%s: each failure is told", fault_name(kind));
}

static void each_chance(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	MUST(channel);
	rdma_destroy_event_channel(channel);
	fault_open();
	for (enum fault_kind kind = 0; kind < FAULT_KINDS; kind++)
		if (kind != FAULT_MAP && fault_is_offered(kind))
			fail_each(kind);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "faults", each_chance } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
