/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nodes.c - options, events, work requests and completions of ucmatose, udaddy and mckey, which
 * take all their ids through the same steps; see nodes.h.
 */
#include "nodes.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "channel.h"

void test_init(struct test *test, const char *name)
{
	*test = (struct test){ .name = name,
			       .connections = 1,
			       .messages = 10,
			       .size = 100,
			       .tos = -1,
			       .ack_timeout = -1 };
}

bool test_take_option(struct test *test, int option, char *value)
{
	switch (option) {
	case 's':
		test->host = value;
		break;
	case 'b':
		test->local = value;
		break;
	case 'f':
		address_take_format(value, &test->hints);
		break;
	case 'c':
		test->connections = atoi(value);
		break;
	case 'C':
		test->messages = atoi(value);
		break;
	case 'S':
		test->size = atoi(value);
		break;
	case 't':
		test->tos = (int)(strtoul(value, NULL, 0) & 0xff);
		break;
	default:
		return false;
	}
	return true;
}

void test_take_port_space(struct test *test, const char *word, const char *first,
			  enum rdma_port_space first_space, const char *second,
			  enum rdma_port_space second_space)
{
	if (!strcasecmp(word, first))
		test->hints.ai_port_space = first_space;
	else if (!strcasecmp(word, second))
		test->hints.ai_port_space = second_space;
	else
		fprintf(stderr, "Warning: unknown port space format\n");
}

int test_complain(const struct test *test, const char *what)
{
	char text[100];

	snprintf(text, sizeof(text), "%s: %s", test->name, what);
	perror(text);
	return -1;
}

static int create_ids(struct test *test)
{
	for (int i = 0; i < test->connections; i++)
		if (rdma_create_id(test->channel, &test->nodes[i].id, &test->nodes[i],
				   test->hints.ai_port_space))
			return test_complain(test, "create id failed");
	return 0;
}

static int open_test(struct test *test, bool with_ids)
{
	test->channel = channel_open();
	if (!test->channel)
		exit(1);
	test->nodes = calloc(test->connections > 0 ? test->connections : 1, sizeof(*test->nodes));
	if (!test->nodes)
		return test_complain(test, "no memory");
	for (int i = 0; i < test->connections; i++)
		test->nodes[i].test = test;
	test->connects_left = test->connections;
	return with_ids ? create_ids(test) : 0;
}

static void close_node(struct node *node)
{
	if (node->ah)
		ibv_destroy_ah(node->ah);
	if (node->id && node->id->qp)
		rdma_destroy_qp(node->id);
	if (node->cqs[SENDS])
		ibv_destroy_cq(node->cqs[SENDS]);
	if (node->cqs[RECVS])
		ibv_destroy_cq(node->cqs[RECVS]);
	if (node->mr)
		ibv_dereg_mr(node->mr);
	free(node->buffer);
	if (node->pd)
		ibv_dealloc_pd(node->pd);
	if (node->id)
		rdma_destroy_id(node->id);
}

static void close_test(struct test *test)
{
	for (int i = 0; test->nodes && i < test->connections; i++)
		close_node(&test->nodes[i]);
	free(test->nodes);
	if (test->listener)
		rdma_destroy_id(test->listener);
	if (test->info)
		rdma_freeaddrinfo(test->info);
	if (test->channel)
		rdma_destroy_event_channel(test->channel);
}

int test_run(struct test *test, bool with_ids, int (*run)(struct test *test))
{
	int ret = open_test(test, with_ids);

	if (!ret)
		ret = run(test);
	close_test(test);
	printf("test complete\n");
	printf("return status %d\n", ret);
	return ret;
}

static int handle_one(struct test *test)
{
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(test->channel, &event))
		return test_complain(test, "failure getting an event");
	ret = test->on_event(test, event);
	rdma_ack_cm_event(event);
	return ret;
}

int test_await(struct test *test, const int *left)
{
	int ret = 0;

	while (*left > 0 && !ret)
		ret = handle_one(test);
	return ret;
}

/* Handles a pending event, without waiting, during transfers. */
static int handle_pending(struct test *test)
{
	struct pollfd channel = { .fd = test->channel->fd, .events = POLLIN };

	return poll(&channel, 1, 0) > 0 ? handle_one(test) : 0;
}

int test_node_failed(struct test *test, const struct rdma_cm_event *event)
{
	printf("%s: event: %s, error: %d\n", test->name, rdma_event_str(event->event),
	       event->status);
	test->connects_left--;
	return event->status;
}

