/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.h - shared by the topics of cm-diff: ids on channels, printed events, and a pair of ids that
 * one thread connects step by step.
 *
 * Addresses are those of the loopback, which softhca's first adapter answers for. For an adapter in
 * hardware, CM_ADDRESS in the environment has its address.
 */
#ifndef TESTS_CM_CM_H
#define TESTS_CM_CM_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "tests/lib/say.h"
#include "util/bits.h"

typedef void cm_topic_fn(void);

cm_topic_fn cm_diff_access;
cm_topic_fn cm_diff_addresses;
cm_topic_fn cm_diff_addrinfo;
cm_topic_fn cm_diff_bind;
cm_topic_fn cm_diff_connect;
cm_topic_fn cm_diff_data;
cm_topic_fn cm_diff_datagrams;
cm_topic_fn cm_diff_disconnect;
cm_topic_fn cm_diff_ep;
cm_topic_fn cm_diff_gids;
cm_topic_fn cm_diff_ids;
cm_topic_fn cm_diff_mcast;
cm_topic_fn cm_diff_migrate;
cm_topic_fn cm_diff_names;
cm_topic_fn cm_diff_options;
cm_topic_fn cm_diff_params;
cm_topic_fn cm_diff_queues;
cm_topic_fn cm_diff_reject;
cm_topic_fn cm_diff_signals;
cm_topic_fn cm_diff_handler;
cm_topic_fn cm_diff_srq;
cm_topic_fn cm_diff_states;
cm_topic_fn cm_diff_xrc;

enum { WAIT_MS = 20000, QUIET_MS = 200, RESOLVE_MS = 2000 };

const char *cm_host(void);
struct sockaddr_in cm_loopback(uint16_t port);

/* Returns the next event and prints its fields; the caller acknowledges it. Returns NULL, and
 * prints that, if none comes within MS. */
struct rdma_cm_event *cm_next(const char *who, struct rdma_event_channel *channel, int ms);
/* Prints the next event and acknowledges it. Returns its type, or -1. */
int cm_expect(const char *who, struct rdma_event_channel *channel);

/* Returns an id with a resolved route to the loopback's PORT, and prints nothing: for topics about
 * later steps. */
struct rdma_cm_id *cm_resolved(struct rdma_event_channel *channel, enum rdma_port_space ps,
			       uint16_t port);
struct rdma_cm_id *cm_listening(struct rdma_event_channel *channel, enum rdma_port_space ps,
				uint16_t *port);
void cm_make_qp(struct rdma_cm_id *id);

/* A pair of ids: both sides of a connection, each with its channel. */
struct cm_pair {
	struct rdma_event_channel *client_channel, *server_channel;
	struct rdma_cm_id *client, *listener, *server;
};

/* Proceeds as far as the connection request: server is the id of the request, which is not accepted
 * yet. */
void cm_pair_request(struct cm_pair *pair, struct rdma_conn_param *param);
/* Proceeds as far as an established connection. */
void cm_pair_connect(struct cm_pair *pair);
void cm_pair_close(struct cm_pair *pair);

#endif
