/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * commands.c - the number of kernel commands of a connection, each of which every connection pays
 * for.
 *
 * kernel_calls.h counts. Both ends are in this thread, so the numbers are always the same. The
 * first connection also queries the device's limits (cma.h), so the second one is counted.
 *
 * Covers: librdmacm/cmd.c
 */

#include "tests/cm/cm.h"
#include "own.h"
#include "tests/lib/kernel/kernel_calls.h"

static struct rdma_cm_event *event_take(struct rdma_event_channel *channel,
					enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	MUST(event->event == type);
	return event;
}

static void event_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	rdma_ack_cm_event(event_take(channel, type));
}

static void id_end(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

static void connect_once(struct rdma_event_channel *client_channel,
			 struct rdma_event_channel *server_channel, uint16_t port)
{
	struct rdma_cm_id *client = cm_resolved(client_channel, RDMA_PS_TCP, port), *server;
	struct rdma_cm_event *event;

	cm_make_qp(client);
	MUST(!rdma_connect(client, NULL));
	event = event_take(server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	server = event->id;
	rdma_ack_cm_event(event);
	cm_make_qp(server);
	MUST(!rdma_accept(server, NULL));
	event_expect(client_channel, RDMA_CM_EVENT_ESTABLISHED);
	event_expect(server_channel, RDMA_CM_EVENT_ESTABLISHED);
	MUST(!rdma_disconnect(client));
	event_expect(server_channel, RDMA_CM_EVENT_DISCONNECTED);
	MUST(!rdma_disconnect(server));
	event_expect(client_channel, RDMA_CM_EVENT_DISCONNECTED);
	id_end(client);
	id_end(server);
}

void own_commands(void)
{
	struct rdma_event_channel *client = rdma_create_event_channel();
	struct rdma_event_channel *server = rdma_create_event_channel();
	struct rdma_cm_id *listener;
	long rdma_cm, device;
	uint16_t port;

	MUST(client && server);
	listener = cm_listening(server, RDMA_PS_TCP, &port);
	connect_once(client, server, port);
	kernel_calls.writes = kernel_calls.ioctls = 0;
	connect_once(client, server, port);
	rdma_cm = kernel_calls.writes;
	device = kernel_calls.ioctls;
	say_check(rdma_cm == 26, "a connection takes 26 calls of rdma_cm, both ends together");
	say_check(device == 24, "and 24 of the device, all for its QPs and CQs");
	if (rdma_cm != 26 || device != 24)
		say("they are %ld and %ld", rdma_cm, device);
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(client);
	rdma_destroy_event_channel(server);
}
