/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together.c - cmtime with a controller. Servers listen, all peers connect to the controller, and
 * the tests run one after the other: a warm-up of one connection for each pair, a test with QPs,
 * and, for two peers, a test without QPs.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "librdmacm/examples/address.h"
#include "librdmacm/examples/channel.h"
#include "test.h"

static struct rdma_cm_id *listener;

static int find_local(struct test *test)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	int ret = address_resolve_passive(options.local, NULL, &hints, &test->local);

	if (ret && ret == EAI_SYSTEM)
		return complain_errno("rdma_getaddrinfo");
	if (ret)
		printf("getaddrinfo error: %s\n", gai_strerror(ret));
	return ret;
}

/* Listens on any port, which the controller tells the peers. */
static int listen_by_rdma(struct test *test, struct sockaddr_storage *address)
{
	if (rdma_create_id(test->channel, &listener, NULL, RDMA_PS_TCP))
		return complain_errno("create id failed");
	if (rdma_bind_addr(listener, (struct sockaddr *)address))
		return complain_errno("bind addr failed");
	if (rdma_listen(listener, 0))
		return complain_errno("failure trying to listen");
	((struct sockaddr_in *)address)->sin_port =
		/* sin6_port has the same offset, so this serves both versions of IP */
		rdma_get_src_port(listener);
	return 0;
}

static int introduce_self(struct test *test, struct peer *self)
{
	memset(self, 0, sizeof(*self));
	if (!options.listens)
		return 0;
	self->listens = 1;
	memcpy(&self->address, test->local->ai_src_addr, test->local->ai_src_len);
	return options.sockets ? sockets_listen(&self->address)
			       : listen_by_rdma(test, &self->address);
}

static int run_test(struct test *test, int connections, enum qp_kind kind)
{
	int ret = -1;

	if (test_begin(test, connections * peers_count(test->peers, !options.listens), kind))
		ret = options.listens ? server_live(test) : client_live(test);
	if (ret)
		atomic_fetch_add(&test->failed, 1);
	return ret;
}

static void announce_test(const struct test *test, enum qp_kind kind)
{
	const char *self = options.listens ? "Accept" : "Connect";
	int count = options.connections * peers_count(test->peers, !options.listens);

	if (kind == QPS)
		printf("%s (%d) QPs test\n", self, count);
	else if (kind == SIMULATED_QPS)
		printf("%s (%d) simulated QPs test (delay %u us)\n", self, count, options.delay_us);
	else
		printf("%s (%d) test - no QPs\n", self, count);
}

static int run_and_print(struct test *test, enum qp_kind kind)
{
	int ret;

	announce_test(test, kind);
	ret = run_test(test, options.connections, kind);
	if (!ret)
		test_print(test);
	test_finish(test);
	return ret;
}

/* The test without QPs needs exactly two peers: its placeholder QPNs would repeat on several
 * clients or servers. */
static int run_tests(struct test *test)
{
	int ret;

	printf("%s warmup\n", options.listens ? "Server" : "Client");
	ret = run_test(test, 1, QPS);
	test_finish(test);
	if (!ret)
		ret = run_and_print(test, options.delay_us ? SIMULATED_QPS : QPS);
	if (!ret && options.peers == 2)
		ret = run_and_print(test, NO_QPS);
	return ret;
}

static int meet_and_run(struct test *test)
{
	struct peer self;
	int ret = introduce_self(test, &self);

	if (ret)
		return ret;
	ret = peers_meet(test->peers, options.controller, options.port, options.peers,
			 options.timeout_ms, &self);
	if (!ret)
		ret = options.sockets ? sockets_run(test) : run_tests(test);
	return ret;
}

static void clean_up(struct test *test)
{
	if (listener)
		rdma_destroy_id(listener);
	if (test->workers)
		workers_stop(test->workers);
	if (test->cq)
		ibv_destroy_cq(test->cq);
	if (test->pd)
		ibv_dealloc_pd(test->pd);
	rdma_freeaddrinfo(test->local);
	rdma_destroy_event_channel(test->channel);
}

int cmtime_together(void)
{
	struct peers peers = { 0 };
	struct test test = { .peers = &peers };
	int ret = -1;

	test.channel = channel_open();
	if (!test.channel)
		return -1;
	test.workers = workers_start(options.threads);
	if (!test.workers)
		complain_errno("threads");
	else if (!find_local(&test))
		ret = meet_and_run(&test);
	peers_part(&peers);
	clean_up(&test);
	return ret;
}
