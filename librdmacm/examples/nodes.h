/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nodes.h - the core of ucmatose, udaddy and mckey: a number of ids (nodes), each with queues and
 * one buffer, that pass the same steps together: resolve, connect or join, transfer, disconnect.
 *
 * There is one thread. Functions return 0, or -1 (or an event's status) after printing the reason.
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
	bool connected; /* or joined the group */
	struct ibv_pd *pd;
	struct ibv_cq *cqs[2]; /* indexed by SENDS and RECVS */
	struct ibv_mr *mr;
	uint8_t *buffer;
	int completed[2];
	struct ibv_ah *ah;
	uint32_t remote_qpn, remote_qkey;
};

struct test {
	const char *name;
	const char *host, *local;
	const char *port;
	struct rdma_addrinfo hints;
	struct rdma_addrinfo *info;
	int connections, messages, size;
	int tos, ack_timeout;
	bool datagrams;
	uint32_t create_flags; /* creation flags of the QPs */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct node *nodes;
	int accepted; /* number of nodes that requests have used */
	int connects_left, disconnects_left;
	/* the program's part of each event; returns 0, or the status to end with */
	int (*on_event)(struct test *test, struct rdma_cm_event *event);
};

/* test_init() sets the programs' common defaults. test_take_option() parses a common option, and
 * returns false for all others. */
void test_init(struct test *test, const char *name);
bool test_take_option(struct test *test, int option, char *value);
/* Parses the name of a port space, FIRST or SECOND. Prints a warning on standard error for another
 * name. */
void test_take_port_space(struct test *test, const char *word, const char *first,
			  enum rdma_port_space first_space, const char *second,
			  enum rdma_port_space second_space);

int test_complain(const struct test *test, const char *what);
/* Creates the channel and the nodes, and with WITH_IDS their ids, which the active side needs. Then
 * calls RUN, destroys everything, and prints the result. Returns the exit status. */
int test_run(struct test *test, bool with_ids, int (*run)(struct test *test));

/* Handles events until *LEFT is 0, or until an event reports a failure. */
int test_await(struct test *test, const int *left);
int test_node_failed(struct test *test, const struct rdma_cm_event *event);
/* Handles the events that all connecting programs treat alike: an address is resolved, or a
 * connection fails. All others, such as device removal, need no action: the end of the test cleans
 * up. */
int test_usual_event(struct test *test, const struct rdma_cm_event *event);

int test_listen(struct test *test);
/* Returns the node for a request. If all are in use, rejects the request and returns NULL. */
struct node *test_take_request(struct test *test, const struct rdma_cm_event *event);
int test_connect_all(struct test *test);

/* Makes TO the destination of a datagram node, which then counts as connected. */
int node_reach(struct node *node, const struct rdma_ud_param *to);
/* Sets TOS and ACK timeout, if they were given. */
int node_set_options(struct node *node);
/* Creates PD, CQs, QP and buffer of a node whose id is bound to a device. Returns -EINVAL if a
 * message does not fit into a datagram. */
int node_make_queues(struct node *node);
int node_post_recvs(struct node *node);
int node_make_ready(struct node *node);

int nodes_post_sends(struct test *test, int flags);
/* Waits until each connected node has one completion of KIND (SENDS or RECVS) per message.
 * ON_FIRST, unless NULL, is called with each node's first completion. */
int nodes_await(struct test *test, int kind, int (*on_first)(struct node *node, struct ibv_wc *wc));

#endif
