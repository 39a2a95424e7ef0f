/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_cm.c - control_cm connections|sockets|curve: instructions of the calls of rdma_cm that
 * make and end a connection, of the calls of rsockets that control.c has no row for, and of ids and
 * of streams that are made where many are there.
 *
 * Each row calls something EACH times in each round, under callgrind; what has to be there before,
 * and what has to go afterwards, is not counted. Both ends of a connection are in this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

#include "bench/count.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { EACH = 16, WAIT_MS = 2000, BACKLOG = 64, MOST_IDS = 10000, MOST_STREAMS = 100 };

/* Objects that the rows use: ids of both ends, or sockets. */
struct world {
	struct rdma_event_channel *channel, *other, *server;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id[EACH], *peer[EACH];
	struct rdma_cm_event *event[EACH];
	struct ibv_pd *pd;
	struct rdma_addrinfo *info;
	int socket[EACH];
	int listening, ends[2];
};

typedef void (*step)(struct world *w, int i);

struct row {
	const char *name;
	step before[5], run, after[6]; /* each step runs for all objects before the next one */
};

static void run_all(struct world *w, step step)
{
	for (int i = 0; step && i < EACH; i++)
		step(w, i);
}

static void row_measure(struct world *w, const struct row *row)
{
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(row->before); i++)
			run_all(w, row->before[i]);
		CALLGRIND_TOGGLE_COLLECT;
		run_all(w, row->run);
		CALLGRIND_TOGGLE_COLLECT;
		for (size_t i = 0; i < ARRAY_SIZE(row->after); i++)
			run_all(w, row->after[i]);
		count_round_end(round);
	}
	count_dump(row->name, EACH);
	fflush(stdout);
}

static void rows_measure(struct world *w, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_measure(w, &rows[i]);
	fflush(stdout);
}

/* ---- ids, up to a connection ---- */

static struct sockaddr *loopback(__be16 port)
{
	static struct sockaddr_in addr;

	addr = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = port,
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	return (struct sockaddr *)&addr;
}

static void id_make(struct world *w, int i)
{
	MUST(!rdma_create_id(w->channel, &w->id[i], NULL, RDMA_PS_TCP));
}

static void id_make_alone(struct world *w, int i)
{
	MUST(!rdma_create_id(NULL, &w->id[i], NULL, RDMA_PS_TCP));
}

static void id_end(struct world *w, int i)
{
	MUST(!rdma_destroy_id(w->id[i]));
}

static void id_resolve(struct world *w, int i)
{
	MUST(!rdma_resolve_addr(w->id[i], NULL, loopback(rdma_get_src_port(w->listener)), WAIT_MS));
}

static void id_route(struct world *w, int i)
{
	MUST(!rdma_resolve_route(w->id[i], WAIT_MS));
}

static void event_get(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->channel, &w->event[i]) && !w->event[i]->status);
}

static void event_ack(struct world *w, int i)
{
	MUST(!rdma_ack_cm_event(w->event[i]));
}

static void event_take(struct world *w, int i)
{
	event_get(w, i);
	event_ack(w, i);
}

static void id_resolved(struct world *w, int i)
{
	id_make(w, i);
	id_resolve(w, i);
	event_take(w, i);
}

static void id_routed(struct world *w, int i)
{
	id_resolved(w, i);
	id_route(w, i);
	event_take(w, i);
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
}

static void qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!rdma_create_qp(w->id[i], w->pd, &attr));
}

static void qp_make_ex(struct world *w, int i)
{
	struct ibv_qp_init_attr_ex attr = { .cap = { 8, 8, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = w->id[i]->pd };

	MUST(!rdma_create_qp_ex(w->id[i], &attr));
}

static void qp_end(struct world *w, int i)
{
	rdma_destroy_qp(w->id[i]);
}

static void srq_make(struct world *w, int i)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };

	MUST(!rdma_create_srq(w->id[i], w->pd, &attr));
}

static void srq_end(struct world *w, int i)
{
	rdma_destroy_srq(w->id[i]);
}

static void qp_init_attr(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	MUST(!rdma_init_qp_attr(w->id[i], &attr, &mask));
}

static void option_set(struct world *w, int i)
{
	uint8_t tos = 8;

	MUST(!rdma_set_option(w->id[i], RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
}

static void id_migrate(struct world *w, int i)
{
	MUST(!rdma_migrate_id(w->id[i], w->other));
}

static void id_connect(struct world *w, int i)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	MUST(!rdma_connect(w->id[i], &param));
}

static void peer_get(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->server, &w->event[i]));
	w->peer[i] = w->event[i]->id;
}

static void peer_take(struct world *w, int i)
{
	peer_get(w, i);
	event_ack(w, i);
}

