/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * riostream.c - rstream with riowrite(): each side maps its buffer, and the peer writes its
 * transfers directly into it.
 *
 * The receiver detects transfers in its buffer. Both sides count batches: the counter increases
 * with each batch of either side. The last byte of a batch's last transfer is the counter; the
 * earlier transfers leave that byte unchanged.
 */
#include "bench.h"

#include <errno.h>
#include <rdma/rsocket.h>
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

/* Waits until the batch has arrived in memory. Also checks the connection now and then, because
 * memory does not show that the connection has ended. */
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

/* Synchronises without the pattern: the buffer is shared, so a byte of the message could be taken
 * for the counter. */
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

int main(int argc, char **argv)
{
	static const struct bench_program program = {
		.port = "7471",
		.options = "s:b:f:B:i:I:C:S:p:T:",
		.tests = "abnv",
		.sizes = "transfer_size or all",
	};
	struct bench bench;

	bench_init(&bench, &program);
	bench.mappings = 1;
	if (!bench_take_options(&bench, argc, argv))
		return 1;
	return bench_run_streams(&bench, run_test, NULL);
}
