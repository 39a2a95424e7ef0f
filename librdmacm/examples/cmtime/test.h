/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test.h - a test takes a number of connections of a client or a server through the steps of
 * their life, and times each step.
 *
 * One thread starts steps and takes events; workers use QPs. A connection is handed to a worker by
 * giving it work, and back by `finished` and `failed`, which are atomic.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_TEST_H
#define RDMACM_EXAMPLES_CMTIME_TEST_H

#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "cmtime.h"
#include "peers.h"
#include "workers.h"

/* The steps are in the order of the table. Peers keep in step by the same numbers. */
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

/* Connections have QPs, or only take the time that QPs would take, or have none. */
enum qp_kind { QPS, SIMULATED_QPS, NO_QPS };

struct test;

struct connection {
	struct work work; /* must be first: workers are given its address */
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
	/* all connections share these, which are of the first one's device */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	/* what follows is of one run */
	enum qp_kind kind;
	struct connection *connections;
	int count;
	int requested; /* how many connections of a server a request has taken */
	atomic_int finished, failed;
	struct times times; /* the times of all connections together */
};

/* Begins a run with COUNT connections that have done nothing yet. It returns false if there is no
 * memory. */
bool test_begin(struct test *test, int count, enum qp_kind kind);
/* Ends the run, and destroys what is left of its connections. */
void test_finish(struct test *test);

/* Starts the time of a step, which no connection has finished yet. */
void test_start_step(struct test *test, enum step step);
void test_end_step(struct test *test, enum step step);
/* Gives all events to ON_EVENT until all connections have finished, or one fails. TIMEOUT_MS,
 * unless it is -1, is the longest time to wait for the next event. */
int test_await(struct test *test, int timeout_ms,
	       int (*on_event)(struct test *test, const struct rdma_cm_event *event));
/* Hands each connection to the workers, and waits until all have finished. */
int test_work(struct test *test, void (*run)(struct work *work));

/* Reports an event that means that a connection fails, and returns -1. */
int test_refused(const struct rdma_cm_event *event);

void connection_start(struct connection *connection, enum step step);
void connection_end(struct connection *connection, enum step step);
/* Notes that the connection has finished its step, or, if RET is not 0, has failed. */
void connection_finish(struct connection *connection, int ret);
static inline struct connection *connection_of(struct work *work)
{
	return (struct connection *)work;
}

/* Makes the objects of the device that all connections share, unless they are there. Only one
 * thread may call this. */
int test_open_device(struct test *test, struct ibv_context *device);
int connection_create_qp(struct connection *connection);
/* Asks rdma_cm for the attributes of STATE, timed as ATTR_STEP, and takes the QP there, timed as
 * QP_STEP. */
int connection_move_qp(struct connection *connection, enum ibv_qp_state state, enum step attr_step,
		       enum step qp_step);
struct rdma_conn_param connection_param(const struct connection *connection);

/* These destroy the QPs, and the ids, of all connections, one after the other. */
void test_destroy_qps(struct test *test);
void test_destroy_ids(struct test *test);

/* Prints the table of a run. */
void test_print(const struct test *test);

/* These take the connections of a client, and of a server, through all steps between
 * test_begin() and test_finish(). They return 0, or something else if that ended early. */
int client_live(struct test *test);
int server_live(struct test *test);

/* Runs the test with TCP connections. */
int sockets_run(struct test *test);
/* Makes a socket that listens at ADDRESS, which gets the socket's port. It returns -1 after saying
 * the reason. */
int sockets_listen(struct sockaddr_storage *address);

#endif
