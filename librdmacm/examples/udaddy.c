/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udaddy.c - looks up a number of datagram services (SIDR), and sends datagrams, which the server
 * answers.
 *
 * The server learns the address of each client from its first datagram.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodes.h"

static int learn_peer(struct node *node, struct ibv_wc *wc)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	node->ah = ibv_create_ah_from_wc(node->pd, wc, (struct ibv_grh *)node->buffer,
					 node->id->port_num);
	if (!node->ah)
		return test_complain(node->test, "failure creating address handle");
	errno = ibv_query_qp(node->id->qp, &attr, IBV_QP_QKEY, &init);
	if (errno)
		return test_complain(node->test, "failure querying the QP");
	node->remote_qpn = be32toh(wc->imm_data);
	node->remote_qkey = attr.qkey;
	return 0;
}

static int route_resolved(struct test *test, struct node *node)
{
	struct rdma_conn_param param = { .private_data = test->info->ai_connect,
					 .private_data_len = (uint8_t)test->info->ai_connect_len };
	int ret = node_make_ready(node);

	if (ret)
		return ret;
	if (rdma_connect(node->id, &param))
		return test_complain(test, "failure connecting");
	return 0;
}

static int connect_request(struct test *test, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { 0 };
	struct node *node = test_take_request(test, event);
	int ret;

	if (!node)
		return 0;
	ret = node_make_ready(node);
	if (ret)
		return ret;
	param.qp_num = node->id->qp->qp_num;
	if (rdma_accept(node->id, &param))
		return test_complain(test, "failure accepting");
	node->connected = true;
	test->connects_left--;
	return 0;
}

static int on_event(struct test *test, struct rdma_cm_event *event)
{
	struct node *node = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return route_resolved(test, node);
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return connect_request(test, event);
	case RDMA_CM_EVENT_ESTABLISHED:
		/* the answer has the destination of datagrams */
		return node_reach(node, &event->param.ud);
	default:
		return test_usual_event(test, event);
	}
}

static int reply_to_clients(struct test *test)
{
	int ret;

	printf("receiving data transfers\n");
	ret = nodes_await(test, RECVS, learn_peer);
	if (ret)
		return ret;
	printf("sending replies\n");
	ret = nodes_post_sends(test, 0);
	return ret ? ret : nodes_await(test, SENDS, NULL);
}

static int run_server(struct test *test)
{
	int ret;

	printf("%s: starting server\n", test->name);
	ret = test_listen(test);
	if (!ret)
		ret = test_await(test, &test->connects_left);
	if (ret || !test->messages)
		return ret;
	ret = reply_to_clients(test);
	if (!ret)
		printf("data transfers complete\n");
	return ret;
}

static int ask_server(struct test *test)
{
	int ret;

	printf("initiating data transfers\n");
	ret = nodes_post_sends(test, 0);
	if (ret)
		return ret;
	printf("receiving data transfers\n");
	ret = nodes_await(test, RECVS, NULL);
	return ret ? ret : nodes_await(test, SENDS, NULL);
}

static int run_client(struct test *test)
{
	int ret;

	printf("%s: starting client\n", test->name);
	ret = test_connect_all(test);
	if (ret || !test->messages)
		return ret;
	ret = ask_server(test);
	if (!ret)
		printf("data transfers complete\n");
	return ret;
}

static int usage(const char *program)
{
	printf("usage: %s\n"
	       "\t[-s server_address]\n"
	       "\t[-b bind_address]\n"
	       "\t[-f address_format]\n"
	       "\t    name, ip, ipv6, or gid\n"
	       "\t[-P port_space]\n"
	       "\t    udp or ipoib\n"
	       "\t[-c connections]\n"
	       "\t[-C message_count]\n"
	       "\t[-S message_size]\n"
	       "\t[-t type_of_service]\n"
	       "\t[-p port_space - %#x for UDP (default), %#x for IPOIB]\n",
	       program, RDMA_PS_UDP, RDMA_PS_IPOIB);
	return 1;
}

static int take_options(struct test *test, int argc, char *argv[])
{
	int option;

	while ((option = getopt(argc, argv, "s:b:c:C:S:t:p:P:f:")) != -1) {
		if (test_take_option(test, option, optarg))
			continue;
		if (option == 'P')
			test_take_port_space(test, optarg, "udp", RDMA_PS_UDP, "ipoib",
					     RDMA_PS_IPOIB);
		else if (option == 'p')
			test->hints.ai_port_space = (int)strtol(optarg, NULL, 0);
		else
			return usage(argv[0]);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct test test;

	test_init(&test, "udaddy");
	test.port = "7174";
	test.hints.ai_port_space = RDMA_PS_UDP;
	test.datagrams = true;
	test.on_event = on_event;
	if (take_options(&test, argc, argv))
		return 1;
	return test_run(&test, test.host, test.host ? run_client : run_server);
}
