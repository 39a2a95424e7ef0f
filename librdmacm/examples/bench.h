/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench.h - shared by rstream, riostream and udpong: options, a table of sizes, and a table of
 * results. A test repeats a ping-pong of some transfers, with each size of the table or with the
 * user's size.
 */
#ifndef RDMACM_EXAMPLES_BENCH_H
#define RDMACM_EXAMPLES_BENCH_H

#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "complain.h"
#include "util/bits.h"

struct bench_calls {
	int (*socket)(int domain, int type, int protocol);
	int (*bind)(int socket, const struct sockaddr *addr, socklen_t len);
	int (*listen)(int socket, int backlog);
	int (*accept)(int socket, struct sockaddr *addr, socklen_t *len);
	int (*connect)(int socket, const struct sockaddr *addr, socklen_t len);
	int (*shutdown)(int socket, int how);
	int (*close)(int socket);
	ssize_t (*send)(int socket, const void *buf, size_t size, int flags);
	ssize_t (*recv)(int socket, void *buf, size_t size, int flags);
	ssize_t (*sendto)(int socket, const void *buf, size_t size, int flags,
			  const struct sockaddr *to, socklen_t len);
	ssize_t (*recvfrom)(int socket, void *buf, size_t size, int flags, struct sockaddr *from,
			    socklen_t *len);
	int (*poll)(struct pollfd *fds, nfds_t count, int timeout);
	int (*fcntl)(int socket, int command, ...);
	int (*setsockopt)(int socket, int level, int name, const void *value, socklen_t len);
	int (*getsockopt)(int socket, int level, int name, void *value, socklen_t *len);
};

extern const struct bench_calls bench_rsockets;

struct bench_program {
	const char *port;
	const char *options;
	const char *tests; /* first letters of the words that -T accepts */
	const char *sizes; /* what usage says of -S */
};

struct bench {
	const struct bench_calls *calls;
	const struct bench_program *program;
	const char *host, *local, *port;
	struct rdma_addrinfo hints;
	bool use_cm_resolver;
	int buffer_size, inline_size, keepalive, mappings;
	/* parameters of the current test: the user's, or from the table */
	int iterations, transfers, size;
	bool is_custom, all_sizes;
	bool use_poll, use_fork, verify, echo;
	int flags;
	uint8_t *buffer;
	size_t buffer_room;
	uint8_t sent, received; /* next byte of the pattern, for each direction */
	struct timespec start, end;
	char name[24];
};

enum { BENCH_MAX_SIZE = 6 << 20, BENCH_SYNC_SIZE = 16 };

void bench_init(struct bench *bench, const struct bench_program *program);
/* Parses the command line. Returns false after printing usage. */
bool bench_take_options(struct bench *bench, int argc, char **argv);

/* ---- results ---- */

void bench_print_heading(void);
void bench_start(struct bench *bench);
void bench_stop(struct bench *bench);
void bench_print(const struct bench *bench);
/* udpong's table has no iterations, and counts transfers in one direction. */
void bench_print_datagram_heading(void);
void bench_print_datagrams(const struct bench *bench);

/* ---- the pattern that -T v checks ---- */

void bench_fill(struct bench *bench, void *buf, size_t size);
int bench_check(struct bench *bench, const void *buf, size_t size);

/* ---- connections: the calls return 0, or -1 after printing the reason ---- */

int bench_accept(struct bench *bench, int listener, int *socket);
int bench_wait(struct bench *bench, int socket, short events);
int bench_send(struct bench *bench, int socket, size_t size);
int bench_receive(struct bench *bench, int socket, size_t size);
/* Sends a message there and back, so that both sides know that the other one is ready. */
int bench_sync(struct bench *bench, int socket);

typedef int (*bench_run)(struct bench *bench, int socket);
/* Calls RUN for each size of the table, or once for the test that the user chose. */
int bench_run_all(struct bench *bench, int socket, bool latency, bench_run run);

/* Runs rstream or riostream after their options. Returns the exit status. Without a user's test it
 * makes two connections, for latency and for bandwidth. SERVE, unless NULL, replaces the server's
 * loop on its listening socket. */
int bench_run_streams(struct bench *bench, bench_run run,
		      int (*serve)(struct bench *bench, int listener));
int bench_run_connection(struct bench *bench, int socket, bool latency, bench_run run);

#endif
