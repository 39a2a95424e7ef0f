/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connections.c - librdmacm: what a connection costs when 1, 100 or 1000 are made one phase at a time, as cmtime does.
 *
 * A thread of the same process serves. For each number: microseconds of a connection from its id to its disconnection, both
 * ends together, mostly softhca's answers; and what the library alone decides: how many calls it makes of the kernel's rdma_cm
 * and of the device for one connection (its write() and ioctl() come here first, see objects.c), and how many descriptors
 * there are when all are connected.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <sys/syscall.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

#define MOST        1000
#define RESOLVE_MS  5000
#define DISTRIBUTED __attribute__((visibility("default")))

static atomic_long writes, ioctls;

DISTRIBUTED ssize_t write(int fd, const void *buf, size_t count)
{
	writes++;
	return syscall(SYS_write, fd, buf, count);
}

DISTRIBUTED int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ioctls++;
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void create_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	MUST(!rdma_create_qp(id, NULL, &attr));
}

static void destroy(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	MUST(!rdma_destroy_id(id));
}

/* ---- the serving thread: answers until its channel's ids have all gone that CLIENTS will bring */

struct server {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	int clients;
};

static void serve_one(struct server *s, struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
	struct rdma_cm_id *id = event->id;
	enum rdma_cm_event_type type = event->event;

	MUST(!rdma_ack_cm_event(event));
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		create_qp(id);
		MUST(!rdma_accept(id, &param));
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		destroy(id);
		s->clients--;
		break;
	default:
		break;
	}
}

static void *serve(void *arg)
{
	struct server *s = arg;
	struct rdma_cm_event *event;

	while (s->clients) {
		MUST(!rdma_get_cm_event(s->channel, &event));
		serve_one(s, event);
	}
	return NULL;
}

static void server_open(struct server *s)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	MUST(s->channel = rdma_create_event_channel());
	MUST(!rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(s->listener, (struct sockaddr *)&any));
	MUST(!rdma_listen(s->listener, MOST));
}

/* ---- the connecting side: each phase for all ids, then the next */

struct client {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id[MOST];
	struct sockaddr_in to;
	int n;
};

static void await(struct client *c, enum rdma_cm_event_type type)
{
	for (int i = 0; i < c->n; i++) {
		struct rdma_cm_event *event;

		MUST(!rdma_get_cm_event(c->channel, &event));
		while (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT && event->event != type) {
			MUST(!rdma_ack_cm_event(event));
			MUST(!rdma_get_cm_event(c->channel, &event));
		}
		MUST(event->event == type);
		MUST(!rdma_ack_cm_event(event));
	}
}

static void client_connect(struct client *c)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 7 };

	for (int i = 0; i < c->n; i++)
		MUST(!rdma_create_id(c->channel, &c->id[i], NULL, RDMA_PS_TCP));
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_resolve_addr(c->id[i], NULL, (struct sockaddr *)&c->to, RESOLVE_MS));
	await(c, RDMA_CM_EVENT_ADDR_RESOLVED);
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_resolve_route(c->id[i], RESOLVE_MS));
	await(c, RDMA_CM_EVENT_ROUTE_RESOLVED);
	for (int i = 0; i < c->n; i++)
		create_qp(c->id[i]);
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_connect(c->id[i], &param));
	await(c, RDMA_CM_EVENT_ESTABLISHED);
}

static void client_disconnect(struct client *c)
{
	for (int i = 0; i < c->n; i++)
		MUST(!rdma_disconnect(c->id[i]));
	await(c, RDMA_CM_EVENT_DISCONNECTED);
	for (int i = 0; i < c->n; i++)
		destroy(c->id[i]);
}

static void measure(int n)
{
	static struct client c;
	struct server s = { .clients = n };
	pthread_t thread;
	double start;
	int fds;

	c.n = n;
	server_open(&s);
	MUST(c.channel = rdma_create_event_channel());
	c.to = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = rdma_get_src_port(s.listener),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
	MUST(!pthread_create(&thread, NULL, serve, &s));
	writes = 0;
	ioctls = 0;
	start = now_us();
	client_connect(&c);
	fds = rig_count_fds();
	client_disconnect(&c);
	MUST(!pthread_join(thread, NULL));
	printf("%d: microseconds each\t%.1f\n", n, (now_us() - start) / n);
	printf("%d: calls of rdma_cm each\t%.1f\n", n, (double)writes / n);
	printf("%d: ioctls each\t%.1f\n", n, (double)ioctls / n);
	printf("%d: descriptors\t%d\n", n, fds);
	fflush(stdout);
	MUST(!rdma_destroy_id(s.listener));
	rdma_destroy_event_channel(s.channel);
	rdma_destroy_event_channel(c.channel);
}

int main(void)
{
	measure(1);
	measure(100);
	measure(MOST);
	return 0;
}
