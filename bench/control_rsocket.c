/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_rsocket.c - control_rsocket sockets|curve: instructions of the calls of rsockets that
 * control.c has no row for, and of streams that are made where many are there. Both ends of a
 * stream are in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <rdma/rsocket.h>

#include "bench/parts.h"
#include "bench/steps.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { MOST_STREAMS = 100 };

/* Objects that the rows use. */
struct world {
	int socket[EACH];
	int pair[EACH][2]; /* streams, made anew for each row */
	int listening, ends[2];
	int epoll;
	off_t offset; /* of memory that ends[1] has mapped */
};

static void socket_make(struct world *w, int i)
{
	MUST((w->socket[i] = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
}

static void socket_end(struct world *w, int i)
{
	MUST(!rclose(w->socket[i]));
}

static void socket_bind(struct world *w, int i)
{
	MUST(!rbind(w->socket[i], loopback(0), sizeof(struct sockaddr_in)));
}

static void socket_listen(struct world *w, int i)
{
	MUST(!rlisten(w->socket[i], BACKLOG));
}

static void socket_name(struct world *w, int i)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	(void)i;
	MUST(!rgetsockname(w->ends[0], (struct sockaddr *)&name, &len));
}

static void socket_peer(struct world *w, int i)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	(void)i;
	MUST(!rgetpeername(w->ends[0], (struct sockaddr *)&name, &len));
}

static void sockopt_get(struct world *w, int i)
{
	socklen_t len = sizeof(i);

	MUST(!rgetsockopt(w->ends[0], SOL_SOCKET, SO_RCVBUF, &i, &len));
}

static void sockopt_set(struct world *w, int i)
{
	i = 1;
	MUST(!rsetsockopt(w->ends[0], IPPROTO_TCP, TCP_NODELAY, &i, sizeof(i)));
}

#define SETS(name, level, option, number)                                               \
	static void name(struct world *w, int i)                                        \
	{                                                                               \
		int value = number;                                                     \
                                                                                        \
		MUST(!rsetsockopt(w->socket[i], level, option, &value, sizeof(value))); \
	}

SETS(sndbuf_set, SOL_SOCKET, SO_SNDBUF, 1 << 16)
SETS(keepalive_set, SOL_SOCKET, SO_KEEPALIVE, 1)
SETS(idle_set, IPPROTO_TCP, TCP_KEEPIDLE, 60)
SETS(sq_size_set, SOL_RDMA, RDMA_SQSIZE, 64)

