/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rping_link.c - makes and ends a connection of rping, with a QP of the library or of the program
 * (-q). Events and completions advance the state of the exchange.
 */
#include "rping.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEND_DEPTH = 16, RECV_DEPTH = 2, RESOLVE_MS = 2000 };

void rping_debug(const struct rping *rping, const char *format, ...)
{
	va_list args;

	if (!rping->options->debug)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

/* ---- a QP of the program: the steps that the library does otherwise ---- */

static int modify_qp(struct rping *rping, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(rping->id, &attr, &mask))
		return complain_errno("rdma_init_qp_attr");
	errno = ibv_modify_qp(rping->qp, &attr, mask);
	return errno ? complain_errno("ibv_modify_qp") : 0;
}

static int qp_to_rts(struct rping *rping)
{
	int ret;

	if (!rping->options->own_qp)
		return 0;
	/* Modify to INIT again, because only now the connection's access (READ) is known. */
	ret = modify_qp(rping, IBV_QPS_INIT);
	if (!ret)
		ret = modify_qp(rping, IBV_QPS_RTR);
	return ret ? ret : modify_qp(rping, IBV_QPS_RTS);
}

static int create_qp(struct rping *rping)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = SEND_DEPTH,
			 .max_recv_wr = RECV_DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.send_cq = rping->cq,
		.recv_cq = rping->cq,
	};

	if (rping->options->own_qp) {
		rping->qp = ibv_create_qp(rping->pd, &attr);
		if (!rping->qp)
			return complain_errno("ibv_create_qp");
		return modify_qp(rping, IBV_QPS_INIT);
	}
	if (rdma_create_qp(rping->id, rping->pd, &attr))
		return complain_errno("rdma_create_qp");
	rping->qp = rping->id->qp;
	return 0;
}

static int create_cq(struct rping *rping)
{
	struct ibv_context *verbs = rping->id->verbs;

	rping->pd = ibv_alloc_pd(verbs);
	if (!rping->pd)
		return complain_errno("ibv_alloc_pd");
	rping_debug(rping, "created pd %p\n", (void *)rping->pd);
	rping->comp_channel = ibv_create_comp_channel(verbs);
	if (!rping->comp_channel)
		return complain_errno("ibv_create_comp_channel");
	rping_debug(rping, "created channel %p\n", (void *)rping->comp_channel);
	rping->cq = ibv_create_cq(verbs, 2 * SEND_DEPTH, rping, rping->comp_channel, 0);
	if (!rping->cq)
		return complain_errno("ibv_create_cq");
	rping_debug(rping, "created cq %p\n", (void *)rping->cq);
	errno = ibv_req_notify_cq(rping->cq, 0);
	return errno ? complain_errno("ibv_req_notify_cq") : 0;
}

static int register_memory(struct rping *rping, void *addr, size_t size, struct ibv_mr **mr)
{
	*mr = ibv_reg_mr(rping->pd, addr, size,
			 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	return *mr ? 0 : complain_errno("ibv_reg_mr");
}

static int make_buffer(struct rping *rping, char **buffer, struct ibv_mr **mr)
{
	*buffer = calloc(1, rping->options->size);
	if (!*buffer)
		return complain_errno("no memory for a buffer");
	return register_memory(rping, *buffer, rping->options->size, mr);
}

static int make_buffers(struct rping *rping)
{
	int ret = register_memory(rping, &rping->received, sizeof(rping->received),
				  &rping->received_mr);

	if (!ret)
		ret = register_memory(rping, &rping->sent, sizeof(rping->sent), &rping->sent_mr);
	if (!ret)
		ret = make_buffer(rping, &rping->sink, &rping->sink_mr);
	if (!ret && !rping->options->server)
		ret = make_buffer(rping, &rping->source, &rping->source_mr);
	if (!ret)
		rping_debug(rping, "allocated & registered buffers...\n");
	return ret;
}

static int post_recv(struct rping *rping)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&rping->received,
			       .length = sizeof(rping->received),
			       .lkey = rping->received_mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	errno = ibv_post_recv(rping->qp, &wr, &bad);
	return errno ? complain_errno("ibv_post_recv") : 0;
}

int rping_make_queues(struct rping *rping)
{
	int ret = create_cq(rping);

	if (!ret)
		ret = create_qp(rping);
	if (ret)
		return ret;
	rping_debug(rping, "created qp %p\n", (void *)rping->qp);
	ret = make_buffers(rping);
	return ret ? ret : post_recv(rping);
}

static void deregister_mr(struct ibv_mr *mr)
{
	if (mr)
		ibv_dereg_mr(mr);
}

static void destroy_qp(struct rping *rping)
{
	if (!rping->qp)
		return;
	if (rping->options->own_qp)
		ibv_destroy_qp(rping->qp);
	else
		rdma_destroy_qp(rping->id);
}