static void peer_qp_make(struct world *w, int i)
{
	struct ibv_qp_init_attr attr = qp_attr();

	MUST(!rdma_create_qp(w->peer[i], w->pd, &attr));
}

static void peer_accept(struct world *w, int i)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	MUST(!rdma_accept(w->peer[i], &param));
}

static void peer_reject(struct world *w, int i)
{
	MUST(!rdma_reject(w->peer[i], NULL, 0));
}

static void event_drop(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->channel, &w->event[i]));
	event_ack(w, i);
}

static void peer_event_drop(struct world *w, int i)
{
	MUST(!rdma_get_cm_event(w->server, &w->event[i]));
	event_ack(w, i);
}

static void id_asked(struct world *w, int i)
{
	id_routed(w, i);
	qp_make(w, i);
	id_connect(w, i);
	peer_take(w, i);
	peer_qp_make(w, i);
}

static void id_connected(struct world *w, int i)
{
	id_asked(w, i);
	peer_accept(w, i);
	event_take(w, i);
	peer_event_drop(w, i);
}

static void id_disconnect(struct world *w, int i)
{
	MUST(!rdma_disconnect(w->id[i]));
}

static void ends_end(struct world *w, int i)
{
	qp_end(w, i);
	id_end(w, i);
	rdma_destroy_qp(w->peer[i]);
	MUST(!rdma_destroy_id(w->peer[i]));
}

static void peer_end(struct world *w, int i)
{
	MUST(!rdma_destroy_id(w->peer[i]));
}

static void ports_get(struct world *w, int i)
{
	MUST(rdma_get_src_port(w->id[i]) && rdma_get_dst_port(w->id[i]));
}

static void names_get(struct world *w, int i)
{
	(void)w;
	MUST(rdma_event_str((enum rdma_cm_event_type)(i % RDMA_CM_EVENT_TIMEWAIT_EXIT)));
}

static void ece_set(struct world *w, int i)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 1 };

	MUST(!rdma_set_local_ece(w->id[i], &ece));
}

static void passive_addrinfo(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };

	(void)i;
	MUST(!rdma_getaddrinfo(NULL, "7471", &hints, &w->info));
	rdma_freeaddrinfo(w->info);
}

static void ep_ask(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };

	if (!i)
		MUST(!rdma_getaddrinfo(NULL, "0", &hints, &w->info));
}

static void ep_make(struct world *w, int i)
{
	MUST(!rdma_create_ep(&w->id[i], w->info, NULL, NULL));
}

static void ep_end(struct world *w, int i)
{
	rdma_destroy_ep(w->id[i]);
	if (i + 1 == EACH)
		rdma_freeaddrinfo(w->info);
}

static const struct row connections[] = {
	{ "rdma_create_id, own channel", { NULL }, id_make_alone, { id_end } },
	{ "rdma_destroy_id, own channel", { id_make_alone }, id_end, { NULL } },
	{ "rdma_resolve_addr", { id_make }, id_resolve, { event_take, id_end } },
	{ "rdma_get_cm_event, ADDR_RESOLVED",
	  { id_make, id_resolve },
	  event_get,
	  { event_ack, id_end } },
	{ "rdma_ack_cm_event", { id_make, id_resolve, event_get }, event_ack, { id_end } },
	{ "rdma_resolve_route", { id_resolved }, id_route, { event_take, id_end } },
	{ "rdma_get_cm_event, ROUTE_RESOLVED",
	  { id_resolved, id_route },
	  event_get,
	  { event_ack, id_end } },
	{ "rdma_create_qp", { id_routed }, qp_make, { qp_end, id_end } },
	{ "rdma_create_qp_ex", { id_routed }, qp_make_ex, { qp_end, id_end } },
	{ "rdma_destroy_qp", { id_routed, qp_make }, qp_end, { id_end } },
	{ "rdma_create_srq", { id_routed }, srq_make, { srq_end, id_end } },
	{ "rdma_destroy_srq", { id_routed, srq_make }, srq_end, { id_end } },
	{ "rdma_init_qp_attr", { id_routed }, qp_init_attr, { id_end } },
	{ "rdma_set_option", { id_make }, option_set, { id_end } },
	{ "rdma_set_local_ece", { id_make }, ece_set, { id_end } },
	{ "rdma_migrate_id", { id_make }, id_migrate, { id_end } },
	{ "rdma_get_src_port, rdma_get_dst_port", { id_routed }, ports_get, { id_end } },
	{ "rdma_event_str", { NULL }, names_get, { NULL } },
	{ "rdma_getaddrinfo, passive", { NULL }, passive_addrinfo, { NULL } },
	{ "rdma_create_ep, passive", { ep_ask }, ep_make, { ep_end } },
	{ "rdma_destroy_ep, passive", { ep_ask, ep_make }, ep_end, { NULL } },
	{ "rdma_connect",
	  { id_routed, qp_make },
	  id_connect,
	  { peer_take, peer_reject, event_drop, qp_end, id_end, peer_end } },
	{ "rdma_get_cm_event, CONNECT_REQUEST",
	  { id_routed, qp_make, id_connect },
	  peer_get,
	  { event_ack, peer_reject, event_drop, qp_end, id_end, peer_end } },
	{ "rdma_reject",
	  { id_routed, qp_make, id_connect, peer_take },
	  peer_reject,
	  { event_drop, qp_end, id_end, peer_end } },
	{ "rdma_accept", { id_asked }, peer_accept, { event_take, ends_end } },
	{ "rdma_get_cm_event, ESTABLISHED",
	  { id_asked, peer_accept },
	  event_get,
	  { event_ack, ends_end } },
	{ "rdma_disconnect", { id_connected }, id_disconnect, { ends_end } },
};

