/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nodes.h - the core of ucmatose, udaddy and mckey: a number of ids (nodes), each with queues and one
 * buffer, that all pass the same steps together: resolve, connect or join, transfer, part.
 *
 * One thread does it all. Functions return 0, or -1 (or an event's status) after they have said why.
 */
#ifndef RDMACM_EXAMPLES_NODES_H
#define RDMACM_EXAMPLES_NODES_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

enum { RESOLVE_MS = 2000, GRH_SIZE = 40 };
enum { SENDS, RECVS };

struct node {
	struct test *test;
	struct rdma_cm_id *id;
	bool connected; /* or joined */
	struct ibv_pd *pd;
	struct ibv_cq *cqs[2]; /* SENDS, RECVS */
	struct ibv_mr *mr;
	uint8_t *buffer;
	int completed[2];
	/* datagrams: where to */
	struct ibv_ah *ah;
	uint32_t remote_qpn, remote_qkey;
};

struct test {
	const char *name; /* before its messages */
	const char *host, *local;
	const char *port;
	struct rdma_addrinfo hints;
	struct rdma_addrinfo *info;
	int connections, messages, size;
	int tos, ack_timeout; /* -1: not given */
	bool datagrams;
	uint32_t create_flags; /* of QPs */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct node *nodes;
	int accepted; /* nodes that a request has taken */
	int connects_left, disconnects_left;
	/* what the program does at each event: 0, or the status */
	int (*on_event)(struct test *test, struct rdma_cm_event *event);
};

/* The defaults of all of them, and what OPTION says; false if it is none that they share. */
void test_init(struct test *test, const char *name);
bool test_take_option(struct test *test, int option, char *value);

/* "NAME: WHAT: reason", of errno, on standard error; -1. */
int test_complain(const struct test *test, const char *what);
/* Channel and nodes; with ids for the side that resolves addresses. */
int test_open(struct test *test, bool with_ids);
void test_close(struct test *test);
/* "test complete", and the status for exit(). */
int test_end(int status);

/* Handle events until *LEFT is 0, or one in between fails. */
int test_await(struct test *test, const int *left);
/* An event that means: this connection does not come to be. Returns its status. */
int test_node_failed(struct test *test, const struct rdma_cm_event *event);
/* For events that mean the same to all who connect: an address is resolved, a connection fails. The rest (that of a device that
 * goes) needs nothing: what is left is cleaned up at the end. */
int test_usual_event(struct test *test, const struct rdma_cm_event *event);

/* The side that listens: from the address to the listening id. */
int test_listen(struct test *test);
/* The node that shall answer a request; NULL if there are enough, then the request is rejected. */
struct node *test_take_request(struct test *test, const struct rdma_cm_event *event);
/* The side that connects: until all nodes are connected, or one fails. */
int test_connect_all(struct test *test);

/* TOS and ACK timeout, where they were given. */
int node_set_options(struct node *node);
/* PD, CQs, QP and buffer for an id that is bound to a device. -EINVAL: a message does not fit into a datagram. */
int node_make_queues(struct node *node);
int node_post_recvs(struct node *node);
/* Both */
int node_make_ready(struct node *node);

int nodes_post_sends(struct test *test, int flags);
/* Until each connected node has as many completions of a kind (SENDS, RECVS) as messages.
 * ON_FIRST, if any, is told of each node's first. */
int nodes_await(struct test *test, int kind, int (*on_first)(struct node *node, struct ibv_wc *wc));

#endif
