/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server.c - a server of cmtime with a controller. It accepts the connections of all clients, and
 * waits until they have disconnected.
 */
#include <stdio.h>

#include "test.h"

static int accept_connection(struct connection *connection)
{
	struct rdma_conn_param param;

	if (connection_create_qp(connection) ||
	    connection_move_qp(connection, IBV_QPS_INIT, INIT_QP_ATTR, INIT_QP) ||
	    connection_move_qp(connection, IBV_QPS_RTR, RTR_QP_ATTR, RTR_QP) ||
	    connection_move_qp(connection, IBV_QPS_RTS, RTS_QP_ATTR, RTS_QP)) {
		rdma_reject(connection->id, NULL, 0);
		return -1;
	}
	param = connection_param(connection);
	return rdma_accept(connection->id, &param) ? complain_errno("failure accepting") : 0;
}

/* Accepts a connection; the step ends when it is established. */
static void work_answer(struct work *work)
{
	int ret = accept_connection(connection_of(work));

	if (ret)
		connection_finish(connection_of(work), ret);
}

static void work_part(struct work *work)
{
	struct connection *connection = connection_of(work);
	int ret;

	connection_start(connection, DISCONNECT);
	ret = rdma_disconnect(connection->id) ? complain_errno("failure disconnecting") : 0;
	connection_end(connection, DISCONNECT);
	connection_finish(connection, ret);
}

static void give_work(struct connection *connection, void (*run)(struct work *work))
{
	connection->work.run = run;
	workers_give(connection->test->workers, &connection->work);
}

static int connection_requested(struct test *test, struct rdma_cm_id *id)
{
	struct connection *connection;

	if (test->requested == test->count || test_open_device(test, id->verbs)) {
		rdma_reject(id, NULL, 0);
		return -1;
	}
	connection = &test->connections[test->requested++];
	connection->id = id;
	id->context = connection;
	give_work(connection, work_answer);
	return 0;
}

static int on_event(struct test *test, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return connection_requested(test, event->id);
	case RDMA_CM_EVENT_ESTABLISHED:
		connection_finish(event->id->context, 0);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		give_work(event->id->context, work_part);
		return 0;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return test_refused(event);
	default: /* TIMEWAIT_EXIT, and other events after a connection */
		return 0;
	}
}

static int accept_all(struct test *test)
{
	int ret = peers_keep_step(test->peers, FULL_CONNECT);

	printf("\tAccepting\n");
	if (!ret)
		ret = peers_keep_step(test->peers, INIT_QP);
	if (ret)
		return ret;
	test_start_step(test, CM_CONNECT);
	ret = test_await(test, -1, on_event);
	test_end_step(test, CM_CONNECT);
	return ret;
}

/* Waits for the disconnections, with a time limit: the kernel may repeat its message to a client
 * for a while. */
static int await_parting(struct test *test)
{
	int ret;

	test_start_step(test, DISCONNECT);
	ret = test_await(test, options.timeout_ms * (options.retries + 1), on_event);
	test_end_step(test, DISCONNECT);
	if (ret)
		printf("Timeout waiting for clients to disconnect (got %d/%d)\n",
		       atomic_load(&test->finished), test->count);
	return ret;
}

int server_live(struct test *test)
{
	int ret = accept_all(test);

	if (!ret)
		ret = peers_keep_step(test->peers, CM_CONNECT);
	if (ret)
		return ret;
	printf("\tDisconnecting\n");
	ret = await_parting(test);
	if (!ret)
		ret = peers_keep_step(test->peers, DISCONNECT);
	if (ret)
		return ret;
	test_destroy_qps(test);
	test_destroy_ids(test);
	return 0;
}
