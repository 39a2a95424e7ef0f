/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair.c - a client and a server without a controller. The client takes all its connections through
 * one step, then through the next; the server answers until it is stopped.
 *
 * The time of a step is from the call to the event that completes it, if there is one, else to the
 * return of the call.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "librdmacm/examples/address.h"
#include "librdmacm/examples/channel.h"
#include "cmtime.h"

enum step { CREATE, RESOLVE_ADDR, RESOLVE_ROUTE, CREATE_QP, CONNECT, DISCONNECT, DESTROY, STEPS };

struct connection {
	struct rdma_cm_id *id;
	bool failed;
	enum step done;
	int retries;
	uint64_t start[STEPS], end[STEPS]; /* in nanoseconds; end is 0 if the step was not done */
};

static struct rdma_event_channel *channel;
static struct rdma_addrinfo *info;
static struct connection *connections;
static struct ibv_cq *cq; /* CQ of all QPs, which never get a work request */
static uint64_t total[STEPS];

static int create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!cq)
		cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	if (!cq)
		return complain_errno("create cq failed");
	attr.send_cq = attr.recv_cq = cq;
	return rdma_create_qp(id, NULL, &attr) ? complain_errno("create qp failed") : 0;
}

static struct rdma_conn_param conn_param(void)
{
	return (struct rdma_conn_param){ .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 5 };
}

/* ---- the client's steps, for one connection ---- */

static int create_id(struct connection *connection)
{
	return rdma_create_id(channel, &connection->id, connection, RDMA_PS_TCP)
		       ? complain_errno("create id failed")
		       : 0;
}

static int resolve_addr(struct connection *connection)
{
	return rdma_resolve_addr(connection->id, info->ai_src_addr, info->ai_dst_addr,
				 options.timeout_ms)
		       ? complain_errno("failure getting addr")
		       : 0;
}

static int resolve_route(struct connection *connection)
{
	return rdma_resolve_route(connection->id, options.timeout_ms)
		       ? complain_errno("failure resolving route")
		       : 0;
}

static int make_qp(struct connection *connection)
{
	return create_qp(connection->id);
}

static int start_connecting(struct connection *connection)
{
	struct rdma_conn_param param = conn_param();

	return rdma_connect(connection->id, &param) ? complain_errno("failure connecting") : 0;
}

static int start_disconnecting(struct connection *connection)
{
	return rdma_disconnect(connection->id) ? complain_errno("failure disconnecting") : 0;
}

static int destroy_id(struct connection *connection)
{
	if (connection->id->qp)
		rdma_destroy_qp(connection->id);
	rdma_destroy_id(connection->id);
	connection->id = NULL;
	return 0;
}

static const struct {
	const char *name, *announcement;
	int (*start)(struct connection *connection);
	bool has_event;
} steps[STEPS] = {
	[CREATE] = { "create id", "creating id", create_id, false },
	[RESOLVE_ADDR] = { "resolve addr", "resolving address", resolve_addr, true },
	[RESOLVE_ROUTE] = { "resolve route", "resolving route", resolve_route, true },
	[CREATE_QP] = { "create qp", "creating qp", make_qp, false },
	[CONNECT] = { "connect", "connecting", start_connecting, true },
	[DISCONNECT] = { "disconnect", "disconnecting", start_disconnecting, true },
	[DESTROY] = { "destroy", "destroying id", destroy_id, false },
};

static void finish_step(struct connection *connection, enum step step)
{
	connection->end[step] = cmtime_now();
	connection->done = step + 1;
}

static bool retry_step(struct connection *connection, enum step step,
		       const struct rdma_cm_event *event)
{
	if (connection->retries < options.retries && event->status == -ETIMEDOUT) {
		connection->retries++;
		return !steps[step].start(connection);
	}
	printf("%s, error: %d\n", rdma_event_str(event->event), event->status);
	return false;
}

static void on_event(struct connection *connection, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		connection->retries = 0;
		finish_step(connection, RESOLVE_ADDR);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connection->retries = 0;
		finish_step(connection, RESOLVE_ROUTE);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		finish_step(connection, CONNECT);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		finish_step(connection, DISCONNECT);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		connection->failed = !retry_step(connection, RESOLVE_ADDR, event);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
		connection->failed = !retry_step(connection, RESOLVE_ROUTE, event);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		printf("event: %s, error: %d\n", rdma_event_str(event->event), event->status);
		connection->failed = true;
		break;
	default: /* events of device removal, or after a connection */
		break;
	}
}

static int take_event(void)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		return complain_errno("failure in rdma_get_cm_event");
	on_event(event->id->context, event);
	rdma_ack_cm_event(event);
	return 0;
}

static bool has_event(void)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

