/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmtime_test.h - a test: so many connections of a client or a server that go through the steps of their life, each step timed.
 *
 * One thread starts steps and takes events; workers use QPs. What they share of a connection is handed over by giving work, and
 * back by `finished` and `failed`, which are atomic.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_TEST_H
#define RDMACM_EXAMPLES_CMTIME_TEST_H

#include <rdma/rdma_cma.h>
#include <stdatomic.h>

#include "cmtime.h"
#include "cmtime_peers.h"
#include "cmtime_workers.h"

/* In the order of the table. The numbers are also those by which peers keep in step. */
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
	uint64_t start[STEPS],
		end[STEPS]; /* ns; end 0: it did not come to that, or nobody looked */
};

/* QPs of their own; only the time that they would take; none. */
enum qp_kind { QPS, SIMULATED_QPS, NO_QPS };

struct test;

struct connection {
	struct work work; /* first: what workers are given */
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
	/* of all connections; made with the first one's device */
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	/* one run */
	enum qp_kind kind;
	struct connection *connections;
	int count;
	int requested; /* a server's: connections that a request has taken */
	atomic_int finished, failed;
	struct times times; /* of all connections together */
};

/* COUNT connections that have done nothing yet; false without memory. */
bool test_begin(struct test *test, int count, enum qp_kind kind);
/* Destroys what is left of them. */
void test_finish(struct test *test);

/* Nothing has finished yet, from now on. */
void test_start_step(struct test *test, enum step step);
void test_end_step(struct test *test, enum step step);
/* Give all events to ON_EVENT until all connections have finished, or one fails; at most TIMEOUT_MS between two, unless that is -1. */
int test_await(struct test *test, int timeout_ms,
	       int (*on_event)(struct test *test, const struct rdma_cm_event *event));
/* Hand each connection to a worker, and wait. */
int test_work(struct test *test, void (*run)(struct work *work));

/* An event that means: the connection does not come to be; -1. */
int test_refused(const struct rdma_cm_event *event);

void connection_start(struct connection *connection, enum step step);
void connection_end(struct connection *connection, enum step step);
/* The end of what a step wants of this connection: well, or not. */
void connection_finish(struct connection *connection, int ret);
static inline struct connection *connection_of(struct work *work)
{
	return (struct connection *)work;
}

/* The device's objects for all connections, if not there yet. Only one thread may come here. */
int test_open_device(struct test *test, struct ibv_context *device);
int connection_create_qp(struct connection *connection);
/* What rdma_cm says about this state, and the QP taken there; timed as the two steps that begin with ATTR_STEP. */
int connection_move_qp(struct connection *connection, enum ibv_qp_state state, enum step attr_step);
void connection_destroy_qp(struct connection *connection);
struct rdma_conn_param connection_param(const struct connection *connection);

/* All connections' QPs, then ids, one after the other. */
void test_destroy_qps(struct test *test);
void test_destroy_ids(struct test *test);

/* What the run came to. */
void test_print(const struct test *test);

/* The steps of a client, or a server, between test_begin() and test_finish(). 0, or they ended early */
int client_live(struct test *test);
int server_live(struct test *test);

/* The same steps with TCP connections. */
int sockets_run(struct test *test);
/* A listening socket at this address, and the port that it got in the address; -1 after the reason was said. */
int sockets_listen(struct sockaddr_storage *address);

#endif
