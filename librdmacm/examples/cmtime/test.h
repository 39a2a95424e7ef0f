/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test.h - a test takes a number of connections of a client or server through the steps of their
 * life, and times each step.
 *
 * One thread starts steps and handles events; workers use QPs. A connection is passed to a worker
 * as work, and back through the atomic counters `finished` and `failed`.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_TEST_H
#define RDMACM_EXAMPLES_CMTIME_TEST_H

#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "cmtime.h"
#include "peers.h"
#include "workers.h"

/* Steps, in the order of the table. Peers synchronise by the same numbers. */
enum step {
	FULL_CONNECT,
	CREATE_ID,
	BIND_ADDR,
	RESOLVE_ADDR,
	RESOLVE_ROUTE,
	CREATE_QP,
	INIT_QP_ATTR,
	INIT_QP,
	RTR_QP_ATTR,
	RTR_QP,
	RTS_QP_ATTR,
	RTS_QP,
	CM_CONNECT,
	ESTABLISH,
	DISCONNECT,
	DESTROY_ID,
	DESTROY_QP,
	STEPS
};

struct times {
	/* in nanoseconds; end is 0 for a step that was not done, or not timed */
	uint64_t start[STEPS], end[STEPS];
};

/* A connection has a QP, only takes the time that a QP would take, or has none. */
enum qp_kind { QPS, SIMULATED_QPS, NO_QPS };

struct test;

struct connection {
	struct work work; /* first, because workers get its address */
	struct test *test;
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	uint32_t qpn;
	int retries;
	struct times times;
};

struct test {
	struct peers *peers;
	struct rdma_event_channel *channel;
	struct workers *workers;
	struct rdma_addrinfo *local;
	/* shared by all connections, on the first one's device */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	/* the following fields belong to one run */
	enum qp_kind kind;
	struct connection *connections;
	int count;
	int requested;
	atomic_int finished, failed;
	struct times times;
};

bool test_begin(struct test *test, int count, enum qp_kind kind);
void test_finish(struct test *test);

void test_start_step(struct test *test, enum step step);
void test_end_step(struct test *test, enum step step);
/* Passes all events to ON_EVENT until all connections have finished, or one fails. TIMEOUT_MS
 * limits the wait for each event; -1: no limit. */
int test_await(struct test *test, int timeout_ms,
	       int (*on_event)(struct test *test, const struct rdma_cm_event *event));
/* Passes each connection to the workers, and waits until all have finished. */
int test_work(struct test *test, void (*run)(struct work *work));

int test_refused(const struct rdma_cm_event *event);

void connection_start(struct connection *connection, enum step step);
void connection_end(struct connection *connection, enum step step);
/* Records that the connection has finished its step, or failed if RET is not 0. */
void connection_finish(struct connection *connection, int ret);
static inline struct connection *connection_of(struct work *work)
{
	return (struct connection *)work;
}

/* Creates the objects of the device that all connections share, once. Only one thread may call
 * this. */
int test_open_device(struct test *test, struct ibv_context *device);
int connection_create_qp(struct connection *connection);
/* Gets the attributes for STATE from rdma_cm, timed as ATTR_STEP, and modifies the QP, timed as
 * QP_STEP. */
int connection_move_qp(struct connection *connection, enum ibv_qp_state state, enum step attr_step,
		       enum step qp_step);
struct rdma_conn_param connection_param(const struct connection *connection);

void test_destroy_qps(struct test *test);
void test_destroy_ids(struct test *test);

void test_print(const struct test *test);

/* Take the connections of a client, or of a server, through all steps between test_begin() and
 * test_finish(). Return 0, or nonzero on failure. */
int client_live(struct test *test);
int server_live(struct test *test);

int sockets_run(struct test *test);
/* Creates a socket that listens at ADDRESS, and stores its port there. Returns -1 after printing
 * the reason. */
int sockets_listen(struct sockaddr_storage *address);

#endif
