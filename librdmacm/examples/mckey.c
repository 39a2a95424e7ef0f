/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mckey.c - joins a multicast group with a number of QPs, and sends datagrams to it or receives
 * them.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "nodes.h"

static struct {
	const char *group;
	bool unmapped; /* the address is a GID instead of an IP address */
	bool sends, sends_only;
	struct sockaddr_storage group_addr, local_addr;
} options;

static int join_group(struct node *node)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.addr = (struct sockaddr *)&options.group_addr,
		.join_flags = options.sends_only ? RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
						 : RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};

	if (rdma_join_multicast_ex(node->id, &attr, node))
		return test_complain(node->test, "failure joining");
	return 0;
}

static int make_ready(struct node *node)
{
	if (node_make_queues(node))
		return -1;
	if (!options.sends && node_post_recvs(node))
		return -1;
	return join_group(node);
}

static int group_joined(struct test *test, struct node *node, const struct rdma_ud_param *to)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, to->ah_attr.grh.dgid.raw, gid, sizeof(gid));
	printf("%s: joined dgid: %s mlid 0x%x sl %d\n", test->name, gid, to->ah_attr.dlid,
	       to->ah_attr.sl);
	return node_reach(node, to);
}

static int on_event(struct test *test, struct rdma_cm_event *event)
{
	struct node *node = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return make_ready(node);
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		return group_joined(test, node, &event->param.ud);
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
	case RDMA_CM_EVENT_ADDR_CHANGE:
		test_node_failed(test, event);
		return -1;
	default: /* device removal needs no action: the end of the test cleans up */
		return 0;
	}
}

static int find_addresses(struct test *test)
{
	int ret = 0;

	if (test->local)
		ret = address_of_host(test->local, &options.local_addr);
	return ret ? ret : address_of_host(options.group ? options.group : "", &options.group_addr);
}

/* Starts a node. To find the device, the group's IP address is resolved from the local address; a
 * GID needs only the device. */
static int start_node(struct test *test, struct node *node)
{
	struct sockaddr *local = (struct sockaddr *)&options.local_addr;

	if (test->local && rdma_bind_addr(node->id, local))
		return test_complain(test, "addr bind failure");
	if (options.unmapped)
		return make_ready(node) ? test_complain(test, "resolve addr failure") : 0;
	if (rdma_resolve_addr(node->id, test->local ? local : NULL,
			      (struct sockaddr *)&options.group_addr, RESOLVE_MS))
		return test_complain(test, "resolve addr failure");
	return 0;
}

static int transfer_messages(struct test *test)
{
	int ret;

	if (!test->messages)
		return 0;
	if (options.sends) {
		printf("initiating data transfers\n");
		ret = nodes_post_sends(test, 0);
		if (!ret)
			ret = nodes_await(test, SENDS, NULL);
	} else {
		printf("receiving data transfers\n");
		ret = nodes_await(test, RECVS, NULL);
	}
	if (!ret)
		printf("data transfers complete\n");
	return ret;
}

static void leave_group(struct test *test)
{
	for (int i = 0; i < test->connections; i++)
		if (rdma_leave_multicast(test->nodes[i].id, (struct sockaddr *)&options.group_addr))
			test_complain(test, "failure leaving");
}

static int run_test(struct test *test)
{
	int ret;

	printf("%s: starting %s\n", test->name, options.sends ? "client" : "server");
	ret = find_addresses(test);
	if (ret)
		return ret;
	printf("%s: joining\n", test->name);
	for (int i = 0; i < test->connections && !ret; i++)
		ret = start_node(test, &test->nodes[i]);
	if (ret)
		return ret;
	ret = test_await(test, &test->connects_left);
	if (!ret)
		ret = transfer_messages(test);
	leave_group(test);
	return ret;
}

static int usage(const char *program)
{
	printf("usage: %s\n"
	       "\t-m multicast_address\n"
	       "\t[-M unmapped_multicast_address]\n"
	       "\t replaces -m and requires -b\n"
	       "\t[-s(ender)]\n"
	       "\t[-b bind_address]\n"
	       "\t[-c connections]\n"
	       "\t[-C message_count]\n"
	       "\t[-S message_size]\n"
	       "\t[-p port_space - %#x for UDP (default), %#x for IPOIB]\n"
	       "\t[-o join as a send-only full-member]\n"
	       "\t[-l join without multicast loopback]\n",
	       program, RDMA_PS_UDP, RDMA_PS_IPOIB);
	return 1;
}

static bool take_own_option(struct test *test, int option)
{
	switch (option) {
	case 'M':
		options.unmapped = true;
		/* fall through */
	case 'm':
		options.group = optarg;
		break;
	case 's':
		options.sends = true;
		break;
	case 'o':
		options.sends_only = true;
		break;
	case 'l':
		test->create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
		break;
	case 'p':
		test->hints.ai_port_space = (int)strtol(optarg, NULL, 0);
		break;
	default:
		return false;
	}
	return true;
}

static int take_options(struct test *test, int argc, char *argv[])
{
	int option;

	while ((option = getopt(argc, argv, "m:M:sb:c:C:S:p:ol")) != -1)
		if (!take_own_option(test, option) && !test_take_option(test, option, optarg))
			return usage(argv[0]);
	if (!options.unmapped || test->local)
		return 0;
	printf("unmapped multicast address requires binding to source address\n");
	return 1;
}

int main(int argc, char *argv[])
{
	struct test test;

	test_init(&test, "mckey");
	test.hints.ai_port_space = RDMA_PS_UDP;
	test.datagrams = true;
	test.on_event = on_event;
	if (take_options(&test, argc, argv))
		return 1;
	return test_run(&test, true, run_test);
}
