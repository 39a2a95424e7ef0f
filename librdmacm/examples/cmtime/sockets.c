/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sockets.c - the steps of cmtime with blocking TCP sockets, for comparison, between one client and
 * one server. A socket replaces the id, and the steps of resolution do nothing.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static int *sockets;
static int listener = -1;

static socklen_t length_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
					     : sizeof(struct sockaddr_in6);
}

int sockets_listen(struct sockaddr_storage *address)
{
	socklen_t size = length_of(address);

	listener = socket(address->ss_family, SOCK_STREAM, 0);
	if (listener < 0)
		return complain_errno("socket");
	if (bind(listener, (struct sockaddr *)address, size) ||
	    listen(listener, options.connections))
		return complain_errno("bind");
	return getsockname(listener, (struct sockaddr *)address, &size)
		       ? complain_errno("getsockname")
		       : 0;
}

static int create_socket(struct test *test, int i)
{
	sockets[i] = socket(test->local->ai_src_addr->sa_family, SOCK_STREAM, 0);
	return sockets[i] < 0 ? complain_errno("socket") : 0;
}

static int bind_socket(struct test *test, int i)
{
	const struct sockaddr *local = test->local->ai_src_addr;

	return bind(sockets[i], local, test->local->ai_src_len) ? complain_errno("bind") : 0;
}

static int connect_socket(struct test *test, int i)
{
	const struct peer *server = test->peers->all;

	server += !server->listens;
	return connect(sockets[i], (const struct sockaddr *)&server->address,
		       length_of(&server->address))
		       ? complain_errno("connect")
		       : 0;
}

static int accept_socket(struct test *test, int i)
{
	(void)test;
	sockets[i] = accept(listener, NULL, NULL);
	return sockets[i] < 0 ? complain_errno("accept") : 0;
}

static int close_socket(struct test *test, int i)
{
	(void)test;
	close(sockets[i]);
	sockets[i] = -1;
	return 0;
}

static int each_socket(struct test *test, enum step step, int (*call)(struct test *test, int i))
{
	test_start_step(test, step);
	for (int i = 0; i < test->count; i++) {
		connection_start(&test->connections[i], step);
		if (step == CREATE_ID)
			connection_start(&test->connections[i], FULL_CONNECT);
		if (call(test, i))
			return -1;
		connection_end(&test->connections[i], step);
		if (step == CM_CONNECT && test->connections[i].times.start[FULL_CONNECT])
			connection_end(&test->connections[i], FULL_CONNECT);
	}
	test_end_step(test, step);
	return 0;
}

static int run_client(struct test *test)
{
	int ret;

	printf("\tCreating sockets\n");
	test->times.start[FULL_CONNECT] = cmtime_now();
	ret = each_socket(test, CREATE_ID, create_socket);
	if (!ret)
		ret = each_socket(test, BIND_ADDR, bind_socket);
	if (!ret)
		ret = peers_keep_step(test->peers, INIT_QP);
	if (ret)
		return ret;
	printf("\tConnecting sockets\n");
	ret = each_socket(test, CM_CONNECT, connect_socket);
	test_end_step(test, FULL_CONNECT);
	return ret;
}

static int run_server(struct test *test)
{
	int ret = peers_keep_step(test->peers, INIT_QP);

	if (ret)
		return ret;
	printf("\tAccept sockets\n");
	return each_socket(test, CM_CONNECT, accept_socket);
}

/* Disconnects. The client closes first, so that its side, not the server's, has the connections in
 * TIME_WAIT. */
static int part_sockets(struct test *test)
{
	int ret = peers_keep_step(test->peers, CM_CONNECT);

	if (!ret && options.listens)
		ret = peers_keep_step(test->peers, DISCONNECT);
	if (ret)
		return ret;
	printf("\tClosing sockets\n");
	ret = each_socket(test, DISCONNECT, close_socket);
	if (!ret && !options.listens)
		ret = peers_keep_step(test->peers, DISCONNECT);
	return ret;
}

static int live_sockets(struct test *test)
{
	int ret = peers_keep_step(test->peers, FULL_CONNECT);

	if (!ret)
		ret = options.listens ? run_server(test) : run_client(test);
	return ret ? ret : part_sockets(test);
}

int sockets_run(struct test *test)
{
	const char *self = options.listens ? "Server" : "Client";
	int ret = -1;

	printf("%s baseline socket setup\n", self);
	sockets = malloc(options.connections * sizeof(*sockets));
	if (sockets && test_begin(test, options.connections, NO_QPS)) {
		memset(sockets, 0xff, options.connections * sizeof(*sockets));
		ret = live_sockets(test);
	}
	if (!ret) {
		printf("%s baseline socket results:\n", self);
		test_print(test);
	}
	test_finish(test);
	free(sockets);
	if (listener >= 0)
		close(listener);
	return ret;
}
