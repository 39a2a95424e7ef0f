/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * streams.c - streams latency|bandwidth: rsockets between two processes over the adapter, as
 * rstream measures them.
 *
 * Latency is the median, in microseconds, of the round trip of a message, for two sizes, with
 * blocking calls and with repeated non-blocking calls. Bandwidth is the MiB/s of a stream of
 * messages to one side, which reports when it has received all.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <sys/wait.h>

#include "bench/measure.h"
#include "tests/lib/say.h"

#define WARM_UP 100
#define TRIPS   1000
#define LARGE   (1 << 20)
#define TOTAL   (64 << 20)

static char buf[LARGE];

struct side {
	int socket;
	int flags;
	bool is_client;
};

static ssize_t bytes_moved(ssize_t done)
{
	if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	MUST(done > 0);
	return done;
}

static void send_all(const struct side *side, size_t size)
{
	for (size_t at = 0; at < size;)
		at += bytes_moved(rsend(side->socket, buf + at, size - at, side->flags));
}

static void receive_all(const struct side *side, size_t size)
{
	for (size_t at = 0; at < size;)
		at += bytes_moved(rrecv(side->socket, buf + at, size - at, side->flags));
}

static void message_round_trip(const struct side *side, size_t size)
{
	if (side->is_client) {
		send_all(side, size);
		receive_all(side, size);
	} else {
		receive_all(side, size);
		send_all(side, size);
	}
}

static void latency_of(struct side *side, size_t size, bool polls)
{
	static double us[TRIPS];

	side->flags = polls ? MSG_DONTWAIT : 0;
	for (int i = 0; i < WARM_UP; i++)
		message_round_trip(side, size);
	for (int i = 0; i < TRIPS; i++) {
		double start = now_us();

		message_round_trip(side, size);
		us[i] = now_us() - start;
	}
	if (side->is_client)
		printf("%zu bytes and back, %s\t%.1f\n", size, polls ? "polling" : "blocking",
		       median(us, TRIPS));
}

static void latency(struct side *side)
{
	latency_of(side, 64, false);
	latency_of(side, 64, true);
	latency_of(side, 4096, false);
	latency_of(side, 4096, true);
}

static void bandwidth_of(struct side *side, size_t size)
{
	double start = now_us();

	for (size_t sent = 0; sent < TOTAL; sent += size) {
		if (side->is_client)
			send_all(side, size);
		else
			receive_all(side, size);
	}
	if (!side->is_client) {
		send_all(side, 1);
		return;
	}
	receive_all(side, 1);
	printf("messages of %zu KiB\t%.1f\n", size >> 10,
	       TOTAL / (double)(1 << 20) / ((now_us() - start) / 1e6));
}

static void bandwidth(struct side *side)
{
	message_round_trip(side, 64);
	bandwidth_of(side, 4096);
	bandwidth_of(side, 65536);
	bandwidth_of(side, LARGE);
}

static void no_delay(int socket)
{
	int on = 1;

	MUST(!rsetsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
}

/* Sends the port through PIPE to the side that connects. */
static void side_serve(void (*run)(struct side *side), int pipe)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	struct side side = { 0 };
	int listener;

	MUST((listener = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rbind(listener, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(listener, 1));
	MUST(!rgetsockname(listener, (struct sockaddr *)&addr, &len));
	MUST(write(pipe, &addr.sin_port, sizeof(addr.sin_port)) == sizeof(addr.sin_port));
	MUST((side.socket = raccept(listener, NULL, NULL)) >= 0);
	no_delay(side.socket);
	run(&side);
	receive_all(&side, 1); /* waits, so that its peer has received everything */
	rclose(side.socket);
	rclose(listener);
}

static void connect_and(void (*run)(struct side *side), int pipe)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct side side = { .is_client = true };

	MUST(read(pipe, &addr.sin_port, sizeof(addr.sin_port)) == sizeof(addr.sin_port));
	MUST((side.socket = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rconnect(side.socket, (struct sockaddr *)&addr, sizeof(addr)));
	no_delay(side.socket);
	run(&side);
	side.flags = 0;
	send_all(&side, 1);
	fflush(stdout);
	rclose(side.socket);
}

int main(int argc, char **argv)
{
	bool is_latency = argc == 2 && !strcmp(argv[1], "latency");
	void (*run)(struct side * side) = is_latency ? latency : bandwidth;
	int status, ends[2];
	pid_t pid;

	if (argc != 2 || (!is_latency && strcmp(argv[1], "bandwidth") != 0))
		return 2;
	MUST(!pipe(ends));
	MUST((pid = fork()) >= 0);
	if (!pid) {
		side_serve(run, ends[1]);
		return 0;
	}
	connect_and(run, ends[0]);
	MUST(waitpid(pid, &status, 0) == pid);
	return status != 0;
}
