/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client.c - a client of cmtime with a controller. It takes all its connections through one step
 * after the other, with the same number of connections to each server.
 */
#include <errno.h>
#include <stdio.h>

#include "test.h"

static int retry_step(struct connection *connection, const struct rdma_cm_event *event,
		      int (*ask)(struct connection *connection))
{
	if (event->status != -ETIMEDOUT || connection->retries++ >= options.retries)
		return test_refused(event);
	return ask(connection);
}

static int connection_done(struct connection *connection, enum step step)
{
	connection_end(connection, step);
	connection->retries = 0;
	connection_finish(connection, 0);
	return 0;
}

/* Returns the server of a connection. Servers take turns, so that connections to all of them are
 * made in parallel. */
static struct sockaddr *server_of(const struct connection *connection)
{
	const struct peers *peers = connection->test->peers;
	int skip = (connection - connection->test->connections) % peers_count(peers, true);

	for (int i = 0; i < peers->count; i++)
		if (peers->all[i].listens && !skip--)
			return (struct sockaddr *)&peers->all[i].address;
	return NULL;
}

static int create_id(struct connection *connection)
{
	return rdma_create_id(connection->test->channel, &connection->id, connection, RDMA_PS_TCP)
		       ? complain_errno("create id failed")
		       : 0;
}

static int bind_addr(struct connection *connection)
{
	return rdma_bind_addr(connection->id, connection->test->local->ai_src_addr)
		       ? complain_errno("bind addr failed")
		       : 0;
}

static int resolve_addr(struct connection *connection)
{
	return rdma_resolve_addr(connection->id, NULL, server_of(connection), options.timeout_ms)
		       ? complain_errno("resolve addr failed")
		       : 0;
}

static int resolve_route(struct connection *connection)
{
	return rdma_resolve_route(connection->id, options.timeout_ms)
		       ? complain_errno("resolve route failed")
		       : 0;
}

static int start_connecting(struct connection *connection)
{
	struct rdma_conn_param param = connection_param(connection);

	return rdma_connect(connection->id, &param) ? complain_errno("connect failed") : 0;
}

static int start_disconnecting(struct connection *connection)
{
	return rdma_disconnect(connection->id) ? complain_errno("disconnect failed") : 0;
}

static void work_create_qp(struct work *work)
{
	connection_finish(connection_of(work), connection_create_qp(connection_of(work)));
}

static void work_init_qp(struct work *work)
{
	struct connection *connection = connection_of(work);

	connection_finish(connection,
			  connection_move_qp(connection, IBV_QPS_INIT, INIT_QP_ATTR, INIT_QP));
}

static int establish_connection(struct connection *connection)
{
	if (connection_move_qp(connection, IBV_QPS_RTR, RTR_QP_ATTR, RTR_QP) ||
	    connection_move_qp(connection, IBV_QPS_RTS, RTS_QP_ATTR, RTS_QP))
		return -1;
	connection_start(connection, ESTABLISH);
	if (rdma_establish(connection->id))
		return complain_errno("establish failed");
	connection_end(connection, ESTABLISH);
	connection_end(connection, FULL_CONNECT);
	return 0;
}

static void work_establish(struct work *work)
{
	connection_finish(connection_of(work), establish_connection(connection_of(work)));
}

static int connection_answered(struct connection *connection)
{
	connection_end(connection, CM_CONNECT);
	connection->work.run = work_establish;
	workers_give(connection->test->workers, &connection->work);
	return 0;
}

static int on_event(struct test *test, const struct rdma_cm_event *event)
{
	struct connection *connection = event->id->context;

	(void)test;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return connection_done(connection, RESOLVE_ADDR);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return retry_step(connection, event, resolve_addr);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connection_done(connection, RESOLVE_ROUTE);
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return retry_step(connection, event, resolve_route);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return connection_answered(connection);
	case RDMA_CM_EVENT_DISCONNECTED:
		return connection_done(connection, DISCONNECT);
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return test_refused(event);
	default: /* TIMEWAIT_EXIT, and other events after a connection */
		return 0;
	}
}

static int each_connection(struct test *test, enum step step,
			   int (*call)(struct connection *connection))
{
	test_start_step(test, step);
	for (int i = 0; i < test->count; i++) {
		connection_start(&test->connections[i], step);
		if (step == CREATE_ID)
			connection_start(&test->connections[i], FULL_CONNECT);
		if (call(&test->connections[i]))
			return -1;
		connection_end(&test->connections[i], step);
	}
	test_end_step(test, step);
	return 0;
}

static int ask_each(struct test *test, enum step step, int (*ask)(struct connection *connection))
{
	int ret;

	test_start_step(test, step);
	for (int i = 0; i < test->count; i++) {
		connection_start(&test->connections[i], step);
		if (ask(&test->connections[i]))
			return -1;
	}
	ret = test_await(test, -1, on_event);
	test_end_step(test, step);
	return ret;
}

static int work_on_each(struct test *test, enum step step, void (*run)(struct work *work))
{
	int ret;

	test_start_step(test, step);
	ret = test_work(test, run);
	test_end_step(test, step);
	return ret;
}

static int resolve_all(struct test *test)
{
	int ret;

	printf("\tCreating IDs\n");
	ret = each_connection(test, CREATE_ID, create_id);
	if (ret)
		return ret;
	printf("\tBinding addresses\n");
	ret = each_connection(test, BIND_ADDR, bind_addr);
	if (ret)
		return ret;
	printf("\tResolving addresses\n");
	ret = ask_each(test, RESOLVE_ADDR, resolve_addr);
	if (ret)
		return ret;
	printf("\tResolving routes\n");
	return ask_each(test, RESOLVE_ROUTE, resolve_route);
}

static int make_all_qps(struct test *test)
{
	int ret;

	printf("\tCreating QPs\n");
	ret = test_open_device(test, test->connections[0].id->verbs);
	if (!ret)
		ret = work_on_each(test, CREATE_QP, work_create_qp);
	if (ret)
		return ret;
	printf("\tModify QPs to INIT\n");
	return work_on_each(test, INIT_QP, work_init_qp);
}

/* Starts connecting when all servers are ready, because a request to one that is not would be
 * rejected. */
static int connect_all(struct test *test)
{
	int ret = peers_keep_step(test->peers, INIT_QP);

	if (ret)
		return ret;
	printf("\tConnecting\n");
	return ask_each(test, CM_CONNECT, start_connecting);
}

static int disconnect_all(struct test *test)
{
	int ret = peers_keep_step(test->peers, CM_CONNECT);

	if (ret)
		return ret;
	printf("\tDisconnecting\n");
	ret = ask_each(test, DISCONNECT, start_disconnecting);
	return ret ? ret : peers_keep_step(test->peers, DISCONNECT);
}

int client_live(struct test *test)
{
	int ret = peers_keep_step(test->peers, FULL_CONNECT);

	if (ret)
		return ret;
	test->times.start[FULL_CONNECT] = cmtime_now();
	ret = resolve_all(test);
	if (!ret)
		ret = make_all_qps(test);
	if (!ret)
		ret = connect_all(test);
	test_end_step(test, FULL_CONNECT);
	if (!ret)
		ret = disconnect_all(test);
	if (ret)
		return ret;
	printf("\tDestroying QPs\n");
	test_destroy_qps(test);
	printf("\tDestroying IDs\n");
	test_destroy_ids(test);
	return 0;
}
