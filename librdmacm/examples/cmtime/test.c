/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test.c - shared by the tests of client and server: makes connections and QPs, waits for all of
 * them, and prints the table.
 */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STALE_CONNECTION = 10 }; /* reason of a rejection */

bool test_begin(struct test *test, int count, enum qp_kind kind)
{
	test->connections = calloc(count, sizeof(*test->connections));
	test->count = count;
	test->kind = kind;
	test->requested = 0;
	test->times = (struct times){ 0 };
	atomic_store(&test->finished, 0);
	atomic_store(&test->failed, 0);
	for (int i = 0; test->connections && i < count; i++) {
		test->connections[i].test = test;
		test->connections[i].qpn = options.first_qpn + i;
	}
	return test->connections || complain_errno("connections") == 0;
}

/* Ends a run. After a failure, workers may still use the connections that are freed here: ends the
 * workers first, and starts no new ones. */
void test_finish(struct test *test)
{
	if (atomic_load(&test->failed) && test->workers) {
		workers_stop(test->workers);
		test->workers = NULL;
	}
	if (test->connections) {
		test_destroy_qps(test);
		test_destroy_ids(test);
	}
	free(test->connections);
	test->connections = NULL;
}

void test_start_step(struct test *test, enum step step)
{
	atomic_store(&test->finished, 0);
	test->times.start[step] = cmtime_now();
}

void test_end_step(struct test *test, enum step step)
{
	test->times.end[step] = cmtime_now();
}

void connection_start(struct connection *connection, enum step step)
{
	connection->times.start[step] = cmtime_now();
}

void connection_end(struct connection *connection, enum step step)
{
	connection->times.end[step] = cmtime_now();
}

void connection_finish(struct connection *connection, int ret)
{
	atomic_fetch_add(ret ? &connection->test->failed : &connection->test->finished, 1);
}

static int take_event(struct test *test,
		      int (*on_event)(struct test *test, const struct rdma_cm_event *event))
{
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(test->channel, &event))
		return complain_errno("failure in rdma_get_cm_event");
	ret = on_event(test, event);
	rdma_ack_cm_event(event);
	return ret;
}

static int test_fail(struct test *test)
{
	atomic_fetch_add(&test->failed, 1);
	return -1;
}

int test_await(struct test *test, int timeout_ms,
	       int (*on_event)(struct test *test, const struct rdma_cm_event *event))
{
	const int fds[] = { workers_fd(test->workers), test->channel->fd };
	bool readable[2];
	int ret;

	while (atomic_load(&test->finished) < test->count) {
		if (atomic_load(&test->failed))
			return -1;
		ret = peers_poll(test->peers, fds, 2, timeout_ms, readable);
		if (ret <= 0)
			return test_fail(test);
		if (readable[0])
			workers_forget_done(test->workers);
		if (readable[1] && take_event(test, on_event))
			return test_fail(test);
	}
	return 0;
}

static int expect_nothing(struct test *test, const struct rdma_cm_event *event)
{
	(void)test;
	printf("Unhandled event: %d (%s)\n", event->event, rdma_event_str(event->event));
	return 0;
}

int test_work(struct test *test, void (*run)(struct work *work))
{
	for (int i = 0; i < test->count; i++) {
		test->connections[i].work.run = run;
		workers_give(test->workers, &test->connections[i].work);
	}
	return test_await(test, -1, expect_nothing);
}

int test_refused(const struct rdma_cm_event *event)
{
	printf("event: %s, error: %d\n", rdma_event_str(event->event), event->status);
	/* IBTA vol 1, 12.6.7.2: the QPN still belongs to an older connection */
	if (event->event == RDMA_CM_EVENT_REJECTED && event->status == STALE_CONNECTION)
		printf("(peers at the same adapter need different -q)\n");
	return -1;
}

int test_open_device(struct test *test, struct ibv_context *device)
{
	if (test->pd)
		return 0;
	printf("\tAllocating verbs resources\n");
	test->pd = ibv_alloc_pd(device);
	if (!test->pd)
		return complain_errno("ibv_alloc_pd");
	/* one entry is the least that there is: no work request is ever posted to its QPs */
	test->cq = ibv_create_cq(device, 1, NULL, NULL, 0);
	return test->cq ? 0 : complain_errno("ibv_create_cq");
}

static int simulate_qp(void)
{
	struct timespec delay = { .tv_sec = options.delay_us / 1000000,
				  .tv_nsec = options.delay_us % 1000000 * 1000 };

	nanosleep(&delay, NULL);
	return 0;
}

