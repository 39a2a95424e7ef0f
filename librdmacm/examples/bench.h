/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench.h - what rstream, riostream and udpong share: a ping-pong of a number of transfers, a number of times, over a
 * table of sizes or one of the user's choice; its options and its table of results.
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

/* Sockets of this library, or the system's. */
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

extern const struct bench_calls bench_rsockets, bench_sockets;

struct bench {
	const struct bench_calls *calls;
	const char *program;
	const char *host, *local, *port;
	struct rdma_addrinfo hints;
	bool use_cm_resolver;
	int buffer_size, inline_size, keepalive, mappings;
	int iterations, transfers,
		size; /* of the test that runs; given by the user, or from the table */
	bool is_custom, all_sizes;
	bool use_poll, use_fork, verify, echo;
	int flags; /* MSG_DONTWAIT, or 0: blocking */
	uint8_t *buffer;
	size_t buffer_room;
	uint8_t sent, received; /* next byte of the pattern, each way */
	struct timespec start, end;
	char name[24];
};

enum { BENCH_MAX_SIZE = 6 << 20, BENCH_SYNC_SIZE = 16 };

void bench_init(struct bench *bench, const char *program, const char *port);
/* -T's argument: a word, or its first letter. false: unknown */
bool bench_take_test(struct bench *bench, const char *word);
/* An option that the programs have in common. false: none of them */
bool bench_take_option(struct bench *bench, int option, const char *value);
int bench_alloc(struct bench *bench);

/* Results. */
void bench_print_heading(void);
void bench_start(struct bench *bench);
void bench_stop(struct bench *bench);
void bench_print(const struct bench *bench);
/* udpong's: without iterations, transfers as they are */
void bench_print_datagram_heading(void);
void bench_print_datagrams(const struct bench *bench);

/* The table: for each size, how many transfers are enough. NULL-like end: size 0 */
int bench_size(unsigned int index, bool all);
int bench_enough(int size);

/* The pattern of -T v */
void bench_fill(struct bench *bench, void *buf, size_t size);
int bench_check(struct bench *bench, const void *buf, size_t size);

/* Connections. 0 or -1, having said why */
int bench_listen(struct bench *bench, int *listener);
int bench_accept(struct bench *bench, int listener, int *socket);
int bench_connect(struct bench *bench, int *socket);
int bench_wait(struct bench *bench, int socket, short events);
int bench_send(struct bench *bench, int socket, size_t size);
int bench_receive(struct bench *bench, int socket, size_t size);
/* Both sides are there. */
int bench_sync(struct bench *bench, int socket);
void bench_hang_up(struct bench *bench, int socket);

/* All tests, or the user's: RUN is called for each. */
int bench_run_table(struct bench *bench, int socket, bool latency,
		    int (*run)(struct bench *bench, int socket));
int bench_run_custom(struct bench *bench, int socket, int (*run)(struct bench *bench, int socket));
void bench_set_options(struct bench *bench, int socket);

#endif
