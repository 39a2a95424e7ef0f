/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rstream.c - measures latency and bandwidth of streams.
 *
 * By default, it measures every size of its table on two connections: single transfers there and
 * back (latency), and batches one way and then the other (bandwidth).
 */
#include "bench.h"

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

/* Serves each connection in a child process, until a signal ends the server. */
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
			_exit(bench_run_connection(bench, socket, latency, run_test) ? 1 : 0);
		}
		bench->calls->close(socket);
		latency = !latency;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return ret;
}

int main(int argc, char **argv)
{
	static const struct bench_program program = {
		.port = "7471",
		.options = "s:b:f:B:i:I:C:S:p:k:T:",
		.tests = "sabfnrv",
		.sizes = "transfer_size or all",
	};
	struct bench bench;

	bench_init(&bench, &program);
	if (!bench_take_options(&bench, argc, argv))
		return 1;
	return bench_run_streams(&bench, run_test, bench.use_fork ? serve_by_fork : NULL);
}