static void linger_set(struct world *w, int i)
{
	struct linger linger = { 1, 1 };

	MUST(!rsetsockopt(w->socket[i], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
}

static void error_get(struct world *w, int i)
{
	socklen_t len = sizeof(i);

	MUST(!rgetsockopt(w->ends[0], SOL_SOCKET, SO_ERROR, &i, &len));
}

static void flags_get(struct world *w, int i)
{
	(void)i;
	MUST(rfcntl(w->ends[0], F_GETFL) >= 0);
}

static char bytes[64];

static void bytes_write(struct world *w, int i)
{
	(void)i;
	MUST(rwrite(w->ends[0], bytes, sizeof(bytes)) == sizeof(bytes));
}

static void bytes_writev(struct world *w, int i)
{
	struct iovec parts[] = { { bytes, sizeof(bytes) / 2 }, { bytes, sizeof(bytes) / 2 } };

	(void)i;
	MUST(rwritev(w->ends[0], parts, ARRAY_SIZE(parts)) == sizeof(bytes));
}

static void bytes_sendto(struct world *w, int i)
{
	(void)i;
	MUST(rsendto(w->ends[0], bytes, sizeof(bytes), 0, NULL, 0) == sizeof(bytes));
}

static void bytes_sendmsg(struct world *w, int i)
{
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	(void)i;
	MUST(rsendmsg(w->ends[0], &msg, 0) == sizeof(bytes));
}

enum { ARRIVE_US = 50000 };

/* Fills the streams, as everything must have arrived before the first measured receive. */
static void bytes_fill(struct world *w, int i)
{
	bytes_write(w, i);
	if (i + 1 == EACH)
		usleep(ARRIVE_US);
}

static void bytes_read(struct world *w, int i)
{
	(void)i;
	MUST(rread(w->ends[1], bytes, sizeof(bytes)) == sizeof(bytes));
}

static void bytes_recvfrom(struct world *w, int i)
{
	(void)i;
	MUST(rrecvfrom(w->ends[1], bytes, sizeof(bytes), 0, NULL, NULL) == sizeof(bytes));
}

static void bytes_recvmsg(struct world *w, int i)
{
	struct iovec part = { bytes, sizeof(bytes) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	(void)i;
	MUST(rrecvmsg(w->ends[1], &msg, 0) == sizeof(bytes));
}

/* Lets each end process its completions, so that it grants room to its peer. */
static void ends_settle(struct world *w, int i)
{
	struct pollfd fds[] = { { .fd = w->ends[0], .events = POLLIN },
				{ .fd = w->ends[1], .events = POLLIN } };

	MUST(i || rpoll(fds, ARRAY_SIZE(fds), 0) >= 0);
}

static void bytes_readv(struct world *w, int i)
{
	struct iovec parts[] = { { bytes, sizeof(bytes) / 2 }, { bytes, sizeof(bytes) / 2 } };

	(void)i;
	MUST(rreadv(w->ends[1], parts, ARRAY_SIZE(parts)) > 0);
}

/* Release 65.0 reads only the first part. */
static void rest_read(struct world *w, int i)
{
	while (!i && rrecv(w->ends[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

/* Memory of ends[1], which ends[0] writes. */
static char memory[EACH + 1][64];

static void memory_map(struct world *w, int i)
{
	MUST(riomap(w->ends[1], memory[i], sizeof(memory[i]), PROT_WRITE, 0, -1) >= 0);
}

static void memory_unmap(struct world *w, int i)
{
	MUST(!riounmap(w->ends[1], memory[i], sizeof(memory[i])));
}

static void memory_write(struct world *w, int i)
{
	(void)i;
	MUST(riowrite(w->ends[0], bytes, sizeof(bytes), w->offset, 0) == sizeof(bytes));
}

static void sockets_select(struct world *w, int i)
{
	struct timeval none = { 0 };
	fd_set set;

	(void)i;
	FD_ZERO(&set);
	FD_SET(w->ends[0], &set);
	MUST(!rselect(w->ends[0] + 1, &set, NULL, NULL, &none));
}

static void epoll_make(struct world *w, int i)
{
	MUST((w->socket[i] = repoll_create(1)) >= 0);
}

static void epoll_end(struct world *w, int i)
{
	MUST(!close(w->socket[i]));
}

static void epoll_add(struct world *w, int i)
{
	struct epoll_event event = { .events = EPOLLIN };

	MUST(!repoll_ctl(w->epoll, EPOLL_CTL_ADD, w->socket[i], &event));
}

static void epoll_drop(struct world *w, int i)
{
	MUST(!repoll_ctl(w->epoll, EPOLL_CTL_DEL, w->socket[i], NULL));
}

static void stream_connect(int listening, int ends[2]);

static void pair_make(struct world *w, int i)
{
	stream_connect(w->listening, w->pair[i]);
}

static void pair_shut(struct world *w, int i)
{
	MUST(!rshutdown(w->pair[i][0], SHUT_WR));
}

static void pair_end(struct world *w, int i)
{
	MUST(!rclose(w->pair[i][0]) && !rclose(w->pair[i][1]));
}

#define FILLED             \
	{                  \
		bytes_fill \
	}
#define EMPTIED                         \
	{                               \
		bytes_read, ends_settle \
	}

static const struct row sockets[] = {
	{ "rsocket, stream", { NULL }, socket_make, { socket_end } },
	{ "rclose, new stream", { socket_make }, socket_end, { NULL } },
	{ "rbind", { socket_make }, socket_bind, { socket_end } },
	{ "rlisten", { socket_make, socket_bind }, socket_listen, { socket_end } },
	{ "rgetsockname", { NULL }, socket_name, { NULL } },
	{ "rgetpeername", { NULL }, socket_peer, { NULL } },
	{ "rgetsockopt", { NULL }, sockopt_get, { NULL } },
	{ "rsetsockopt", { NULL }, sockopt_set, { NULL } },
	{ "rgetsockopt, SO_ERROR", { NULL }, error_get, { NULL } },
	{ "rsetsockopt, SO_SNDBUF", { socket_make }, sndbuf_set, { socket_end } },
	{ "rsetsockopt, SO_LINGER", { socket_make }, linger_set, { socket_end } },
	{ "rsetsockopt, SO_KEEPALIVE", { socket_make }, keepalive_set, { socket_end } },
	{ "rsetsockopt, TCP_KEEPIDLE", { socket_make }, idle_set, { socket_end } },
	{ "rsetsockopt, RDMA_SQSIZE", { socket_make }, sq_size_set, { socket_end } },
	{ "rfcntl", { NULL }, flags_get, { NULL } },
	{ "rwrite, 64 bytes", { NULL }, bytes_write, EMPTIED },
	{ "rwritev, 2 parts of 32 bytes", { NULL }, bytes_writev, EMPTIED },
	{ "rsendto, 64 bytes", { NULL }, bytes_sendto, EMPTIED },
	{ "rsendmsg, 64 bytes", { NULL }, bytes_sendmsg, EMPTIED },
	{ "rread, 64 bytes", FILLED, bytes_read, { ends_settle } },
	{ "rreadv, 2 parts of 32 bytes", FILLED, bytes_readv, { rest_read, ends_settle } },
	{ "rrecvfrom, 64 bytes", FILLED, bytes_recvfrom, { ends_settle } },
	{ "rrecvmsg, 64 bytes", FILLED, bytes_recvmsg, { ends_settle } },
	{ "rselect of 1, no time", { NULL }, sockets_select, { NULL } },
	{ "riomap", { NULL }, memory_map, { memory_unmap, ends_settle } },
	{ "riounmap", { memory_map, ends_settle }, memory_unmap, { ends_settle } },
	{ "riowrite, 64 bytes", { NULL }, memory_write, { ends_settle } },
	{ "repoll_create", { NULL }, epoll_make, { epoll_end } },
	{ "repoll_ctl, ADD", { socket_make }, epoll_add, { epoll_drop, socket_end } },
	{ "repoll_ctl, DEL", { socket_make, epoll_add }, epoll_drop, { socket_end } },
	{ "rshutdown, SHUT_WR", { pair_make }, pair_shut, { pair_end } },
};

static void *stream_accept(void *arg)
{
	int *ends = arg;

	MUST((ends[1] = raccept(ends[1], NULL, NULL)) >= 0);
	return NULL;
}

/* Mappings that the peer may have. */
static void room_make(int socket)
{
	const int mappings = 2 * EACH;

	MUST(!rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &mappings, sizeof(mappings)));
}

static void stream_connect(int listening, int ends[2])
{
	struct sockaddr_storage to;
	socklen_t len = sizeof(to);
	pthread_t thread;

	MUST(!rgetsockname(listening, (struct sockaddr *)&to, &len));
	ends[1] = listening;
	MUST(!pthread_create(&thread, NULL, stream_accept, ends));
	MUST((ends[0] = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	room_make(ends[0]);
	MUST(!rconnect(ends[0], loopback(((struct sockaddr_in *)&to)->sin_port),
		       sizeof(struct sockaddr_in)));
	MUST(!pthread_join(thread, NULL));
}

static void listener_open(struct world *w)
{
	MUST((w->listening = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	room_make(w->listening);
	MUST(!rbind(w->listening, loopback(0), sizeof(struct sockaddr_in)));
	MUST(!rlisten(w->listening, BACKLOG));
}

static void sockets_measure(struct world *w)
{
	listener_open(w);
	stream_connect(w->listening, w->ends);
	MUST((w->epoll = repoll_create(1)) >= 0);
	/* a byte behind the mapping tells the peer of it */
	w->offset = riomap(w->ends[1], memory[EACH], sizeof(memory[EACH]), PROT_WRITE, 0, -1);
	MUST(w->offset >= 0);
	MUST(rsend(w->ends[1], bytes, 1, 0) == 1 && rrecv(w->ends[0], bytes, 1, 0) == 1);
	rows_measure(w, sockets, ARRAY_SIZE(sockets));
	_exit(0); /* _exit(), as the waits of a close are not measured */
}

static void curve_measure(struct world *w)
{
	char name[64];
	int ends[2];

	listener_open(w);
	stream_connect(w->listening, w->ends);
	for (int count = 1, there = 1; there <= MOST_STREAMS; there *= 10) {
		for (; count < there; count++)
			stream_connect(w->listening, ends);
		snprintf(name, sizeof(name), "rwrite, %d streams there", there);
		row_measure(w, &(struct row){ name, { NULL }, bytes_write, EMPTIED });
	}
	fflush(stdout);
	_exit(0); /* closing a hundred streams would take long, and is not measured */
}

static const struct part parts[] = {
	{ "sockets", sockets_measure },
	{ "curve", curve_measure },
};

int main(int argc, char **argv)
{
	static struct world w;

	return part_measure(&w, parts, ARRAY_SIZE(parts), argc, argv);
}
