/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simple.h - what rdma_client, rdma_server, rdma_xclient and rdma_xserver have in common: endpoints,
 * one message of MESSAGE_SIZE bytes in a registered buffer, calls that wait.
 */
#ifndef RDMACM_EXAMPLES_SIMPLE_H
#define RDMACM_EXAMPLES_SIMPLE_H

#include <rdma/rdma_verbs.h>

enum { MESSAGE_SIZE = 16 };

struct simple {
	const char *name; /* of the program */
	const char *host, *port;
	enum ibv_qp_type qp_type;
	struct rdma_cm_id *listener, *id;
	struct ibv_mr *send_mr, *recv_mr; /* send_mr: NULL if messages fit into requests */
	struct ibv_wc wc;
	uint8_t send_message[MESSAGE_SIZE], recv_message[MESSAGE_SIZE];
};

/* Says "CALL: reason" if RET is not 0, which is errno's business. Returns RET. */
int simple_check(const char *call, int ret);
/* A completion that was waited for: 0, or -1 with a message. COUNT: what waiting returned */
int simple_check_completion(const struct simple *simple, const char *call, int count);

/* Takes options (of OPTIONS, as getopt() has them: s, p, c); 0, or 1 with the USAGE on standard
 * output. */
int simple_take_options(struct simple *simple, int argc, char *argv[], const char *options,
			const char *usage);

/* An endpoint for this side, with room for one request in each direction. */
int simple_make_endpoint(struct simple *simple, int passive, struct rdma_cm_id **id,
			 struct ibv_qp_init_attr *attr);
void simple_fill_attr(const struct simple *simple, struct ibv_qp_init_attr *attr);
int simple_register(struct simple *simple);
int simple_post_recv(struct simple *simple);
int simple_send(struct simple *simple, int inline_size);
int simple_receive(struct simple *simple);

/* Between "start" and "end": RUN's result is the exit status. What is there then is taken down. */
int simple_main(struct simple *simple, int (*run)(struct simple *simple));

/* The server's side up to the request: simple->id. ATTR is what its QP was made with. */
int simple_await_request(struct simple *simple, struct ibv_qp_init_attr *attr);

#endif