int test_listen(struct test *test)
{
	int ret;

	if (rdma_create_id(test->channel, &test->listener, test, test->hints.ai_port_space))
		return test_complain(test, "listen request failed");
	ret = address_resolve_passive(test->local, test->port, &test->hints, &test->info);
	if (ret) {
		printf("%s: getrdmaaddr error: %s\n", test->name, gai_strerror(ret));
		return ret;
	}
	if (rdma_bind_addr(test->listener, test->info->ai_src_addr))
		return test_complain(test, "bind address failed");
	if (rdma_listen(test->listener, 0))
		return test_complain(test, "listen request failed");
	return 0;
}

struct node *test_take_request(struct test *test, const struct rdma_cm_event *event)
{
	struct node *node;

	if (test->accepted == test->connections) {
		printf("%s: failing connection request\n", test->name);
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
		return NULL;
	}
	node = &test->nodes[test->accepted++];
	node->id = event->id;
	node->id->context = node;
	return node;
}

int test_connect_all(struct test *test)
{
	int ret = address_resolve(test->host, test->port, test->local, &test->hints, &test->info);

	if (ret) {
		printf("%s: getaddrinfo error: %s\n", test->name, gai_strerror(ret));
		return ret;
	}
	printf("%s: connecting\n", test->name);
	for (int i = 0; i < test->connections; i++)
		if (rdma_resolve_addr(test->nodes[i].id, test->info->ai_src_addr,
				      test->info->ai_dst_addr, RESOLVE_MS))
			return test_complain(test, "failure getting addr");
	return test_await(test, &test->connects_left);
}

int node_set_options(struct node *node)
{
	uint8_t tos = (uint8_t)node->test->tos, timeout = (uint8_t)node->test->ack_timeout;

	if (node->test->tos >= 0 &&
	    rdma_set_option(node->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
		return test_complain(node->test, "set TOS option failed");
	if (node->test->ack_timeout >= 0 &&
	    rdma_set_option(node->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			    sizeof(timeout)))
		return test_complain(node->test, "set ack timeout option failed");
	return 0;
}

int node_reach(struct node *node, const struct rdma_ud_param *to)
{
	struct ibv_ah_attr attr = to->ah_attr;

	node->remote_qpn = to->qp_num;
	node->remote_qkey = to->qkey;
	node->ah = ibv_create_ah(node->pd, &attr);
	if (!node->ah)
		return test_complain(node->test, "failure creating address handle");
	node->connected = true;
	node->test->connects_left--;
	return 0;
}

/* Sets the options of the id, which is bound to a device now, and resolves the route. */
static int addr_resolved(struct node *node)
{
	if (node_set_options(node))
		return -1;
	if (rdma_resolve_route(node->id, RESOLVE_MS))
		return test_complain(node->test, "resolve route failed");
	return 0;
}

int test_usual_event(struct test *test, const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return addr_resolved(event->id->context);
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		return test_node_failed(test, event);
	default:
		return 0;
	}
}

static int make_buffer(struct node *node)
{
	/* a received datagram begins with a GRH, so the buffer has room for one */
	size_t size = node->test->size + (node->test->datagrams ? GRH_SIZE : 0);

	if (!size)
		return 0;
	node->buffer = calloc(1, size);
	if (!node->buffer)
		return test_complain(node->test, "failed message allocation");
	node->mr = ibv_reg_mr(node->pd, node->buffer, size, IBV_ACCESS_LOCAL_WRITE);
	return node->mr ? 0 : test_complain(node->test, "failed to reg MR");
}

static int make_qp(struct node *node, int depth)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = depth,
			 .max_recv_wr = depth,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_context = node,
		.qp_type = node->test->datagrams ? IBV_QPT_UD : IBV_QPT_RC,
		.send_cq = node->cqs[SENDS],
		.recv_cq = node->cqs[RECVS],
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = node->pd,
	};

	if (node->test->create_flags) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		attr.create_flags = node->test->create_flags;
	}
	if (rdma_create_qp_ex(node->id, &attr))
		return test_complain(node->test, "unable to create QP");
	return 0;
}

static int check_datagram_size(const struct node *node)
{
	struct ibv_port_attr port;
	int mtu;

	errno = ibv_query_port(node->id->verbs, node->id->port_num, &port);
	if (errno)
		return test_complain(node->test, "failed to query port");
	mtu = 128 << port.active_mtu;
	if (!node->test->messages || node->test->size <= mtu)
		return 0;
	printf("%s: message_size %d is larger than active mtu %d\n", node->test->name,
	       node->test->size, mtu);
	return -EINVAL;
}

