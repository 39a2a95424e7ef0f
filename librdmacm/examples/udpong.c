/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * udpong.c - measures the rate of datagrams: the client sends a number of them, which the server
 * may echo, and queries how many have arrived. The server serves any client, until it is stopped.
 *
 * Messages begin with a struct head. As observed with strace (-T s), Debian's udpong logs in,
 * begins a test, sends its data, and ends the test; a message without an answer is repeated. The
 * sequence number counts messages that need an answer.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum op { OP_LOGIN, OP_BEGIN, OP_DATA, OP_ECHO, OP_END };

struct head {
	uint8_t op;
	uint8_t test; /* 0: the user's own test */
	uint8_t sequence;
	uint8_t reserved;
	uint32_t count; /* number of messages received, big-endian */
	uint8_t unused[8];
};
_Static_assert(sizeof(struct head) == 16, "as observed");

enum { MAX_SIZE = 2032, DEFAULT_BUFFER = 1 << 19, ANSWER_MS = 1000, ECHO_MS = 20, TRIES = 30 };

static const int sizes[] = { 64, 128, 256, 512, 1024, MAX_SIZE };

struct client {
	struct bench *bench;
	int socket;
	uint8_t test, sequence;
	uint32_t arrived;
};

static bool try_again(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNREFUSED;
}

static int find_address(struct bench *bench, struct addrinfo **info)
{
	const char *host = bench->host ? bench->host : bench->local;
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = bench->host ? 0 : AI_PASSIVE };
	int ret = getaddrinfo(host, bench->port, &hints, info);

	if (ret)
		printf("getaddrinfo: %s\n", gai_strerror(ret));
	return ret;
}

static int open_socket(struct bench *bench, const struct addrinfo *info)
{
	int size = bench->buffer_size ? bench->buffer_size : DEFAULT_BUFFER;
	int socket = bench->calls->socket(info->ai_family, SOCK_DGRAM, 0);

	if (socket < 0)
		return complain_errno("rsocket");
	bench->calls->setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	bench->calls->setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return socket;
}

static int wait_and_receive(struct bench *bench, int socket, struct sockaddr_storage *from,
			    socklen_t *len)
{
	ssize_t size;

	do {
		if (bench->use_poll)
			bench_wait(bench, socket, POLLIN);
		*len = sizeof(*from);
		size = bench->calls->recvfrom(socket, bench->buffer, bench->buffer_room,
					      bench->flags, (struct sockaddr *)from, len);
	} while (size < 0 && try_again());
	return size < 0 ? complain_errno("rrecvfrom") : (int)size;
}

/* Counts the message, and returns whether to answer it; the answer has the same bytes. */
static bool note_message(struct head *head, uint32_t *arrived)
{
	if (head->op == OP_BEGIN)
		*arrived = 0;
	if (head->op == OP_DATA || head->op == OP_ECHO)
		++*arrived;
	if (head->op == OP_END)
		head->count = htonl(*arrived);
	return head->op != OP_DATA && head->op <= OP_END;
}

static int serve_clients(struct bench *bench, int socket)
{
	struct sockaddr_storage from;
	uint32_t arrived = 0;
	socklen_t len;
	int size;

	for (;;) {
		size = wait_and_receive(bench, socket, &from, &len);
		if (size < 0)
			return size;
		if ((size_t)size < sizeof(struct head) ||
		    !note_message((struct head *)bench->buffer, &arrived))
			continue;
		while (bench->calls->sendto(socket, bench->buffer, size, bench->flags,
					    (struct sockaddr *)&from, len) < 0) {
			if (!try_again())
				return complain_errno("rsendto");
		}
	}
}

static int send_message(struct client *client, enum op op, size_t size)
{
	const struct bench *bench = client->bench;
	struct head head = { .op = op, .test = client->test, .sequence = client->sequence };

	memcpy(bench->buffer, &head, sizeof(head));
	do {
		if (bench->use_poll)
			bench_wait(client->bench, client->socket, POLLOUT);
		if (bench->calls->send(client->socket, bench->buffer, size, bench->flags) >= 0)
			return 0;
	} while (try_again());
	return complain_errno("rsend");
}