void rping_clean(struct rping *rping)
{
	destroy_qp(rping);
	deregister_mr(rping->received_mr);
	deregister_mr(rping->sent_mr);
	deregister_mr(rping->sink_mr);
	deregister_mr(rping->source_mr);
	free(rping->sink);
	free(rping->source);
	if (rping->cq)
		ibv_destroy_cq(rping->cq);
	if (rping->comp_channel)
		ibv_destroy_comp_channel(rping->comp_channel);
	if (rping->pd)
		ibv_dealloc_pd(rping->pd);
	if (rping->id) {
		rping_debug(rping, "destroy cm_id %p\n", (void *)rping->id);
		rdma_destroy_id(rping->id);
	}
	if (rping->channel)
		rdma_destroy_event_channel(rping->channel);
}

static struct rdma_conn_param conn_param(const struct rping *rping)
{
	return (struct rdma_conn_param){ .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 7,
					 .rnr_retry_count = 7,
					 .qp_num = rping->qp->qp_num };
}

int rping_connect(struct rping *rping)
{
	struct rdma_conn_param param = conn_param(rping);

	if (rdma_connect(rping->id, &param))
		return complain_errno("rdma_connect");
	if (rping_await(rping, RPING_CONNECTED))
		return -1;
	rping_debug(rping, "rdma_connect successful\n");
	return 0;
}

int rping_accept(struct rping *rping)
{
	struct rdma_conn_param param = conn_param(rping);

	rping_debug(rping, "accepting client connection request\n");
	if (qp_to_rts(rping))
		return -1;
	if (rdma_accept(rping->id, &param))
		return complain_errno("rdma_accept");
	return rping_await(rping, RPING_CONNECTED);
}

static int resolve_route(struct rping *rping)
{
	rping->state = RPING_ADDR_RESOLVED;
	return rdma_resolve_route(rping->id, RESOLVE_MS) ? complain_errno("rdma_resolve_route") : 0;
}

/* Handles the peer's answer, an event that occurs only with a QP of the program. */
static int establish_connection(struct rping *rping)
{
	if (qp_to_rts(rping))
		return -1;
	if (rdma_establish(rping->id))
		return complain_errno("rdma_establish");
	rping->state = RPING_CONNECTED;
	return 0;
}

static int event_failed(const struct rdma_cm_event *event)
{
	fprintf(stderr, "cma event %s, error %d\n", rdma_event_str(event->event), event->status);
	return -1;
}

static int on_event(struct rping *rping, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return resolve_route(rping);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		rping->state = RPING_ROUTE_RESOLVED;
		return 0;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return establish_connection(rping);
	case RDMA_CM_EVENT_ESTABLISHED:
		rping_debug(rping, "ESTABLISHED\n");
		if (rping->state < RPING_CONNECTED) /* a message may arrive before the event */
			rping->state = RPING_CONNECTED;
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
		fprintf(stderr, "%s DISCONNECT EVENT...\n",
			rping->options->server ? "server" : "client");
		rping->state = RPING_DISCONNECTED;
		return 0;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		return event_failed(event);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		fprintf(stderr, "cma detected device removal!!!!\n");
		return -1;
	default:
		fprintf(stderr, "unhandled event: %s, ignoring\n", rdma_event_str(event->event));
		return 0;
	}
}

static int take_event(struct rping *rping)
{
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(rping->channel, &event))
		return complain_errno("rdma_get_cm_event");
	rping_debug(rping, "cma_event type %s cma_id %p (%s)\n", rdma_event_str(event->event),
		    (void *)event->id, rping->options->server ? "child" : "parent");
	ret = on_event(rping, event);
	rdma_ack_cm_event(event);
	return ret;
}

/* Advances the state after a message. The client advertises its source, then its sink; the server
 * answers each message when it has used the buffer. */
static void advance_state(struct rping *rping)
{
	bool in_first_half =
		rping->state <= RPING_CONNECTED || rping->state == RPING_WRITE_COMPLETE;

	if (!rping->options->server)
		rping->state =
			rping->state == RPING_READ_ADV ? RPING_WRITE_ADV : RPING_WRITE_COMPLETE;
	else
		rping->state = in_first_half ? RPING_READ_ADV : RPING_WRITE_ADV;
}

static int take_message(struct rping *rping, const struct ibv_wc *wc)
{
	rping_debug(rping, "recv completion\n");
	if (wc->byte_len != sizeof(rping->received)) {
		fprintf(stderr, "Received bogus data, size %d\n", (int)wc->byte_len);
		return -1;
	}
	if (rping->options->server) {
		rping->remote_addr = be64toh(rping->received.addr);
		rping->remote_rkey = be32toh(rping->received.rkey);
		rping->remote_size = be32toh(rping->received.size);
		rping_debug(rping, "Received rkey %x addr %llx len %d from peer\n",
			    rping->remote_rkey, (unsigned long long)rping->remote_addr,
			    (int)rping->remote_size);
	}
	advance_state(rping);
	return post_recv(rping);
}

