/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rping.h - one connection of rping: queues, buffers, and the state of the exchange.
 *
 * A connection has its own event channels and is used by one thread. Functions return 0, or -1
 * after printing the reason.
 */
#ifndef RDMACM_EXAMPLES_RPING_H
#define RDMACM_EXAMPLES_RPING_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "complain.h"

struct rping_options {
	int server; /* 1: server, 0: client, -1: not chosen yet */
	bool verbose, validate, debug, persistent, own_qp;
	int size, count;
	__be16 port;
	struct sockaddr_storage addr, source;
	bool has_source;
};

/* States, in their order. The states between CONNECTED and DISCONNECTED repeat for each ping. */
enum rping_state {
	RPING_IDLE = 1,
	RPING_CONNECT_REQUEST,
	RPING_ADDR_RESOLVED,
	RPING_ROUTE_RESOLVED,
	RPING_CONNECTED,
	RPING_READ_ADV, /* the client has advertised its source */
	RPING_READ_COMPLETE,
	RPING_WRITE_ADV, /* the client has advertised its sink */
	RPING_WRITE_COMPLETE,
	RPING_DISCONNECTED,
	RPING_ERROR
};

/* A client's message advertises a buffer; a server's message only tells the client to continue. */
struct rping_message {
	__be64 addr;
	__be32 rkey;
	__be32 size;
};

struct rping {
	const struct rping_options *options;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	enum rping_state state;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp_channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct rping_message received, sent;
	struct ibv_mr *received_mr, *sent_mr, *source_mr, *sink_mr;
	char *source;
	char *sink; /* the ping that came back; the server's only buffer */
	uint64_t remote_addr;
	uint32_t remote_rkey, remote_size;
};

void rping_debug(const struct rping *rping, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Creates queues and buffers for an id that is bound to a device, and posts the first receive. */
int rping_make_queues(struct rping *rping);
int rping_connect(struct rping *rping);
int rping_accept(struct rping *rping);
void rping_clean(struct rping *rping);

/* Handles events and completions until the exchange reaches STATE. */
int rping_await(struct rping *rping, enum rping_state state);

int rping_send(struct rping *rping, const void *addr, const struct ibv_mr *mr);
/* Makes the server READ or WRITE the buffer that the client has advertised. */
int rping_transfer(struct rping *rping, enum ibv_wr_opcode opcode);

#endif
