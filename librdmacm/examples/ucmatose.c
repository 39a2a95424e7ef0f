/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucmatose.c - makes a number of reliable connections, sends messages in both directions, and
 * disconnects. With -m, the ids move to another event channel in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "nodes.h"

static bool migrates;

static int route_resolved(struct test *test, struct node *node)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 5 };
	struct rdma_addrinfo *info = test->info;

	if (node_make_ready(node))
		return -1;
	param.private_data = info->ai_connect;
	param.private_data_len = (uint8_t)info->ai_connect_len;
	if (rdma_connect(node->id, &param))
		return test_complain(test, "failure connecting");
	return 0;
}

static int connect_request(struct test *test, struct rdma_cm_event *event)
{
	struct node *node = test_take_request(test, event);

	if (!node)
		return 0;
	if (node_make_ready(node) || node_set_options(node))
		return -1;
	if (rdma_accept(node->id, NULL))
		return test_complain(test, "failure accepting");
	return 0;
}

static int node_established(struct test *test, struct node *node)
{
	node->connected = true;
	test->connects_left--;
	test->disconnects_left++;
	return 0;
}

static int node_disconnected(struct test *test, struct node *node)
{
	rdma_disconnect(node->id);
	test->disconnects_left--;
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
		return node_established(test, node);
	case RDMA_CM_EVENT_DISCONNECTED:
		return node_disconnected(test, node);
	default:
		return test_usual_event(test, event);
	}
}

static int send_first(struct test *test)
{
	int ret;

	printf("initiating data transfers\n");
	ret = nodes_post_sends(test, 0);
	if (ret)
		return ret;
	printf("completing sends\n");
	ret = nodes_await(test, SENDS, NULL);
	if (ret)
		return ret;
	printf("receiving data transfers\n");
	return nodes_await(test, RECVS, NULL);
}

static int receive_first(struct test *test)
{
	int ret;

	printf("receiving data transfers\n");
	ret = nodes_await(test, RECVS, NULL);
	if (ret)
		return ret;
	printf("sending replies\n");
	ret = nodes_post_sends(test, 0);
	return ret ? ret : nodes_await(test, SENDS, NULL);
}

static int transfer_messages(struct test *test, int (*in_order)(struct test *test))
{
	int ret;

	if (!test->messages)
		return 0;
	ret = in_order(test);
	if (!ret)
		printf("data transfers complete\n");
	return ret;
}

static int migrate_ids(struct test *test)
{
	struct rdma_event_channel *channel;

	if (!migrates)
		return 0;
	printf("migrating to new event channel\n");
	channel = channel_open();
	if (!channel)
		return -1;
	for (int i = 0; i < test->connections; i++)
		if (test->nodes[i].id && rdma_migrate_id(test->nodes[i].id, channel))
			return test_complain(test, "failed to migrate");
	if (test->listener && rdma_migrate_id(test->listener, channel))
		return test_complain(test, "failed to migrate");
	rdma_destroy_event_channel(test->channel);
	test->channel = channel;
	return 0;
}

static int disconnect_nodes(struct test *test)
{
	printf("%s: disconnecting\n", test->name);
	for (int i = 0; i < test->connections; i++) {
		if (!test->nodes[i].connected)
			continue;
		test->nodes[i].connected = false;
		rdma_disconnect(test->nodes[i].id);
	}
	return 0;
}

static int run_server(struct test *test)
{
	int ret = 0;

	printf("%s: starting server\n", test->name);
	ret = test_listen(test);
	if (!ret)
		ret = test_await(test, &test->connects_left);
	if (!ret)
		ret = transfer_messages(test, send_first);
	if (!ret)
		ret = migrate_ids(test);
	if (!ret)
		ret = disconnect_nodes(test);
	if (!ret)
		ret = test_await(test, &test->disconnects_left);
	if (!ret)
		printf("disconnected\n");
	return ret;
}

static int run_client(struct test *test)
{
	int ret;

	printf("%s: starting client\n", test->name);
	ret = test_connect_all(test);
	if (!ret)
		ret = transfer_messages(test, receive_first);
	if (!ret)
		ret = migrate_ids(test);
	return ret ? ret : test_await(test, &test->disconnects_left);
}

static int usage(const char *program)
{
	printf("usage: %s\n"
	       "\t[-s server_address]\n"
	       "\t[-b bind_address]\n"
	       "\t[-f address_format]\n"
	       "\t    name, ip, ipv6, or gid\n"
	       "\t[-P port_space]\n"
	       "\t    tcp or ib\n"
	       "\t[-c connections]\n"
	       "\t[-C message_count]\n"
	       "\t[-S message_size]\n"
	       "\t[-t type_of_service]\n"
	       "\t[-p port_number]\n"
	       "\t[-m(igrate)]\n"
	       "\t[-a ack_timeout]\n",
	       program);
	return 1;
}

static int take_options(struct test *test, int argc, char *argv[])
{
	int option;

	while ((option = getopt(argc, argv, "s:b:f:P:c:C:S:t:p:a:m")) != -1) {
		if (test_take_option(test, option, optarg))
			continue;
		if (option == 'P')
			test_take_port_space(test, optarg, "tcp", RDMA_PS_TCP, "ib", RDMA_PS_IB);
		else if (option == 'p')
			test->port = optarg;
		else if (option == 'm')
			migrates = true;
		else if (option == 'a')
			test->ack_timeout = (int)(strtoul(optarg, NULL, 0) & 0xff);
		else
			return usage(argv[0]);
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct test test;

	test_init(&test, "cmatose");
	test.port = "7471";
	test.hints.ai_port_space = RDMA_PS_TCP;
	test.on_event = on_event;
	if (take_options(&test, argc, argv))
		return 1;
	return test_run(&test, test.host, test.host ? run_client : run_server);
}
