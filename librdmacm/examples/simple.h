/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simple.h - shared by rdma_client, rdma_server, rdma_xclient and rdma_xserver: endpoints, one
 * message of MESSAGE_SIZE bytes in a registered buffer, calls that wait.
 */
#ifndef RDMACM_EXAMPLES_SIMPLE_H
#define RDMACM_EXAMPLES_SIMPLE_H

#include <rdma/rdma_verbs.h>

enum { MESSAGE_SIZE = 16 };

struct simple {
	const char *name;
	const char *host, *port;
	enum ibv_qp_type qp_type;
	struct rdma_cm_id *listener, *id;
	struct ibv_mr *send_mr, *recv_mr;
	struct ibv_wc wc;
	uint8_t send_message[MESSAGE_SIZE], recv_message[MESSAGE_SIZE];
};

/* If RET is not 0, prints "CALL: " and the text of errno. Returns RET. */
int simple_check(const char *call, int ret);
/* Checks a completion. COUNT is the result of waiting for it. Returns 0, or -1 after printing the
 * reason. */
int simple_check_completion(const struct simple *simple, const char *call, int count);

/* Parses the command line. OPTIONS is the string for getopt(), a subset of s, p and c. Returns 0,
 * or 1 after printing USAGE on standard output. */
int simple_take_options(struct simple *simple, int argc, char *argv[], const char *options,
			const char *usage);

/* Creates an endpoint for this side, with room for one request in each direction. */
int simple_make_endpoint(struct simple *simple, int passive, struct rdma_cm_id **id,
			 struct ibv_qp_init_attr *attr);
void simple_fill_attr(const struct simple *simple, struct ibv_qp_init_attr *attr);
int simple_register(struct simple *simple);
int simple_post_recv(struct simple *simple);
int simple_send(struct simple *simple, int inline_size);
int simple_receive(struct simple *simple);

/* Calls RUN between printing "start" and "end", destroys all objects, and returns RUN's result as
 * the exit status. */
int simple_main(struct simple *simple, int (*run)(struct simple *simple));

/* Runs the server's side up to the request, which becomes simple->id. Sets ATTR to the attributes
 * of its QP. */
int simple_await_request(struct simple *simple, struct ibv_qp_init_attr *attr);

#endif