static int on_completion(struct rping *rping, const struct ibv_wc *wc)
{
	/* an event tells the cause, so this line would only hide it */
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return 0;
	if (wc->status) {
		fprintf(stderr, "cq completion failed status %d\n", wc->status);
		return -1;
	}
	switch (wc->opcode) {
	case IBV_WC_SEND:
		rping_debug(rping, "send completion\n");
		return 0;
	case IBV_WC_RDMA_WRITE:
		rping_debug(rping, "rdma write completion\n");
		rping->state = RPING_WRITE_COMPLETE;
		return 0;
	case IBV_WC_RDMA_READ:
		rping_debug(rping, "rdma read completion\n");
		rping->state = RPING_READ_COMPLETE;
		return 0;
	case IBV_WC_RECV:
		return take_message(rping, wc);
	default:
		fprintf(stderr, "unknown!!!!! completion\n");
		return -1;
	}
}

static int take_completions(struct rping *rping)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	int ret = 0;
	int count;

	if (ibv_get_cq_event(rping->comp_channel, &cq, &context))
		return complain_errno("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	errno = ibv_req_notify_cq(cq, 0);
	if (errno)
		return complain_errno("ibv_req_notify_cq");
	while (!ret && (count = ibv_poll_cq(cq, 1, &wc)) != 0)
		ret = count < 0 ? complain_errno("ibv_poll_cq") : on_completion(rping, &wc);
	return ret;
}

static const char *state_name(enum rping_state state)
{
	static const char *const names[] = {
		[RPING_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[RPING_CONNECTED] = "CONNECTED",
		[RPING_READ_ADV] = "RDMA_READ_ADV",
		[RPING_READ_COMPLETE] = "RDMA_READ_COMPLETE",
		[RPING_WRITE_ADV] = "RDMA_WRITE_ADV",
		[RPING_WRITE_COMPLETE] = "RDMA_WRITE_COMPLETE",
		[RPING_DISCONNECTED] = "DISCONNECTED",
	};

	return names[state];
}

/* Handles a completion or an event. Completions come first, because messages received before a
 * disconnection count. */
static int take_next(struct rping *rping)
{
	struct pollfd fds[] = { { .fd = rping->channel->fd, .events = POLLIN },
				{ .fd = rping->comp_channel ? rping->comp_channel->fd : -1,
				  .events = POLLIN } };

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? 0 : complain_errno("poll");
	if (fds[1].revents)
		return take_completions(rping);
	return take_event(rping);
}

/* Returns whether the state is reached. A message may arrive before ESTABLISHED, so later states
 * count, too. */
static bool is_at(const struct rping *rping, enum rping_state wanted)
{
	return rping->state == wanted || (wanted <= RPING_CONNECTED && rping->state > wanted &&
					  rping->state < RPING_DISCONNECTED);
}

int rping_await(struct rping *rping, enum rping_state wanted)
{
	enum rping_state last = rping->state;

	while (!is_at(rping, wanted) && rping->state < RPING_DISCONNECTED) {
		last = rping->state;
		if (take_next(rping))
			rping->state = RPING_ERROR;
	}
	if (is_at(rping, wanted))
		return 0;
	if (rping->state == RPING_ERROR)
		rping->state = last;
	if (wanted < RPING_CONNECTED)
		fprintf(stderr, "waiting for addr/route resolution state %d\n", rping->state);
	else
		fprintf(stderr, "wait for %s state %d\n", state_name(wanted), rping->state);
	rping->state = rping->state == RPING_DISCONNECTED ? RPING_DISCONNECTED : RPING_ERROR;
	return -1;
}

static int post_send(struct rping *rping, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	errno = ibv_post_send(rping->qp, wr, &bad);
	return errno ? complain_errno("ibv_post_send") : 0;
}

int rping_send(struct rping *rping, const void *addr, const struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&rping->sent,
			       .length = sizeof(rping->sent),
			       .lkey = rping->sent_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_SEND };

	rping->sent = (struct rping_message){ htobe64((uintptr_t)addr), htobe32(mr->rkey),
					      htobe32(rping->options->size) };
	return post_send(rping, &wr);
}

int rping_transfer(struct rping *rping, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { .addr = (uintptr_t)rping->sink,
			       .length = rping->remote_size,
			       .lkey = rping->sink_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = opcode };

	if (rping->remote_size > (uint32_t)rping->options->size) {
		fprintf(stderr, "the client's buffer of %u bytes does not fit: -S %d\n",
			rping->remote_size, rping->options->size);
		return -1;
	}
	wr.wr.rdma.remote_addr = rping->remote_addr;
	wr.wr.rdma.rkey = rping->remote_rkey;
	return post_send(rping, &wr);
}
