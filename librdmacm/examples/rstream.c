/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rstream.c - how fast a stream is: a number of transfers there, and as many back, a number of times.
 *
 * Without a test of the user's there are two connections: on the first one transfer goes there and back (latency), on the
 * second all go there and then all back (bandwidth), for each size of the table.
 */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int transfer_batch(struct bench *bench, int socket, bool send)
{
	int ret = 0;

	for (int i = 0; i < bench->transfers && !ret; i++)
		ret = send ? bench_send(bench, socket, bench->size)
			   : bench_receive(bench, socket, bench->size);
	return ret;
}

static int run_test(struct bench *bench, int socket)
{
	bool is_client = bench->host;
	int ret = bench_sync(bench, socket);

	bench_start(bench);
	for (int i = 0; i < bench->iterations && !ret; i++) {
		ret = transfer_batch(bench, socket, is_client);
		if (!ret)
			ret = transfer_batch(bench, socket, !is_client);
	}
	bench_stop(bench);
	if (!ret)
		bench_print(bench);
	return ret;
}

static int run_all(struct bench *bench, int socket, bool latency)
{
	int ret = bench->is_custom ? bench_run_custom(bench, socket, run_test)
				   : bench_run_table(bench, socket, latency, run_test);

	bench_hang_up(bench, socket);
	bench->sent = bench->received = 0;
	return ret;
}

static int connection(struct bench *bench, int listener, bool latency)
{
	int socket;
	int ret = bench->host ? bench_connect(bench, &socket)
			      : bench_accept(bench, listener, &socket);

	return ret ? ret : run_all(bench, socket, latency);
}

static int connections(struct bench *bench, int listener)
{
	int ret = connection(bench, listener, true);

	return ret || bench->is_custom ? ret : connection(bench, listener, false);
}

/* Each connection has a process of its own; the server goes on until it is told to stop. */
static int serve_by_fork(struct bench *bench, int listener)
{
	bool latency = true;
	int socket, ret = 0;

	while (!ret) {
		ret = bench_accept(bench, listener, &socket);
		if (ret)
			break;
		if (!fork()) {
			bench->calls->close(listener);
			_exit(run_all(bench, socket, latency) ? 1 : 0);
		}
		bench->calls->close(socket);
		latency = !latency;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return ret;
}

static int serve(struct bench *bench)
{
	int listener;
	int ret = bench_listen(bench, &listener);

	if (ret)
		return ret;
	ret = bench->use_fork ? serve_by_fork(bench, listener) : connections(bench, listener);
	bench->calls->close(listener);
	return ret;
}

static int usage(const char *program)
{
	printf("usage: %s\n", program);
	printf("\t[-s server_address]\n"
	       "\t[-b bind_address]\n"
	       "\t[-f address_format]\n"
	       "\t    name, ip, ipv6, or gid\n"
	       "\t[-B buffer_size]\n"
	       "\t[-i inline_size]\n"
	       "\t[-I iterations]\n"
	       "\t[-C transfer_count]\n"
	       "\t[-S transfer_size or all]\n"
	       "\t[-p port_number]\n"
	       "\t[-k keepalive_time]\n"
	       "\t[-T test_option]\n"
	       "\t    s|sockets - use standard tcp/ip sockets\n"
	       "\t    a|async - asynchronous operation (use poll)\n"
	       "\t    b|blocking - use blocking calls\n"
	       "\t    f|fork - fork server processing\n"
	       "\t    n|nonblocking - use nonblocking calls\n"
	       "\t    r|resolve - use rdma cm to resolve address\n"
	       "\t    v|verify - verify data\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct bench bench;
	int option, ret;

	bench_init(&bench, argv[0], "7471");
	while ((option = getopt(argc, argv, "s:b:f:B:i:I:C:S:p:k:T:")) != -1) {
		if (option == 'T' ? !bench_take_test(&bench, optarg)
				  : !bench_take_option(&bench, option, optarg))
			return usage(argv[0]);
	}
	if (bench_alloc(&bench))
		return 1;
	bench_print_heading();
	ret = bench.host ? connections(&bench, -1) : serve(&bench);
	free(bench.buffer);
	return ret;
}
