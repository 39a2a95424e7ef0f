/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * riostream.c - rstream with riowrite(): each side maps its buffer, and transfers are written into it directly.
 *
 * The receiver learns of them from the buffer itself. A counter, the same on both sides, goes up by one with each batch of
 * either side, and the last transfer of a batch ends with it; the others leave that byte as it is.
 */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BEFORE_FIRST = 0xff, LOOKS = 1024 };

static uint8_t counter;

static int put_transfer(struct bench *bench, int socket)
{
	size_t size = bench->size, done = 0;
	ssize_t ret;

	while (done < size) {
		if (bench->use_poll)
			bench_wait(bench, socket, POLLOUT);
		ret = (ssize_t)riowrite(socket, bench->buffer + done, size - done, (off_t)done,
					bench->flags);
		if (ret > 0)
			done += ret;
		else if (errno != EAGAIN && errno != EINTR)
			return complain_errno("riowrite");
	}
	return 0;
}

static int put_all(struct bench *bench, int socket)
{
	int ret = 0;

	counter++;
	for (int i = 0; i < bench->transfers && !ret; i++) {
		if (i == bench->transfers - 1) {
			if (bench->verify)
				bench_fill(bench, bench->buffer, bench->size - 1);
			bench->buffer[bench->size - 1] = counter;
		}
		ret = put_transfer(bench, socket);
	}
	return ret;
}

/* Whoever waits for memory to change must look at the connection, too, or would never learn of its end. */
static int get_all(struct bench *bench, int socket)
{
	const uint8_t *end = &bench->buffer[bench->size - 1];
	struct pollfd fd = { .fd = socket };
	unsigned int looks = 0;

	counter++;
	while (__atomic_load_n(end, __ATOMIC_ACQUIRE) != counter) {
		if (++looks % LOOKS == 0 && rpoll(&fd, 1, 0) > 0 &&
		    __atomic_load_n(end, __ATOMIC_ACQUIRE) != counter) {
			errno = ECONNRESET;
			return complain_errno("rpoll");
		}
	}
	return bench->verify ? bench_check(bench, bench->buffer, bench->size - 1) : 0;
}

static int exchange_batches(struct bench *bench, int socket)
{
	bool is_client = bench->host;
	int ret = 0;

	bench_start(bench);
	for (int i = 0; i < bench->iterations && !ret; i++) {
		ret = is_client ? put_all(bench, socket) : get_all(bench, socket);
		if (!ret)
			ret = is_client ? get_all(bench, socket) : put_all(bench, socket);
	}
	bench_stop(bench);
	if (!ret)
		bench_print(bench);
	return ret;
}

/* What is exchanged when both are there is not of the pattern; a byte of it may be the counter's, as there is one buffer. */
static int sync_without_pattern(struct bench *bench, int socket)
{
	bool verify = bench->verify;
	int ret;

	bench->verify = false;
	ret = bench_sync(bench, socket);
	bench->verify = verify;
	return ret;
}

static int run_test(struct bench *bench, int socket)
{
	int ret;

	counter = BEFORE_FIRST;
	bench->buffer[bench->size - 1] = counter;
	if (riomap(socket, bench->buffer, bench->size, PROT_WRITE, 0, 0) == -1)
		return complain_errno("riomap");
	ret = sync_without_pattern(bench, socket);
	if (!ret)
		ret = exchange_batches(bench, socket);
	riounmap(socket, bench->buffer, bench->size);
	return ret;
}

static int run_all(struct bench *bench, int socket, bool latency)
{
	bench->sent = bench->received = 0;
	return bench->is_custom ? bench_run_custom(bench, socket, run_test)
				: bench_run_table(bench, socket, latency, run_test);
}

static int connection(struct bench *bench, int listener, bool latency)
{
	int socket;
	int ret = bench->host ? bench_connect(bench, &socket)
			      : bench_accept(bench, listener, &socket);

	if (ret)
		return ret;
	ret = run_all(bench, socket, latency);
	bench_hang_up(bench, socket);
	return ret;
}

static int connections(struct bench *bench, int listener)
{
	int ret = connection(bench, listener, true);

	return ret || bench->is_custom ? ret : connection(bench, listener, false);
}

static int serve(struct bench *bench)
{
	int listener;
	int ret = bench_listen(bench, &listener);

	if (ret)
		return ret;
	ret = connections(bench, listener);
	rclose(listener);
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
	       "\t[-T test_option]\n"
	       "\t    a|async - asynchronous operation (use poll)\n"
	       "\t    b|blocking - use blocking calls\n"
	       "\t    n|nonblocking - use nonblocking calls\n"
	       "\t    v|verify - verify data\n");
	return 1;
}

static bool has_test(const char *word)
{
	return strchr("abnv", word[0]) != NULL;
}

int main(int argc, char **argv)
{
	struct bench bench;
	int option, ret;

	bench_init(&bench, argv[0], "7471");
	bench.mappings = 1;
	while ((option = getopt(argc, argv, "s:b:f:B:i:I:C:S:p:T:")) != -1) {
		if (option == 'T' ? !has_test(optarg) || !bench_take_test(&bench, optarg)
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
