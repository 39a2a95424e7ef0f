/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nodes.h - the core of ucmatose, udaddy and mckey: a number of ids (nodes), each with queues and
 * one buffer, that all pass the same steps together: resolve, connect or join, transfer, part.
 *
 * One thread does it all. Functions return 0, or -1 (or an event's status) after they have said
 * why.
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
	bool connected; /* also of a node that has joined the group */
	struct ibv_pd *pd;
	struct ibv_cq *cqs[2]; /* indexed by SENDS and RECVS */
	struct ibv_mr *mr;
	uint8_t *buffer;
	int completed[2];
	/* where datagrams go */
	struct ibv_ah *ah;
	uint32_t remote_qpn, remote_qkey;
};

struct test {
	const char *name; /* what the program's messages begin with */
	const char *host, *local;
	const char *port;
	struct rdma_addrinfo hints;
	struct rdma_addrinfo *info;
	int connections, messages, size;
	int tos, ack_timeout; /* -1 if it was not given */
	bool datagrams;
	uint32_t create_flags; /* what QPs are made with */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct node *nodes;
	int accepted; /* how many nodes a request has taken */
	int connects_left, disconnects_left;
	/* what the program does at each event; returns 0, or the status to end with */
	int (*on_event)(struct test *test, struct rdma_cm_event *event);
};

/* test_init() sets the defaults of all the programs. test_take_option() takes an option that
 * they share, and returns false for all others. */
void test_init(struct test *test, const char *name);
bool test_take_option(struct test *test, int option, char *value);
/* Takes a port space by its name, which is one of two. Any other is warned of on standard error. */
void test_take_port_space(struct test *test, const char *word, const char *first,
			  enum rdma_port_space first_space, const char *second,
			  enum rdma_port_space second_space);

/* Says "NAME: WHAT: " and errno's reason on standard error, and returns -1. */
int test_complain(const struct test *test, const char *what);
/* Makes the channel and the nodes, WITH_IDS also their ids, which the side that resolves addresses
 * needs. It then calls RUN, takes everything down, and says how it went. It returns the status for
 * exit(). */
int test_run(struct test *test, bool with_ids, int (*run)(struct test *test));

/* Handles events until *LEFT is 0, or one in between fails. */
int test_await(struct test *test, const int *left);
/* Reports an event that means that a connection fails, and returns its status. */
int test_node_failed(struct test *test, const struct rdma_cm_event *event);
/* Handles the events that mean the same to all programs that connect: an address is resolved, or
 * a connection fails. All others, such as that of a device that goes, need nothing: what is left
 * is cleaned up at the end. */
int test_usual_event(struct test *test, const struct rdma_cm_event *event);

/* Takes the side that listens from its address to the listening id. */
int test_listen(struct test *test);
/* Returns the node that shall answer a request. If all are taken, rejects the request and returns
 * NULL. */
struct node *test_take_request(struct test *test, const struct rdma_cm_event *event);
/* Takes the side that connects to where all nodes are connected, or one fails. */
int test_connect_all(struct test *test);

/* A datagram node can reach TO from now on, and counts as connected. */
int node_reach(struct node *node, const struct rdma_ud_param *to);
/* Sets TOS and ACK timeout, where they were given. */
int node_set_options(struct node *node);
/* Makes PD, CQs, QP and buffer of a node whose id is bound to a device. It returns -EINVAL if a
 * message does not fit into a datagram. */
int node_make_queues(struct node *node);
int node_post_recvs(struct node *node);
/* Makes the queues and posts the receives. */
int node_make_ready(struct node *node);

int nodes_post_sends(struct test *test, int flags);
/* Waits until each connected node has as many completions of a kind (SENDS or RECVS) as messages.
 * ON_FIRST, unless NULL, is called with each node's first. */
int nodes_await(struct test *test, int kind, int (*on_first)(struct node *node, struct ibv_wc *wc));

#endif