static void connections_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	MUST(w->other = rdma_create_event_channel());
	MUST(w->server = rdma_create_event_channel());
	MUST(!rdma_create_id(w->server, &w->listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(w->listener, loopback(0)));
	MUST(!rdma_listen(w->listener, BACKLOG));
	rows_measure(w, connections, ARRAY_SIZE(connections));
	MUST(!rdma_destroy_id(w->listener));
	rdma_destroy_event_channel(w->server);
	rdma_destroy_event_channel(w->other);
	rdma_destroy_event_channel(w->channel);
}

/* ---- rsockets ---- */

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

static void sockets_select(struct world *w, int i)
{
	struct timeval none = { 0 };
	fd_set set;

	(void)i;
	FD_ZERO(&set);
	FD_SET(w->ends[0], &set);
	MUST(!rselect(w->ends[0] + 1, &set, NULL, NULL, &none));
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
	{ "rrecvfrom, 64 bytes", FILLED, bytes_recvfrom, { ends_settle } },
	{ "rrecvmsg, 64 bytes", FILLED, bytes_recvmsg, { ends_settle } },
	{ "rselect of 1, no time", { NULL }, sockets_select, { NULL } },
};

static void *stream_accept(void *arg)
{
	int *ends = arg;

	MUST((ends[1] = raccept(ends[1], NULL, NULL)) >= 0);
	return NULL;
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
	MUST(!rconnect(ends[0], loopback(((struct sockaddr_in *)&to)->sin_port),
		       sizeof(struct sockaddr_in)));
	MUST(!pthread_join(thread, NULL));
}

static void listener_open(struct world *w)
{
	MUST((w->listening = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rbind(w->listening, loopback(0), sizeof(struct sockaddr_in)));
	MUST(!rlisten(w->listening, BACKLOG));
}

static void sockets_measure(struct world *w)
{
	listener_open(w);
	stream_connect(w->listening, w->ends);
	rows_measure(w, sockets, ARRAY_SIZE(sockets));
	_exit(0); /* _exit(), as the waits of a close are not measured */
}

static struct rdma_cm_id *ids[MOST_IDS];

static void bound_make(struct world *w, int i)
{
	id_make(w, i);
	MUST(!rdma_bind_addr(w->id[i], loopback(0)));
}

static void curve_of_ids(struct world *w)
{
	char name[2][64];

	for (int count = 0, there = 0; there <= MOST_IDS; there = there ? 10 * there : 10) {
		for (; count < there; count++) {
			MUST(!rdma_create_id(w->channel, &ids[count], NULL, RDMA_PS_TCP));
			MUST(!rdma_bind_addr(ids[count], loopback(0)));
		}
		snprintf(name[0], sizeof(name[0]), "create and bind an id, %d there", there);
		snprintf(name[1], sizeof(name[1]), "destroy an id, %d there", there);
		row_measure(w, &(struct row){ name[0], { NULL }, bound_make, { id_end } });
		row_measure(w, &(struct row){ name[1], { bound_make }, id_end, { NULL } });
	}
	fflush(stdout);
}

static void curve_of_streams(struct world *w)
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
}

static void curve_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	curve_of_ids(w);
	curve_of_streams(w);
	_exit(0); /* closing ten thousand ends would take long, and is not measured */
}

static const struct part {
	const char *name;
	void (*measure)(struct world *w);
} parts[] = {
	{ "connections", connections_measure },
	{ "sockets", sockets_measure },
	{ "curve", curve_measure },
};

int main(int argc, char **argv)
{
	static struct world w;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (argc == 2 && !strcmp(argv[1], parts[i].name)) {
			parts[i].measure(&w);
			return 0;
		}
	}
	return 2;
}