static bool is_pending(const struct connection *connection, enum step step)
{
	return !connection->failed && connection->done <= step;
}

static bool is_at(const struct connection *connection, enum step step)
{
	if (step == CREATE)
		return true;
	return connection->id &&
	       (step == DESTROY || (!connection->failed && connection->done == step));
}

static void start_step(struct connection *connection, enum step step)
{
	connection->start[step] = cmtime_now();
	if (steps[step].start(connection))
		connection->failed = true;
	else if (!steps[step].has_event)
		finish_step(connection, step);
}

/* Runs a step. Handles events as they arrive, so that the time of one connection does not include
 * others. */
static int run_step(enum step step)
{
	uint64_t begin = cmtime_now();
	int ret = 0;

	printf("%s\n", steps[step].announcement);
	for (int i = 0; i < options.connections; i++) {
		if (is_at(&connections[i], step))
			start_step(&connections[i], step);
		while (!ret && steps[step].has_event && has_event())
			ret = take_event();
	}
	for (int i = 0; steps[step].has_event && i < options.connections; i++)
		while (!ret && is_pending(&connections[i], step))
			ret = take_event();
	total[step] = cmtime_now() - begin;
	return ret;
}

static void print_step(enum step step)
{
	double max = 0, min = 1e12;

	for (int i = 0; i < options.connections; i++) {
		double time = (double)(connections[i].end[step] - connections[i].start[step]);

		if (!connections[i].end[step])
			continue;
		max = time > max ? time : max;
		min = time < min ? time : min;
	}
	printf("%-13s: %11.2f%11.2f%11.2f%11.2f\n", steps[step].name, total[step] / 1e6, max / 1e6,
	       min / 1e3, total[step] / 1e3 / options.connections);
}

static void print_table(void)
{
	printf("step              total ms     max ms     min us  us / conn\n");
	for (int step = 0; step < STEPS; step++)
		print_step(step);
}

static int find_server(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	int ret = address_resolve(options.server, options.port, options.local, &hints, &info);

	if (ret)
		printf("getaddrinfo error: %s\n", gai_strerror(ret));
	return ret;
}

static int run_client(void)
{
	int ret;

	connections =
		calloc(options.connections > 0 ? options.connections : 1, sizeof(*connections));
	if (!connections)
		return complain_errno("no memory");
	ret = run_step(CREATE);
	if (!ret)
		ret = find_server();
	for (int step = RESOLVE_ADDR; !ret && step <= DISCONNECT; step++)
		ret = run_step(step);
	run_step(DESTROY);
	print_table();
	for (int i = 0; !ret && i < options.connections; i++)
		ret = connections[i].failed ? -1 : 0;
	free(connections);
	return ret;
}

static void accept_request(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = conn_param();

	if (!create_qp(id)) {
		if (!rdma_accept(id, &param))
			return;
		perror("failure accepting");
		rdma_destroy_qp(id);
	}
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

/* Handles one event. Acknowledges the event before destroying its id, because rdma_destroy_id()
 * waits for the acknowledgement. */
static int serve_event(void)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		return complain_errno("failure in rdma_get_cm_event");
	type = event->event;
	id = event->id;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		accept_request(id);
	else if (type == RDMA_CM_EVENT_CONNECT_ERROR || type == RDMA_CM_EVENT_UNREACHABLE)
		printf("event: %s, error: %d\n", rdma_event_str(type), event->status);
	rdma_ack_cm_event(event);
	if (type != RDMA_CM_EVENT_DISCONNECTED)
		return 0;
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return 0;
}

static int listen_at(struct rdma_cm_id **listener)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	int ret = address_resolve_passive(options.local, options.port, &hints, &info);

	if (ret) {
		printf("getaddrinfo error: %s\n", gai_strerror(ret));
		return ret;
	}
	if (rdma_create_id(channel, listener, NULL, RDMA_PS_TCP))
		return complain_errno("listen request failed");
	if (rdma_bind_addr(*listener, info->ai_src_addr))
		return complain_errno("bind address failed");
	return rdma_listen(*listener, 0) ? complain_errno("failure trying to listen") : 0;
}

static int run_server(void)
{
	struct rdma_cm_id *listener = NULL;
	int ret = listen_at(&listener);

	while (!ret)
		ret = serve_event();
	if (listener)
		rdma_destroy_id(listener);
	return ret;
}

int cmtime_pair(void)
{
	int ret;

	channel = channel_open();
	if (!channel)
		return 1;
	ret = options.server ? run_client() : run_server();
	if (cq)
		ibv_destroy_cq(cq);
	rdma_freeaddrinfo(info);
	rdma_destroy_event_channel(channel);
	return ret;
}