static int make_qp(struct connection *connection)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = connection->test->cq,
		.recv_cq = connection->test->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	connection->qp = ibv_create_qp(connection->test->pd, &attr);
	if (!connection->qp)
		return complain_errno("ibv_create_qp");
	connection->qpn = connection->qp->qp_num;
	return 0;
}

int connection_create_qp(struct connection *connection)
{
	int ret = 0;

	if (connection->test->kind == NO_QPS)
		return 0;
	connection_start(connection, CREATE_QP);
	ret = connection->test->kind == QPS ? make_qp(connection) : simulate_qp();
	connection_end(connection, CREATE_QP);
	return ret;
}

static int modify_qp(struct connection *connection, struct ibv_qp_attr *attr, int mask)
{
	int ret;

	if (connection->test->kind == SIMULATED_QPS)
		return simulate_qp();
	ret = ibv_modify_qp(connection->qp, attr, mask);
	if (!ret)
		return 0;
	fprintf(stderr, "ibv_modify_qp: %s\n", strerror(ret));
	return -1;
}

int connection_move_qp(struct connection *connection, enum ibv_qp_state state, enum step attr_step,
		       enum step qp_step)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int ret, mask;

	connection_start(connection, attr_step);
	if (rdma_init_qp_attr(connection->id, &attr, &mask))
		return complain_errno("rdma_init_qp_attr");
	connection_end(connection, attr_step);
	if (connection->test->kind == NO_QPS)
		return 0;
	connection_start(connection, qp_step);
	ret = modify_qp(connection, &attr, mask);
	connection_end(connection, qp_step);
	return ret;
}

static void connection_destroy_qp(struct connection *connection)
{
	if (!connection->qp)
		return;
	connection_start(connection, DESTROY_QP);
	ibv_destroy_qp(connection->qp);
	connection_end(connection, DESTROY_QP);
	connection->qp = NULL;
}

struct rdma_conn_param connection_param(const struct connection *connection)
{
	return (struct rdma_conn_param){ .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 5,
					 .rnr_retry_count = 5,
					 .qp_num = connection->qpn };
}

void test_destroy_qps(struct test *test)
{
	test_start_step(test, DESTROY_QP);
	for (int i = 0; i < test->count; i++)
		connection_destroy_qp(&test->connections[i]);
	test_end_step(test, DESTROY_QP);
}

void test_destroy_ids(struct test *test)
{
	test_start_step(test, DESTROY_ID);
	for (int i = 0; i < test->count; i++) {
		struct connection *connection = &test->connections[i];

		if (!connection->id)
			continue;
		connection_start(connection, DESTROY_ID);
		rdma_destroy_id(connection->id);
		connection_end(connection, DESTROY_ID);
		connection->id = NULL;
	}
	test_end_step(test, DESTROY_ID);
}

/* ---- the table, in microseconds ---- */

struct row {
	uint64_t sum, max, min;
};

static struct row measure_step(const struct test *test, enum step step)
{
	struct row row = { .min = UINT64_MAX };
	uint64_t time;

	for (int i = 0; i < test->count; i++) {
		const struct times *times = &test->connections[i].times;

		if (!times->end[step])
			continue;
		time = times->end[step] - times->start[step];
		row.sum += time;
		row.max = time > row.max ? time : row.max;
		row.min = time < row.min ? time : row.min;
	}
	if (row.min == UINT64_MAX)
		row.min = 0;
	return row;
}

static void print_row(const struct test *test, enum step step, const char *name)
{
	const uint64_t total = test->times.end[step] - test->times.start[step];
	struct row row = measure_step(test, step);

	/* connections are made in parallel, so the sum of their times is meaningless */
	if (step == FULL_CONNECT)
		row.sum = 0;
	printf("%-13s  %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
	       " %10" PRIu64 "\n",
	       name, total / 1000 / test->count, total / 1000, row.sum / 1000 / test->count,
	       row.sum / 1000, row.max / 1000, row.min / 1000);
}

void test_print(const struct test *test)
{
	static const char *const names[STEPS] = {
		"full connect", "create id",    "bind addr",  "resolve addr", "resolve route",
		"create qp",    "init qp attr", "init qp",    "rtr qp attr",  "rtr qp",
		"rts qp attr",  "rts qp",       "cm connect", "establish",    "disconnect",
		"destroy id",   "destroy qp",
	};

	printf("%-14s %10d\n", test->kind == QPS ? "qp_conn" : "cm_conn", test->count);
	printf("%-14s %10d\n", "threads", options.threads);
	printf("step             avg/conn  total(us)"
	       "    us/conn    sum(us)    max(us)    min(us)\n");
	for (int step = 0; step < STEPS; step++)
		print_row(test, step, names[step]);
}