int node_make_queues(struct node *node)
{
	int depth = node->test->messages > 0 ? node->test->messages : 1;
	int ret = node->test->datagrams ? check_datagram_size(node) : 0;

	if (ret)
		return ret;
	node->pd = ibv_alloc_pd(node->id->verbs);
	if (!node->pd)
		return test_complain(node->test, "unable to allocate PD");
	for (int kind = SENDS; kind <= RECVS; kind++) {
		node->cqs[kind] = ibv_create_cq(node->id->verbs, depth, node, NULL, 0);
		if (!node->cqs[kind])
			return test_complain(node->test, "unable to create CQ");
	}
	ret = make_qp(node, depth);
	return ret ? ret : make_buffer(node);
}

int node_post_recvs(struct node *node)
{
	struct test *test = node->test;
	struct ibv_sge sge = { .addr = (uintptr_t)node->buffer,
			       .length = test->size + (test->datagrams ? GRH_SIZE : 0),
			       .lkey = node->mr ? node->mr->lkey : 0 };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)node, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	for (int i = 0; i < test->messages; i++) {
		errno = ibv_post_recv(node->id->qp, &wr, &bad);
		if (errno)
			return test_complain(test, "failed to post receives");
	}
	return 0;
}

int node_make_ready(struct node *node)
{
	int ret = node_make_queues(node);

	return ret ? ret : node_post_recvs(node);
}

/* Posts the sends. A datagram's immediate data is the sender's QPN, for the reply. */
static int post_sends(struct node *node, int flags)
{
	struct test *test = node->test;
	struct ibv_sge sge = { .addr = (uintptr_t)node->buffer + (test->datagrams ? GRH_SIZE : 0),
			       .length = test->size,
			       .lkey = node->mr ? node->mr->lkey : 0 };
	struct ibv_send_wr wr = { .wr_id = (uintptr_t)node,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED | flags };
	struct ibv_send_wr *bad;

	if (!node->connected)
		return 0;
	if (test->datagrams) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htobe32(node->id->qp->qp_num);
		wr.wr.ud.ah = node->ah;
		wr.wr.ud.remote_qpn = node->remote_qpn;
		wr.wr.ud.remote_qkey = node->remote_qkey;
	}
	for (int i = 0; i < test->messages; i++) {
		errno = ibv_post_send(node->id->qp, &wr, &bad);
		if (errno)
			return test_complain(test, "failed to post sends");
	}
	return 0;
}

int nodes_post_sends(struct test *test, int flags)
{
	int ret = 0;

	for (int i = 0; i < test->connections && !ret; i++)
		ret = post_sends(&test->nodes[i], flags);
	return ret;
}

static int check_completion(const struct test *test, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return 0;
	fprintf(stderr, "%s: failed completion: %s\n", test->name, ibv_wc_status_str(wc->status));
	return -1;
}

static int poll_node(struct node *node, int kind,
		     int (*on_first)(struct node *node, struct ibv_wc *wc))
{
	struct ibv_wc wc[8];
	int count = ibv_poll_cq(node->cqs[kind], 8, wc);

	if (count < 0)
		return test_complain(node->test, "failed polling CQ");
	for (int i = 0; i < count; i++) {
		if (check_completion(node->test, &wc[i]))
			return -1;
		if (on_first && !node->completed[kind] && on_first(node, &wc[i]))
			return -1;
		node->completed[kind]++;
	}
	return count;
}

/* Polls until a node has all its completions. An idle node yields the CPU, as its peer may be
 * waiting for it. Events are rare, so they are checked rarely. */
static int await_node(struct node *node, int kind,
		      int (*on_first)(struct node *node, struct ibv_wc *wc))
{
	unsigned int idle = 0;
	int count;

	while (node->completed[kind] < node->test->messages) {
		count = poll_node(node, kind, on_first);
		if (count < 0)
			return count;
		if (count)
			continue;
		sched_yield();
		if (!(++idle & 0xfff) && handle_pending(node->test))
			return -1;
	}
	return 0;
}

int nodes_await(struct test *test, int kind, int (*on_first)(struct node *node, struct ibv_wc *wc))
{
	int ret = 0;

	for (int i = 0; i < test->connections && !ret; i++)
		if (test->nodes[i].connected)
			ret = await_node(&test->nodes[i], kind, on_first);
	return ret;
}