/* Returns whether the answer has come. Late answers to earlier messages are dropped. */
static bool is_answered(struct client *client, enum op op, int timeout_ms)
{
	const struct bench *bench = client->bench;
	struct pollfd fd = { .fd = client->socket, .events = POLLIN };
	struct head head;

	while (bench->calls->poll(&fd, 1, timeout_ms) > 0 && fd.revents & POLLIN) {
		if (bench->calls->recv(client->socket, bench->buffer, bench->buffer_room,
				       MSG_DONTWAIT) < (ssize_t)sizeof(head))
			continue;
		memcpy(&head, bench->buffer, sizeof(head));
		if (head.op == op && head.sequence == client->sequence) {
			client->arrived = ntohl(head.count);
			return true;
		}
	}
	return false;
}

/* Repeats a message until it is answered. */
static int ask_server(struct client *client, enum op op, size_t size, int timeout_ms)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	int tries = TRIES * ANSWER_MS / timeout_ms;

	while (tries--) {
		if (send_message(client, op, size))
			return -1;
		if (is_answered(client, op, timeout_ms)) {
			client->sequence++;
			return 0;
		}
		/* the server may not have started yet, so the client tries again */
		nanosleep(&pause, NULL);
	}
	printf("no answer from the server\n");
	return -1;
}

static int send_all(struct client *client)
{
	struct bench *bench = client->bench;
	int ret = 0;

	for (int i = 0; i < bench->transfers && !ret; i++)
		ret = bench->echo ? ask_server(client, OP_ECHO, bench->size, ECHO_MS)
				  : send_message(client, OP_DATA, bench->size);
	return ret;
}

static void print_result(const struct client *client)
{
	struct bench shown = *client->bench;

	shown.transfers = (int)client->arrived * (shown.echo ? 2 : 1);
	bench_print_datagrams(&shown);
}

static int run_test(struct client *client)
{
	struct bench *bench = client->bench;
	int ret = ask_server(client, OP_BEGIN, sizeof(struct head), ANSWER_MS);

	bench_start(bench);
	if (!ret)
		ret = send_all(client);
	if (!ret)
		ret = ask_server(client, OP_END, sizeof(struct head), ANSWER_MS);
	bench_stop(bench);
	if (!ret)
		print_result(client);
	return ret;
}

static int run_table(struct client *client, bool latency)
{
	struct bench *bench = client->bench;
	int ret = 0;

	bench->echo = latency;
	bench->transfers = latency ? 10000 : 100000;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes) && !ret; i++) {
		bench->size = sizes[i];
		client->test++;
		snprintf(bench->name, sizeof(bench->name), "%d_%s", bench->size,
			 latency ? "lat" : "bw");
		ret = run_test(client);
	}
	return ret;
}

static int run_client(struct bench *bench, int socket)
{
	struct client client = { .bench = bench, .socket = socket };
	int ret = ask_server(&client, OP_LOGIN, sizeof(struct head), ANSWER_MS);

	if (ret)
		return ret;
	if (bench->is_custom) {
		strcpy(bench->name, "custom");
		return run_test(&client);
	}
	ret = run_table(&client, true);
	return ret ? ret : run_table(&client, false);
}

static int start_side(struct bench *bench, int socket, const struct addrinfo *info)
{
	if (!bench->host)
		return bench->calls->bind(socket, info->ai_addr, info->ai_addrlen)
			       ? complain_errno("rbind")
			       : serve_clients(bench, socket);
	if (bench->calls->connect(socket, info->ai_addr, info->ai_addrlen))
		return complain_errno("rconnect");
	bench_print_datagram_heading();
	return run_client(bench, socket);
}

static int run_program(struct bench *bench)
{
	struct addrinfo *info;
	int socket, ret;

	if (find_address(bench, &info))
		return 1;
	socket = open_socket(bench, info);
	ret = socket < 0 ? -1 : start_side(bench, socket, info);
	if (socket >= 0)
		bench->calls->close(socket);
	freeaddrinfo(info);
	return ret ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct bench_program program = {
		.port = "7174",
		.options = "s:b:B:C:S:p:T:",
		.tests = "sabne",
		.sizes = "transfer_size",
	};
	static uint8_t buffer[2 * MAX_SIZE];
	struct bench bench;

	bench_init(&bench, &program);
	if (!bench_take_options(&bench, argc, argv))
		return 1;
	if (bench.size < (int)sizeof(struct head))
		bench.size = sizeof(struct head);
	if (bench.size > MAX_SIZE)
		bench.size = MAX_SIZE;
	bench.buffer = buffer;
	bench.buffer_room = sizeof(buffer);
	return run_program(&bench);
}
